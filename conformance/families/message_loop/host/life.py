"""A hosted message loop in one scenario: its adapter on a loop of its own, and the verbs under way.

Each verb of the adapter runs as a task.  `start` makes the turn, which ends when it returns a Segment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial
from inspect import iscoroutine
from typing import Any

from runlock.conformance.families.message_loop.adapter import Refused, RequiredAdapter, Segment
from runlock.conformance.families.message_loop.host.kit_host import KitHost
from runlock.conformance.families.message_loop.messages import OUTCOMES_BY_GATE, Reason, Scenario
from runlock.conformance.protocol import INTERNAL_ERROR, ProtocolError
from runlock.conformance.transport.hosted_life import HostedLife
from runlock.conformance.transport.virtual_loop import raised


class Life(HostedLife[KitHost]):
    """A life with the turn, and the other verbs, that are under way."""

    outcomes = OUTCOMES_BY_GATE

    def __init__(self, adapter: RequiredAdapter, scenario: Scenario) -> None:
        super().__init__(adapter, scenario, lambda loop: KitHost(loop, scenario))
        self.past: set[str] = set()  # ids of turns that are over, or under way
        self.turn: asyncio.Task[Any] | None = None
        self.verbs: set[asyncio.Task[Any]] = set()
        self.watchers: dict[str, bool] = {}

    @property
    def is_over(self) -> bool:
        return self.turn is None

    def begin_turn(self, run: str, stages: Sequence[str], work: Coroutine[Any, Any, Any]) -> None:
        """Start a turn; nothing of it runs before the loop turns."""
        self.host.begin(run, stages)
        self.past.add(run)
        self.turn = self.loop.create_task(self._turn(work))

    async def _turn(self, work: Any) -> None:
        try:
            if not iscoroutine(work):
                raise TypeError("the adapter's start is no coroutine function; write it with `async def`")
            result: Any = await work
        except asyncio.CancelledError:
            result = Segment("Cancelled")
        except Exception as error:
            self.host.show_exception("start", error)
            result = Segment(Reason(code="Error", detail=f"{type(error).__name__}: {error}"))
        self.turn = None
        if isinstance(result, Segment):
            self.host.append("run.finished", result.to_wire())
        else:
            words = f"The adapter's start returned {result!r}; it should return a Segment."
            self.broken = ProtocolError(INTERNAL_ERROR, words)

    def begin(self, name: str, stimulus: int, work: Coroutine[Any, Any, Any]) -> None:
        """Start another verb: a cancel, a late answer, an interactor that goes."""
        task = self.loop.create_task(work)
        self.verbs.add(task)
        task.add_done_callback(partial(self._ended, name, stimulus))

    def bury(self) -> None:
        super().bury()
        self.turn = None
        self.verbs.clear()

    def _ended(self, name: str, stimulus: int, task: asyncio.Task[Any]) -> None:
        self.verbs.discard(task)
        if task.cancelled() or self.host.dead:
            return
        error = raised(task)
        if isinstance(error, Refused):
            self.host.turn_down(stimulus, error.why)
        elif error is not None:
            self.host.show_exception(name, error)
