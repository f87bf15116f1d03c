"""Version 2 of the Agent Client Protocol, a draft: a prompt is answered when it is accepted.

Updates of the session say what becomes of it: it is over when the agent is `idle` again.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final

from runlock.conformance.wires.acp_version import CLIENT, Offers, Turn, Version, table
from runlock.conformance.wires.json_rpc import Params
from runlock.conformance.wires.ui_clients import Json

GIVEN_UP: Final = -32800
"""The code of an error that answers a request which was cancelled."""


class ReportedTurn(Turn):
    """A prompt whose end is an update; an `idle` from before it was accepted or worked on is not its own."""

    def __init__(self, ended: asyncio.Future[Any]) -> None:
        super().__init__(ended)
        self.is_begun = False  # accepted, or worked on
        self.state = ""  # the newest one that was told

    def answered(self, message: Params) -> None:
        error, result = message.get("error"), table(message, "result")
        if error is not None and not self.is_begun and table(message, "error").get("code") == GIVEN_UP:
            self.end({"stopReason": "cancelled"})
        elif error is not None:
            self.fail(error)
        elif "stopReason" in result and not self.is_begun:
            self.end(result)  # as version 1 has it: no update would follow
        self.is_begun = True

    def told(self, update: Json) -> None:
        if update.get("sessionUpdate") != "state_update":
            return
        self.state = str(update.get("state"))
        if self.state != "idle":
            self.is_begun = True
        elif self.is_begun:
            self.end({"stopReason": update.get("stopReason") or "end_turn", "error": update.get("error")})

    def so_far(self) -> str:
        said = f"its state is `{self.state}`" if self.state else "no `state_update` came"
        return f"A prompt is over when its agent is `idle`: {said}."


class Version2(Version):
    """The words of version 2, as the drafts have them."""

    number = 2
    turn = ReportedTurn
    greeting: ClassVar = {"protocolVersion": 2, "capabilities": {}, "info": CLIENT}
    resumes = "session/resume"
    of_calls = ("tool_call_update", "tool_call_content_chunk")
    of_messages = (
        "user_message", "user_message_chunk", "agent_message", "agent_message_chunk", "agent_thought",
        "agent_thought_chunk", "plan_update",
    )  # fmt: skip
    resumes_silently = True
    names_messages = True
    has_states = True
    has_open_outcomes = True
    has_titles = True
    takes_batches = True

    def misspoken(self, info: Json) -> str:
        if "capabilities" not in info:
            known = [one for one in ("agentCapabilities", "agentInfo") if one in info]
            return f"it has {' and '.join(known) or 'no word of its own'}, and no `capabilities`"
        if info["capabilities"] is None or table(info, "capabilities").get("session") is None:
            return "its `capabilities` have no `session`"
        return ""

    def implementation(self, info: Json) -> Json:
        return table(info, "info")

    def offers(self, info: Json) -> Offers:
        """Sessions are loaded and closed by every agent that has them."""
        mcp = table(info, "capabilities", "session", "mcp")
        return Offers(loads=True, closes=True, http=mcp.get("http") is not None)

    def piped(self, server: Json) -> Json:
        return {"type": "stdio", **server}

    def subject(self, params: Params) -> Json:
        """The call, or the command, or the words of the request, which need name neither."""
        subject = table(params, "subject")
        if subject.get("type") == "tool_call":
            return table(subject, "toolCall")
        words = {key: params.get(key) for key in ("title", "description")}
        return {**words, **{key: subject.get(key) for key in ("toolCallId", "command")}}

    def resuming(self, params: Json, replays: bool) -> Json:
        return {**params, "replayFrom": {"type": "start"}} if replays else params

    def response(self, message: Params) -> Json:
        if "error" in message:
            return {"error": message["error"]}
        result = table(message, "result")
        return {key: result[key] for key in ("messageId", "stopReason") if key in result}
