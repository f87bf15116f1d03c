"""What the reference tool runner needs from outside: the model, the tools, and a reader of its reports.

The owner of a runner brings a `World`.  The runner waits in each of these coroutines and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from runlock.machines.world import AskedCall, ToolRaised, WorldFault

__all__ = ["Answer", "AskedCall", "ModelTurn", "Piece", "ToolRaised", "World", "WorldFault"]


class ModelTurn(Protocol):
    """What the model answered; a stop reason of None is tool_use if there are calls, else end_turn."""

    @property
    def text(self) -> str: ...
    @property
    def tool_calls(self) -> Sequence[AskedCall]: ...
    @property
    def stop_reason(self) -> str | None: ...


class Piece(Protocol):
    """A piece of a turn: some text, or a complete call."""

    @property
    def text(self) -> str | None: ...
    @property
    def tool_call(self) -> AskedCall | None: ...


class Answer(Protocol):
    """What a tool answered: `ok` or `error`, and its content."""

    @property
    def kind(self) -> str: ...
    @property
    def content(self) -> Any: ...


class World(Protocol):
    """The outside world.  Each coroutine may raise `WorldFault`; `execute` may raise `ToolRaised`."""

    async def infer(
        self,
        messages: Sequence[Mapping[str, Any]],
        sent: int,
        params: Mapping[str, Any],
        tools: Sequence[str] | None,
        on_piece: Callable[[Any], None] | None = None,
    ) -> ModelTurn:
        """Ask the model; with `on_piece`, for a stream, of which each `Piece` is passed on when it comes."""
        ...

    async def execute(self, call: str | None, name: str, args: Mapping[str, Any], version: int) -> Answer:
        """Enter the body of a tool; a runner that does not tell tools their call id passes None."""
        ...

    def message(self, message: Mapping[str, Any]) -> None:
        """Report a message that the runner put into the state."""
        ...

    def status(self, to: str) -> None:
        """Report that the run is Running, or Done."""
        ...
