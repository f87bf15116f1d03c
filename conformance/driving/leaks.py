"""Leaks: resources that a runtime still holds when a scenario is closed after the end of its run.

A leak breaks no clause, since no source mentions it; it is reported as a finding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.driving.session import Session
from runlock.conformance.text import cut, plain
from runlock.conformance.trace.trace import Trace

SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Leak:
    """A kind of leak, the number of schedules with it, and the shortest of them."""

    what: str
    times: int
    trace: Trace

    def more(self, other: Leak) -> Leak:
        """The same leak, with the schedules of both added up."""
        shorter = min(self.trace, other.trace, key=lambda trace: len(trace.records))
        return Leak(self.what, self.times + other.times, shorter)


def leaks_of(session: Session) -> Iterator[Leak]:
    """The leaks of a finished scenario, each kind once; none if the run was not over."""
    run = session.state.run
    if session.violation is not None or (run is not None and not run.is_done):
        return
    left = [
        one for end in session.trace.of("end") for one in end.get("leaks") or () if not _is_exception(one)
    ]
    for what in dict.fromkeys(in_words(one) for one in left):
        yield Leak(what, 1, session.trace)


def _is_exception(leak: Any) -> bool:
    return isinstance(leak, dict) and "raised" in leak


def in_words(leak: Any) -> str:
    """A leak in words that are the same for all of its kind."""
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
