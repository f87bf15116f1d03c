"""The mouth of AG-UI: a thread of an application as an adapter of the family lifecycle.

Declared is what every server of AG-UI has, and nothing else.  Not observable on this wire: statuses of the
run and of its calls, checkpoints, and decisions while a run is live, which the protocol does not have.  A
client that goes away cancels its run where the server stops then, which the first run of the kit finds out;
where it does not, a cancel is not offered.

Identity.  The kit marks what it says, and one argument of each call, with the name of the thread.  So a
request belongs to a schedule or does not, and a call is known whatever the runtime has renamed it to.
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
from runlock.conformance.protocol import Control, Message, Party, ToolCall, Turn
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.ag_ui_client import HttpClient, NoStream
from runlock.conformance.wires.application import Wire
from runlock.conformance.wires.dialects import payload
from runlock.conformance.wires.model_apis.api import ModelRequest
from runlock.conformance.wires.rest import Resting
from runlock.conformance.wires.ui_clients import Json

RANDOM: Final = re.compile(
    r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)"
)
"""What a server makes anew each time: ids of messages, and times of day."""

LOOSE: Final = ("timestamp", "rawEvent", "raw_event", "usage", "input")
"""Fields of an event that hold what a server measures, or what was sent to it."""


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
            observes=["call.shown", "event", "stream.closed"],
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
        self.names = _names(scenario, self.address)
        self.sent: list[ToolCall] = []  # every call, as the kit made it
        self.renamed: dict[str, str] = {}  # the kit's ids of calls that the runtime renamed towards its model
        self.held: dict[str, str] = {}  # the interrupt that each call has or had
        self.decided: dict[str, Decision] = {}  # kept until an interrupt of several calls can be answered
        self.round: list[ToolCall] = []
        self.streamed: dict[str, str] = {}  # the kit's ids of streamed calls, by those there
        self.entered: set[str] = set()
        self.has_answered = False  # a tool, since the model was asked: an event may tell of it
        self.approved: set[str] = set()
        self.requests_open = 0
        self.is_touched = self.has_left = False
        self.running: asyncio.Task[None] | None = None  # the request that is under way
        self.watcher: str | None = None
        self.random: dict[str, str] = {}
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
        more = self._answers(client, decisions)
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
        self.has_left = False
        try:
            await self.rest.do(self._request(client, more))
        except (NoStream, httpx.HTTPError) as error:
            return str(error) or repr(error)
        finally:
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
        self.decided.clear()
        if error is not None:
            return Segment(Reason(code="Error", detail=error))
        if self.has_left:
            return Segment("Cancelled")
        pending = self._waiting(client)
        for call in pending:
            self._show(client, call)
        if pending:
            return Segment("Suspended", list(pending))
        stopped = (client.last.get("outcome") or {}).get("type") == "cancelled"
        return Segment("Cancelled" if stopped else "NaturalEnd")

    def _failed(self, error: str) -> Segment:
        return Segment(Reason(code="Error", detail=error))

    def _refused(self, error: str) -> Segment:
        raise Refused(error)

    def _waiting(self, client: HttpClient) -> dict[str, str]:
        """The calls that wait, each with the id that the runtime has for it."""
        ids = [one["toolCallId"] for one in client.interrupts if one.get("toolCallId")]
        is_batch = len(ids) < len(client.interrupts)
        if is_batch or (not client.interrupts and self.wire.learned.waits == "result"):
            ids = [one for one in client.unanswered() if self._asks(client, one)]
        waiting = {self._call(client, one): one for one in ids}
        by_id = {str(one.get("toolCallId")): str(one["id"]) for one in client.interrupts}
        default = str(client.interrupts[0]["id"]) if client.interrupts else ""
        self.held |= {call: by_id.get(one, default) for call, one in waiting.items()}
        return waiting

    def _asks(self, client: HttpClient, call: str) -> bool:
        return client.call(call)[0] in self.address.ask

    def _call(self, client: HttpClient, called: str) -> str:
        """The kit's name of a call that the runtime may have renamed."""
        args = client.call(called)[1]
        known = args.get("k") if isinstance(args, dict) else None
        return self._plain(known) if isinstance(known, str) else called

    def _answers(self, client: HttpClient, decisions: Sequence[Decision]) -> Json | None:
        """What a request adds that brings these decisions; None if the client waits for more of them."""
        waiting = self._waiting(client)
        if not client.interrupts and self.wire.learned.waits == "result":
            for one in decisions:
                client.answer(waiting.get(one.call, one.call), self._payload({}, one))
            return {}
        if client.interrupts and not client.interrupts[0].get("toolCallId"):
            return self._answer_for_all(client, waiting, decisions)
        known = {one["id"]: one for one in client.interrupts}
        entries = []
        for one in decisions:
            interrupt = self.held.get(one.call, f"no-interrupt-of-{one.call}")
            entries.append(_entry(interrupt, self._payload(known.get(interrupt, {}), one)))
        return {"resume": entries}

    def _answer_for_all(
        self, client: HttpClient, waiting: dict[str, str], decisions: Sequence[Decision]
    ) -> Json | None:
        """An interrupt for the round has one answer, with a decision for each of its calls."""
        if any(one.call not in waiting for one in decisions):
            raise Refused("no interrupt asks about it")
        self.decided |= {one.call: one for one in decisions}
        if waiting.keys() - self.decided.keys():
            return None
        (interrupt,) = client.interrupts[:1]
        made = [self._payload(interrupt, self.decided[call]) for call in waiting]
        name = next((key for key, value in made[0].items() if isinstance(value, list)), None)
        whole = {name: [item for one in made for item in one[name]]} if name else made[0]
        return {"resume": [_entry(interrupt["id"], whole)]}

    def _payload(self, interrupt: Json, decision: Decision) -> Any:
        approves = decision.action == "resume"
        self.approved |= {decision.call} if approves else set()
        return payload(self.address, interrupt, approves)

    # What the application does.

    async def model(self, request: ModelRequest) -> Turn:
        """The application asks its model: a gate."""
        self.is_touched = True
        self.requests_open += 1
        try:
            said = [self._seen(one) for one in request.messages]
            turn = await self._kept(self.rest.ask(self.host.infer(said)))
        finally:
            self.requests_open -= 1
        self.round, self.entered, self.approved = list(turn.tool_calls), set(), set()
        self.has_answered = False
        again = {call.id for call in self.round}
        self.streamed = {one: call for one, call in self.streamed.items() if call not in again}
        self.sent += turn.tool_calls
        return Turn(text=turn.text, tool_calls=[self._marked(call) for call in turn.tool_calls])

    async def tool(self, name: str, args: dict[str, Any]) -> tuple[str, bool]:
        """The application enters a tool: a gate, whose outcome is the result."""
        self.is_touched = True
        call = self._plain(str(args.get("k")))
        self.entered.add(call)
        seen = self._arguments(call, args)
        try:
            outcome = await self._kept(
                self.rest.ask(self.host.tool(call, self._name(call, name, args), seen))
            )
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
        free = {call.id for call in self.round if self.names.get(call.name) in self.address.free}
        left = (free | self.approved) - self.entered
        return self.requests_open > 0 or not (self.has_answered or left)

    def _marked(self, call: ToolCall) -> ToolCall:
        args = {**call.args, "k": f"{call.id}{self.mark}"} if isinstance(call.args, dict) else call.args
        return ToolCall(id=call.id, name=self.names.get(call.name, call.name), args=args)

    def _seen(self, message: Message) -> Message:
        """A message of a request as the kit knows it."""
        self.renamed |= {one.id: self._id(one) for one in message.tool_calls}
        calls = [
            ToolCall(
                id=self._id(one), name=self._name(self._id(one), one.name, one.args), args=self._back(one)
            )
            for one in message.tool_calls
        ]
        changed: dict[str, Any] = {"text": self._plain(message.text), "tool_calls": calls}
        if message.call is not None:
            changed["call"] = self.renamed.get(message.call, message.call)
        return message.model_copy(update=changed)

    def _id(self, call: ToolCall) -> str:
        known = call.args.get("k") if isinstance(call.args, dict) else None
        return self._plain(known) if isinstance(known, str) else call.id

    def _back(self, call: ToolCall) -> Any:
        return self._arguments(self._id(call), call.args) if isinstance(call.args, dict) else call.args

    def _arguments(self, call: str, args: Json) -> Json:
        """Arguments as the kit made them, or what they are now."""
        plain: Json = json.loads(self._plain(json.dumps(args)))
        like = [one for one in self.sent if one.id == call and {**_object(one.args), "k": call} == plain]
        return _object(like[-1].args) if like else plain

    def _name(self, call: str, name: str, args: Any = None) -> str:
        """The scenario's name of a tool: several of them may be one tool of the kit."""
        known = [one for one in self.sent if one.id == call and self.names.get(one.name, one.name) == name]
        made = self._arguments(call, args) if isinstance(args, dict) else None
        like = [one for one in known if one.args == made]
        return (like or known)[-1].name if known else name

    def _plain(self, text: str) -> str:
        return text.replace(self.mark, "")

    # What is shown.

    def _show(self, client: HttpClient, call: str) -> None:
        name, args = client.call(self._waiting(client)[call])
        shown = self._arguments(call, args) if isinstance(args, dict) else args
        self.host.observe("call.shown", call=call, name=self._name(call, name, args), args=shown)

    def _took(self, event: Json) -> None:
        if event["type"] == "TOOL_CALL_START":
            self._recognise(event["toolCallId"], event["toolCallName"])
        if self.watcher is not None:
            kept = {key: value for key, value in event.items() if key not in LOOSE}
            text = self._plain(json.dumps(kept))
            for called, call in self.streamed.items():
                text = text.replace(json.dumps(called), json.dumps(call))
            data = json.loads(RANDOM.sub(self._alias, text))
            self.rest.tell(partial(self._report, self.watcher, data))
        else:
            self.rest.moved()

    def _recognise(self, called: str, name: str) -> None:
        """A stream opens a call: by an id that the kit knows, or the first one of its tool in the round."""
        known = {call.id for call in self.round}
        rest = [
            call.id
            for call in self.round
            if call.id not in self.streamed.values() and self.names.get(call.name) == name
        ]
        if called not in known and called not in self.streamed and rest:
            self.streamed[called] = rest[0]

    def _report(self, watcher: str, data: Json) -> None:
        self.host.observe("event", stream="ag-ui", name=data["type"], data=data, watcher=watcher)

    def _alias(self, found: re.Match[str]) -> str:
        return self.random.setdefault(found[0], f"random-{len(self.random) + 1}")

    def _close_stream(self) -> None:
        if self.watcher is not None:
            self.host.observe("stream.closed", watcher=self.watcher)
        self.watcher = None


def _object(args: Any) -> Json:
    """Arguments, if they are an object."""
    return dict(args) if isinstance(args, dict) else {}


def _names(scenario: Scenario, address: Address) -> dict[str, str]:
    """The tool of the kit that stands for each tool of a scenario: one that needs the same permission."""
    found: dict[str, str] = {}
    for permission, offered in (("ask", address.ask), ("allow", address.free)):
        tools = [tool.name for tool in scenario.tools if tool.permission == permission]
        found |= {name: offered[at % len(offered)] for at, name in enumerate(tools) if offered}
    return found


def _entry(interrupt: str, answer: Any) -> Json:
    return {"interruptId": interrupt, "status": "resolved", "payload": answer}
