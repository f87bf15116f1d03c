"""pydantic-ai behind the hosted face, offline: its FunctionModel asks the kit, and its tools enter the kit's.

Its deferred tools are what waits, for an approval or for a result from outside, and each decision starts a
new run of the agent on the message history.  That history is all the state there is, and its caller keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pydantic_ai as ai
from pydantic import JsonValue
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from interlock.conformance.adapter import Host, Segment
from interlock.conformance.adapters.libraries import Thread, offers, parts
from interlock.conformance.protocol import Decision, DecisionSupport, Message, Scenario, ToolCall, ToolSpec

STATUS: Final[dict[str, Any]] = {"success": "ok", "denied": "cancelled", "interrupted": "cancelled"}
"""The status of a tool's result by pydantic-ai's outcome; any other outcome is an error."""


class PydanticAI(Thread):
    """One thread of an agent."""

    handshake = offers(
        "pydantic-ai",
        "pydantic-ai-slim",
        tool=["ok", "error", "raise", "fault", "pending"],
        # All are promised at https://ai.pydantic.dev/deferred-tools: a run goes on from the history that its
        # caller held, with results for each of the calls that were deferred.
        policies={
            "state": "caller",
            "resume": "all_or_nothing",
            "decision.modes": ["replay", "use_as_result"],
        },
        decisions=DecisionSupport(live=False, ids=False, suspensions=False, payload=True),
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.token = ai.CancellationToken()
        self.history: list[ModelMessage] = []
        self.left: Segment | None = None  # how the last segment ended, if none has begun since
        self.outside: list[str] = []  # the calls whose results come with their decisions
        self.external = [spec.name for spec in scenario.tools if spec.resume_mode == "use_as_result"]
        self.agent = ai.Agent(
            FunctionModel(self._infer),
            tools=[self._tool(spec) for spec in scenario.tools],
            output_type=[str, ai.DeferredToolRequests],
        )

    async def start(self, text: str) -> Segment:
        self.history, self.left = [*self.history, ModelRequest(parts=[ai.UserPromptPart(text)])], None
        return await self._run()

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        results = ai.DeferredToolResults()
        for one in decisions:
            yes = one.action == "resume"
            if one.call in self.outside:
                results.calls[one.call] = one.payload if yes else ai.ToolFailed("rejected")
            else:
                results.approvals[one.call] = yes
        return await self._run(results)

    async def cancel(self) -> None:
        self.token.cancel()

    async def checkpoint(self) -> Any:
        return ModelMessagesTypeAdapter.dump_json(self.history), self.left, self.outside

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        history, self.left, self.outside = checkpoint
        self.history = ModelMessagesTypeAdapter.validate_json(history)

    async def resume_run(self, run: str) -> Segment:
        return self.left or await self._run()

    async def _run(self, results: ai.DeferredToolResults | None = None) -> Segment:
        self.token = ai.CancellationToken()
        with ai.capture_run_messages() as messages:
            try:
                done = await self.agent.run(
                    message_history=self.history, deferred_tool_results=results, cancellation_token=self.token
                )
            except ai.RunCancelled as cancelled:
                self.history, self.left = cancelled.all_messages(), Segment("Cancelled")
                return self.left
            except Exception:
                self.history = list(messages) or self.history
                raise
        asked = done.output if isinstance(done.output, ai.DeferredToolRequests) else ai.DeferredToolRequests()
        requests = [(call.tool_call_id, call) for call in (*asked.approvals, *asked.calls)]
        self.outside = [call.tool_call_id for call in asked.calls]
        self.history, self.left = done.all_messages(), self.ended(requests)
        return self.left

    async def _infer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.history, self.left = list(messages), None
        turn = await self.host.infer([seen for message in messages for seen in _seen(message)])
        return ModelResponse(parts=parts(turn, ai.TextPart, _call))

    def _tool(self, spec: ToolSpec) -> ai.Tool[None]:
        async def body(ctx: ai.RunContext[None], k: str = "", v: JsonValue = None) -> Any:
            if spec.name in self.external:
                raise ai.CallDeferred
            answer = await self.host.tool(str(ctx.tool_call_id), spec.name, {"k": k, "v": v})
            if answer.kind == "pending":
                raise ai.ApprovalRequired
            if answer.kind == "error":
                raise ai.ToolFailed(answer.message or str(answer.content))
            return answer.content

        asks = spec.permission == "ask" and spec.name not in self.external
        return ai.Tool(body, name=spec.name, requires_approval=asks)


def _call(call: ToolCall) -> ai.ToolCallPart:
    return ai.ToolCallPart(call.name, dict(call.args), call.id)


def _seen(message: ModelMessage) -> Iterator[Message]:
    """What the model receives, in the protocol's words: results first, as pydantic-ai sends them."""
    if isinstance(message, ModelResponse):
        asked = message.tool_calls
        calls = [ToolCall(id=one.tool_call_id, name=one.tool_name, args=one.args_as_dict()) for one in asked]
        yield Message(role="assistant", text=message.text or "", tool_calls=calls)
        return
    for part in message.parts:
        if part.part_kind == "tool-return":
            status = STATUS.get(part.outcome, "error")
            yield Message(role="tool", call=part.tool_call_id, text=str(part.content), status=status)
        elif part.part_kind == "retry-prompt" and part.tool_name:
            yield Message(role="tool", call=part.tool_call_id, text=part.model_response(), status="error")
        else:
            yield Message(role="user", text=str(getattr(part, "content", "")))


adapter = PydanticAI
