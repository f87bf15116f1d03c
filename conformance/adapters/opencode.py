"""opencode over the Agent Client Protocol.

It asks its model for the title of a session too; that request offers no tools, and is answered here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.adapters.acp import AcpAdapter
from runlock.conformance.adapters.agent_client import Params
from runlock.conformance.adapters.models import chat_completions
from runlock.conformance.adapters.models.http import Answered, Asked
from runlock.conformance.families.message_loop.adapter import Delta, Request, Turn

MODEL: Final = {"name": "kit", "tool_call": True, "limit": {"context": 1_000_000, "output": 1_000}}
OFFLINE: Final = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "SHARE")


class OpenCode(AcpAdapter):
    """A session of opencode, which asks about each tool that its folder does not allow."""

    command = ("opencode", "acp")
    prefix = "kit_"
    modes = {"ask": "", "allowlist": ""}
    model = ("delta", "turn", "malformed")

    @classmethod
    def settings(cls, home: str, url: str) -> tuple[Mapping[str, str], Mapping[str, Any]]:
        options = {"baseURL": f"{url}/v1", "apiKey": "kit"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"kit": MODEL}}
        chosen = {
            "provider": {"kit": provider}, "model": "kit/kit", "small_model": "kit/kit",
            "enabled_providers": ["kit"], "share": "disabled", "autoupdate": False,
        }  # fmt: skip
        env = {f"OPENCODE_DISABLE_{what}": "1" for what in OFFLINE}
        return env, {".config/opencode/opencode.json": chosen}

    @classmethod
    def rules(cls, passing: Sequence[str]) -> Mapping[str, Any]:
        return {"opencode.json": {"permission": {"*": "ask", **dict.fromkeys(passing, "allow")}}}

    def request_of(self, asked: Asked) -> Request | None:
        request = chat_completions.request_of(asked.body, self.names)
        return request if request.tools else None

    async def answer_of(self, pieces: AsyncGenerator[Delta | Turn, None]) -> Answered:
        return await chat_completions.answer_of(pieces, self.names)

    def answer_aside(self, asked: Asked) -> Answered:
        return chat_completions.plain_answer("A title")

    def shown(self, call: Params) -> tuple[str, Any]:
        return call["toolCallId"], call.get("rawInput")
