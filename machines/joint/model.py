"""What a joint model is made of: a control, interchangeable calls, and the moves between joint states.

A joint state is one control (what there is once, such as the run) and a value for each tool call.  A `Move`
says how the control changes together with one call, with every call, or with none.  Each family has its own
named tuples for both; the search compares them and nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from runlock.machines.table import Row

__all__ = ["Call", "Change", "Changed", "Control", "Move", "System", "Test", "Who"]

Control = Any
"""A named tuple of the family, with `shown`, `title`, `at` and `fill` for reports."""

Call = Any
"""A named tuple of the family: its field `status`, and `words` and `seen` for reports."""

Who = Literal["runtime", "world", "trouble"]
"""Who makes a move: the runtime, a cooperative environment, or one that cancels, rejects, breaks, crashes."""


class Changed(NamedTuple):
    """What a move makes of one call, and the rows that this takes."""

    call: Call
    rows: tuple[Row, ...] = ()


Change = Callable[[Call], Changed | None]
Test = Callable[[Call], bool]


@dataclass(frozen=True, slots=True)
class Move:
    """One move: of one call that `one` changes, or of `each` call, where `some` and `none` allow it."""

    what: str
    to: Control
    who: Who = "runtime"
    rows: tuple[Row, ...] = ()
    one: Change | None = None
    each: Change | None = None
    some: Test | None = None
    none: Test | None = None
    cue: str = ""  # the input that it needs from the environment; without one, the runtime moves by itself


class System(Protocol):
    """Something that can be explored: where it starts, and how it moves."""

    family: str
    calls: int

    @property
    def owed(self) -> Test | None:
        """The calls that keep a state from being final; None where the control alone decides."""
        ...

    def start(self) -> tuple[Control, Call]:
        """The first joint state: its control, and what every call is in it."""
        ...

    def moves(self, control: Control) -> Iterator[Move]:
        """Every move from a control; which of them a state has, its calls decide."""
        ...

    def is_over(self, control: Control) -> bool:
        """Whether nothing is owed any more."""
        ...
