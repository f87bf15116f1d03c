"""The first runs at an application, from which the kit learns how it is wired up and what it does.

One is a round of every tool.  In another one, the client goes away while a tool runs.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

import httpx

from runlock.conformance.errors import AdapterError
from runlock.conformance.protocol import ToolCall, Turn
from runlock.conformance.wires.address import Address, exported
from runlock.conformance.wires.ag_ui_client import HttpClient
from runlock.conformance.wires.ends import Ends
from runlock.conformance.wires.model_apis.api import ModelRequest
from runlock.spec.model import load_spec

PROFILES: Final = "ag-ui-"
"""How the names of the profiles begin that stand for a version of the protocol."""

GONE_SECONDS: Final = 0.5
"""How long a server has at least to stop, or to go on, once its client has gone away."""

GONE_FACTOR: Final = 10
"""How many times as long as it takes to react it has to do so."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What the first runs showed.

    `waits` is how a call that needs an approval waits: as an `interrupt` of its own, in one interrupt for
    the round (`batch`), as a call without a result that the client gives (`result`), or not at all (``).
    """

    waits: str
    entered: tuple[str, ...]  # the tools whose bodies were reached
    stops: bool  # whether a run ends when its client goes away
    declares: str = ""  # the version of the protocol that the server says it speaks

    @property
    def profile(self) -> str:
        """The profile of the version that is declared; without one, and for a newer one, the newest."""
        known = [name for name in load_spec("lifecycle").profiles if name.startswith(PROFILES)]
        named = f"{PROFILES}{self.declares}"
        return named if named in known else max(known)


class Contact:
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

    async def run(self, client: HttpClient, http: httpx.AsyncClient) -> None:
        """Run once."""
        client.request(f"hello{self.mark}")
        await client.run(http, {}, lambda event: None)

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
        if not self._requests or {*self._address.ask, *self._address.free} - self._offered:
            return self._not_offered()
        return "Its model was asked, and answered."

    def refuse_unwired(self, client: HttpClient) -> None:
        """Raise an `AdapterError` if the model was not asked with all tools, or an approval cannot be seen.

        A tool that needs one and neither runs nor waits would leave the clauses about approvals untested, and
        a way to wait that the kit does not know would look like the end of the run.
        """
        ended = client.last.get("type", "the end of its stream")
        words = f": {client.last['message']}" if client.last.get("message") else ""
        if not self._requests or {*self._address.ask, *self._address.free} - self._offered:
            raise AdapterError(f"The first run ended with {ended}{words}.", self.so_far())
        asking = self._address.ask[:1]
        if asking and asking[0] not in self._entered and not self.waits(client):
            raise AdapterError(
                f"A call of {asking[0]} did not run, and nothing asked for its approval: "
                f"the first run ended with {ended}{words}.",
                "A call waits as an interrupt of RUN_FINISHED, or as a call without a result. "
                "Name what needs no approval with --free.",
            )

    @property
    def entered(self) -> tuple[str, ...]:
        """The tools whose bodies were reached."""
        return tuple(dict.fromkeys(self._entered))

    def waits(self, client: HttpClient) -> str:
        """How a call waits for an approval there."""
        if client.interrupts:
            return "interrupt" if all(one.get("toolCallId") for one in client.interrupts) else "batch"
        ended = client.last.get("type") == "RUN_FINISHED"
        return "result" if ended and self._requests == 1 and client.unanswered() else ""

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


class Departure:
    """A guest whose client goes away while a tool runs; `reaction` is how long the server takes to react."""

    def __init__(self, mark: str, tool: str, reaction: float) -> None:
        self.mark = mark
        self._tool = tool
        self._seconds = max(GONE_SECONDS, GONE_FACTOR * reaction)
        self._requests = 0
        self._at_work = asyncio.Event()
        self._goes_on = asyncio.Event()
        self._gone = asyncio.Event()

    async def stops(self, client: HttpClient, http: httpx.AsyncClient) -> bool:
        """Whether the server gives the run up: it asks its model for nothing more."""
        client.request(f"hello{self.mark}")
        running = asyncio.ensure_future(client.run(http, {}, lambda event: None))
        entering = asyncio.ensure_future(self._at_work.wait())
        await asyncio.wait({running, entering}, return_when=asyncio.FIRST_COMPLETED)
        entering.cancel()
        running.cancel()
        await asyncio.wait({running})
        if not self._at_work.is_set():
            return False
        await _within(self._seconds, self._gone)  # a server that stops may also hang up at its tool
        self._gone.set()
        return not await _within(self._seconds, self._goes_on)

    async def model(self, request: ModelRequest) -> Turn:
        self._requests += 1
        if self._requests > 1:
            self._goes_on.set()
            return Turn(text="done")
        return Turn(
            tool_calls=[ToolCall(id="call_1", name=self._tool, args={"k": f"call_1{self.mark}", "v": 1})]
        )

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        self._at_work.set()
        try:
            await self._gone.wait()
        except asyncio.CancelledError:
            self._gone.set()
            raise
        return "done", False


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Whether it is set before long."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
