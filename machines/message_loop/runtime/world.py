"""What the reference loop needs from outside: model, tools, people, hooks, state machine, store and bus.

The owner of a loop brings a `World`.  The loop waits in each of these coroutines and nowhere else; one
that it cancels is given up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

from runlock.machines.world import Answer as ToolAnswer
from runlock.machines.world import AskedCall, HookAnswer, ToolRaised, WorldFault

__all__ = [
    "AskedCall", "HookAnswer", "PersonAnswer", "StreamPart", "ToolAnswer", "ToolRaised", "Verdict",
    "WholeResponse", "World", "WorldFault",
]  # fmt: skip


class StreamPart(Protocol):
    """A delta (`kind` is `delta`), or the whole response (`kind` is `turn`), which comes last."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


class WholeResponse(StreamPart, Protocol):
    """The last part of a stream."""

    @property
    def tool_calls(self) -> Sequence[AskedCall]: ...
    @property
    def terminal(self) -> bool: ...


class PersonAnswer(Protocol):
    """What an interactor answered: allow, deny or defer; an allow has a scope."""

    @property
    def kind(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def message(self) -> str | None: ...


class Verdict(Protocol):
    """What the assertion of a stage execution said: ok with a slot, retry, or fail."""

    @property
    def kind(self) -> str: ...
    @property
    def slot(self) -> Any: ...
    @property
    def message(self) -> str | None: ...


class World(Protocol):
    """The outside world.  Each coroutine may raise `WorldFault`; `tool` may raise `ToolRaised`.

    A tool answers ok or error, and a hook continue, deny or rewrite.
    """

    def stream(self, request: Mapping[str, Any], stage: str | None) -> AsyncIterator[StreamPart]: ...

    async def tool(self, call: str, name: str, args: Mapping[str, Any], stage: str | None) -> ToolAnswer: ...

    async def ask(self, interactor: str, prompt: Mapping[str, Any]) -> PersonAnswer: ...

    async def hook(
        self, hook: str, data: Mapping[str, Any], call: str | None, stage: str | None
    ) -> HookAnswer: ...

    async def judge(self, call: str, name: str, args: Mapping[str, Any], stage: str) -> str: ...

    async def context(self, provider: str, budget: int, stage: str | None) -> Sequence[str]: ...

    async def check(self, stage: str, transcript: Sequence[Mapping[str, Any]], cap_hit: bool) -> Verdict: ...

    async def commit(
        self, trigger: str, cause: str, force: bool, state: Mapping[str, Any], stage: str | None
    ) -> None: ...

    def event(self, name: str, data: Mapping[str, Any]) -> None: ...

    def message(self, message: Mapping[str, Any], transcript: str, stage: str | None) -> None: ...

    def status(self, kind: str, fields: Mapping[str, Any]) -> None: ...
