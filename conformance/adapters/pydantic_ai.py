"""pydantic-ai behind the hosted interface: its FunctionModel asks the kit, and its tools enter the kit's.

Its deferred tools are what waits, for an approval or for a result from outside, and each decision starts a
new run of the agent on the message history.  That history is all the state there is, and its caller keeps it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pydantic_ai as ai
from pydantic import JsonValue
from pydantic_ai.capabilities import Hooks
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest

from runlock.conformance.adapter import Decision, DecisionSupport, Host, Scenario, Segment, ToolSpec
from runlock.conformance.adapters.libraries import ABSENT, Thread, given, offers
from runlock.conformance.adapters.models.pydantic_ai import args_of, kit_model


class PydanticAI(Thread):
    """One thread of an agent."""

    handshake = offers(
        "pydantic-ai",
        "pydantic-ai-slim",
        tool=["ok", "error", "raise", "fault", "pending"],
        # All are promised at https://ai.pydantic.dev/deferred-tools: a run goes on from the history that its
        # caller held, with results for each of the calls that were deferred.  `repair_messages` at
        # https://ai.pydantic.dev/api/messages: it refuses a new prompt for a history whose final response has
        # a call without an answer.
        policies={
            "state": "caller",
            "resume": "all_or_nothing",
            "decision.modes": ["replay", "use_as_result"],
            "input.waiting": "refuse",
            # It refuses results of which one is for an unknown call, and validates an approved call again.
            "decision.batch": "atomic",
            "replay.gate": "yes",
            "durability": "segment",
            # tools-advanced: a round is concurrent; a tool that raises ends the run, one that fails does not.
            "round.executor": "parallel",
            "tool.raises": "end_run",
            "round.block": "fail_call",
            # deferred-tools: a run ends where calls are deferred, once the others have run.
            "round.mixed": "wait",
            # agent: the history of a cancelled run has the results that were there; message-history: what is
            # enqueued redirects a run that would end.
            "cancel.inflight": "abort",
            "cancel.results": "kept",
            "input.late": "goes_on",
        },
        keeps_waits=True,
        model=["length", "refusal", "malformed"],
        tools=["timeout"],
        steered=True,
        decisions=DecisionSupport(live=False, ids=False, suspensions=False, payload=True, edit=["args"]),
        observes=["call.shown"],
        permission=["allow", "block", "suspend", "set_result"],
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.token = ai.CancellationToken()
        self.driven: asyncio.Future[ai.run.AgentRun[None, Any]] | None = None  # the run at work
        self.history: list[ModelMessage] = []
        self.left: Segment | None = None  # how the last segment ended, if none has begun since
        self.outside: list[str] = []  # the calls whose results come with their decisions
        self.external = [spec.name for spec in scenario.tools if spec.resume_mode == "use_as_result"]
        self.gated = [spec.name for spec in scenario.tools if spec.permission == "gate"]
        self.permit: Any = host.permit
        self.agent = ai.Agent(
            kit_model(host, self._before),
            tools=[self._tool(spec) for spec in scenario.tools],
            output_type=[str, ai.DeferredToolRequests],
            capabilities=[Hooks(before_tool_execute=self._permit)],
        )

    async def start(self, text: str) -> Segment:
        self.history, self.left = [*self.history, ModelRequest(parts=[ai.UserPromptPart(text)])], None
        return await self._run()

    async def input(self, text: str) -> Segment | None:
        """Something for the run at work, or else a prompt on top of a history in which calls may wait."""
        if self.driven is None:
            return await self._run(prompt=text)
        (await self.driven).enqueue(text)
        return None

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        results = ai.DeferredToolResults()
        for one in decisions:
            yes = one.action == "resume"
            if one.call in self.outside:
                results.calls[one.call] = one.payload if yes else ai.ToolFailed("rejected")
            elif one.edit is not None:
                results.approvals[one.call] = ai.ToolApproved(override_args=one.edit.args)
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

    async def _run(self, results: ai.DeferredToolResults | None = None, prompt: str | None = None) -> Segment:
        self.token = ai.CancellationToken()
        with ai.capture_run_messages() as messages:
            try:
                done = await self._driven(
                    prompt,
                    message_history=self.history,
                    deferred_tool_results=results,
                    cancellation_token=self.token,
                )
            except ai.RunCancelled as cancelled:
                self.history, self.left = cancelled.all_messages(), Segment("Cancelled")
                return self.left
            except Exception:
                self.history = list(messages) or self.history
                raise
        self.history, self.left = done.all_messages(), self._waits_for(done.output)
        return self.left

    async def _driven(self, prompt: str | None, **more: Any) -> Any:
        """The result of a run that is driven from here, as one is that takes messages at work."""
        self.driven = asyncio.get_running_loop().create_future()
        try:
            async with self.agent.iter(prompt, **more) as run:
                self.driven.set_result(run)
                async for _ in run:
                    pass
                return run.result
        finally:
            self.driven = None

    def _waits_for(self, output: Any) -> Segment:
        """How a run of the agent ended that has this output, whose requests are shown."""
        asked = output if isinstance(output, ai.DeferredToolRequests) else ai.DeferredToolRequests()
        self.outside = [call.tool_call_id for call in asked.calls]
        requests = [(call.tool_call_id, call) for call in (*asked.approvals, *asked.calls)]
        for name, call in requests:
            self.show(name, call.tool_name, args_of(call))
        return self.ended(requests)

    def _before(self, messages: Sequence[ModelMessage]) -> None:
        """Keep what the model is about to be asked: it is the history, should nothing come after."""
        self.history, self.left = list(messages), None

    async def _permit(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        """A hook before each call that is about to run, replayed ones too."""
        if call.tool_name not in self.gated:
            return args
        verdict = await self.permit(call.tool_call_id, call.tool_name, args)
        if verdict.kind == "suspend":
            raise ai.ApprovalRequired
        if verdict.kind == "block":
            raise ai.ToolFailed(verdict.message or "blocked")
        if verdict.kind == "set_result":
            raise SkipToolExecution(verdict.content)
        return args

    def _tool(self, spec: ToolSpec) -> ai.Tool[None]:
        async def body(ctx: ai.RunContext[None], k: str = ABSENT, v: JsonValue = ABSENT) -> Any:
            if spec.name in self.external:
                raise ai.CallDeferred
            answer = await self.host.tool(str(ctx.tool_call_id), spec.name, given(k=k, v=v))
            if answer.kind == "pending":
                raise ai.ApprovalRequired
            if answer.kind == "error":
                raise ai.ToolFailed(answer.message or str(answer.content))
            return answer.content

        asks = spec.permission == "ask" and spec.name not in self.external
        seconds = None if spec.timeout_ms is None else spec.timeout_ms / 1000
        return ai.Tool(body, name=spec.name, requires_approval=asks, timeout=seconds)


adapter = PydanticAI
