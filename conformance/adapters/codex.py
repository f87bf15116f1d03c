"""Codex, offline, by the JSON-RPC of its app server: one process for all scenarios, a thread for each.

It asks for the approval of a tool of a server with an elicitation, which names the tool and its arguments and
not the call; the adapter finds the call among those that were announced.

Not declared:
- `late`: a cancelled turn takes back its elicitations.
- `defer`: an elicitation is accepted or declined.
- Scopes: the elicitation offers none.
- The gate `hook` and bounds: it has none of them.
- The mode `yolo`: a list with every tool says the same.
- `ToolInvocationStarted`: a call is announced once, before it is asked about.
- `terminal` and `fault` of a model, as for the agents of the Agent Client Protocol.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from runlock.conformance.adapters.agent_client import AgentError, Params
from runlock.conformance.adapters.agent_process import AgentProcess
from runlock.conformance.adapters.agent_session import AgentSession
from runlock.conformance.adapters.models import responses_api
from runlock.conformance.adapters.models.http import Answered, Asked
from runlock.conformance.families.message_loop.adapter import Delta, Reason, Request, Segment, Turn

SETTINGS: Final = """
model = "kit"
model_provider = "kit"
check_for_update_on_startup = false
[model_providers.kit]
name = "kit"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "KIT_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
"""
REASONS: Final = {"completed": "NaturalEnd", "interrupted": "Cancelled"}
ENDS: Final = {"completed": "ToolInvocationSucceeded", "failed": "ToolInvocationFailed"}


class Codex(AgentSession):
    """A thread of Codex, which asks about each tool that its settings do not approve."""

    command = ("codex", "app-server")
    greeting: ClassVar[Params] = {"clientInfo": {"name": "kit", "title": "kit", "version": "1"}}
    session_key = "threadId"
    prefix = "mcp__kit"
    modes = {"ask": "", "allowlist": ""}
    grants = ("once",)
    model = ("delta", "turn", "malformed")
    events = ("ProviderTokensStreamed", "ToolInvocationProposed", "ToolInvocationCancelled", *ENDS.values())

    @classmethod
    def settings(cls, home: str, url: str) -> tuple[Mapping[str, str], Mapping[str, Any]]:
        return {"KIT_KEY": "kit"}, {".codex/config.toml": SETTINGS.format(url=url)}

    @classmethod
    def called(cls, info: Params) -> tuple[str, str]:
        found = re.search(r"/([\d.]+)", info["userAgent"])
        return "codex", found.group(1) if found else "unknown"

    @classmethod
    async def opened(cls, process: AgentProcess, folder: Path, tools: str, passing: Sequence[str]) -> str:
        unasked = {name: {"approval_mode": "approve"} for name in passing}
        server = {"url": tools, "default_tools_approval_mode": "prompt", "tools": unasked}
        asked = {
            "cwd": str(folder), "approvalPolicy": "on-request", "sandbox": "read-only",
            "config": {"mcp_servers": {"kit": server}},
        }  # fmt: skip
        answer = await process.client.request("thread/start", asked)
        return str(answer["thread"]["id"])

    async def prepare(self) -> None:
        self.turn = ""
        self.questioned: set[str] = set()
        self.ended: asyncio.Future[Params] = asyncio.get_running_loop().create_future()

    def request_of(self, asked: Asked) -> Request | None:
        if not asked.path.endswith("/responses"):
            return None
        request = responses_api.request_of(asked.body, self.names)
        return request if request.tools else None

    async def answer_of(self, pieces: AsyncGenerator[Delta | Turn, None]) -> Answered:
        return await responses_api.answer_of(pieces, self.requests, self.names)

    async def run_turn(self, text: str) -> Segment:
        self.ended = asyncio.get_running_loop().create_future()
        asked = {"threadId": self.id, "input": [{"type": "text", "text": text}]}
        try:
            self.turn = (await self.process.client.request("turn/start", asked))["turn"]["id"]
        except AgentError as error:
            return Segment(Reason(code="Error", detail=str(error)))
        ended = await self.ended
        code: Any = REASONS.get(ended["status"], "Error")
        return Segment(Reason(code=code, detail=(ended.get("error") or {}).get("message")))

    def interrupt(self) -> None:
        params = {"threadId": self.id, "turnId": self.turn}
        self.interrupting = asyncio.create_task(self.process.client.request("turn/interrupt", params))

    async def asked(self, method: str, params: Params) -> Params:
        about = params.get("_meta") or {}
        if method != "mcpServer/elicitation/request" or "tool_name" not in about:
            raise LookupError(f"the client has no {method}")
        name, args = about["tool_name"], about.get("tool_params")
        answer = await self.ask_person(self.call_of(name, args, self.questioned), name, args)
        action = "cancel" if answer is None else "accept" if answer.kind == "allow" else "decline"
        return {"action": action, "content": {} if action == "accept" else None}

    def notified(self, method: str, params: Params) -> None:
        item = params.get("item") or {}
        if method == "item/agentMessage/delta":
            self.show_text(params["delta"])
        elif method == "turn/completed" and not self.ended.done():
            self.ended.set_result(params["turn"])
        elif item.get("type") == "mcpToolCall" and method == "item/started":
            self.show_proposed(item["id"])
        elif item.get("type") == "mcpToolCall" and item["status"] in ENDS:
            self.show_end(ENDS[item["status"]], item["id"])
