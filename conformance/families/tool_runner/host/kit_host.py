"""The host that the kit gives to an adapter: each await of the environment becomes a gate."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from runlock.conformance.families.tool_runner.messages import (
    Delta,
    Resume,
    RunnerOutcome,
    RunnerTurn,
)
from runlock.conformance.protocol import Fault, Message, Wire
from runlock.conformance.transport.world import ModelFault, ToolFault, ToolRaised, as_json

Messages = Sequence[Message | Mapping[str, Any]]


class Gate:
    """One await of the environment; a model gate may pass on several pieces before it is released."""

    __slots__ = ("answers", "id", "loop", "on", "shown", "waiter")

    def __init__(self, gate: str, on: str, shown: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        self.id = gate
        self.on = on
        self.shown = shown
        self.loop = loop
        self.answers: deque[Wire] = deque()
        self.waiter: asyncio.Future[None] | None = None

    def give(self, answer: Wire) -> None:
        """Pass an answer to the waiting runner."""
        self.answers.append(answer)
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    async def take(self) -> Wire:
        """Wait for the next answer."""
        while not self.answers:
            self.waiter = self.loop.create_future()
            await self.waiter
        return self.answers.popleft()


class KitHost:
    """The host of one scenario; it counts requests, yields, and entries of each call's body."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.log: list[dict[str, Any]] = []
        self.open_gates: dict[str, Gate] = {}
        self.run: str | None = None
        self.step = 0
        self.iteration = 0
        self.tools_entered = 0
        self.is_over = False  # nothing that happens from here on is reported
        self._attempts: dict[str, int] = {}
        self._gates = 0
        self._loop = loop
        self._between: list[asyncio.Future[None]] = []  # waiting until no request is under way

    # -- awaited by the runner

    async def infer(
        self,
        messages: Messages,
        *,
        sent: int,
        params: Mapping[str, Any],
        tools: Sequence[str] | None = None,
    ) -> RunnerTurn:
        """Send a request and wait for the whole turn."""
        gate = self._request(messages, sent, params, tools)
        try:
            piece: Delta | RunnerTurn | None = None
            while not isinstance(piece, RunnerTurn):
                piece = await _piece(gate)
            return piece
        finally:
            self._give_up(gate)

    def stream(
        self,
        messages: Messages,
        *,
        sent: int,
        params: Mapping[str, Any],
        tools: Sequence[str] | None = None,
    ) -> AsyncIterator[Delta | RunnerTurn]:
        """Send a request; yields its pieces as they arrive, then the whole turn."""
        return self._pieces(self._request(messages, sent, params, tools))

    async def _pieces(self, gate: Gate) -> AsyncIterator[Delta | RunnerTurn]:
        try:
            piece: Delta | RunnerTurn | None = None
            while not isinstance(piece, RunnerTurn):
                piece = await _piece(gate)
                yield piece
        finally:
            self._give_up(gate)

    async def tool(
        self, call: str | None, name: str, args: Mapping[str, Any], *, version: int = 1
    ) -> RunnerOutcome:
        """Run the body of a tool; a call without an id is identified by its argument `k`."""
        known = str(args.get("k")) if call is None else call
        self._attempts[known] = attempt = self._attempts.get(known, 0) + 1
        self.tools_entered += 1
        shown = {"call": known, "name": name, "args": as_json(args), "attempt": attempt, "version": version}
        answer = await self._pass(self._open("tool", shown))
        if isinstance(answer, Fault):
            raise ToolFault(answer.message)
        assert isinstance(answer, RunnerOutcome)
        if answer.kind == "raise":
            raise ToolRaised(answer.message or "the tool raised")
        return answer

    def message(self, message: Message | Mapping[str, Any]) -> None:
        """Report that the runner has put a message into its state."""
        self.append("message", {"message": as_json(message)})

    def status(self, to: str) -> None:
        """Report that the run is now Running or Done."""
        self.append("run.status", {"to": to})

    # -- called by the kit

    async def yielded(self, message: Message | None) -> Gate:
        """Open the gate at which the user acts."""
        self.iteration += 1
        return self._open("yield", {"iteration": self.iteration, "message": as_json(message)})

    async def between_requests(self) -> None:
        """Wait until no request is under way."""
        while any(gate.on == "model" for gate in self.open_gates.values()):
            waiter = self._loop.create_future()
            self._between.append(waiter)
            await waiter

    def release(self, gate: Gate, answer: Wire) -> None:
        """Release a gate; has no effect if the runner has already closed it."""
        if gate.id not in self.open_gates:
            return
        if isinstance(answer, RunnerTurn):
            for call in answer.tool_calls:  # a reused id is a new call
                self._attempts.pop(call.id, None)
            answer = answer.model_copy(update={"stop_reason": answer.stop})
        if not isinstance(answer, Delta):
            self._shut(gate)
        gate.give(answer)

    def give_up(self, gate: Gate) -> None:
        """Close a gate that was not released: the runner no longer waits for it."""
        self._give_up(gate)

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Record an observation for the current run."""
        if not self.is_over:
            self.log.append({"kind": kind, "run": self.run, **fields})

    async def _pass(self, gate: Gate) -> Wire:
        try:
            return await gate.take()
        finally:
            self._give_up(gate)

    def _request(
        self, messages: Messages, sent: int, params: Mapping[str, Any], tools: Sequence[str] | None
    ) -> Gate:
        self.step += 1
        shown = {"messages": as_json(list(messages)), "sent": sent, "params": as_json(params)}
        return self._open("model", shown if tools is None else {**shown, "tools": sorted(tools)})

    def _open(self, on: str, fields: dict[str, Any]) -> Gate:
        if self.is_over:
            raise asyncio.CancelledError("the scenario is over")
        self._gates += 1
        shown = {"gate": f"g{self._gates}", "on": on, "step": self.step, **fields}
        gate = Gate(shown["gate"], on, shown, self._loop)
        self.open_gates[gate.id] = gate
        self.append("gate.open", shown)
        return gate

    def _give_up(self, gate: Gate) -> None:
        if gate.id in self.open_gates:
            self._shut(gate)
            self.append("gate.closed", {"gate": gate.id, "because": "the runner stopped waiting for it"})

    def _shut(self, gate: Gate) -> None:
        del self.open_gates[gate.id]
        if gate.on == "model":
            waiting, self._between = self._between, []
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)


async def _piece(gate: Gate) -> Delta | RunnerTurn:
    """The next piece of a turn, or the whole turn."""
    piece = await gate.take()
    if isinstance(piece, Fault):
        raise ModelFault(piece.message)
    assert isinstance(piece, Delta | RunnerTurn)
    return piece


def is_break(answer: Wire) -> bool:
    """Whether the user leaves the loop."""
    return isinstance(answer, Resume) and answer.kind == "break"
