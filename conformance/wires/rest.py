"""When a runtime behind a wire is at rest: read off its ends and its stream, as far as these tell it.

A loop that asks the model does nothing else, and one whose calls of a round have all been entered waits for
them.  Where a call may still be entered, or an event written, the kit waits some times as long as most
reactions have taken so far; what a runtime always does is waited for longer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from runlock.conformance.transport.real_time import Bridge, RealTime

LAG_MIN_SECONDS: Final = 0.004
LAG_MAX_SECONDS: Final = 0.02
"""How long events are waited for that were written before a request which has come already."""

GRACE_MIN_SECONDS: Final = 0.02
GRACE_MAX_SECONDS: Final = 0.5
"""How long a reaction is waited for that need not come."""

FACTOR: Final = 3
SHARE: Final = 0.95
"""A wait is that many times as long as this share of what was seen so far has taken at most."""

LEFT_SECONDS: Final = 0.5
"""How long a server that stops when its client goes away may take, at most, to give up what it waits for."""

ENTRY: Final = "entry"
RESULT: Final = "result"
HABIT_FROM: Final = 3
HABIT_SHARE: Final = 20
HABIT_SECONDS: Final = 2.0
"""How often a habit has to be seen, how seldom it may be missed, and how long it is waited for."""

REMEMBERED: Final = 200
FEWEST: Final = 10
"""How many of the newest times are remembered, and how many have to be before they count."""


class Times:
    """Times of one kind, and how long one more of them is waited for: a slow one in many does not count."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self._seen: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, seconds: float) -> None:
        """One more was seen."""
        self._seen.append(seconds)

    @property
    def wait(self) -> float:
        """How long the next one is waited for, in seconds."""
        if len(self._seen) < FEWEST:
            return self._most
        usual = sorted(self._seen)[int(SHARE * (len(self._seen) - 1))]
        return min(self._most, max(self._least, FACTOR * usual))


class Habit:
    """Whether a runtime does something each time: then it is waited for, and else it may not come."""

    def __init__(self) -> None:
        self.kept = self.broken = 0

    @property
    def is_one(self) -> bool:
        """Whether it was seen a few times, and hardly ever missed."""
        return self.kept >= HABIT_FROM and self.broken * HABIT_SHARE <= self.kept


class Pace:
    """How quickly a runtime reacts, and how late its events come; one for all schedules of a process.

    It may have the habits of entering the calls of a round together (`entry`), and of telling of each result
    (`result`).
    """

    def __init__(self) -> None:
        self.habits = {ENTRY: Habit(), RESULT: Habit()}
        self.reactions = Times(GRACE_MIN_SECONDS, GRACE_MAX_SECONDS)
        self.lags = Times(LAG_MIN_SECONDS, LAG_MAX_SECONDS)
        self.partings = Times(GRACE_MIN_SECONDS, LEFT_SECONDS)
        self.vain_seconds = 0.0  # that nothing moved any more, in all


class Resting(Bridge):
    """The connection of one schedule.

    `owes` tells what may still come while gates are open, `is_left` that the client has gone away.
    """

    def __init__(
        self,
        real: RealTime,
        kit: asyncio.AbstractEventLoop,
        pace: Pace,
        owes: Callable[[], str],
        is_left: Callable[[], bool],
    ) -> None:
        super().__init__(real, kit)
        self._pace = pace
        self._owes = owes
        self._is_left = is_left
        self._is_counting = self._was_late = self._was_open = False
        self._acted_at: float | None = None  # when the kit did something that has no reaction yet

    def busy(self) -> bool:
        """Whether the application may still move; counts how long was waited for what did not come."""
        found = super().busy()
        if not found and self._is_counting:
            self._pace.vain_seconds += self.real.time() - self._moved_at
            self._came_to_rest()
        self._is_counting = found
        return found

    def _came_to_rest(self) -> None:
        """Where nothing came late, that counts as well, and so does what did not come."""
        owed = self._owes()
        if self._is_parting():
            self._pace.partings.add(0.0)
        elif owed and self.has_open_gates:
            self._pace.habits[owed].broken += 1
        elif not owed and not self._was_late:
            self._pace.lags.add(0.0)
        self._was_late = False

    def quiet_seconds(self) -> float:
        if self._is_parting():
            return self._pace.partings.wait
        if not self.has_open_gates and self._verbs == 0:
            return LAG_MIN_SECONDS  # the stream has ended: what still comes is seen later
        return self._wait()

    def _is_parting(self) -> bool:
        """Whether the client has gone away, and something is not given up yet."""
        return self._is_left() and self.has_open_gates

    def is_moving(self) -> bool:
        """As `busy`, without counting."""
        return super().busy()

    def is_still(self) -> bool:
        """Whether what may still come has been waited for long enough."""
        return self.real.time() - self._moved_at >= self._wait()

    def _wait(self) -> float:
        owed = self._owes()
        if owed and self._pace.habits[owed].is_one and not self._is_left():
            return HABIT_SECONDS
        return (self._pace.reactions if owed else self._pace.lags).wait

    def acted(self) -> None:
        last = self._moved_at
        super().acted()
        self._acted_at = self._moved_at
        if self._is_counting and self._is_left():  # a gate is given up while the kit waits for that
            self._pace.partings.add(self._moved_at - last)

    def moved(self) -> None:
        last, was_open, self._was_open = self._moved_at, self._was_open, self.has_open_gates
        is_late = was_open and self._acted_at is None and not self._owes()
        super().moved()
        if self._acted_at is not None:
            self._pace.reactions.add(self._moved_at - self._acted_at)
            self._acted_at = None
        elif is_late:
            self._was_late = True
            self._pace.lags.add(self._moved_at - last)
