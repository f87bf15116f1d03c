"""What a joint state is made of, and what a move between two of them is.

A joint state is one `Control` (what there is once: the run, its gate, its store) and a `Call` for each tool
call.  A `Move` says how the one changes together with one call, with every call, or with none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from runlock.machines.table import Row

__all__ = [
    "BUSY", "FINAL", "NOT_ASKED", "Call", "Change", "Changed", "Control", "Kept", "Move", "System", "Test",
    "Who",
]  # fmt: skip

FINAL: Final = frozenset({"Succeeded", "Failed", "Cancelled"})
BUSY: Final = frozenset({"New", "Running", "Resuming"})

Who = Literal["runtime", "world", "trouble"]
"""Who makes a move: the runtime, a world that means well, or one that cancels, rejects, breaks, crashes."""


class Kept(NamedTuple):
    """What the newest checkpoint holds of a call."""

    status: str
    waits: int
    decided: str


class Call(NamedTuple):
    """One tool call: its status, how often it was suspended, its decision, and what is durable of it."""

    status: str
    waits: int = 0
    decided: str = ""  # resume or cancel once it was decided, acting or rejecting once that was taken up
    kept: Kept | None = None

    def __str__(self) -> str:
        if not self.status:
            return "not asked for"
        again = f" {self.waits}" if self.waits > 1 else ""
        return f"{self.status}{again}{f' ({self.decided})' if self.decided else ''}"


NOT_ASKED: Final = Call("")
"""A call that the model has not asked for."""


class Control(NamedTuple):
    """What there is once in a joint state."""

    run: str
    work: str  # what the run itself is at
    gate: str = ""  # where the resume gate, the wait loop or the dispatcher stands; nowhere while it is shut
    cancel: str = "may come"  # then asked, then over
    reason: str = ""
    kept_run: str = ""  # the status of the run in the newest checkpoint; empty while nothing is durable
    kept_work: str = ""
    crashes: int = 0  # how many may still come


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
