"""pydantic-ai behind the hosted face, offline: its FunctionModel asks the kit, and its tools enter the kit's.

Approvals are its suspensions, and each decision starts a new run of the agent on the message history.
That history is all the state there is; its caller keeps it, here as of the last inference that began.
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
        policies={"state": "caller", "resume": "all_or_nothing"},
        gates=["model", "tool"],
        stimuli=["decide", "cancel", "run.again", "clock.advance", "deliver"],
        outcomes=protocol.OfferedOutcomes(tool=["ok", "error", "raise", "fault", "pending"]),
        tools=["allow", "ask"],
        decisions=protocol.DecisionSupport(live=False, ids=False, suspensions=False, payload=False),
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.host = host
        self.token = ai.CancellationToken()
        self._save([], resting=True)
        self.agent = ai.Agent(
            FunctionModel(self._infer),
            tools=[self._tool(spec) for spec in scenario.tools],
            output_type=[str, ai.DeferredToolRequests],
        )

    async def start(self, text: str) -> Segment:
        self._save([*self.history, ModelRequest(parts=[ai.UserPromptPart(text)])], resting=False)
        return await self._run()

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        results = ai.DeferredToolResults()
        for one in decisions:
            results.approvals[one.call] = True if one.action == "resume" else ai.ToolDenied()
        return await self._run(results)

    async def cancel(self) -> None:
        self.token.cancel()

    async def checkpoint(self) -> tuple[bytes, bool]:
        return ModelMessagesTypeAdapter.dump_json(self.history), self.resting

    async def restore(self, host: Host, scenario: Scenario, checkpoint: tuple[bytes, bool]) -> None:
        await self.open(host, scenario)
        self._save(ModelMessagesTypeAdapter.validate_json(checkpoint[0]), resting=checkpoint[1])

    async def resume_run(self, run: str) -> Segment | None:
        return None if self.resting else await self._run()

    def _save(self, history: Sequence[ModelMessage], *, resting: bool) -> None:
        self.history, self.resting = list(history), resting

    async def _run(self, results: ai.DeferredToolResults | None = None) -> Segment:
        self.token = ai.CancellationToken()
        try:
            done = await self.agent.run(
                message_history=self.history, deferred_tool_results=results, cancellation_token=self.token
            )
        except ai.RunCancelled as cancelled:
            self._save(cancelled.all_messages(), resting=True)
            return Segment("Cancelled")
        except Exception:
            self.resting = True
            raise
        self._save(done.all_messages(), resting=True)
        if isinstance(done.output, ai.DeferredToolRequests):
            return Segment("Suspended", [call.tool_call_id for call in done.output.approvals])
        return Segment("NaturalEnd")

    async def _infer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self._save(messages, resting=False)
        turn = await self.host.infer([seen for message in messages for seen in _seen(message)])
        calls = [ai.ToolCallPart(call.name, dict(call.args), call.id) for call in turn.tool_calls]
        return ModelResponse(parts=[*([ai.TextPart(turn.text)] if turn.text else []), *calls])

    def _tool(self, spec: protocol.ToolSpec) -> ai.Tool[None]:
        async def body(ctx: ai.RunContext[None], k: str = "", v: JsonValue = None) -> Any:
            answer = await self.host.tool(str(ctx.tool_call_id), spec.name, {"k": k, "v": v})
            if answer.kind == "pending":
                raise ai.ApprovalRequired
            if answer.kind == "error":
                raise ai.ToolFailed(answer.message or str(answer.content))
            return answer.content

        return ai.Tool(body, name=spec.name, requires_approval=spec.permission == "ask")


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
