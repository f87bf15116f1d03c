"""Agents that speak the Agent Client Protocol, offline: one process for all scenarios, a session for each.

Not declared:
- `late`: on a cancel the protocol has the client answer every open permission request as cancelled.
- `defer`: a permission request is answered with one of its options.
- The scope `stage`: an option allows once, or always, which here lasts as long as the session.
- The gate `hook` and bounds: the protocol has none of them.
- `terminal`: no API of a model has a signal that a turn ends after its calls.
- `fault` of a model: agents send a request again in ways of their own, with waits in real time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from runlock.conformance.adapters.agent_client import AgentError, Params
from runlock.conformance.adapters.agent_process import AgentProcess, write_files
from runlock.conformance.adapters.agent_session import AgentSession
from runlock.conformance.families.message_loop.adapter import Answer, Reason, Segment
from runlock.conformance.families.message_loop.messages import StopReason

STATES: Final = {
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


class AcpAdapter(AgentSession):
    """One session of an agent of this protocol."""

    greeting: ClassVar[Params] = {
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    }
    session_key = "sessionId"
    events = ("ProviderTokensStreamed", "ToolInvocationProposed", "ToolInvocationCancelled", *STATES.values())

    @classmethod
    def called(cls, info: Params) -> tuple[str, str]:
        return info["agentInfo"]["name"], info["agentInfo"]["version"]

    @classmethod
    @abstractmethod
    def rules(cls, passing: Sequence[str]) -> Mapping[str, Any]:
        """The files in the folder of a session that let these tools run without a question."""

    @classmethod
    async def opened(cls, process: AgentProcess, folder: Path, tools: str, passing: Sequence[str]) -> str:
        write_files(folder, cls.rules([cls.prefix + name for name in passing]))
        server = {"type": "http", "name": "kit", "url": tools, "headers": []}
        answer = await process.client.request("session/new", {"cwd": str(folder), "mcpServers": [server]})
        return str(answer["sessionId"])

    @abstractmethod
    def shown(self, call: Params) -> tuple[str, Any]:
        """The id of a call that the agent shows, and its arguments as a person sees them."""

    async def prepare(self) -> None:
        self.states: dict[str, str] = {}  # as they were last shown, by call
        if mode := self.modes[self.scenario.mode]:
            chosen = {"sessionId": self.id, "modeId": mode}
            await self.process.client.request("session/set_mode", chosen)

    async def run_turn(self, text: str) -> Segment:
        prompt = {"sessionId": self.id, "prompt": [{"type": "text", "text": text}]}
        try:
            ended = await self.process.client.request("session/prompt", prompt)
        except AgentError as error:
            return Segment(Reason(code="Error", detail=str(error)))
        if self.is_unanswered and ended["stopReason"] == "end_turn":
            return Segment(Reason(code="Blocked", detail="no person could give the permission"))
        return Segment(REASONS.get(ended["stopReason"]) or Reason(code="Error", detail=ended["stopReason"]))

    def interrupt(self) -> None:
        self.process.client.notify("session/cancel", {"sessionId": self.id})

    async def asked(self, method: str, params: Params) -> Params:
        if method != "session/request_permission":
            raise LookupError(f"the client has no {method}")
        call, args = self.shown(params["toolCall"])
        title = str(params["toolCall"].get("title"))
        name = next((one.name for one in self.round if one.id == call), title)
        answer = await self.ask_person(call, name, args)
        if answer is None:
            return CANCELLED
        return {"outcome": {"outcome": "selected", "optionId": _option(answer, params["options"])}}

    def notified(self, method: str, params: Params) -> None:
        update = params.get("update") or {}
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            self.show_text(str(update["content"].get("text")))
        elif kind in ("tool_call", "tool_call_update"):
            self._show_call(kind, update)

    def _show_call(self, kind: str, update: Params) -> None:
        call, _ = self.shown(update)
        state = str(update.get("status"))
        if kind == "tool_call":
            self.show_proposed(call)
        if state in STATES and (kind == "tool_call" or self.states.get(call) != state):
            show = self.show if state == "in_progress" else self.show_end
            show(STATES[state], call=call)
        self.states[call] = state


def _option(answer: Answer, options: Any) -> str:
    """The id of the option that says what was answered; the last of its kind is the narrowest."""
    kind = {"once": "allow_once", "session": "allow_always"}[answer.scope]
    wanted = kind if answer.kind == "allow" else "reject_once"
    return str([one["optionId"] for one in options if one["kind"] == wanted][-1])
