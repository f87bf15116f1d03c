"""Records of a runner: the state that its user can change, and the current iteration."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runlock.machines.table import compile_chart
from runlock.machines.tool_runner.charts.response import CachedToolResponse
from runlock.machines.tool_runner.runtime.history import Message, position
from runlock.machines.tool_runner.runtime.pieces import Pieces
from runlock.machines.tool_runner.runtime.toolset import Toolset

RESPONSE_TABLE = compile_chart(CachedToolResponse)


@dataclass
class RunnerState:
    """The messages, the params and the tools."""

    tools: Toolset
    messages: list[Message] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)

    def fingerprint(self) -> Any:
        """A value that differs when the state does."""
        return self.snapshot(), dict(self.tools.versions)

    def snapshot(self) -> dict[str, Any]:
        """A copy of the state, for inspection."""
        return {
            "messages": [dict(one) for one in self.messages],
            "params": dict(self.params),
            "tools": self.tools.names(),
        }


@dataclass
class Response:
    """The response of an iteration: its chart state, its results, and the runner state they were made for."""

    at: str = RESPONSE_TABLE.initial
    results: list[Message] = field(default_factory=list)
    made_for: Any = None  # the state when it was asked for
    is_overtaken: bool = False  # the state changed while it was made


@dataclass
class Iteration:
    """One request and what follows it.  `mark` is the position after the request's messages, for the turn."""

    mark: int
    tools: Mapping[str, int]  # the tools of its request, with their versions
    pieces: Pieces = field(default_factory=Pieces)
    turn: Message | None = None
    stop: str = "end_turn"
    is_pushed: bool = False
    is_set: bool = False
    is_replaced: bool = False  # the messages of its request were replaced
    response: Response = field(default_factory=Response)
    entered: set[str] = field(default_factory=set)  # calls whose body was entered
    early: dict[str, asyncio.Task[Any]] = field(default_factory=dict)  # calls that started from the stream
    broken: Exception | None = None  # the fault that aborted a response
    is_placed: bool = False  # the runner put its turn into the state

    def place_of_turn(self, messages: list[Message]) -> int | None:
        """The position of its turn in the state, or None."""
        if self.turn is None:
            return None
        return position(messages, self.turn, 0 if self.is_replaced else self.mark)
