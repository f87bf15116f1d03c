"""An adapter of the family lifecycle for any application that serves AG-UI: one thread of it, and its client.

Declared is what every server of AG-UI has, and nothing else.  Not observable on this wire: statuses of the
run and of its calls, checkpoints, and decisions while a run is live, which the protocol does not have.  A
client that goes away cancels its run where the server stops then, which the first run of the kit finds out;
where it does not, a cancel is not offered.  Nor is a crash, unless the kit starts the application, and finds
out that a thread survives a restart: what a run has told at its end is then durable.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Final

import httpx

from runlock.conformance.families.lifecycle.actions.decisions import ELSEWHERE
from runlock.conformance.families.lifecycle.adapter import Host, Refused, Segment
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
from runlock.conformance.protocol import Control, Party
from runlock.conformance.protocol.exchanges import of_exchange
from runlock.conformance.wires.ag_ui_client import HttpClient, NoStream
from runlock.conformance.wires.approvals import Approvals
from runlock.conformance.wires.identity import Identity
from runlock.conformance.wires.mouth import Mouth, tools_for
from runlock.conformance.wires.rest import ENTRY, RESULT
from runlock.conformance.wires.ui_clients import Json
from runlock.conformance.wires.wire import Wire

LOOSE: Final = ("timestamp", "rawEvent", "raw_event", "input")
"""Fields of an event that hold what a server measures, or what was sent to it."""

VERSION: Final = re.compile("==|(?<!^)@")
"""Separates a package from its version, in the notation of pip or npm."""

COUNTED: Final = "usage"
"""A field that is part of an exchange, and not of what a watcher compares."""


class AgUi(Mouth[Wire]):
    """One thread of an application, and its client."""

    @property
    def handshake(self) -> Handshake:
        """What every server has; a tool that asks only if there is one."""
        permissions = {"allow": self.address.free, "ask": self.address.ask}
        learned = self.wire.learned
        return Handshake(
            implementation=self._implementation(),
            policies=self.address.declare or {},
            control=Control(
                settle="observed",
                clock="real",
                step="none",
                store="own" if learned.survives else "none",
                crash=["soft"] if learned.survives else [],
                told="kept" if learned.survives else "lost",
                uncrashed=self._why_not_crashed(),
            ),
            notes=learned.notes,
            gates=["model", "tool"],
            profile=learned.profile,
            observes=["call.shown", "event", "exchange", "stream.closed"],
            stimuli=[
                *("run.again", "run.input", "watch.request", "deliver"),
                *(["decide"] if learned.waits else []),
                *(["cancel"] if learned.stops else []),
            ],
            outcomes=OfferedOutcomes(model=["turn", "fault"], tool=["ok", "error"]),
            tools=[name for name, tools in permissions.items() if tools],  # type: ignore[misc]
            decisions=DecisionSupport(
                live=False,
                ids=False,
                payload=False,
                after_error=False,
                after_cancel=False,
                abandon=learned.waits == "interrupt",
                elsewhere=bool(learned.waits),
            ),
            inputs=InputSupport(working=False, newest=learned.remembers),
            streams=["ag-ui"],
            history=[],
        )

    def _implementation(self) -> Party:
        """The package that the user names, since the protocol has no word for it."""
        name, version, *_ = *VERSION.split(self.address.package, 1), ""
        return Party(name=name or f"the agent at {self.address.url}", version=version or "unknown")

    def _why_not_crashed(self) -> str:
        if self.wire.learned.survives:
            return ""
        if not self.address.is_launched:
            return "the kit does not start it, and so cannot kill it"
        return "its threads do not survive a restart: what waited could not be approved after one"

    # What the kit does.

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.client: HttpClient = self.wire.thread()
        self.identity = Identity(self.client.mark, tools_for(scenario, self.address), self.wire.ends.plain)
        by_result = self.wire.learned.waits == "result"
        self.approvals = Approvals(self.address, self.identity, by_result=by_result)
        self._begin(host)

    def _begin(self, host: Host) -> None:
        """Nothing is under way on the thread yet."""
        self.asking: HttpClient | None = None  # the client of the request that is under way
        self.has_left = False
        self.running: asyncio.Task[None] | None = None  # the request that is under way
        self.watcher: str | None = None
        self.leaves_out = False
        self.events: list[Json] = []  # of the request that is under way
        self.sit_down(host, self.client.mark)
        self.approvals.refuse = host.refuse

    async def start(self, text: str) -> Segment:
        client = deepcopy(self.client)
        client.request(f"{text}{self.mark}")
        return await self._run(client, {}, self._failed)

    async def input(self, text: str) -> Segment:
        if not self.approvals.waiting(self.client):
            raise Refused("the run is over, and a message begins another one")
        client = deepcopy(self.client)
        client.request(f"{text}{self.mark}")
        return await self._run(client, {}, self._refused)

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        if elsewhere := [one for one in decisions if one.call.startswith(ELSEWHERE)]:
            await self._elsewhere(elsewhere[0])
            return None
        client = deepcopy(self.client)
        client.request()
        more = self.approvals.answers(client, decisions)
        if more is None:
            return None
        self.approved |= {one.call for one in decisions if one.action == "resume"}
        waited = bool(self.approvals.waiting(self.client))
        segment = await self._run(client, more, self._refused)
        if not (waited or self.is_touched or segment.pending):
            raise Refused("nothing waited, and the run that answered did nothing")
        return segment

    async def _elsewhere(self, decision: Decision) -> None:
        """Another thread answers what this one asked, which decides nothing here."""
        other = self.wire.thread()
        other.request()
        await self.rest.do(
            self._request(other, self.approvals.elsewhere(other, decision), lambda event: None)
        )
        if other.last.get("type") == "RUN_ERROR":
            raise Refused(str(other.last.get("message", "")))

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

    async def checkpoint(self) -> AgUi:
        """The application crashes, and is started again; what its client knows outlives that."""
        self.wire.restart()
        self.wire.real.loop.call_soon_threadsafe(self._give_up)
        return self

    async def restore(self, host: Host, scenario: Scenario, before: AgUi) -> None:
        """The client goes on after a crash, which broke off a request or met none."""
        self.client = before.asking or before.client
        self.identity, self.approvals, self.aliases = before.identity, before.approvals, before.aliases
        self.is_cut_off = before.asking is not None
        self._begin(host)

    async def resume_run(self, run: str) -> Segment | None:
        """The client asks for the rest of a run that was broken off, with nothing new; what waits, waits."""
        if self.is_cut_off:
            client = deepcopy(self.client)
            client.request()
            return await self._run(client, {}, self._failed)
        waiting = self.approvals.waiting(self.client)
        return Segment("Suspended", list(waiting)) if waiting else None

    def leave_out(self) -> None:
        """The next request holds no message that the runtime has."""
        self.leaves_out = True

    # What the client sends, and what comes back.

    async def _run(self, client: HttpClient, more: Json, wrong: Callable[[str], Segment]) -> Segment:
        """Send a request; `wrong` says what an error comes to that touched nothing."""
        self.is_touched, self.asking = False, client
        error = await self._sent(client, more)
        self.asking = None
        if error is not None and not self.is_touched:
            return wrong(error)
        return self._ended(client, error)

    async def _sent(self, client: HttpClient, more: Json) -> str | None:
        """Send a request to its end; gives the error that it ended with."""
        self.has_left, self.events = False, []
        body, ended = client.body(more, leaves_out=self.leaves_out), "closed"
        sent = self._known(self.identity.named(body))
        try:
            await self.rest.do(self._request(client, more, self._took, leaves_out=self.leaves_out))
            ended = "left" if self.has_left else "closed"
        except (NoStream, httpx.HTTPError) as error:
            ended = "refused" if isinstance(error, NoStream) and error.is_refused else "left"
            return str(error) or repr(error)
        finally:
            self.leaves_out = False
            self.host.observe("exchange", request=sent, events=self.events, ended=ended)
            self._close_stream()
        if self.has_left and not client.last:
            return None
        if client.last.get("type") == "RUN_ERROR":
            return str(client.last.get("message", ""))
        return None if client.last else "the stream ended without RUN_FINISHED or RUN_ERROR"

    async def _request(
        self, client: HttpClient, more: Json, took: Callable[[Json], None], *, leaves_out: bool = False
    ) -> None:
        """Send a request, unless the client leaves; called on the real loop."""
        work = client.run(self.wire.http, more, took, leaves_out=leaves_out)
        self.running = asyncio.ensure_future(work)
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
        self.approvals.taken(client)
        if error is not None:
            return Segment(Reason(code="Error", detail=error))
        if self.has_left:
            return Segment("Cancelled")
        if pending := self.approvals.waiting(client):
            for call, called in pending.items():
                if client.call(called)[0]:
                    self._show(call, *client.call(called))
            return Segment("Suspended", list(pending))
        stopped = (client.last.get("outcome") or {}).get("type") == "cancelled"
        return Segment("Cancelled" if stopped else "NaturalEnd")

    def _is_left(self) -> bool:
        return self.has_left

    def _owes(self) -> str:
        """What may still come: nothing if the model is asked, or each call was entered and told of."""
        if self.requests_open > 0:
            return ""
        return ENTRY if self._not_entered() else RESULT if self.untold else ""

    def _not_entered(self) -> set[str]:
        tools = self.identity.tools
        free = {call.id for call in self.identity.newest if tools.get(call.name) in self.address.free}
        return (free | self.approved) - self.entered

    # What is shown.

    def _took(self, event: Json) -> None:
        fixed = {key: value for key, value in event.items() if key not in LOOSE}
        data = self._known(self.identity.streamed(fixed))
        if event["type"] == "TOOL_CALL_RESULT":
            self._told_of(str(data.get("toolCallId")))
        self.events.append(of_exchange(data))
        if self.watcher is None:
            self.rest.moved()
        else:
            shown = {key: value for key, value in data.items() if key != COUNTED}
            self.rest.tell(partial(self._report, self.watcher, shown))

    def _told_of(self, call: str) -> None:
        if call in self.untold and self.rest.has_open_gates:
            self.wire.pace.habits[RESULT].kept += 1
        self.untold.discard(call)

    def _report(self, watcher: str, data: Json) -> None:
        self.host.observe("event", stream="ag-ui", name=data["type"], data=data, watcher=watcher)

    def _close_stream(self) -> None:
        if self.watcher is not None:
            self.host.observe("stream.closed", watcher=self.watcher)
        self.watcher = None
