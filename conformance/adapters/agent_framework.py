"""Microsoft's agent-framework behind the hosted interface, offline: a chat client that asks the kit.

A call that waits is a request for approval in the answer, and a decision is the response made of it, sent
as a message of the user.  The session is a value that its caller holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    Content,
    FunctionInvocationContext,
    FunctionTool,
    Message,
    function_middleware,
)
from pydantic import JsonValue

from runlock.conformance.adapter import Decision, Host, Refused, Scenario, Segment, ToolCall, ToolSpec
from runlock.conformance.adapters.libraries import ABSENT, Thread, given, offers
from runlock.conformance.adapters.models.agent_framework import KitClient, arguments_of, function_call


class AgentFramework(Thread):
    """One session of an agent."""

    handshake = offers(
        "agent-framework",
        "agent-framework-core",
        tool=["ok", "raise"],
        # https://learn.microsoft.com/en-us/agent-framework/agents/conversations: a session is a value.
        # Its page on tool approval executes each call that is approved; the docstring of
        # `FunctionInvocationConfiguration` gives the model the error of a tool.
        policies={
            "state": "caller",
            "decision.modes": ["replay"],
            "decision.batch": "each",
            "durability": "segment",
            "round.executor": "parallel",
            "round.block": "fail_call",
            "round.failure": "isolated",
            "tool.raises": "failed_call",
            "input.waiting": "placeholder",
            "cancel.inflight": "abort",
            "cancel.results": "dropped",
        },
        keeps_waits=True,
        model=["length", "refusal", "malformed"],
        observes=["call.shown"],
        # Function middleware sees the arguments and not the call, whose id is one of them.
        permission=["allow", "block", "set_result"],
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.text: str | None = None  # what was said and has no answer yet
        client = KitClient()
        # It stops by itself after some errors in a row, and some rounds: limits that no schedule is about.
        client.function_invocation_configuration["max_consecutive_errors_per_request"] = 1_000
        client.function_invocation_configuration["max_iterations"] = 1_000
        client.host = host
        self.gated = [spec.name for spec in scenario.tools if spec.permission == "gate"]
        tools = [self._tool(spec) for spec in scenario.tools]
        self.agent = Agent(client=client, tools=tools, middleware=[self._middleware()])
        self.session = self.agent.create_session()

    async def start(self, text: str) -> Segment:
        self.text = text
        return await self._run(text)

    async def input(self, text: str) -> Segment:
        return await self._run(text)

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        if not decisions:
            # https://learn.microsoft.com/dotnet/api/microsoft.agents.ai.aiagent.runasync: a run without a
            # message is there to have the model go on, and answers no request.
            raise Refused("an approval is part of a message, and there is none to send")
        answers = [
            self._request(one.call).to_function_approval_response(one.action == "resume") for one in decisions
        ]
        return await self._run(Message(role="user", contents=answers))

    async def checkpoint(self) -> Any:
        return json.dumps(self.session.to_dict()), self.asked, self.waiting, self.text

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        session, self.asked, self.waiting, self.text = checkpoint
        self.session = AgentSession.from_dict(json.loads(session))

    async def resume_run(self, run: str) -> Segment:
        """Its caller says again what has no answer, or still has the requests that wait."""
        return await self.start(self.text) if self.text is not None else self.waiting_again(self.waiting)

    async def _run(self, given: Any) -> Segment:
        answer = await self.agent.run(given, session=self.session)
        self.text = None
        requests = {str(one.function_call.call_id): one for one in answer.user_input_requests}
        for call, one in requests.items():
            self.show(call, one.function_call.name, arguments_of(one.function_call))
        return self.ended(requests.items())

    def _request(self, call: str) -> Content:
        """The request that was made for a call, or one that no one made."""
        nothing = function_call(ToolCall(id=call, name="nothing"))
        return self.asked.get(call) or Content.from_function_approval_request(id=call, function_call=nothing)

    def _middleware(self) -> Any:
        """What is around each call, and asks about the tools that have a gate."""

        @function_middleware
        async def permit(context: FunctionInvocationContext, call_next: Any) -> None:
            name, args = context.function.name, dict(context.arguments)
            verdict = await self.host.permit(args.get("k", ""), name, args) if name in self.gated else None
            if verdict is None or verdict.kind == "allow":
                await call_next()
            else:
                context.result = str(verdict.content) if verdict.kind == "set_result" else "blocked"

        return permit

    def _tool(self, spec: ToolSpec) -> FunctionTool:
        async def body(k: str = ABSENT, v: JsonValue = ABSENT) -> Any:
            return (await self.host.tool(k, spec.name, given(k=k, v=v))).content

        return FunctionTool(
            name=spec.name,
            description=spec.name,
            func=body,
            approval_mode="always_require" if spec.permission == "ask" else "never_require",
        )
