"""An adapter of the family lifecycle for any agent of the Agent Client Protocol: one session, and its client.

A prompt is a run.  A call that waits for a permission has its run wait, once nothing else of its round is
under way: the segment of the run then ends, and the answer to the permission begins the next one.  Declared
is what every agent has.  Not observable on this wire: statuses of the run and of its calls, checkpoints, and
what a model is shown of a result but its text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from runlock.conformance.families.lifecycle.adapter import Host, Refused, Segment
from runlock.conformance.families.lifecycle.messages import (
    Decision,
    DecisionSupport,
    Handshake,
    InputSupport,
    OfferedOutcomes,
    Reason,
    Scenario,
)
from runlock.conformance.families.lifecycle.messages.observations import StopReason
from runlock.conformance.protocol import Control, Message, Party, Turn
from runlock.conformance.wires.acp_client import CANCELLED, OVER, Permission, Session
from runlock.conformance.wires.acp_wire import AcpWire
from runlock.conformance.wires.identity import Identity
from runlock.conformance.wires.json_rpc import Ended, RpcError
from runlock.conformance.wires.model_apis.api import ModelRequest
from runlock.conformance.wires.mouth import Mouth, tools_for
from runlock.conformance.wires.rest import ENTRY, RESULT
from runlock.conformance.wires.ui_clients import Json

LOOK_SECONDS: Final = 0.004
"""How often the client looks whether an agent that asks for a permission does anything else."""

REASONS: Final[Mapping[str, Reason]] = {
    "end_turn": Reason(code="NaturalEnd"),
    "cancelled": Reason(code="Cancelled"),
    "refusal": Reason(code="Blocked"),
    "max_tokens": Reason(code="Stopped", stop=StopReason(code="token_budget")),
    "max_turn_requests": Reason(code="Stopped", stop=StopReason(code="max_rounds")),
}
"""What a stop reason of the protocol says in the words of the family."""


class Acp(Mouth[AcpWire]):
    """One session of an agent, and its client."""

    @property
    def handshake(self) -> Handshake:
        """What every agent has; a tool that asks only if there is one."""
        permissions = {"allow": self.address.free, "ask": self.address.ask}
        learned = self.wire.learned
        return Handshake(
            implementation=Party(
                name=learned.name, version=learned.version, over=f"version {learned.protocol} of ACP"
            ),
            policies=self.address.declare or {},
            control=Control(
                settle="observed", clock="real", step="none", store="none", crash=[], told="lost",
                uncrashed="what is under way when an agent ends cannot be asked for again over this protocol",
            ),
            notes=learned.notes,
            gates=["model", "tool"],
            profile="core",
            observes=["prompt", *(["call.shown"] if learned.shows else [])],
            prompts=learned.protocol,  # type: ignore[arg-type]
            stimuli=["decide", "run.again", "deliver", "cancel", "cancel.waiting"],
            outcomes=OfferedOutcomes(model=["turn"], tool=["ok", "error"]),
            tools=[name for name, tools in permissions.items() if tools],  # type: ignore[misc]
            decisions=DecisionSupport(
                live=False, ids=False, payload=False, after_error=False, after_cancel=learned.waits
            ),
            inputs=InputSupport(working=False, loaded=learned.says_it_loads),
            streams=[],
            history=[],
        )  # fmt: skip

    # What the kit does.

    async def open(self, host: Host, scenario: Scenario) -> None:
        mark = self.wire.new_mark()
        tools = tools_for(scenario, self.address)
        self.identity = Identity(mark, tools, self.wire.ends.plain, unique=True)
        self.turn: asyncio.Future[Any] | None = None  # the response to the prompt that is under way
        self.asked: dict[str, list[Permission]] = {}  # by call: the permissions that were asked for it
        self.told: set[str] = set()  # calls of which the agent has told the end
        self.is_cancelling = self.is_waiting = self.is_to_load = self.has_left = False
        self.prompts: list[str] = []  # as they were sent
        self.events: list[Json] = []  # of the prompt that is under way
        self.names: dict[str, str] = {}  # of calls, by the agent's ids
        self.messages: dict[str, str] = {}  # names for messages, by the agent's ids
        self.sit_down(host, mark)
        self.session: Session = await self.rest.do(self.wire.session())
        self.session.asked, self.session.updated = self._asked, self._updated
        self.session.noted = self._note
        if self.wire.learned.takes_unknown is not None:
            self.events.append({"type": "undecided", "entered": self.wire.learned.takes_unknown})

    async def start(self, text: str) -> Segment:
        self.is_cancelling = self.is_touched = self.has_left = False
        if self.is_to_load:
            self.is_to_load = False
            await self.rest.do(self._load())
        await self.rest.do(self._begin(f"{text}{self.mark}"))
        return self._ended()

    def load(self) -> None:
        """The client of the next prompt is a new one, which loads the session first."""
        self.is_to_load = True

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        """Answer permissions; one that is not open is answered all the same, which must do nothing."""
        self.is_touched, self.is_waiting = False, False
        strays = [one for one in decisions if not self._is_open(one.call)]
        for one in strays if len(strays) < len(decisions) else ():
            self.host.refuse("no permission is open for it", one.id)
        self.approved |= {one.call for one in decisions if one.action == "resume" and one not in strays}
        is_open = self._is_under_way()
        await self.rest.do(self._answer(decisions))
        if len(strays) < len(decisions) or (self.is_touched and is_open):
            return self._ended()
        self.is_waiting = is_open
        if is_open and not self._is_under_way():
            return self._ended()
        self._keep_prompt()
        raise Refused("no permission is open for it")

    async def cancel(self) -> Segment | None:
        if not self._is_under_way():
            await self.rest.do(self._cancel_nothing())
            raise Refused("no prompt is under way")
        was_waiting, self.is_waiting, self.is_cancelling = self.is_waiting, False, True
        races = self.rest.is_moving()
        if self._is_to_close(was_waiting):
            await self.rest.do(self._close(races=races, until_rest=was_waiting))
        elif self.wire.has_alone(self.session):
            await self.rest.do(self._leave())
        else:
            await self.rest.do(self._cancel(races=races, until_rest=was_waiting))
        return self._ended() if was_waiting else None

    def _give_up(self) -> None:
        """What is under way is cancelled, so that no session goes on behind the next ones."""
        super()._give_up()
        if hasattr(self, "session"):
            self.wire.leave(self.session)
            self.session.asked = lambda permission: self.session.answer(permission, dict(CANCELLED))
            self.session.updated = lambda update: None
            for one in self.session.open:
                self.session.answer(one, dict(CANCELLED))
            self.session.give_up(is_under_way=self._is_under_way())

    def _is_left(self) -> bool:
        return self.is_cancelling

    def _is_open(self, call: str) -> bool:
        return any(one.answer is None for one in self.asked.get(call, ()))

    def _is_under_way(self) -> bool:
        return self.turn is not None and not self.turn.done()

    # What the client sends, on the real loop.

    async def _begin(self, text: str) -> None:
        self.prompts.append(text)
        self.turn = self.session.prompt(text)
        await self._until_rest()

    async def _load(self) -> None:
        """Load the session in another process; where that is refused, it goes on in the one that has it."""
        with suppress(RpcError):
            await self.wire.load(self.session)

    async def _answer(self, decisions: Sequence[Decision]) -> None:
        for one in decisions:
            permission = self._permission(one.call)
            self.session.answer(permission, permission.outcome(one.action == "resume"))
        self.rest.moved()
        await self._until_rest()

    def _permission(self, call: str) -> Permission:
        """The first one of a call that is open, else the newest, or one that was never asked for."""
        asked = self.asked.get(call) or [self._unknown(call)]
        return next((one for one in asked if one.answer is None), asked[-1])

    def _unknown(self, call: str) -> Permission:
        options = [{"kind": "allow_once", "optionId": "allow"}, {"kind": "reject_once", "optionId": "reject"}]
        return Permission(f"no-permission-for-{call}", call, {"options": options})

    async def _cancel(self, *, races: bool, until_rest: bool) -> None:
        self.session.cancel(races=races)
        self.rest.moved()
        if until_rest:
            await self._until_rest()

    def _is_to_close(self, was_waiting: bool) -> bool:
        """Whether the client of a loaded session closes it, as it does with every other one."""
        agent = self.session.agent
        return agent is self.wire.other and agent.offers.closes and (len(self.prompts) + was_waiting) % 2 == 0

    async def _close(self, *, races: bool, until_rest: bool) -> None:
        """Close the session inside the prompt; the client of the next one loads it again."""
        self.is_to_load = True
        self.session.close(races=races)
        self.rest.moved()
        if until_rest:
            await self._until_rest()

    async def _leave(self) -> None:
        """Close the pipe inside the prompt; the client of the next one comes back and loads the session."""
        self.has_left = self.is_to_load = True
        for one in self.session.open:
            one.answer = dict(CANCELLED)  # no one is there to answer it
        await self.wire.hang_up(self.session)
        if self.turn is not None and not self.turn.done():
            self.turn.set_exception(Ended("the client has closed the pipe"))
        self.rest.moved()

    async def _cancel_nothing(self) -> None:
        """A cancel that comes too late: it is of no prompt, and so is not kept with one."""
        self.session.cancel_late()

    async def _until_rest(self) -> None:
        """Wait until the prompt has ended, or waits for permissions alone."""
        turn = self.turn
        while turn is not None and not turn.done():
            if self.session.open and not (self.requests_open or self.tools_open) and self.rest.is_still():
                self.wire.pace.habits[ENTRY].broken += bool(self._not_entered())
                return
            await asyncio.wait({turn}, timeout=LOOK_SECONDS)
        while not (self.requests_open or self.tools_open or self.rest.is_still()):
            await asyncio.sleep(LOOK_SECONDS)

    # What comes back.

    def _ended(self) -> Segment:
        """How the segment ended that is over."""
        if self._is_under_way():
            self.is_waiting = True
            pending = [call for call in self.asked if self._is_open(call)]
            for call in pending:
                self._tell(call)
            if self.session.version.has_states:
                self.events.append({"type": "waits"})
            return Segment("Suspended", pending)
        assert self.turn is not None
        self._keep_prompt()
        try:
            result = self.turn.result() or {}
        except (RpcError, Ended) as error:
            return Segment(REASONS["cancelled"]) if self.has_left else self._failed(str(error))
        if result.get("error") is not None:
            return self._failed(json.dumps(result["error"]))
        stop = str(result.get("stopReason"))
        return Segment(REASONS.get(stop) or Reason(code="Error", detail=f"the stop reason {stop}"))

    def _note(self, event: Json) -> None:
        """Keep what either side says, next to the updates."""
        if event["type"] == "replay":
            event = {"type": "replay", "update": event["update"].get("sessionUpdate")}
        if event.get("messageId"):
            event = {**event, "messageId": self._message_of(event["messageId"])}
        self.events.append(event)

    def _keep_prompt(self) -> None:
        """Observe the prompt that has ended, or what came after its end."""
        if self.events and not self._is_under_way():
            events, self.events = self.events, []
            known = [self._known(self.identity.plain(json.dumps(one))) for one in events]
            self.host.observe("prompt", events=known, ended="open" if self.has_left else "answered")

    def _tell(self, call: str) -> None:
        """Show a call that waits, as far as the agent shows it."""
        known = self.session.calls.get(self.asked[call][-1].call, {})
        args = next(_given(known, self.mark), None)
        made = next((one for one in self.identity.newest if one.id == call), None)
        if args is not None and made is not None:
            self._show(call, self.identity.tools.get(made.name, made.name), args)

    def _asked(self, permission: Permission) -> None:
        """The agent asks; after a cancel the client answers that the prompt is cancelled."""
        self.is_touched = True
        self.asked.setdefault(self._call_of(permission.call), []).append(permission)
        options = [
            {"optionId": one.get("optionId"), "kind": one.get("kind")}
            for one in permission.params.get("options") or ()
        ]
        named: Json = {"id": permission.name}
        if permission.is_of_call:
            named["toolCallId"] = self._name_of(permission.call)
        if self.session.version.has_titles:
            named["title"] = permission.params.get("title")
        self.events.append({"type": "permission", **named, "options": options})
        self.rest.moved()
        if self.is_cancelling:
            self.session.answer(permission, dict(CANCELLED))

    def _updated(self, update: Json) -> None:
        event = self._event(update)
        if event is not None and ("toolCallId" in event or self.events[-1:] != [event]):
            self.events.append(event)
        if update.get("status") in OVER:
            call = self._call_of(str(update.get("toolCallId")))
            self.told.add(call)
            if call in self.untold and self.rest.has_open_gates:
                self.wire.pace.habits[RESULT].kept += 1
            self.untold.discard(call)
        self.rest.moved()

    def _event(self, update: Json) -> Json | None:
        """What a prompt keeps of an update; that something is said is kept once in a row."""
        version, kind = self.session.version, update.get("sessionUpdate")
        if kind in version.of_calls:
            named = {"toolCallId": self._name_of(str(update.get("toolCallId")))}
            return {"type": kind, **named, "status": update.get("status")}
        if kind in version.of_messages:
            name = update.get("messageId") if version.names_messages else None
            return {"type": kind, **({"messageId": self._message_of(name)} if name else {})}
        if kind == "state_update" and version.has_states:
            return {"type": kind, **{key: update[key] for key in ("state", "stopReason") if key in update}}
        return None

    def _message_of(self, called: Any) -> str:
        """A name for a message, which is the same when a schedule is played again."""
        return self.messages.setdefault(str(called), f"message-{len(self.messages) + 1}")

    def _call_of(self, called: str) -> str:
        """The kit's id of a call that the agent calls so: by its arguments, by its id, or by its turn."""
        text = json.dumps(self.session.calls.get(called, {}))
        newest = [one.id for one in self.identity.newest]
        for call in newest:
            if f"{call}{self.mark}" in text:
                return call
        plain = self.identity.plain(called)
        like = [call for call in newest if call == plain or plain.endswith(call)]
        asking = {one.id for one in self.identity.newest if self._asks(one.name)}
        left = [call for call in newest if call in asking and call not in self.asked]
        return (like or left or [called])[0]

    def _name_of(self, called: str) -> str:
        """A name for a call that an agent calls so, which is the same when a schedule is played again."""
        if called not in self.names:
            newest = [one.id for one in self.identity.newest]
            text = json.dumps(self.session.calls.get(called, {}))
            plain = self.identity.plain(called)
            ends = [f"{call}{self.mark}" in text or f"_{plain}".endswith(f"_{call}") for call in newest]
            like = [call for call, is_it in zip(newest, ends, strict=True) if is_it]
            self.names[called] = like[0] if like else f"call-{len(self.names) + 1}"
        return self.names[called]

    def _asks(self, name: str) -> bool:
        return self.identity.tools.get(name, name) in self.address.ask

    # What the agent does.

    async def model(self, request: ModelRequest) -> Turn:
        """A request to the model, without what the agent itself puts next to the user's words."""
        said = [one for message in request.messages for one in self._said(message)]
        return await super().model(replace(request, messages=said))

    def _said(self, message: Message) -> list[Message]:
        if message.role != "user":
            return [message]
        found = [one for one in dict.fromkeys(self.prompts) if one in message.text]
        whole = [one for one in found if not any(one in other for other in found if other != one)]
        return [message.model_copy(update={"text": one}) for one in whole]

    # What may still come.

    def _new_round(self) -> None:
        super()._new_round()
        self.told = set()

    def _owes(self) -> str:
        if self.requests_open > 0:
            return ""
        return ENTRY if self._not_entered() else RESULT if self.untold else ""

    def _not_entered(self) -> set[str]:
        """The calls of the newest turn that were neither entered, nor told of, nor asked about."""
        newest = {call.id for call in self.identity.newest}
        waiting = {call for call in self.asked if call in newest and call not in self.approved}
        return newest - self.entered - self.told - waiting


def _given(shown: Any, mark: str) -> Iterator[Json]:
    """The arguments in what an agent shows of a call, wherever it has put them, also as JSON in a text."""
    if isinstance(shown, str) and mark in shown and shown.lstrip().startswith("{"):
        try:
            shown = json.loads(shown)
        except ValueError:
            return
    if isinstance(shown, dict) and mark in str(shown.get("k")):
        yield shown
    elif isinstance(shown, (dict, list)):
        for part in shown.values() if isinstance(shown, dict) else shown:
            yield from _given(part, mark)
