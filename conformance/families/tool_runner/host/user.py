"""The user of a hosted runner, simulated by the kit: iterates over it, and acts while a yield is open.

The actions of the user, and the release of the yield, pass through one queue and are performed in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.tool_runner.adapter import Item
from runlock.conformance.families.tool_runner.host.kit_host import KitHost, is_break
from runlock.conformance.families.tool_runner.messages import Delta, Resume, RunnerTurn
from runlock.conformance.protocol import Message
from runlock.conformance.transport.exceptions import SLIPS
from runlock.conformance.transport.gates import Gate
from runlock.conformance.transport.world import Refused, as_json

NO_YIELD = "no yield is open"


@dataclass(eq=False, slots=True)
class Act:
    """An action of the user, and its position in the `deliver` that contained it."""

    name: str
    work: Callable[[], Awaitable[Any]]
    stimulus: int = 0


@dataclass(eq=False, slots=True)
class Walk:
    """One iteration over the runner from start to end, which is one run."""

    run: str
    items: AsyncIterator[Item]
    stimulus: int = 0
    gate: Gate | None = None
    inlet: asyncio.Queue[Act | Resume] = field(default_factory=asyncio.Queue)


class Left(Exception):
    """The user has left the loop."""


class User:
    """Iterates over the runner of one scenario, as the schedule prescribes."""

    def __init__(self, adapter: Any, host: KitHost, read: str) -> None:
        self.adapter = adapter
        self.host = host
        self.reads = read == "all"
        self.is_cancelled = False
        self.walk: Walk | None = None
        self.status: str | None = None
        self.reason: dict[str, Any] | None = None

    # -- called by the schedule

    def begin(self, walk: Walk) -> Callable[[], None]:
        """Begin a run; returns a function that undoes this if the runner refuses."""
        before = (self.host.run, self.walk, self.status, self.reason)
        self.host.run, self.walk, self.status, self.reason = walk.run, walk, "Running", None

        def undo() -> None:
            self.host.run, self.walk, self.status, self.reason = before

        return undo

    def act(self, act: Act) -> None:
        """Queue an action if a yield is open; refuse it otherwise."""
        if self.walk is None or self.walk.gate is None:
            self.host.turn_down(act.stimulus, NO_YIELD)
        else:
            self.walk.inlet.put_nowait(act)

    # -- the iteration

    async def iterate(self, walk: Walk, undo: Callable[[], None]) -> None:
        """Take items until the runner ends, the user leaves, or an exception is raised."""
        try:
            while True:
                await self._see(walk, *await anext(walk.items))
                await self.host.between_requests()
        except StopAsyncIteration:
            self._finish(self._ended())
        except Refused as refusal:
            undo()
            self.host.turn_down(walk.stimulus, refusal.why)
        except Left:
            await self._close(walk.items)
            self._finish({"code": "Cancelled" if self.is_cancelled else "BehaviorRequested"})
        except asyncio.CancelledError as error:
            if self.host.dead or not self.is_cancelled:
                raise
            await self._close(walk.items)
            self._finish({"code": "Cancelled", "detail": str(error)})
        except Exception as error:
            self.host.show_exception("run", error)
            await self._close(walk.items)
            code = "Cancelled" if self.is_cancelled else "Error"
            self._finish({"code": code, "detail": f"{type(error).__name__}: {error}"})

    async def _see(self, walk: Walk, message: Message | None, pieces: AsyncIterator[Delta] | None) -> None:
        """Hold an item until the user goes on; raises `Left` if the user leaves."""
        walk.inlet = asyncio.Queue()
        walk.gate = gate = await self.host.yielded(message, walk.inlet.put_nowait)
        loop = asyncio.get_running_loop()
        reader = loop.create_task(self._read(pieces, gate)) if pieces is not None and self.reads else None
        try:
            answer = await self._act_until_released(walk, reader)
        finally:
            walk.gate = None
            self.host.give_up(gate)
            self._turn_down_the_rest(walk)
        if is_break(answer):
            if reader is not None:
                await _stopped(reader)
            raise Left
        if reader is not None:
            await asyncio.wait({reader})

    async def _act_until_released(self, walk: Walk, reader: asyncio.Task[None] | None) -> Resume:
        """Perform the actions in order; responses are made concurrently with later actions.

        A user who meets an error in a stream takes the next item: the runner says what becomes of it.
        """
        responses: list[asyncio.Task[Any]] = []
        if reader is not None:
            reader.add_done_callback(lambda read: _go_on_after_an_error(walk, read))
        try:
            while True:
                act = await _first(walk.inlet, responses)
                if isinstance(act, Resume):
                    return act
                if act.name == "respond":
                    responses.append(asyncio.ensure_future(self._respond(act, reader)))
                    await asyncio.sleep(0)
                else:
                    await self._perform(act)
        finally:
            for response in responses:
                await _stopped(response)

    async def _perform(self, act: Act) -> None:
        try:
            await act.work()
        except Exception as error:
            if isinstance(error, SLIPS):
                self.host.show_exception(act.name, error)
            self.host.turn_down(act.stimulus, str(error) or type(error).__name__)

    async def _respond(self, act: Act, reader: asyncio.Task[None] | None) -> None:
        """Ask for the response, after the stream if the user reads it: a stream has one reader at a time."""
        if reader is not None:
            await asyncio.wait({reader})
        before = self.host.tools_entered
        try:
            messages = await act.work()
        except Refused as refusal:
            self.host.turn_down(act.stimulus, refusal.why)
            return
        shown: dict[str, Any] = {"messages": None}
        if messages is not None:
            cached = self.host.tools_entered == before
            shown = {"messages": [as_json(message) for message in messages], "cached": cached}
        self.host.append("runner.response", shown)

    async def _read(self, pieces: AsyncIterator[Delta], gate: Gate) -> None:
        """Read a stream to its end, and show each piece as it comes."""
        async for piece in pieces:
            if not isinstance(piece, RunnerTurn):
                self.host.append("event", {"stream": "turn", "name": "delta", "data": _data(piece)})
        turn = self.adapter.last()
        if gate.id in self.host.open_gates and turn is not None:
            self.host.append("event", {"stream": "turn", "name": "end", "data": as_json(turn)})

    def _turn_down_the_rest(self, walk: Walk) -> None:
        while not walk.inlet.empty():
            rest = walk.inlet.get_nowait()
            if isinstance(rest, Act):
                self.host.turn_down(rest.stimulus, NO_YIELD)

    def _ended(self) -> dict[str, Any]:
        code = self.adapter.ended()
        return {"code": code, "stop": {"code": "max_iterations"}} if code == "Stopped" else {"code": code}

    async def _close(self, items: AsyncIterator[Item]) -> None:
        """Close the iterator, as leaving a loop does; an exception there is shown."""
        close = getattr(items, "aclose", None)
        if close is None:
            return
        try:
            await close()
        except Exception as error:
            self.host.show_exception("close", error)

    def _finish(self, reason: dict[str, Any]) -> None:
        self.status, self.reason, self.walk = "Done", reason, None
        last = as_json(self.adapter.last())
        self.host.append("run.finished", {"reason": reason, "pending": [], "message": last})


async def _first(inlet: asyncio.Queue[Act | Resume], tasks: Sequence[Any] | set[Any]) -> Act | Resume:
    """The next action of the user; when no action waits, raises the exception of a task that failed."""
    if inlet.empty():
        _raise_failures(tasks)
    taking = asyncio.ensure_future(inlet.get())
    try:
        while True:
            running = {task for task in tasks if not task.done()}
            await asyncio.wait({taking, *running}, return_when=asyncio.FIRST_COMPLETED)
            if not (taking.done() and isinstance(taking.result(), Act)):
                _raise_failures(tasks)
            if taking.done():
                return taking.result()
    finally:
        taking.cancel()


def _raise_failures(tasks: Sequence[Any] | set[Any]) -> None:
    for task in tasks:
        if task.done():
            task.result()


def _go_on_after_an_error(walk: Walk, read: asyncio.Task[None]) -> None:
    if not read.cancelled() and read.exception() is not None:
        walk.inlet.put_nowait(Resume(kind="resume"))


async def _stopped(task: asyncio.Task[Any]) -> None:
    """Stop a task, and wait until it has stopped."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


def _data(piece: Any) -> Any:
    return piece.data if isinstance(piece, Delta) else as_json(piece)
