"""What a clause may need of a runtime of one family, as rows: a test of the handshake, and what it lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Row = tuple[Callable[[Any, str], bool], str]
"""Whether a handshake offers it, and a sentence that may name `{what}`, or the `{kind}` of a `{gate}`."""

ALWAYS: Final[Row] = (lambda handshake, what: True, "")


def unmet_by(rows: Mapping[str, Row]) -> Callable[[str, Any], str]:
    """Why a need is not met, or an empty string; a row stands under a need, or under its first word."""

    def unmet(need: str, handshake: Any) -> str:
        word, _, what = need.partition(" ")
        offers, sentence = rows.get(need) or rows.get(word) or ALWAYS
        gate, _, kind = what.rpartition(".")
        return "" if offers(handshake, what) else sentence.format(what=what, gate=gate, kind=kind)

    return unmet
