"""The Claude Agent SDK, offline: its CLI asks a Messages endpoint on loopback; its tools are in this process.

Not declared:
- `late`: the SDK cancels a callback that it no longer waits for, and takes no answer after that.
- `defer`: a permission callback answers allow or deny.
- The scope `stage`: a rule lasts for one call or for the session.
- `terminal`: the API has no signal that a turn ends after its calls.
- The mode `yolo`: the CLI refuses to bypass permissions for the superuser.
- Guards of requests and responses: no hook of the SDK lies between the loop and its model.

A tool of the scenario that is not offered is offered all the same: the SDK has no other tools than these.
The API only marks errors, so an error of a call whose tool was given up reads `cancelled`.
The SDK has no bound of its own, so the adapter sets that of the scenario, which is 50 unless it says more.
"""

from __future__ import annotations

import asyncio
import tempfile
import warnings
from collections.abc import AsyncGenerator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import claude_agent_sdk as sdk
import mcp.types as mcp
from mcp.server import Server

from runlock.conformance.adapters.models.http import Answered, Asked, HttpServer
from runlock.conformance.adapters.models.messages_api import answer_of, request_of
from runlock.conformance.adapters.models.names import Names
from runlock.conformance.families.message_loop.adapter import (
    Delta,
    Handshake,
    HookAnswer,
    LoopHost,
    Prompt,
    Reason,
    Refused,
    Request,
    Scenario,
    Segment,
    ToolRaised,
    Turn,
    TurnStart,
)
from runlock.conformance.families.message_loop.messages import HookSpec, OfferedOutcomes, StopReason
from runlock.conformance.protocol import Control, Party
from runlock.conformance.transport.real_time import Bridge, RealTime

# It warns that an allowed tool is asked about by no one, which is what the list is for.
warnings.filterwarnings("ignore", category=sdk.CanUseToolShadowedWarning)

SETTINGS: Final = {
    "ANTHROPIC_API_KEY": "kit", "ENABLE_TOOL_SEARCH": "false", "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0", "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
}  # fmt: skip
"""Settings of the CLI: a key, all tools offered, no telemetry, no updates, no request sent again."""

POLICIES: Final[Mapping[str, Any]] = {
    "guard.place": "before_approval", "hook.order": "parallel", "rewrite.place": "before_approval",
    "round.executor": "sequential", "tool.raises": "failed_call",
    "reject.reach": "call", "grant.scopes": ["once", "session"], "grant.match": "tool",
}  # fmt: skip
"""What the documentation promises; the other policies are open."""

EVENTS: Final = {"pre": ("PreToolUse",), "post": ("PostToolUse", "PostToolUseFailure")}
"""The events of the SDK that stand for a point of TOOL_CALL."""


@cache
def _real_time() -> RealTime:
    return RealTime()


