"""The host of a tool runner: its awaits, and what it reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from runlock.conformance.families.tool_runner.messages import (
    Delta,
    Resume,
    RunnerOutcome,
    RunnerTurn,
)
from runlock.conformance.protocol import Message, Wire
from runlock.conformance.transport.gates import Gate, GateHost
from runlock.conformance.transport.world import ModelFault, ToolFault, ToolRaised, as_json

Messages = Sequence[Message | Mapping[str, Any]]


class KitHost(GateHost):
    """The host of one scenario; it counts requests, yields, and entries of each call's body."""

    waits = "the runner"

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.step = 0
        self.iteration = 0
        self.tools_entered = 0
        self._attempts: dict[str, int] = {}
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
            self.give_up(gate)

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
            self.give_up(gate)

    async def tool(
        self, call: str | None, name: str, args: Mapping[str, Any], *, version: int = 1
    ) -> RunnerOutcome:
        """Run the body of a tool; a call without an id is identified by its argument `k`."""
        known = str(args.get("k")) if call is None else call
        self._attempts[known] = attempt = self._attempts.get(known, 0) + 1
        self.tools_entered += 1
        shown = {"call": known, "name": name, "args": as_json(args), "attempt": attempt, "version": version}
        answer: RunnerOutcome = await self._pass("tool", shown, ToolFault)
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

    async def yielded(self, message: Message | None, released: Callable[[Resume], None]) -> Gate:
        """Open the gate at which the user acts; its release is one of the things that he does, in order."""
        self._released = released
        self.iteration += 1
        return self.open("yield", {"iteration": self.iteration, "message": as_json(message)})

    async def between_requests(self) -> None:
        """Wait until no request is under way."""
        while any(gate.on == "model" for gate in self.open_gates.values()):
            waiter = self._loop.create_future()
            self._between.append(waiter)
            await waiter

    def _request(
        self, messages: Messages, sent: int, params: Mapping[str, Any], tools: Sequence[str] | None
    ) -> Gate:
        self.step += 1
        shown = {"messages": as_json(list(messages)), "sent": sent, "params": as_json(params)}
        return self.open("model", shown if tools is None else {**shown, "tools": sorted(tools)})

    def _place(self, on: str, fields: Mapping[str, Any], at: None) -> dict[str, Any]:
        return {"step": self.step}

    def _passed(self, gate: Gate, answer: Any) -> Any:
        if isinstance(answer, Resume):
            self._released(answer)
        if not isinstance(answer, RunnerTurn):
            return answer
        for call in answer.tool_calls:  # a reused id is a new call
            self._attempts.pop(call.id, None)
        return answer.model_copy(update={"stop_reason": answer.stop})

    def _shut(self, gate: Gate) -> None:
        super()._shut(gate)
        if gate.on == "model":
            waiting, self._between = self._between, []
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)


async def _piece(gate: Gate) -> Delta | RunnerTurn:
    """The next piece of a turn, or the whole turn."""
    piece = await gate.take(ModelFault)
    assert isinstance(piece, Delta | RunnerTurn)
    return piece


def is_break(answer: Wire) -> bool:
    """Whether the user leaves the loop."""
    return isinstance(answer, Resume) and answer.kind == "break"
