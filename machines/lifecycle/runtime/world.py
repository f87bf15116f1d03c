"""The environment of the reference runtime: model, permission hook, tools, plugins, store and clock.

The caller of the runtime provides a `World`.  The runtime waits only in these calls, and reports what it does
through `observe`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from runlock.machines.world import Answer, AskedCall, ToolRaised, WorldFault
from runlock.machines.world import HookAnswer as PluginAnswer

__all__ = [
    "Answer",
    "AskedCall",
    "ModelTurn",
    "PluginAnswer",
    "TokensSpent",
    "ToolRaised",
    "World",
    "WorldFault",
]


class TokensSpent(Protocol):
    """Tokens that a turn cost."""

    @property
    def input(self) -> int: ...
    @property
    def output(self) -> int: ...


class ModelTurn(Protocol):
    """What the model answered."""

    @property
    def text(self) -> str: ...
    @property
    def tool_calls(self) -> Sequence[AskedCall]: ...
    @property
    def usage(self) -> TokensSpent: ...
    @property
    def stop(self) -> str | None: ...


class World(Protocol):
    """The outside world.  Each coroutine may raise `WorldFault`; `execute` may raise `ToolRaised`.

    A plugin that is consulted answers continue, terminate, skip_inference or rewrite.
    """

    async def infer(
        self,
        messages: Sequence[Mapping[str, Any]],
        step: int,
        request: Mapping[str, Any] = ...,
        streams: Callable[[str, AskedCall | None], None] | None = None,
    ) -> ModelTurn: ...

    async def permit(
        self, call: str, name: str, args: Mapping[str, Any], resume: Mapping[str, Any] | None
    ) -> Answer: ...

    async def execute(
        self,
        call: str,
        name: str,
        args: Mapping[str, Any],
        resume: Mapping[str, Any] | None,
        tells: Callable[[Any], None] | None = None,
    ) -> Answer: ...

    async def consult(self, at: str, data: dict[str, Any], call: str | None, step: int) -> PluginAnswer: ...

    async def apply(self, calls: Sequence[str]) -> None: ...

    async def commit(self, trigger: str, cause: str, force: bool, state: Mapping[str, Any]) -> None: ...

    def observe(self, kind: str, **fields: Any) -> None: ...

    def within(self, call: str) -> World:
        """The outside world of the run within a call; nothing of it is committed by itself."""
        ...

    def refuse(self, why: str, decision: str) -> None: ...

    def now_ms(self) -> int: ...
