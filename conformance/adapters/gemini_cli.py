"""gemini-cli over the Agent Client Protocol.  Its model's API states calls whole, so none is malformed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from runlock.conformance.adapters.acp import AcpAdapter
from runlock.conformance.adapters.agent_client import Params
from runlock.conformance.adapters.models import gemini_api
from runlock.conformance.adapters.models.http import Answered, Asked
from runlock.conformance.families.message_loop.adapter import Delta, Request, Turn


class GeminiCli(AcpAdapter):
    """A session of gemini-cli."""

    command = ("gemini", "--acp", "-m", "gemini-2.5-flash")
    prefix = "mcp_kit_"
    modes = {"ask": "", "allowlist": "", "yolo": "yolo"}
    model = ("delta", "turn")

    @classmethod
    def settings(cls, home: str, url: str) -> tuple[Mapping[str, str], Mapping[str, Any]]:
        env = {
            "GEMINI_API_KEY": "kit", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }  # fmt: skip
        chosen = {
            "security": {"folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
            "model": {"disableLoopDetection": True},  # which asks another model after thirty calls
        }
        return env, {".gemini/settings.json": chosen}

    @classmethod
    def rules(cls, passing: Sequence[str]) -> Mapping[str, Any]:
        return {".gemini/settings.json": {"tools": {"allowed": list(passing)}}}

    def request_of(self, asked: Asked) -> Request | None:
        if "streamGenerateContent" not in asked.path:
            return None
        request = gemini_api.request_of(asked.body, self.names, self.aborted)
        return request if request.tools else None

    async def answer_of(self, pieces: AsyncGenerator[Delta | Turn, None]) -> Answered:
        return await gemini_api.answer_of(pieces, self.names)

    def shown(self, call: Params) -> tuple[str, Any]:
        texts = [one["content"]["text"] for one in call.get("content") or () if one["type"] == "content"]
        try:
            args = json.loads("".join(texts))
        except ValueError:
            args = None
        return call["toolCallId"].rpartition("__")[2], args
