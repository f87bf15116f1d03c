"""How far a schedule was judged, so that others which begin as it does are judged from there.

A judge is kept as what of it can change, written down; what cannot change is shared by all who read it.
Nothing of a runtime is kept: it takes each step again, and has to answer as it did.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from typing import Any, Final, NamedTuple

from runlock.conformance.family.family import families
from runlock.conformance.judging.judge import Asked, Judge
from runlock.conformance.protocol import Wire
from runlock.conformance.protocol.answers import Gates
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Record

UNCHANGING: Final[tuple[type, ...]] = (str, frozenset, type, type({}.keys()), Wire, Asked)
"""What never changes, or is the same for all schedules; beside all that is frozen."""


class Step(NamedTuple):
    """A move as it was sent, the stimulus that it was, and what the runtime answered."""

    move: Move
    method: str
    params: Mapping[str, Any]
    answer: Mapping[str, Any]


class Bookmark:
    """The steps of a session, its trace, and how its judge stood behind them."""

    def __init__(self, steps: Iterable[Step], records: Iterable[Record], judge: Judge, gates: Gates) -> None:
        self.steps = tuple(steps)
        self.moves = [step.move for step in self.steps]
        self.records = tuple(records)
        written = BytesIO()
        pen = _Pen(written, judge.applies)
        pen.dump((judge, gates))
        self._written, self._shared = written.getvalue(), pen.shared

    def read(self) -> tuple[Judge, Gates]:
        """The judge as it stood, and the gates; whoever reads has both to itself."""
        judge, gates = _Reader(BytesIO(self._written), self._shared).load()
        return judge, gates


class _Pen(pickle.Pickler):
    """Writes what can change; for anything else the place at which it is shared."""

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
def _shared_types() -> tuple[type, ...]:
    return tuple(kind for family in families() for kind in family.shared_types)


@cache
def _is_unchanging(kind: type) -> bool:
    frozen = getattr(kind, "__dataclass_params__", None)
    is_named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return (
        is_named
        or issubclass(kind, (*UNCHANGING, *_shared_types()))
        or (frozen is not None and frozen.frozen)
    )
