"""Agents that speak the Agent Client Protocol, offline: one process for all scenarios, a session for each.

The model is an endpoint on loopback, and the tools are those of a tool server on loopback.  A tool that is
entered does not say which call it belongs to, so the adapter finds the call by its name and arguments in the
newest response.

Not declared:
- `late`: on a cancel the protocol has the client answer every open permission request as cancelled.
- `defer`: a permission request is answered with one of its options.
- The scope `stage`: an option allows once, or always, which here lasts as long as the session.
- Policies that differ between agents; those of an agent are in its adapter.
- The gate `hook`, bounds, and the mode `allowlist`: the protocol has none of them.
- `terminal`: no API of a model has a signal that a turn ends after its calls.

A tool of the scenario that is not offered is offered all the same: an agent has no other tools than these.
An API that only marks errors cannot say that a call was cancelled, so an error of a call whose tool was given
up reads `cancelled`.  A process is replaced after an allow that lasts, because it may last for the process.
A scenario in which no person can be asked has a client that answers each permission request as cancelled.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import Any, ClassVar, Final

from runlock.conformance.adapters.acp_client import AgentError, Params
from runlock.conformance.adapters.acp_process import AgentProcess, process_of
from runlock.conformance.adapters.models.http import Answered, Asked
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.adapters.models.tool_server import ToolServer
from runlock.conformance.adapters.real_time import Bridge
from runlock.conformance.families.message_loop.adapter import (
    Answer,
    Delta,
    Handshake,
    LoopHost,
    Prompt,
    Reason,
    Refused,
    Request,
    Scenario,
    Segment,
    ToolRaised,
    TurnStart,
)
from runlock.conformance.families.message_loop.messages import OfferedOutcomes, StopReason, ToolCall, Turn
from runlock.conformance.protocol import Control, Party

EVENTS: Final = {
    "in_progress": "ToolInvocationStarted",
    "completed": "ToolInvocationSucceeded",
    "failed": "ToolInvocationFailed",
}
"""The events that stand for the states of a tool call, once it was announced."""

CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}
REASONS: Final[Mapping[str, Reason]] = {
    "end_turn": Reason(code="NaturalEnd"),
    "cancelled": Reason(code="Cancelled"),
    "refusal": Reason(code="Blocked"),
    "max_turn_requests": Reason(code="Stopped", stop=StopReason(code="max_iterations")),
}


class AcpAdapter(ABC):
    """One session of an agent; a subclass has the settings of one agent."""

    command: ClassVar[tuple[str, ...]]
    prefix: ClassVar[str]  # before the names of the kit's tools
    modes: ClassVar[Mapping[str, str]]  # the agent's names of the security modes; empty: it starts there
    policies: ClassVar[Mapping[str, Any]] = {}
    model: ClassVar[tuple[str, ...]] = ("delta", "turn")  # the outcomes that its model's API can state

    @property
    def handshake(self) -> Handshake:
        """What every agent offers, with the name and version that this one gives."""
        info = process_of(type(self)).info["agentInfo"]
        return Handshake(
            implementation=Party(name=info["name"], version=info["version"]),
            profile="message-loop-core",
            policies=dict(self.policies),
            control=Control(settle="observed", clock="real", step="none"),
            gates=["model", "tool", "prompt"],
            observes=["event", "run.finished"],
            events=["ProviderTokensStreamed", "ToolInvocationProposed", *EVENTS.values()],
            modes=list(self.modes),
            interactors=1,
            grants=["once", "session"],
            turns=["chat"],
            bounds=[],
            stimuli=["cancel", "run.again", "deliver"],
            outcomes=OfferedOutcomes(
                model=list(self.model), tool=["ok", "error", "raise"], prompt=["allow", "deny"]
            ),
        )

    @classmethod
    @abstractmethod
    def settings(cls, home: str, url: str) -> tuple[Mapping[str, str], Mapping[str, Any]]:
        """The environment of the process, and the files in its home folder with their JSON."""

    @abstractmethod
    def request_of(self, asked: Asked) -> Request | None:
        """A request to the model in the protocol's words; None for one that is not of the loop."""

    @abstractmethod
    async def answer_of(self, pieces: AsyncGenerator[Delta | Turn, None]) -> Answered:
        """A response of the model."""

    @abstractmethod
    def shown(self, call: Params) -> tuple[str, Any]:
        """The id of a call that the agent shows, and its arguments as a person sees them."""

    async def open(self, host: LoopHost, scenario: Scenario) -> None:
        self.host, self.scenario = host, scenario
        self.process: AgentProcess = process_of(type(self))
        self.bridge = Bridge(self.process.real, asyncio.get_running_loop())
        self.names = Names(self.prefix, [tool.name for tool in scenario.tools])
        self.requests = self.prompts = 0
        self.round: list[ToolCall] = []
        self.entered: set[str] = set()
        self.states: dict[str, str] = {}  # as they were last shown, by call
        self.aborted: set[str] = set()
        self.asking: set[asyncio.Task[Answer]] = set()
        self.tools = ToolServer(self.names.tools, self.run_tool)
        self.in_turn = self.is_asked = self.is_cancelled = False
        await self.bridge.do(self._open())

    async def start(self, turn: TurnStart) -> Segment:
        self.in_turn, self.is_asked, self.is_cancelled = True, False, False
        try:
            return await self.bridge.do(self._turn(turn.input or ""))
        finally:
            self.in_turn = False

    async def cancel(self) -> None:
        if not self.in_turn:
            raise Refused("no turn is under way")
        self.bridge.end()
        await self.bridge.do(self._cancel())

    def busy(self) -> bool:
        return hasattr(self, "bridge") and self.bridge.busy()

    async def close(self) -> None:
        await self.bridge.do(self._close())

    async def _open(self) -> None:
        await asyncio.wrap_future(self.process.starting)
        self.session = await self.process.open(self, self.scenario.data or self.process.home)
        if mode := self.modes[self.scenario.mode]:
            chosen = {"sessionId": self.session, "modeId": mode}
            await self.process.client.request("session/set_mode", chosen)

    async def _close(self) -> None:
        if self.in_turn:
            await self._cancel()
        self.tools.close()
        self.process.close()

    async def _turn(self, text: str) -> Segment:
        prompt = {"sessionId": self.session, "prompt": [{"type": "text", "text": text}]}
        try:
            ended = await self.process.client.request("session/prompt", prompt)
        except AgentError as error:
            return Segment(Reason(code="Error", detail=str(error)))
        return Segment(REASONS.get(ended["stopReason"]) or Reason(code="Error", detail=ended["stopReason"]))

    async def _cancel(self) -> None:
        self.is_cancelled = True
        self.process.client.notify("session/cancel", {"sessionId": self.session})
        for one in self.asking:
            one.cancel()

    # What the agent asks and shows.

    def answer_aside(self, asked: Asked) -> Answered:
        """Answer a request that is not of the loop."""
        return Answered({}, status=404)

    async def ask_model(self, asked: Asked) -> Answered:
        """Answer a request to the model."""
        request = self.request_of(asked) if self.in_turn else None
        if request is None:
            return self.answer_aside(asked)
        self.requests, self.is_asked = self.requests + 1, True
        return await self.answer_of(self._pieces(request))

    async def _pieces(self, request: Request) -> AsyncGenerator[Delta | Turn, None]:
        async for piece in self.bridge.each(self.host.stream(request)):
            if isinstance(piece, Turn):
                self.round, self.entered = piece.tool_calls, set()
            yield piece

    async def run_tool(self, name: str, args: Mapping[str, Any]) -> tuple[str, bool]:
        """Run a tool; gives its text, and whether it is an error."""
        call = self._entering(name, args)
        try:
            outcome = await self.bridge.ask(self.host.tool(call, name, args))
        except ToolRaised as error:
            return str(error), True
        except asyncio.CancelledError:
            self.aborted.add(call)
            raise
        return str(outcome.content), outcome.kind == "error"

    def _entering(self, name: str, args: Mapping[str, Any]) -> str:
        """The call that is entered: one that was not entered before, if there is any."""
        fitting = [call.id for call in self.round if call.name == name and call.args == args]
        fresh = [call for call in fitting if call not in self.entered]
        call = next(iter([*fresh, *fitting]), "unknown")
        self.entered.add(call)
        return call

    async def permit(self, params: Params) -> Params:
        """Ask a person for a permission, and choose the option for the answer."""
        if self.is_cancelled or not self.scenario.interactors:
            return CANCELLED
        asking = asyncio.create_task(self.bridge.ask(self._question(params["toolCall"])))
        self.asking.add(asking)
        try:
            answer = await asking
        except asyncio.CancelledError:
            return CANCELLED
        finally:
            self.asking.discard(asking)
        if answer.scope == "session":
            self.process.replace()
        return {"outcome": {"outcome": "selected", "optionId": self.option(answer, params["options"])}}

    def _question(self, shown: Params) -> Any:
        self.prompts += 1
        call, args = self.shown(shown)
        name = next((one.name for one in self.round if one.id == call), str(shown.get("title")))
        return self.host.ask(
            self.scenario.interactors[0], Prompt(f"p{self.prompts}", "mode", call, name, args)
        )

    def option(self, answer: Answer, options: Any) -> str:
        """The id of the option that says what was answered; the last of its kind is the narrowest."""
        kind = {"once": "allow_once", "session": "allow_always"}[answer.scope]
        wanted = kind if answer.kind == "allow" else "reject_once"
        return str([one["optionId"] for one in options if one["kind"] == wanted][-1])

    def update(self, params: Params) -> None:
        """The agent shows something."""
        self.bridge.moved()
        update = params["update"]
        kind = update["sessionUpdate"]
        if kind == "agent_message_chunk" and self.is_asked:  # before that, it is a note of the agent
            self._event("ProviderTokensStreamed", text=update["content"]["text"], request=self.requests)
        elif kind in ("tool_call", "tool_call_update"):
            self._show_call(kind, update)

    def _show_call(self, kind: str, update: Params) -> None:
        call, _ = self.shown(update)
        state = str(update.get("status"))
        if kind == "tool_call":
            self._event("ToolInvocationProposed", call=call)
        if state in EVENTS and (kind == "tool_call" or self.states.get(call) != state):
            self._event(EVENTS[state], call=call)
        self.states[call] = state

    def _event(self, name: str, **data: Any) -> None:
        self.bridge.tell(partial(self.host.event, name, **data))
