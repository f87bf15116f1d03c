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
from runlock.conformance.families.message_loop.messages import Reason, Scenario
from runlock.conformance.protocol import INTERNAL_ERROR, ProtocolError
from runlock.conformance.transport.exceptions import EXCEPTION, exception_fields
from runlock.conformance.transport.hosting import clean_up, exceptions_on, run
from runlock.conformance.transport.virtual_loop import VirtualLoop, raised


class Life:
    """An adapter object, its loop, its host, and the tasks of its verbs."""

    def __init__(self, adapter: RequiredAdapter, scenario: Scenario) -> None:
        self.adapter: Any = adapter
        self.scenario = scenario
        self.loop = VirtualLoop()
        self.loop.outside.busy = getattr(adapter, "busy", None)
        self.host = KitHost(self.loop, scenario)
        self.past: set[str] = set()  # ids of turns that are over, or under way
        self.turn: asyncio.Task[Any] | None = None
        self.verbs: set[asyncio.Task[Any]] = set()
        self.gone: set[str] = set()  # interactors
        self.watchers: dict[str, bool] = {}
        self.refused: list[dict[str, Any]] = []
        self.bystanders: frozenset[asyncio.Task[Any]] = frozenset()
        self._broken: ProtocolError | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether a turn is under way."""
        return self.turn is not None

    def begin_turn(self, run: str, stages: Sequence[str], work: Coroutine[Any, Any, Any]) -> None:
        """Start a turn; nothing of it runs before the loop turns."""
        self.host.begin(run, stages)
        self.past.add(run)
        self.turn = self.loop.create_task(self._turn(work))

    async def _turn(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            result = await self._checked(work)
        except asyncio.CancelledError:
            result = Segment("Cancelled")
        except Exception as error:
            self._show_exception("start", error)
            result = Segment(Reason(code="Error", detail=f"{type(error).__name__}: {error}"))
        self.turn = None
        if isinstance(result, Segment):
            self.host.append("run.finished", result.to_wire())
        else:
            words = f"The adapter's start returned {result!r}; it should return a Segment."
            self._broken = ProtocolError(INTERNAL_ERROR, words)

    async def _checked(self, work: Any) -> Any:
        if not iscoroutine(work):
            raise TypeError("the adapter's start is no coroutine function; write it with `async def`")
        return await work

    def begin(self, name: str, stimulus: int, work: Coroutine[Any, Any, Any]) -> None:
        """Start another verb: a cancel, a late answer, an interactor that goes."""
        task = self.loop.create_task(work)
        self.verbs.add(task)
        task.add_done_callback(partial(self._ended, name, stimulus))

    def cancel_turn(self) -> None:
        """Cancel the turn from outside, for a runtime that has no cancel of its own."""
        if self.turn is not None:
            self.turn.cancel()

    def refuse(self, stimulus: int, why: str) -> None:
        """A stimulus is turned down."""
        self.refused.append({"stimulus": stimulus, "why": why})

    def report(self, turns: int | None) -> dict[str, Any]:
        """Run, and give what happened since the last report."""
        quiescent = run(self.loop, turns)
        for fields in exceptions_on(self.loop):
            self.host.append(EXCEPTION, fields)
        if self._broken is not None:
            raise self._broken
        observations, self.host.log = self.host.log, []
        refused, self.refused = self.refused, []
        return {"observations": observations, "quiescent": quiescent, "refused": refused}

    def wind_up(self) -> None:
        """At the end of the scenario, let what is left clean up on its own loop; none of it is shown."""
        self.host.dead = True
        clean_up(self.loop)

    def dispose(self) -> None:
        """Give back the loop and what stands on it."""
        self.host.dead = True
        self.loop.bury()
        self.turn = None
        self.verbs.clear()

    def _ended(self, name: str, stimulus: int, task: asyncio.Task[Any]) -> None:
        self.verbs.discard(task)
        if task.cancelled() or self.host.dead:
            return
        error = raised(task)
        if isinstance(error, Refused):
            self.refuse(stimulus, error.why)
        elif error is not None:
            self._show_exception(name, error)

    def _show_exception(self, verb: str, error: BaseException) -> None:
        fields = exception_fields(verb, error)
        if fields is not None:
            self.host.append(EXCEPTION, fields)
