"""The reference tool runner behind the hosted interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from copy import copy
from functools import cache
from typing import Any, Final

from runlock.conformance.families.tool_runner import adapter as face
from runlock.conformance.families.tool_runner.adapter import (
    Handshake,
    Item,
    Message,
    Refused,
    RunnerHost,
    RunnerScenario,
    RunnerState,
)
from runlock.conformance.protocol import Control, Party
from runlock.conformance.transport.world import translated
from runlock.machines.tool_runner.runtime import runner, world
from runlock.machines.tool_runner.runtime.choices import policies_of

OBSERVES: Final = ("run.status", "message", "runner.response", "event", "run.finished")
STIMULI: Final = (
    "runner.push", "runner.set.params", "runner.set.messages", "runner.respond", "runner.tools",
    "runner.again", "cancel", "cancel.yield", "deliver", "clock.advance",
)  # fmt: skip
STOPS: Final = ("tool_use", "end_turn", "max_tokens", "refusal", "pause_turn", "stop_sequence")
NO_CHANGES: Final[Mapping[str, Any]] = {}


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except runner.TurnedDown as refusal:
        raise Refused(str(refusal)) from refusal


class HostedWorld:
    """The runner's world, made of the kit's host."""

    def __init__(self, host: RunnerHost, shown: Collection[str]) -> None:
        self.host = host
        self.shown = shown

    async def infer(
        self,
        messages: Sequence[Mapping[str, Any]],
        sent: int,
        params: Mapping[str, Any],
        tools: Sequence[str] | None,
        on_piece: Callable[[Any], None] | None = None,
    ) -> world.ModelTurn:
        with translated():
            if on_piece is None:
                return await self.host.infer(messages, sent=sent, params=params, tools=tools)
            return await self._stream(messages, sent, params, tools, on_piece)

    async def _stream(
        self,
        messages: Sequence[Mapping[str, Any]],
        sent: int,
        params: Mapping[str, Any],
        tools: Sequence[str] | None,
        on_piece: Callable[[Any], None],
    ) -> world.ModelTurn:
        pieces: Any = self.host.stream(messages, sent=sent, params=params, tools=tools)
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, face.Turn):
                    return piece
                on_piece(piece)
        raise world.WorldFault("the stream ended without a turn")

    async def execute(
        self, call: str | None, name: str, args: Mapping[str, Any], version: int
    ) -> world.Answer:
        with translated():
            return await self.host.tool(call, name, args, version=version)

    def message(self, message: Mapping[str, Any]) -> None:
        if "message" in self.shown:
            self.host.message(message)

    def status(self, to: str) -> None:
        if "run.status" in self.shown:
            self.host.status(to)


class ReferenceAdapter:
    """The reference under a profile; `make` builds the runner, so that others can be built.

    `declare` are fields of the handshake that say something else than what the runner does.
    """

    def __init__(
        self,
        profile: str = "tool-runner",
        policies: Mapping[str, Any] | None = None,
        make: Callable[..., runner.Runner] = runner.Runner,
        declare: Mapping[str, Any] | None = None,
    ) -> None:
        self.policies = policies_of(profile, policies or {})
        self.make = make
        self.handshake = handshake_of(profile, self.policies, declare or {})

    async def open(self, host: RunnerHost, scenario: RunnerScenario) -> None:
        options = scenario.runner
        self.runner = self.make(
            HostedWorld(host, self.handshake.observes),
            {tool.name: tool.offered for tool in scenario.tools},
            self.policies,
            max_iterations=options.max_iterations,
            stream=options.stream,
        )

    def run(self, input: str) -> AsyncIterator[Item]:
        return _items(self.runner.run(input))

    def again(self) -> AsyncIterator[Item]:
        with _refusing():
            return _items(self.runner.again())

    async def push(self, messages: Sequence[Message]) -> None:
        with _refusing():
            self.runner.push([one.to_wire() for one in messages])

    async def set(self, messages: Sequence[Message] | None, params: Mapping[str, Any] | None) -> None:
        given = None if messages is None else [one.to_wire() for one in messages]
        with _refusing():
            self.runner.set(given, params)

    async def respond(self) -> Sequence[Message] | None:
        with _refusing():
            results = await self.runner.respond()
        return None if results is None else [Message.model_validate(one) for one in results]

    async def tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        with _refusing():
            self.runner.change_tools(add, remove)

    async def cancel(self) -> None:
        self.runner.cancel()

    def last(self) -> Message | None:
        return _message(self.runner.last_turn)

    def ended(self) -> str:
        return self.runner.reason

    def snapshot(self) -> RunnerState:
        return RunnerState(**self.runner.look())

    async def close(self) -> None:
        return None


def _message(message: Mapping[str, Any] | None) -> Message | None:
    return None if message is None else Message.model_validate(message)


async def _items(walk: Any) -> AsyncIterator[Item]:
    """The walk as the kit takes it; closing it closes the runner's own."""
    async with aclosing(walk):
        async for item in walk:
            yield _message(item.message), item.pieces


def handshake_of(profile: str, policies: Mapping[str, Any], declare: Mapping[str, Any]) -> Handshake:
    """What the reference says of itself: every policy with its value, everything shown and offered."""
    fields: dict[str, Any] = {
        "implementation": Party(name="runlock-reference-runner", version="1.0", language="python"),
        "profile": profile,
        "policies": dict(policies),
        "control": Control(settle="exact", crash=[], store="none", clock="virtual", step="turns"),
        "gates": ["model", "tool", "yield"],
        "observes": list(OBSERVES),
        "stimuli": list(STIMULI),
        "outcomes": {
            "model": ["turn", "delta", "fault"],
            "tool": ["ok", "error", "raise", "fault"],
            "yield": ["resume", "break"],
        },
        "stops": list(STOPS),
        "runner": {"stream": [False, True], "read": ["all", "none"], "max_iterations": True},
    }
    return Handshake.model_validate({**fields, **declare})


def reference(
    profile: str = "tool-runner",
    policies: Mapping[str, Any] = NO_CHANGES,
    declare: Mapping[str, Any] = NO_CHANGES,
) -> Callable[[], ReferenceAdapter]:
    """Make adapters of the reference for a profile, with other values of its policies and its handshake."""
    unopened = cache(lambda: ReferenceAdapter(profile, policies, declare=declare))
    return lambda: copy(unopened())  # the handshake is the same each time
