"""The watcher of a run: how it came, and the events that it received."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from runlock.conformance.families.lifecycle.messages import Published


class Arrival(Enum):
    """How the present watcher came."""

    NOBODY = auto()
    FIRST = auto()
    ANEW = auto()  # after an earlier one had left
    BACK = auto()  # to a run that waits
    REPLACING = auto()  # while another one watched
    WITH_DECISION = auto()  # in one request with a decision


@dataclass(eq=False, slots=True)
class Audience:
    """Who watches the events of the thread, as far as is known."""

    watcher: str | None = None
    stream: str = "native"
    came: Arrival = Arrival.NOBODY
    possible: set[str | None] = field(default_factory=lambda: {None})  # who may receive an event by now
    gone: set[str] = field(default_factory=set)  # who watched before
    at: int = 0  # the stimulus with which the present watcher came
    told: list[Published] = field(default_factory=list)  # what the present watcher received
    answered: bool = False  # whether the last stream that was closed belonged to a request that decided
    may_be_gone: bool = False  # whether its stream may have been closed without being shown
    activities: list[Any] = field(default_factory=list)  # what tools told since the newest stimulus came

    def comes(self, watcher: str | None, stream: str, came: Arrival, sure: bool, at: int = 0) -> None:
        """A watcher takes the place, or with None leaves it; in a race either may be there."""
        self.at = at
        if self.watcher is not None:
            self.gone.add(self.watcher)
        self.gone.discard(watcher or "")
        self.possible = {watcher} if sure else {*self.possible, watcher}
        self.watcher, self.stream, self.came, self.told = watcher, stream, came, []
        self.may_be_gone = False

    @property
    def is_sure(self) -> bool:
        """Whether it is certain who watches."""
        return self.possible == {self.watcher} and not self.may_be_gone
