"""When a runtime behind a wire is at rest: read off its ends and its stream, as far as these tell it.

A loop that asks the model does nothing else, and one whose calls of a round have all been entered waits for
them.  Where a call may still be entered, or an event written, the kit waits some times as long as the runtime
has taken to react so far.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from runlock.conformance.transport.real_time import Bridge, RealTime

DRAIN_SECONDS: Final = 0.02
"""How long events are waited for that were written before a request which has come already."""

GRACE_MIN_SECONDS: Final = 0.04
GRACE_MAX_SECONDS: Final = 0.5
GRACE_FACTOR: Final = 3

LEFT_SECONDS: Final = 0.5
"""How long a server that stops when its client goes away may take to give up what it waits for."""

REACTIONS: Final = 50
"""How many of the newest reactions are remembered."""


class Pace:
    """How quickly a runtime reacts; one for all schedules of a process."""

    def __init__(self) -> None:
        self._reactions: deque[float] = deque(maxlen=REACTIONS)

    def reacted(self, seconds: float) -> None:
        """A reaction was seen, this long after what it reacts to."""
        self._reactions.append(seconds)

    @property
    def grace(self) -> float:
        """How long a reaction is waited for that need not come, in seconds."""
        slowest = max(self._reactions, default=GRACE_MAX_SECONDS)
        return min(GRACE_MAX_SECONDS, max(GRACE_MIN_SECONDS, GRACE_FACTOR * slowest))


class Resting(Bridge):
    """The connection of one schedule.

    `is_complete` tells that nothing more is owed to an open gate, `is_left` that the client has gone away.
    """

    def __init__(
        self,
        real: RealTime,
        kit: asyncio.AbstractEventLoop,
        pace: Pace,
        is_complete: Callable[[], bool],
        is_left: Callable[[], bool],
    ) -> None:
        super().__init__(real, kit)
        self._pace = pace
        self._is_complete = is_complete
        self._is_left = is_left
        self._acted_at: float | None = None  # when the kit did something that has no reaction yet

    def quiet_seconds(self) -> float:
        if self._is_left() and self.has_open_gates:
            return LEFT_SECONDS
        return DRAIN_SECONDS if self._is_complete() else self._pace.grace

    def acted(self) -> None:
        super().acted()
        self._acted_at = self._moved_at

    def moved(self) -> None:
        super().moved()
        if self._acted_at is not None:
            self._pace.reacted(self._moved_at - self._acted_at)
            self._acted_at = None
