"""The first runs at an application, from which the kit learns how it is wired up and what it does.

One is a round of every tool.  In another one, the client goes away while a tool runs.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import httpx

from runlock.conformance.errors import AdapterError
from runlock.conformance.families.lifecycle.messages import Decision
from runlock.conformance.protocol import ToolCall, Turn
from runlock.conformance.wires.ag_ui_client import LEGACY, HttpClient
from runlock.conformance.wires.approvals import Approvals
from runlock.conformance.wires.dialects import payload
from runlock.conformance.wires.first_round import FirstRound
from runlock.conformance.wires.identity import Identity
from runlock.conformance.wires.model_apis.api import ModelRequest

GONE_SECONDS: Final = 0.5
"""How long a server has at least to stop, or to go on, once its client has gone away."""

GONE_FACTOR: Final = 10
"""How many times as long as it takes to react it has to do so."""


class Contact(FirstRound):
    """The first round of an application that serves AG-UI."""

    async def run(self, client: HttpClient, http: httpx.AsyncClient) -> None:
        """Run once."""
        client.request(f"hello{self.mark}")
        await client.run(http, {}, lambda event: None)

    def refuse_unwired(self, client: HttpClient) -> None:
        """Raise an `AdapterError` if the model was not asked with all tools, or an approval cannot be seen.

        A tool that needs one and neither runs nor waits would leave the clauses about approvals untested, and
        a way to wait that the kit does not know would look like the end of the run.
        """
        ended = client.last.get("type", "the end of its stream")
        words = f": {client.last['message']}" if client.last.get("message") else ""
        if not self.is_wired:
            raise AdapterError(f"The first run ended with {ended}{words}.", self.so_far())
        asking = self._address.ask[:1]
        if asking and asking[0] not in self._entered and not self.waits(client):
            raise AdapterError(
                f"A call of {asking[0]} did not run, and nothing asked for its approval: "
                f"the first run ended with {ended}{words}.",
                "A call waits as an interrupt of RUN_FINISHED, or as a call without a result. "
                "Name what needs no approval with --free.",
            )

    async def approves(self, client: HttpClient, http: httpx.AsyncClient) -> bool:
        """Approve all that waits; whether that lets a tool run which needs it."""
        identity = Identity(self.mark, {})
        approvals = Approvals(self._address, identity, by_result=self.waits(client) == "result")
        waiting = approvals.waiting(client)
        given = [Decision(id=call, call=call, action="resume") for call in waiting]
        client.request()
        await client.run(http, approvals.answers(client, given) or {}, lambda event: None)
        return self._address.ask[0] in self._entered

    def answers(self, client: HttpClient) -> tuple[Any, Any]:
        """What says yes and what says no to what waits."""
        asked = client.interrupts[0] if client.interrupts else {}
        return payload(self._address, asked, True), payload(self._address, asked, False)

    def waits(self, client: HttpClient) -> str:
        """How a call waits for an approval there."""
        if client.interrupts and LEGACY in client.interrupts[0]:
            return "custom"
        if client.interrupts:
            return "interrupt" if all(one.get("toolCallId") for one in client.interrupts) else "batch"
        ended = client.last.get("type") == "RUN_FINISHED"
        return "result" if ended and self._requests == 1 and client.unanswered() else ""


class Memory:
    """A guest whose client leaves out in its second request what it said in its first."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._shown: list[str] = []  # to the model, by its last request

    async def keeps(self, client: HttpClient, http: httpx.AsyncClient) -> bool:
        """Whether the model is shown both."""
        for text, leaves_out in (("first", False), ("second", True)):
            client.request(f"{text}{self.mark}")
            await client.run(http, {}, lambda event: None, leaves_out=leaves_out)
        return {f"first{self.mark}", f"second{self.mark}"} <= {*self._shown}

    async def model(self, request: ModelRequest) -> Turn:
        self._shown = [one.text for one in request.messages]
        return Turn(text="done")

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        return "done", False


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
