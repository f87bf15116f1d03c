"""Version 1 of the Agent Client Protocol: a prompt is over when it is answered."""

from __future__ import annotations

from typing import ClassVar

from runlock.conformance.wires.acp_version import CLIENT, Offers, Turn, Version, table
from runlock.conformance.wires.json_rpc import Params
from runlock.conformance.wires.ui_clients import Json


class AnsweredTurn(Turn):
    """A prompt whose response has the stop reason."""

    def answered(self, message: Params) -> None:
        if "error" in message:
            self.fail(message["error"])
        else:
            self.end(message.get("result"))

    def told(self, update: Json) -> None:
        """No update ends a prompt."""


class Version1(Version):
    """The words of version 1."""

    number = 1
    turn = AnsweredTurn
    greeting: ClassVar = {
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": CLIENT,
    }
    resumes = "session/load"
    of_calls = ("tool_call", "tool_call_update")
    of_messages = ("agent_message_chunk", "agent_thought_chunk", "plan")

    def implementation(self, info: Json) -> Json:
        return table(info, "agentInfo")

    def offers(self, info: Json) -> Offers:
        can = table(info, "agentCapabilities")
        return Offers(
            loads=bool(can.get("loadSession")),
            closes="close" in table(can, "sessionCapabilities"),
            http=bool(table(can, "mcpCapabilities").get("http")),
        )

    def piped(self, server: Json) -> Json:
        return server

    def subject(self, params: Params) -> Json:
        return table(params, "toolCall")

    def response(self, message: Params) -> Json:
        if "error" in message:
            return {"error": message["error"]}
        return {"stopReason": table(message, "result").get("stopReason")}
