"""A tool runner of forty lines on the hosted interface, as the author of an adapter would write one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from runlock.conformance.families.tool_runner.adapter import (
    Handshake,
    Item,
    Message,
    ModelFault,
    Refused,
    RunnerHost,
    RunnerScenario,
    RunnerState,
    ToolRaised,
)

HANDSHAKE: dict[str, Any] = {
    "implementation": {"name": "plain", "version": "1"},
    "gates": ["model", "tool", "yield"],
    "stimuli": [
        "runner.push", "runner.set.params", "runner.set.messages", "runner.respond", "runner.tools",
        "runner.again", "cancel", "cancel.yield", "deliver",
    ],
    "outcomes": {
        "model": ["turn", "delta", "fault"],
        "tool": ["ok", "error", "raise", "fault"],
        "yield": ["resume", "break"],
    },
    "runner": {"stream": [False, True], "read": ["all", "none"], "max_iterations": True},
    "policies": {"round.executor": "sequential", "runner.cache": "none"},
}  # fmt: skip


class PlainRunner:
    """Sends, yields, runs the calls one by one, and repeats; a change drops the turn."""

    def __init__(self) -> None:
        self.handshake = Handshake.model_validate(HANDSHAKE)
        self.messages: list[Message] = []
        self.params: dict[str, Any] = {}
        self.changed = False
        self.turn: Message | None = None
        self.closed = 0

    async def open(self, host: RunnerHost, scenario: RunnerScenario) -> None:
        self.host, self.stream = host, scenario.runner.stream

    async def run(self, input: str) -> AsyncIterator[Item]:
        self.messages.append(Message(role="user", text=input))
        try:
            while True:
                self.changed = False
                if self.stream:
                    turns: list[Any] = []
                    request = self.host.stream(self.messages, sent=len(self.messages), params=self.params)
                    yield None, self.pieces(request, turns)
                    async for _ in self.pieces(request, turns):
                        pass  # what the user did not read
                    if not turns:
                        raise ModelFault("the stream broke off")
                else:
                    turn = await self.host.infer(self.messages, sent=len(self.messages), params=self.params)
                    self.turn = turn.message
                    yield self.turn, None
                assert self.turn is not None
                if not self.changed:
                    self.messages.append(self.turn)
                    if not self.turn.tool_calls:
                        return
                    self.messages += await self.results()
        finally:
            self.closed += 1

    async def pieces(self, request: Any, turns: list[Any]) -> AsyncIterator[Any]:
        async for piece in request:
            if piece.kind == "turn":
                turns.append(piece)
                self.turn = piece.message
                return
            yield piece

    async def results(self) -> list[Message]:
        made = []
        for call in self.turn.tool_calls if self.turn is not None else ():
            try:
                answer = await self.host.tool(None, call.name, call.args)
                status, text = answer.kind, str(answer.content)
            except ToolRaised as error:
                status, text = "error", str(error)
            made.append(
                Message(role="tool", call=call.id, status="ok" if status == "ok" else "error", text=text)
            )
        return made

    def again(self) -> AsyncIterator[Item]:
        raise Refused("a generator that was closed is over")

    async def push(self, messages: Sequence[Message]) -> None:
        self.messages += messages
        self.changed = True

    async def set(self, messages: Sequence[Message] | None, params: Mapping[str, Any] | None) -> None:
        self.messages = list(messages) if messages is not None else self.messages
        self.params |= params or {}
        self.changed = True

    async def respond(self) -> Sequence[Message] | None:
        return await self.results() or None

    async def tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        raise RuntimeError("its tools are fixed")

    async def cancel(self) -> None:
        await asyncio.sleep(0)

    def last(self) -> Message | None:
        return self.turn

    def ended(self) -> str:
        return "NaturalEnd"

    def snapshot(self) -> RunnerState:
        return RunnerState(self.messages, self.params, ["t0"])

    async def close(self) -> None:
        pass
