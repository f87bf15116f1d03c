"""A judge snapshot after a prefix, reused by schedules that share the prefix.

The mutable state of a judge is pickled; immutable objects are shared by reference.  No state of the
runtime is saved: it repeats each step, and must give the same answers.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from typing import Any, Final, NamedTuple

from runlock.conformance.judging.judge import Asked, Judge
from runlock.conformance.protocol import Wire
from runlock.conformance.protocol.answers import Gates
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Record

UNCHANGING: Final[tuple[type, ...]] = (str, frozenset, type, type({}.keys()), Wire, Asked)
"""Types that are shared in addition to frozen ones: immutable, or the same for all schedules."""


class Step(NamedTuple):
    """A move as it was sent, its stimulus, and the answer of the runtime."""

    move: Move
    method: str
    params: Mapping[str, Any]
    answer: Mapping[str, Any]


class SessionSnapshot:
    """The steps of a session, its trace, and the state of its judge after them."""

    def __init__(self, steps: Iterable[Step], records: Iterable[Record], judge: Judge, gates: Gates) -> None:
        self.steps = tuple(steps)
        self.moves = [step.move for step in self.steps]
        self.records = tuple(records)
        written = BytesIO()
        pen = _Pen(written, judge.applies)
        pen.dump((judge, gates))
        self._written, self._shared = written.getvalue(), pen.shared

    def read(self) -> tuple[Judge, Gates]:
        """A copy of the judge and of the gates, for the caller's exclusive use."""
        judge, gates = _Reader(BytesIO(self._written), self._shared).load()
        return judge, gates


class _Pen(pickle.Pickler):
    """Pickles mutable state and stores immutable objects by reference."""

    def __init__(self, file: BytesIO, applies: Mapping[str, bool]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.applies = applies  # the same for all schedules of a runtime
        self.shared: list[Any] = []
        self._places: dict[int, int] = {}

    def persistent_id(self, one: Any) -> int | None:
        if not _is_unchanging(one.__class__) and one is not self.applies:
            return None
        place = self._places.setdefault(id(one), len(self.shared))
        if place == len(self.shared):
            self.shared.append(one)
        return place


class _Reader(pickle.Unpickler):
    """Reads what a pen wrote."""

    def __init__(self, file: BytesIO, shared: list[Any]) -> None:
        super().__init__(file)
        self.persistent_load = shared.__getitem__  # type: ignore[method-assign]  # no call of Python's


@cache
def _is_unchanging(kind: type) -> bool:
    frozen = getattr(kind, "__dataclass_params__", None)
    is_named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return is_named or issubclass(kind, UNCHANGING) or (frozen is not None and frozen.frozen)
