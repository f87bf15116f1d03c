"""What a runtime still holds when a scenario is closed, in words that are the same for all of a kind."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from runlock.conformance.text import cut, plain

SHOWN: Final = 60
KINDS_SHOWN: Final = 3


def leaks_in_words(leaks: Iterable[Any]) -> str:
    """The leaks in one clause, each kind once; empty if there are none.

    What `close` raised is an exception of the adapter, and is reported as that.
    """
    kinds = list(dict.fromkeys(in_words(one) for one in leaks if not _is_exception(one)))
    return " and ".join(kinds[:KINDS_SHOWN])


def _is_exception(leak: Any) -> bool:
    return isinstance(leak, dict) and "raised" in leak


def in_words(leak: Any) -> str:
    """One leak; ids are left out."""
    known = leak if isinstance(leak, dict) else {}
    if isinstance(known.get("on"), str):
        return f"a {_short(known['on'])} gate is still open"
    if "task" in known:
        return f"a task is still alive: {_short(known['task'])}"
    if "close" in known:
        return f"close went wrong: {_short(known['close'])}"
    return _short(json.dumps(leak, sort_keys=True))


def _short(words: Any) -> str:
    return cut(plain(str(words)), SHOWN)
