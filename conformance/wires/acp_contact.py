"""The first runs at an agent of the Agent Client Protocol, from which the kit learns what it does.

In one, the model asks for each tool, and the client gives each permission.  In another one, the session is
loaded by another process.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from runlock.conformance.errors import AdapterError
from runlock.conformance.protocol import ToolCall, Turn
from runlock.conformance.wires.acp_client import Agent, Permission, Session
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ends import Ends
from runlock.conformance.wires.first_round import FirstRound
from runlock.conformance.wires.model_apis.api import ModelRequest
from runlock.conformance.wires.ui_clients import Json

UNKNOWN: Final = "_undecided"
"""An answer to a permission that is none of the protocol."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What the first runs showed."""

    name: str
    version: str
    protocol: int  # the version of it that was spoken
    waits: bool  # whether a permission was asked
    together: bool  # whether several permissions of a round were open at once
    shows: bool  # whether a permission shows the arguments of its call
    entered: tuple[str, ...]  # the tools whose bodies were reached
    offered: tuple[str, ...]  # what the model is offered, by the names of the agent
    loads: bool  # whether a session goes on in another process
    says_it_loads: bool
    takes_unknown: bool | None = (
        None  # whether an answer that it does not know is an approval, if it was asked
    )

    @property
    def notes(self) -> list[str]:
        """What a person may want to check, in sentences."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        yield f"It is judged by the core, and speaks version {self.protocol} of the Agent Client Protocol."
        yield f"Its model was asked, and is offered {', '.join(self.offered)}."
        yield f"Its tools were reached: {', '.join(self.entered) or 'none'}."
        if self.waits:
            yield f"The permissions of a round are asked {'together' if self.together else 'one by one'}."
            yield f"A permission {'shows' if self.shows else 'does not show'} the arguments of its call."
        else:
            yield "No permission was asked."
        if self.takes_unknown:
            yield "An answer to a permission that it does not know is taken for an approval."
        if self.says_it_loads:
            yield f"A session {'goes on' if self.loads else 'does not go on'} when another process loads it."
        else:
            yield "It does not offer to load a session."


class Ask(FirstRound):
    """The first prompt of an agent, whose client gives each permission that it is asked for."""

    def __init__(self, address: Address, ends: Ends, mark: str, session: Session) -> None:
        super().__init__(address, ends, mark)
        self.session = session
        self._together = 0
        self._shows = False
        self._stop: Any = None
        session.asked = self._asked

    async def run(self) -> None:
        """Send a prompt, and wait for its response."""
        self._stop = await self.session.prompt(f"hello{self.mark}")
        self.session.asked = lambda permission: None

    def _asked(self, permission: Permission) -> None:
        asyncio.get_running_loop().call_later(0.3, self._allow, permission)
        self._together = max(self._together, len(self.session.open))
        self._shows = self._shows or self.mark in json.dumps(self.session.calls.get(permission.call))

    def _allow(self, permission: Permission) -> None:
        if permission.answer is None:
            self.session.answer(permission, permission.outcome(True))

    def refuse_unwired(self) -> None:
        """Raise an `AdapterError` if the model was not asked with all tools, or a tool was never entered."""
        stop = (self._stop or {}).get("stopReason")
        if not self.is_wired:
            raise AdapterError(f"The first prompt ended with the stop reason {stop}.", self.so_far())
        missing = {*self._address.ask[:1], *self._address.free[:1]} - {*self._entered}
        if missing:
            is_asked = bool(self.session.permissions)
            asked = "although its permission was given" if is_asked else "and no permission was asked"
            raise AdapterError(
                f"A call of {', '.join(sorted(missing))} did not run, {asked}: "
                f"the first prompt ended with the stop reason {stop}.",
                "A call waits as a request for a permission. Name what needs none with --free.",
            )

    def so_far(self) -> str:
        """How far it came, also by its states, where the end of a prompt is one."""
        turn, far = self.session.turn, super().so_far()
        is_open = turn is not None and (turn.ended.cancelled() or not turn.ended.done())
        stated = turn.so_far() if turn is not None and is_open else ""
        return f"{far.rstrip('.')}. {stated}" if stated else far

    def _not_offered(self) -> str:
        offered = ", ".join(self._ends.offered) or "no tool"
        wanted = ", ".join([*self._address.ask, *self._address.free])
        return (
            f"Its model was offered {offered}, and not {wanted}. An agent takes the MCP servers of "
            "`session/new`; tools of other names are given with --ask and --free."
        )

    def learned(self, agent: Agent, loads: bool) -> Learned:
        """What it showed."""
        info = agent.version.implementation(agent.info)
        return Learned(
            name=str(info.get("name") or agent.says),
            version=str(info.get("version") or "unknown"),
            protocol=agent.version.number,
            waits=bool(self.session.permissions),
            together=self._together > 1,
            shows=self._shows,
            entered=self.entered,
            offered=tuple(self._ends.offered),
            loads=loads,
            says_it_loads=agent.offers.loads,
        )


class Undecided:
    """A guest whose client answers a permission in a word that no agent knows, and cancels if asked again."""

    def __init__(self, tool: str, mark: str) -> None:
        self.mark = mark
        self._tool = tool
        self._requests = 0
        self._is_answered = self._is_over = self._has_entered = False

    async def prompt(self, session: Session) -> bool:
        """Send a prompt, and wait for its end."""
        self._session = session
        session.asked = self._asked
        await session.prompt(f"undecided{self.mark}")
        self._is_over = True
        return self._is_over

    @property
    def is_approval(self) -> bool | None:
        """Whether the answer was taken for an approval; None if that cannot be told."""
        return True if self._has_entered else False if self._is_over and self._is_answered else None

    def _asked(self, permission: Permission) -> None:
        if self._is_answered:
            self._session.cancel()
        else:
            self._is_answered = True
            self._session.answer(permission, {"outcome": {"outcome": UNKNOWN}})

    async def model(self, request: ModelRequest) -> Turn:
        self._requests += 1
        args: Json = {"k": f"call_1{self.mark}", "v": 1}
        asked = [ToolCall(id="call_1", name=self._tool, args=args)]
        return Turn(tool_calls=asked) if self._requests == 1 else Turn(text="done")

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        self._has_entered |= self._is_answered
        return "done", False


class Loaded:
    """A guest whose client has another process load its session, and sends one more prompt."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._shown: list[str] = []

    async def goes_on(self, agent: Agent, session: Session, servers: list[Json]) -> bool:
        """Whether the model is shown both prompts."""
        await agent.load(session, servers)
        await session.prompt(f"again{self.mark}")
        text = json.dumps(self._shown)
        return f"hello{self.mark}" in text and f"again{self.mark}" in text

    async def model(self, request: ModelRequest) -> Turn:
        self._shown = [one.text for one in request.messages]
        return Turn(text="done")

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        return "done", False
