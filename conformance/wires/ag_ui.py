"""An adapter of the family lifecycle for any application that serves AG-UI: one thread of it, and its client.

Declared is what every server of AG-UI has, and nothing else.  Not observable on this wire: statuses of the
run and of its calls, checkpoints, and decisions while a run is live, which the protocol does not have.  A
client that goes away cancels its run where the server stops then, which the first run of the kit finds out;
where it does not, a cancel is not offered.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Final

import httpx

from runlock.conformance.families.lifecycle.adapter import Host, Refused, Segment, ToolRaised
from runlock.conformance.families.lifecycle.messages import (
    Decision,
    DecisionSupport,
    Handshake,
    InputSupport,
    OfferedOutcomes,
    Reason,
    Scenario,
    StreamKind,
)
from runlock.conformance.protocol import Control, Party, Turn
from runlock.conformance.protocol.exchanges import of_exchange
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ag_ui_client import HttpClient, NoStream
from runlock.conformance.wires.approvals import Approvals
from runlock.conformance.wires.identity import Identity
from runlock.conformance.wires.model_apis.api import ModelRequest
from runlock.conformance.wires.rest import Resting
from runlock.conformance.wires.ui_clients import Json
from runlock.conformance.wires.wire import Wire

RANDOM: Final = re.compile(
    r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)"
)
"""What a server makes anew each time: ids of messages, and times of day."""

LOOSE: Final = ("timestamp", "rawEvent", "raw_event", "input")
"""Fields of an event that hold what a server measures, or what was sent to it."""

COUNTED: Final = "usage"
"""A field that is part of an exchange, and not of what a watcher compares."""


class AgUi:
    """One thread of an application, and its client."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.address = wire.address

    @property
    def handshake(self) -> Handshake:
        """What every server has; a tool that asks only if there is one."""
        permissions = {"allow": self.address.free, "ask": self.address.ask}
        return Handshake(
            implementation=Party(name=f"the agent at {self.address.url}", version="unknown"),
            control=Control(settle="observed", clock="real", step="none"),
            gates=["model", "tool"],
            profile=self.wire.learned.profile,
            observes=["call.shown", "event", "exchange", "stream.closed"],
            stimuli=[
                *("decide", "run.again", "run.input", "watch.request", "deliver"),
                *(["cancel"] if self.wire.learned.stops else []),
            ],
            outcomes=OfferedOutcomes(model=["turn", "fault"], tool=["ok", "error"]),
            tools=[name for name, tools in permissions.items() if tools],  # type: ignore[misc]
            decisions=DecisionSupport(
                live=False, ids=False, payload=False, after_error=False, after_cancel=False
            ),
            inputs=InputSupport(working=False),
            streams=["ag-ui"],
            history=[],
        )

    # What the kit does.

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.host = host
        self.client: HttpClient = self.wire.thread()
        self.mark = self.client.mark
        self.identity = Identity(self.mark, _tools(scenario, self.address))
        by_result = self.wire.learned.waits == "result"
        self.approvals = Approvals(self.address, self.identity, by_result=by_result)
        self.entered: set[str] = set()  # calls of the newest turn
        self.approved: set[str] = set()  # by the newest decisions
        self.has_answered = False  # a tool, since the model was asked: an event may tell of it
        self.requests_open = 0
        self.is_touched = self.has_left = False
        self.running: asyncio.Task[None] | None = None  # the request that is under way
        self.watcher: str | None = None
        self.events: list[Json] = []  # of the request that is under way
        self.random: dict[str, str] = {}  # a name for each text that a server makes anew
        self.tasks: set[asyncio.Task[Any]] = set()
        kit = asyncio.get_running_loop()
        self.rest = Resting(self.wire.real, kit, self.wire.pace, self._is_complete, lambda: self.has_left)
        self.wire.ends.guest = self

    async def start(self, text: str) -> Segment:
        client = deepcopy(self.client)
        client.request(f"{text}{self.mark}")
        return await self._run(client, {}, self._failed)

    async def input(self, text: str) -> Segment:
        client = deepcopy(self.client)
        client.request(f"{text}{self.mark}")
        return await self._run(client, {}, self._refused)

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        client = deepcopy(self.client)
        client.request()
        more = self.approvals.answers(client, decisions)
        self.approved |= {one.call for one in decisions if one.action == "resume"}
        return None if more is None else await self._run(client, more, self._refused)

    async def cancel(self) -> None:
        """The client goes away in the middle of its request."""
        if self.running is None:
            raise Refused("no request is under way that the client could leave")
        self.rest.end()
        self.has_left = True
        self.wire.real.loop.call_soon_threadsafe(self.running.cancel)

    def watch(self, watcher: str, stream: StreamKind) -> None:
        """The stream of the next request has a receiver."""
        self.watcher = watcher

    def busy(self) -> bool:
        """Whether the application may still move."""
        return hasattr(self, "rest") and self.rest.busy()

    async def close(self) -> None:
        if self.wire.ends.guest is self:
            self.wire.ends.guest = None
        self.wire.real.loop.call_soon_threadsafe(self._give_up)

    def _give_up(self) -> None:
        for task in self.tasks:
            task.cancel()

    # What the client sends, and what comes back.

    async def _run(self, client: HttpClient, more: Json, wrong: Callable[[str], Segment]) -> Segment:
        """Send a request; `wrong` says what an error comes to that touched nothing."""
        self.is_touched = False
        error = await self._sent(client, more)
        if error is not None and not self.is_touched:
            return wrong(error)
        return self._ended(client, error)

    async def _sent(self, client: HttpClient, more: Json) -> str | None:
        """Send a request to its end; gives the error that it ended with."""
        self.has_left, self.events = False, []
        sent, ended = self._known(self.identity.named(client.body(more))), "closed"
        try:
            await self.rest.do(self._request(client, more))
            ended = "left" if self.has_left else "closed"
        except (NoStream, httpx.HTTPError) as error:
            ended = "refused" if isinstance(error, NoStream) and error.is_refused else "left"
            return str(error) or repr(error)
        finally:
            self.host.observe("exchange", request=sent, events=self.events, ended=ended)
            self._close_stream()
        if self.has_left and not client.last:
            return None
        if client.last.get("type") == "RUN_ERROR":
            return str(client.last.get("message", ""))
        return None if client.last else "the stream ended without RUN_FINISHED or RUN_ERROR"

    async def _request(self, client: HttpClient, more: Json) -> None:
        """Send a request, unless the client leaves; called on the real loop."""
        self.running = asyncio.ensure_future(client.run(self.wire.http, more, self._took))
        self.tasks.add(self.running)
        try:
            await self.running
        except asyncio.CancelledError:
            if not self.has_left:
                raise
        finally:
            self.tasks.discard(self.running)
            self.running = None

    def _ended(self, client: HttpClient, error: str | None) -> Segment:
        self.client = client
        self.approvals.taken()
        if error is not None:
            return Segment(Reason(code="Error", detail=error))
        if self.has_left:
            return Segment("Cancelled")
        if pending := self.approvals.waiting(client):
            for call, called in pending.items():
                self._show(call, *client.call(called))
            return Segment("Suspended", list(pending))
        stopped = (client.last.get("outcome") or {}).get("type") == "cancelled"
        return Segment("Cancelled" if stopped else "NaturalEnd")

    def _failed(self, error: str) -> Segment:
        return Segment(Reason(code="Error", detail=error))

    def _refused(self, error: str) -> Segment:
        raise Refused(error)

    # What the application does.

    async def model(self, request: ModelRequest) -> Turn:
        """The application asks its model: a gate."""
        self.is_touched = True
        self.requests_open += 1
        try:
            said = [self.identity.seen(one) for one in request.messages]
            turn = await self._kept(self.rest.ask(self.host.infer(said)))
        finally:
            self.requests_open -= 1
        self.entered, self.approved, self.has_answered = set(), set(), False
        return Turn(text=turn.text, tool_calls=self.identity.asked(list(turn.tool_calls)))

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        """The application enters a tool: a gate, whose outcome is the result."""
        self.is_touched = True
        call = self.identity.call_of(args, "unknown")
        self.entered.add(call)
        named, plain = self.identity.name(call, name, args), self.identity.arguments(call, args)
        try:
            outcome = await self._kept(self.rest.ask(self.host.tool(call, named, plain)))
        except ToolRaised as error:
            return str(error), True
        finally:
            self.has_answered = True
        content = outcome.content if isinstance(outcome.content, str) else json.dumps(outcome.content)
        return content, outcome.kind == "error"

    async def _kept(self, work: Any) -> Any:
        """Await something that ends with the schedule."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return await task

    def _is_complete(self) -> bool:
        """Whether nothing more can come: the model is asked, or each call was entered and none has ended."""
        tools = self.identity.tools
        free = {call.id for call in self.identity.newest if tools.get(call.name) in self.address.free}
        left = (free | self.approved) - self.entered
        return self.requests_open > 0 or not (self.has_answered or left)

    # What is shown.

    def _show(self, call: str, name: str, args: Any) -> None:
        named, plain = self.identity.name(call, name, args), self.identity.arguments(call, args)
        self.host.observe("call.shown", call=call, name=named, args=plain)

    def _took(self, event: Json) -> None:
        fixed = {key: value for key, value in event.items() if key not in LOOSE}
        data = self._known(self.identity.streamed(fixed))
        self.events.append(of_exchange(data))
        if self.watcher is None:
            self.rest.moved()
        else:
            shown = {key: value for key, value in data.items() if key != COUNTED}
            self.rest.tell(partial(self._report, self.watcher, shown))

    def _known(self, text: str) -> Json:
        """What a text says, with a name for all that is made anew each time."""
        found: Json = json.loads(RANDOM.sub(self._alias, text))
        return found

    def _report(self, watcher: str, data: Json) -> None:
        self.host.observe("event", stream="ag-ui", name=data["type"], data=data, watcher=watcher)

    def _alias(self, found: re.Match[str]) -> str:
        return self.random.setdefault(found[0], f"random-{len(self.random) + 1}")

    def _close_stream(self) -> None:
        if self.watcher is not None:
            self.host.observe("stream.closed", watcher=self.watcher)
        self.watcher = None


def _tools(scenario: Scenario, address: Address) -> dict[str, str]:
    """The tool of the kit that stands for each tool of a scenario: one that needs the same permission."""
    found: dict[str, str] = {}
    for permission, offered in (("ask", address.ask), ("allow", address.free)):
        tools = [tool.name for tool in scenario.tools if tool.permission == permission]
        found |= {name: offered[at % len(offered)] for at, name in enumerate(tools) if offered}
    return found
