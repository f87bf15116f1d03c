"""The rolling summary of the nightly matrix: what is open or fixed, and what the last nights changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.report.findings import DOCUMENTED
from runlock.conformance.report.history import NEVER, label
from runlock.conformance.text import in_markdown, plain
from runlock.spec.model import SEVERITIES

FILE: Final = "summary.md"
NIGHTS: Final = 30
"""How many nights the summary shows; the records of findings stay for ever."""

KINDS: Final = (
    "Findings",
    "Documented, and we disagree",
    "Without a program yet, so that the adapter is suspected first",
)

Object = Mapping[str, Any]


def text(history: Object) -> str:
    """The summary as Markdown, the newest night first."""
    nights = "\n".join(line for one in history["nights"] for line in _night(one))
    return "\n".join(("# The matrix, night by night\n", *_findings(history["findings"]), "", nights))


def _findings(records: Sequence[Object]) -> Iterator[str]:
    """How many there are of each kind, and all of them: the open ones first, then the most severe."""
    for kind in KINDS:
        ends = [bool(one["fixed"]) for one in records if _kind(one) == kind]
        yield f"- {kind}: {ends.count(False)} open, {ends.count(True)} fixed."
    yield "\n| finding | first seen | last seen | fixed in |\n|---|---|---|---|"
    for one in sorted(records, key=_order):
        end = _moment(one["fixed"]) if one["fixed"] else NEVER
        yield f"| {_shown(label(one))} | {_moment(one['first'])} | {_moment(one['last'])} | {end} |"


def _kind(record: Object) -> str:
    """Only what a program shows, and no page documents, counts as a finding."""
    return KINDS[2] if not record["program"] else KINDS[1] if record["against"] == DOCUMENTED else KINDS[0]


def _order(record: Object) -> tuple[bool, int, int]:
    return bool(record["fixed"]), KINDS.index(_kind(record)), SEVERITIES.index(record["severity"])


def _moment(at: Object) -> str:
    return f"{_shown(at['release'])}, {at['day']}"


def _night(night: Object) -> Iterator[str]:
    yield f"## {night['day']}\n"
    run = ", ".join(f"{name} ({release})" for name, release in night["run"].items())
    yield f"- Run: {_shown(run or 'nothing')}. Reused: {night['reused']}."
    yield from (f"- **Failed**: {_shown(f'{name}: {why}')}" for name, why in night["failed"].items())
    yield from (f"- {_shown(one['finding'])}: **{_shown(one['what'])}**" for one in night["changes"])
    yield ""


def _shown(words: str) -> str:
    return in_markdown(plain(words))
