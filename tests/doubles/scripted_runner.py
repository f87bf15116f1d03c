"""A reference tool runner with a scripted world: what the model and the tools say, and what the user does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runlock.machines.tool_runner.runtime.choices import policies_of
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import ToolRaised, WorldFault

Act = Callable[[Runner], Awaitable[Any]]


@dataclass
class Call:
    """A call of a turn."""

    id: str
    name: str = "t0"
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class Turn:
    """A turn of the model."""

    text: str = ""
    tool_calls: list[Call] = field(default_factory=list)
    stop_reason: str | None = None


@dataclass
class Piece:
    """A piece of a turn."""

    text: str | None = None
    tool_call: Call | None = None


@dataclass
class Answer:
    """What a tool answers."""

    kind: str = "ok"
    content: Any = "done"


def turn(text: str, *calls: str, stop: str | None = None, tool: str = "t0") -> Turn:
    """A turn with calls of one tool."""
    return Turn(text, [Call(one, tool) for one in calls], stop)


def user(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "text": text}


def assistant(text: str, *calls: str, tool: str = "t0") -> dict[str, Any]:
    """The message of such a turn."""
    asked = [{"id": one, "name": tool, "args": {}} for one in calls]
    return {"role": "assistant", "text": text, **({"tool_calls": asked} if asked else {})}


def result(call: str, text: str = "done", status: str = "ok") -> dict[str, Any]:
    """The result of a call."""
    return {"role": "tool", "call": call, "status": status, "text": text}


HELD = object()
"""As the outcome of a call: its body waits until `ScriptedWorld.release`."""


class ScriptedWorld:
    """Turns in order, answers by call; everything that is asked of it is written down."""

    def __init__(self, turns: Sequence[Any], answers: Mapping[str, Any] | None = None) -> None:
        self.turns = list(turns)
        self.answers = dict(answers or {})
        self.requests: list[list[dict[str, Any]]] = []
        self.sent: list[int] = []
        self.params: list[dict[str, Any]] = []
        self.offered: list[list[str]] = []
        self.entries: list[str] = []
        self.versions: list[int] = []
        self.reported: list[dict[str, Any]] = []
        self.statuses: list[str] = []
        self.held: dict[str, asyncio.Future[Any]] = {}

    async def infer(self, messages: Any, sent: int, params: Any, tools: Any, on_piece: Any = None) -> Turn:
        self.requests.append(list(messages))
        self.sent.append(sent)
        self.params.append(dict(params))
        self.offered.append(list(tools))
        said = self.turns.pop(0)
        if said is HELD:
            await asyncio.get_running_loop().create_future()
        if isinstance(said, Exception):
            raise said
        if on_piece is not None:
            for piece in (Piece(text=said.text), *(Piece(tool_call=one) for one in said.tool_calls)):
                on_piece(piece)
                await asyncio.sleep(0)
        answered: Turn = said
        return answered

    async def execute(self, call: str, name: str, args: Mapping[str, Any], version: int) -> Answer:
        self.entries.append(call)
        self.versions.append(version)
        said = self.answers.get(call, Answer())
        if said is HELD:
            self.held[call] = asyncio.get_running_loop().create_future()
            said = await self.held[call]
        if isinstance(said, ToolRaised | WorldFault):
            raise said
        answered: Answer = said
        return answered

    def message(self, message: Mapping[str, Any]) -> None:
        self.reported.append(dict(message))

    def status(self, to: str) -> None:
        self.statuses.append(to)


async def _nothing(runner: Runner) -> None:
    return None


@dataclass
class Played:
    """A walk that is over."""

    runner: Runner
    world: ScriptedWorld
    yielded: list[Any]
    error: Exception | None = None

    @property
    def last_request(self) -> list[dict[str, Any]]:
        """The messages of the last request, without the first, which is the user's."""
        return self.world.requests[-1][1:]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the state without the first."""
        return self.runner.state.messages[1:]


async def walk_over(
    runner: Runner, walk: Any, acts: Sequence[Act | str], yielded: list[Any], leave_after: int = 0
) -> None:
    """Iterate; the n-th act is done at the n-th yield, and `break` leaves the loop there."""
    for number in range(len(acts) + 100):
        try:
            item = await anext(walk)
        except StopAsyncIteration:
            return
        yielded.append(item.message)
        act = acts[number] if number < len(acts) else _nothing
        if isinstance(act, str):
            await walk.aclose()
            return
        await act(runner)
        if number + 1 == leave_after:
            await walk.aclose()
            return


def play(
    turns: Sequence[Any],
    *acts: Act | str,
    profile: str = "tool-runner",
    policies: Mapping[str, Any] | None = None,
    answers: Mapping[str, Any] | None = None,
    tools: Mapping[str, bool] | None = None,
    again: Sequence[Act | str] | None = None,
    make: type[Runner] = Runner,
    leave_after: int = 0,
    **options: Any,
) -> Played:
    """Play a script to its end; with `again`, take the runner up once more."""
    world = ScriptedWorld(turns, answers)
    offered = tools or {"t0": True, "t1": True, "t2": False}
    runner = make(world, offered, policies_of(profile, policies or {}), **options)
    played = Played(runner, world, [])

    async def go() -> None:
        try:
            await walk_over(runner, runner.run("hello"), acts, played.yielded, leave_after)
        except (WorldFault, ToolRaised) as error:
            played.error = error
        if again is not None:
            await walk_over(runner, runner.again(), again, played.yielded)

    asyncio.run(go())
    return played


def push(*messages: Mapping[str, Any]) -> Act:
    """The user pushes messages."""

    async def act(runner: Runner) -> None:
        runner.push(messages)

    return act


def set_state(messages: Sequence[Any] | None = None, params: Mapping[str, Any] | None = None) -> Act:
    """The user sets messages or params."""

    async def act(runner: Runner) -> None:
        runner.set(messages, params)

    return act


def respond(into: list[Any] | None = None, *, then_push: bool = False) -> Act:
    """The user asks for the response, and perhaps pushes the turn with it."""

    async def act(runner: Runner) -> None:
        given = await runner.respond()
        if into is not None:
            into.append(given)
        if then_push:
            assert given is not None and runner.last_turn is not None
            runner.push([runner.last_turn, *given])

    return act


def change(add: Sequence[str] = (), remove: Sequence[str] = ()) -> Act:
    """The user changes the tools."""

    async def act(runner: Runner) -> None:
        runner.change_tools(add, remove)

    return act


def cancel() -> Act:
    """The abort signal comes."""

    async def act(runner: Runner) -> None:
        runner.cancel()

    return act


def both(*acts: Act) -> Act:
    """One act after the other, at one yield."""

    async def act(runner: Runner) -> None:
        for one in acts:
            await one(runner)

    return act
