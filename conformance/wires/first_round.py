"""The first round of any runtime behind a wire: a model that asks for every tool, and what was reached."""

from __future__ import annotations

import asyncio
from typing import Any

from runlock.conformance.protocol import ToolCall, Turn
from runlock.conformance.wires.address import Address, exported
from runlock.conformance.wires.ends import Ends
from runlock.conformance.wires.model_apis.api import ModelRequest


class FirstRound:
    """A guest of the ends, whose model asks for every tool once: for each that needs an approval, twice."""

    def __init__(self, address: Address, ends: Ends, mark: str) -> None:
        self.mark = mark
        self._address = address
        self._ends = ends
        self._requests = 0
        self._offered: set[str] = set()
        self._entered: list[str] = []
        self._answered_at = 0.0
        self.reaction = 0.0  # seconds from the last result of a tool to the next request to the model

    async def model(self, request: ModelRequest) -> Turn:
        self._requests += 1
        self._offered.update(request.tools)
        if self._answered_at:
            self.reaction = asyncio.get_running_loop().time() - self._answered_at
        return Turn(tool_calls=self._calls()) if self._requests == 1 else Turn(text="done")

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        self._entered.append(name)
        self._answered_at = asyncio.get_running_loop().time()
        return "done", False

    def _calls(self) -> list[ToolCall]:
        names = [*self._address.ask[:1], *self._address.ask[:1], *self._address.free[:1]]
        return [
            ToolCall(id=f"call_{at}", name=name, args={"k": f"call_{at}{self.mark}", "v": 1})
            for at, name in enumerate(names, 1)
        ]

    def so_far(self) -> str:
        """What was reached, as a sentence that says what to set."""
        if not self._ends.reached["model"]:
            return f"The model end was not asked. {self._to_set('OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL')}"
        if not self.is_wired:
            return self._not_offered()
        return "Its model was asked, and answered."

    @property
    def is_wired(self) -> bool:
        """Whether its model was asked, and offered all of the tools."""
        return bool(self._requests) and not {*self._address.ask, *self._address.free} - self._offered

    @property
    def entered(self) -> tuple[str, ...]:
        """The tools whose bodies were reached."""
        return tuple(dict.fromkeys(self._entered))

    def _not_offered(self) -> str:
        offered = ", ".join(self._ends.offered) or "no tool"
        wanted = ", ".join([*self._address.ask, *self._address.free])
        return (
            f"Its model was offered {offered}, and not {wanted}. "
            f"{self._to_set('RUNLOCK_MCP_URL')} as an MCP server, or name its tools with --ask and --free."
        )

    def _to_set(self, *names: str) -> str:
        known = exported(self._ends.port)
        return f"Set {' or '.join(f'{name}={known[name]}' for name in names)} in the application"