class ClaudeAgent:
    """One client of the SDK, with a CLI process and a model endpoint of its own, for each scenario."""

    handshake = Handshake(
        implementation=Party(name="claude-agent-sdk", version=sdk.__version__, language="python"),
        profile="message-loop-core",
        policies=dict(POLICIES),
        control=Control(settle="observed", clock="real", step="none"),
        gates=["model", "tool", "prompt", "hook"],
        observes=["event", "run.finished"],
        events=["ProviderTokensStreamed"],
        hooks=["TOOL_CALL.pre.guard", "TOOL_CALL.pre.transform", "TOOL_CALL.pre.observer"],
        modes=["ask", "allowlist"],
        interactors=1,
        grants=["once", "session"],
        turns=["chat"],
        bounds=["max_iterations"],
        stimuli=["cancel", "run.again", "deliver"],
        outcomes=OfferedOutcomes(
            model=["delta", "turn", "malformed", "fault"],
            tool=["ok", "error", "raise"],
            prompt=["allow", "deny"],
            hook=["continue", "deny", "rewrite", "fault"],
        ),
    )  # fmt: skip

    async def open(self, host: LoopHost, scenario: Scenario) -> None:
        self.host, self.scenario = host, scenario
        self.bridge = Bridge(_real_time(), asyncio.get_running_loop())
        self.names = Names("mcp__kit__", [tool.name for tool in scenario.tools])
        self.requests = self.prompts = 0
        self.has_reacted = False  # to the newest piece of a response: asked a hook, a person or a tool
        self.aborted: set[str] = set()
        self.in_turn = False
        await self.bridge.do(self._connect())

    async def start(self, turn: TurnStart) -> Segment:
        self.in_turn = True
        try:
            return await self.bridge.do(self._turn(turn.input or ""))
        finally:
            self.in_turn = False

    async def cancel(self) -> None:
        if not self.in_turn:
            raise Refused("no turn is under way")
        self.bridge.end()
        await self.bridge.do(self.client.interrupt())

    def busy(self) -> bool:
        return hasattr(self, "bridge") and self.bridge.busy()

    async def close(self) -> None:
        await self.bridge.do(self._disconnect())

    async def _connect(self) -> None:
        self.endpoint = HttpServer(self._answer)
        await self.endpoint.start()
        self.client = sdk.ClaudeSDKClient(self._options(Path(self.scenario.data or tempfile.mkdtemp())))
        await self.client.connect()

    async def _disconnect(self) -> None:
        await self.client.disconnect()
        await self.endpoint.stop()

    def _options(self, home: Path) -> sdk.ClaudeAgentOptions:
        scenario = self.scenario
        server = Server("kit", on_list_tools=self._list_tools, on_call_tool=self._call_tool)
        listed = scenario.allowlist if scenario.mode == "allowlist" else []
        return sdk.ClaudeAgentOptions(
            tools=[],
            mcp_servers={"kit": sdk.McpSdkServerConfig(type="sdk", name="kit", instance=server)},
            allowed_tools=[self.names.long(name) for name in listed],
            can_use_tool=self._ask if scenario.interactors else None,
            hooks=self._hooks(),
            system_prompt=scenario.system or "",
            max_turns=scenario.bounds.max_iterations,
            include_partial_messages=True,
            setting_sources=[],
            cwd=home,
            env={
                **SETTINGS, "ANTHROPIC_BASE_URL": self.endpoint.url, "HOME": str(home),
                "CLAUDE_CONFIG_DIR": str(home / "config"),
            },
        )  # fmt: skip

    # A turn.

    async def _turn(self, text: str) -> Segment:
        await self.client.query(text)
        async for message in self.client.receive_response():
            self.bridge.moved()
            if isinstance(message, sdk.StreamEvent):
                self._show(message.event)
            elif isinstance(message, sdk.ResultMessage):
                return Segment(_reason(message))
        raise ConnectionError("the CLI ended its messages without a result")

    def _show(self, event: Mapping[str, Any]) -> None:
        delta = event.get("delta") or {}
        if delta.get("type") == "text_delta":
            data = {"text": delta["text"], "request": self.requests}
            self.bridge.tell(partial(self.host.event, "ProviderTokensStreamed", **data))

    # What the SDK asks.

    async def _answer(self, asked: Asked) -> Answered:
        if not asked.path.endswith("/v1/messages") or not self.in_turn:
            return Answered({})
        self.requests += 1
        request = request_of(asked.body, self.names, self.aborted)
        return await answer_of(self._pieces(request), self.requests, self.names)

    async def _pieces(self, request: Request) -> AsyncGenerator[Delta | Turn, None]:
        async for piece in self.bridge.each(self.host.stream(request)):
            self.has_reacted = False
            yield piece
            if isinstance(piece, Delta) and piece.whole_call is not None:
                await self.bridge.until(lambda: self.has_reacted)

    async def _ask(self, name: str, args: dict[str, Any], context: sdk.ToolPermissionContext) -> Any:
        self.prompts += 1
        self.has_reacted = True
        prompt = Prompt(f"p{self.prompts}", "mode", str(context.tool_use_id), self.names.short(name), args)
        answer = await self.bridge.ask(self.host.ask(self.scenario.interactors[0], prompt))
        if answer.kind != "allow":
            return sdk.PermissionResultDeny(message=answer.message or "no")
        return sdk.PermissionResultAllow(
            updated_permissions=[_rule(name)] if answer.scope == "session" else None
        )

    async def _list_tools(self, context: Any, params: Any) -> mcp.ListToolsResult:
        schema = {"type": "object", "properties": {}}
        return mcp.ListToolsResult(
            tools=[mcp.Tool(name=one, description=one, input_schema=schema) for one in self.names.tools]
        )

    async def _call_tool(self, context: Any, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        self.has_reacted = True
        call = str((context.meta or {}).get("claudecode/toolUseId"))
        try:
            outcome = await self.bridge.ask(self.host.tool(call, params.name, params.arguments or {}))
        except ToolRaised as error:
            return _result(str(error), is_error=True)
        except asyncio.CancelledError:
            self.aborted.add(call)
            raise
        return _result(str(outcome.content), is_error=outcome.kind == "error")

    # Hooks.

    def _hooks(self) -> Any:
        hooks = self.scenario.hooks
        return {
            event: [sdk.HookMatcher(hooks=[partial(self._hook, one)]) for one in hooks if one.point == point]
            for point, events in EVENTS.items()
            for event in events
        }

    async def _hook(self, spec: HookSpec, asked: Any, call: str | None, context: Any) -> Any:
        self.has_reacted = True
        data = {"name": self.names.short(asked["tool_name"]), "args": asked["tool_input"]}
        return _hook_output(spec, await self.bridge.ask(self.host.hook(spec.id, data, call=call)))


def _rule(name: str) -> sdk.PermissionUpdate:
    rules = [sdk.types.PermissionRuleValue(tool_name=name)]
    return sdk.PermissionUpdate(type="addRules", rules=rules, behavior="allow", destination="session")


def _result(text: str, *, is_error: bool) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=text)], is_error=is_error)


def _hook_output(spec: HookSpec, answer: HookAnswer) -> dict[str, Any]:
    """What a hook returns; it does what its kind may do."""
    more: dict[str, Any] = {}
    if spec.kind == "guard" and answer.kind == "deny":
        more = {"permissionDecision": "deny", "permissionDecisionReason": answer.message or "no"}
    elif spec.kind == "transform" and answer.kind == "rewrite":
        more = {"updatedInput": (answer.data or {}).get("args")}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **more}} if more else {}


def _reason(result: sdk.ResultMessage) -> Reason:
    """Why a turn ended: the words of the SDK in those of the protocol."""
    if result.subtype == "success" and not result.is_error:
        return Reason(code="NaturalEnd")
    detail = "; ".join(result.errors or []) or result.result or result.subtype
    if result.subtype == "error_max_turns":
        return Reason(code="Stopped", detail=detail, stop=StopReason(code="max_iterations", detail=detail))
    return Reason(code="Cancelled" if _was_interrupted(result) else "Error", detail=detail)


def _was_interrupted(result: sdk.ResultMessage) -> bool:
    return str(result.terminal_reason).startswith("aborted")
