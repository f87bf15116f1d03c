"""openai-agents behind the hosted interface: a model that asks the kit, and tools that need approval.

A run that waits is a `RunState`, which its caller holds as a string.  The thread is in `InputList` the list
of input items that a result gives to its caller, and in `InSession` one of the library's own sessions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import agents
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext
from pydantic import JsonValue

from runlock.conformance.adapter import (
    Decision,
    Host,
    Reason,
    Refused,
    Scenario,
    Segment,
    StopReason,
    ToolCall,
    ToolSpec,
)
from runlock.conformance.adapters.libraries import ABSENT, ENDS, Thread, given, offers
from runlock.conformance.adapters.models.openai_agents import KitModel, arguments_of, function_call

agents.set_tracing_disabled(True)

WITHIN: ContextVar[Host | None] = ContextVar("within", default=None)
"""The host of the run within a call that is under way here."""


class InputList(Thread):
    """One thread of an agent, held by its caller."""

    handshake = offers(
        "openai-agents",
        "openai-agents",
        tool=["ok", "raise"],
        model=["length", "refusal", "malformed"],
        # At https://openai.github.io/openai-agents-python/: human_in_the_loop gives its caller the state,
        # lets it decide a part of the calls, executes what is approved, and has an approval last for the run;
        # tools gives the model a message for a tool that raises, and guardrails for a call that one rejects;
        # running_agents starts all calls of a turn, and has a number of turns after which the run is over;
        # results cancels at once, with its tasks.
        policies={
            "state": "caller",
            "tool.raises": "failed_call",
            "resume": "partial",
            "decision.modes": ["replay"],
            "grant.scopes": ["once", "run"],
            "grant.match": "tool",
            "decision.batch": "each",
            "durability": "segment",
            "replay.gate": "no",
            "round.executor": "parallel",
            "round.mixed": "wait",
            "round.block": "fail_call",
            "round.failure": "isolated",
            "cancel.inflight": "abort",
            "cancel.results": "dropped",
            "stop.conditions": ["max_rounds"],
            "stop.threshold": "reaches",
            "stop.tools": "drained",
            "reasons": [*ENDS, "Stopped"],
        },
        keeps_waits=True,
        observes=["call.shown"],
        permission=["allow", "block", "suspend"],
        tools=["agent", "timeout"],
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.thread: list[Any] = []
        self.session: agents.SQLiteSession | None = None
        self.under_way: agents.RunResultStreaming | None = None
        self.state: agents.RunState[Any] | None = None
        self.kept: str | None = None  # the state of a run that waits, as its caller stores it
        self.text: str | None = None  # what was said and has no answer yet
        self.verdicts: dict[str, str] = {}  # what was said of each call
        self.hosts: dict[str, Host] = {}  # of the runs within calls
        self.limit: Any = {"max_turns": scenario.agent.stop[0].rounds} if scenario.agent.stop else {}
        self.agent = self._agent("agent", {tool.name: tool for tool in scenario.tools})

    def _agent(self, name: str, tools: Mapping[str, ToolSpec], offered: Sequence[str] | None = None) -> Any:
        own = [self._tool(tools[one], tools) for one in offered or tools]
        return agents.Agent(name, model=KitModel(self._here), tools=own)

    def _here(self) -> Host:
        return WITHIN.get() or self.host

    async def start(self, text: str) -> Segment:
        self.text = text
        return await self._run(self._given(text))

    input = start

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        if self.state is None:
            raise Refused("no run of this process has a state that could be decided about")
        for one in decisions:
            nothing = ToolApprovalItem(self.agent, function_call(ToolCall(id=one.call, name="nothing")))
            item = self.asked.get(one.call, nothing)
            try:  # each decision is a call of its own, and one that fails says nothing of the others
                if one.action == "resume":
                    self.state.approve(item, always_approve=one.scope == "run")
                else:
                    self.state.reject(item)
            except agents.ModelBehaviorError as error:
                self.host.refuse(str(error), one.id)
        return await self._run(self.state)

    async def cancel(self) -> None:
        if self.under_way is not None:
            self.under_way.cancel()

    async def checkpoint(self) -> Any:
        return self.kept, self.thread, self.text

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        self.kept, self.thread, self.text = checkpoint
        if self.kept is not None:
            self.state = await agents.RunState.from_string(self.agent, self.kept)
            self.asked = {_id(item): item for item in self.state.get_interruptions()}

    async def resume_run(self, run: str) -> Segment:
        """Its caller says again what has no answer, or still has the state that waits."""
        return await self.start(self.text) if self.text is not None else self.waiting_again(list(self.asked))

    async def _run(self, given: Any) -> Segment:
        self.under_way = run = agents.Runner.run_streamed(
            self.agent, given, session=self.session, **self.limit
        )
        try:
            async for _ in run.stream_events():
                pass
        except agents.MaxTurnsExceeded:
            return Segment(Reason(code="Stopped", stop=StopReason(code="max_rounds")))
        finally:
            self.thread = run.to_input_list()
            self.text = None
        self.state = run.to_state()
        if run.interruptions:
            self.kept = self.state.to_string()
        requests = {_id(item): item for item in run.interruptions}
        for call, item in requests.items():
            self.show(call, str(item.name), arguments_of(item.arguments or "{}"))
        return self.ended(requests.items(), "Cancelled" if run.final_output is None else "NaturalEnd")

    def _given(self, text: str) -> Any:
        return [*self.thread, {"role": "user", "content": text}]

    def _tool(self, spec: ToolSpec, tools: Mapping[str, ToolSpec]) -> agents.FunctionTool:
        if spec.agent is not None:
            return self._agent_as_tool(spec, tools)

        async def body(ctx: ToolContext[Any], k: str = ABSENT, v: JsonValue = ABSENT) -> Any:
            answer = await self._here().tool(ctx.tool_call_id, spec.name, given(k=k, v=v))
            return answer.content

        tool = agents.function_tool(
            body,
            name_override=spec.name,
            needs_approval=spec.permission == "ask",
            strict_mode=False,
            timeout=None if spec.timeout_ms is None else spec.timeout_ms / 1000,
        )
        if spec.permission == "gate":
            self._gate(tool)
        return tool

    def _gate(self, tool: agents.FunctionTool) -> None:
        """Give a tool a function that puts calls up for approval, and a guardrail that blocks them.

        The library asks the function only about calls that no approval for the run covers.
        """

        async def asks(ctx: Any, args: dict[str, Any], call: str) -> bool:
            self.verdicts[call] = (await self._here().permit(call, tool.name, args)).kind
            return self.verdicts[call] == "suspend"

        @agents.tool_input_guardrail
        async def block(data: agents.ToolInputGuardrailData) -> agents.ToolGuardrailFunctionOutput:
            call = data.context.tool_call_id
            if call not in self.verdicts and call not in self.asked:
                await asks(data.context, arguments_of(data.context.tool_arguments), call)
            is_blocked = self.verdicts.get(call) == "block"
            outputs = agents.ToolGuardrailFunctionOutput
            return outputs.reject_content("blocked") if is_blocked else outputs.allow()

        tool.needs_approval = asks
        tool.tool_input_guardrails = [block]
        # Of a plain function, a call that leaves arguments to their defaults is put up for approval unasked.
        tool.on_invoke_tool = partial(tool.on_invoke_tool)

    def _agent_as_tool(self, spec: ToolSpec, tools: Mapping[str, ToolSpec]) -> agents.FunctionTool:
        """The library's own tool, whose run differs from the others by the call that it is within."""
        assert spec.agent is not None
        tool = self._agent(spec.name, tools, spec.agent.tools).as_tool(spec.name, "an agent")
        run = tool.on_invoke_tool

        async def invoke(ctx: ToolContext[Any], given: str) -> Any:
            around = self._here()
            within = self.hosts.setdefault(ctx.tool_call_id, around.within(ctx.tool_call_id))
            token = WITHIN.set(within)
            try:
                return await run(ctx, json.dumps({"input": str(json.loads(given).get("v"))}))
            finally:
                WITHIN.reset(token)

        tool.on_invoke_tool = invoke
        return tool


class InSession(InputList):
    """One thread of an agent, in a session of its own."""

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.session = agents.SQLiteSession("thread", Path(scenario.data or "", "session.sqlite"))

    def _given(self, text: str) -> Any:
        return text


def _id(item: ToolApprovalItem) -> str:
    return str(item.raw_item["call_id"] if isinstance(item.raw_item, dict) else item.raw_item.call_id)
