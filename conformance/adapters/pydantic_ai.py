"""pydantic-ai behind the hosted face, offline: its FunctionModel asks the kit, and its tools enter the kit's.

Its deferred tools are what waits, for an approval or for a result from outside, and each decision starts a
new run of the agent on the message history.  That history is all the state there is, and its caller keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any, Final, Literal

import pydantic_ai as ai
from pydantic import JsonValue
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from interlock.conformance import protocol
from interlock.conformance.adapter import Host, Segment
from interlock.conformance.protocol import Decision, Message, Scenario

STATUS: Final[dict[str, Literal["ok", "error", "cancelled"]]] = {
    "success": "ok",
    "denied": "cancelled",
    "interrupted": "cancelled",
}
"""The status of a tool's result by pydantic-ai's outcome; any other outcome is an error."""


class PydanticAI:
    """One thread of an agent."""

    handshake = protocol.Handshake(
        implementation=protocol.Party(
            name="pydantic-ai", version=version("pydantic-ai-slim"), language="python"
        ),
        # Both are promised at https://ai.pydantic.dev/deferred-tools: a run goes on from the history that its
        # caller held, with results for each of the calls that were deferred.
        policies={
            "state": "caller",
            "resume": "all_or_nothing",
            "decision.modes": ["replay", "use_as_result"],
        },
        gates=["model", "tool"],
        stimuli=["decide", "cancel", "run.again", "clock.advance", "deliver"],
        outcomes=protocol.OfferedOutcomes(tool=["ok", "error", "raise", "fault", "pending"]),
        tools=["allow", "ask"],
        decisions=protocol.DecisionSupport(live=False, ids=False, suspensions=False, payload=True),
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.host = host
        self.token = ai.CancellationToken()
        self._save([])
        self.external = [spec.name for spec in scenario.tools if spec.resume_mode == "use_as_result"]
        self.agent = ai.Agent(
            FunctionModel(self._infer),
            tools=[self._tool(spec) for spec in scenario.tools],
            output_type=[str, ai.DeferredToolRequests],
        )

    async def start(self, text: str) -> Segment:
        self._save([*self.history, ModelRequest(parts=[ai.UserPromptPart(text)])])
        return await self._run()

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        results = ai.DeferredToolResults()
        for one in decisions:
            if one.call in self.outside:
                answer = one.payload if one.action == "resume" else ai.ToolFailed("rejected")
                results.calls[one.call] = answer
            else:
                results.approvals[one.call] = True if one.action == "resume" else ai.ToolDenied()
        return await self._run(results)

    async def cancel(self) -> None:
        self.token.cancel()

    async def checkpoint(self) -> Any:
        return ModelMessagesTypeAdapter.dump_json(self.history), self.ended, self.outside

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        self._save(ModelMessagesTypeAdapter.validate_json(checkpoint[0]), *checkpoint[1:])

    async def resume_run(self, run: str) -> Segment:
        return self.ended or await self._run()

    def _save(
        self, history: Sequence[ModelMessage], ended: Segment | None = None, outside: Sequence[str] = ()
    ) -> None:
        self.history, self.ended, self.outside = list(history), ended, list(outside)

    async def _run(self, results: ai.DeferredToolResults | None = None) -> Segment:
        self.token = ai.CancellationToken()
        with ai.capture_run_messages() as messages:
            try:
                done = await self.agent.run(
                    message_history=self.history, deferred_tool_results=results, cancellation_token=self.token
                )
            except ai.RunCancelled as cancelled:
                self._save(cancelled.all_messages(), Segment("Cancelled"))
                return Segment("Cancelled")
            except Exception:
                self._save(messages or self.history, self.ended, self.outside)
                raise
        asked = done.output if isinstance(done.output, ai.DeferredToolRequests) else ai.DeferredToolRequests()
        waiting = [call.tool_call_id for call in (*asked.approvals, *asked.calls)]
        outside = [call.tool_call_id for call in asked.calls]
        ended = Segment("Suspended", waiting) if waiting else Segment("NaturalEnd")
        self._save(done.all_messages(), ended, outside)
        return ended

    async def _infer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self._save(messages)
        turn = await self.host.infer([seen for message in messages for seen in _seen(message)])
        calls = [ai.ToolCallPart(call.name, dict(call.args), call.id) for call in turn.tool_calls]
        return ModelResponse(parts=[*([ai.TextPart(turn.text)] if turn.text else []), *calls])

    def _tool(self, spec: protocol.ToolSpec) -> ai.Tool[None]:
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


def _seen(message: ModelMessage) -> Iterator[Message]:
    """What the model receives, in the protocol's words: results first, as pydantic-ai sends them."""
    if isinstance(message, ModelResponse):
        calls = [
            protocol.ToolCall(id=part.tool_call_id, name=part.tool_name, args=part.args_as_dict())
            for part in message.tool_calls
        ]
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
