"""Microsoft's agent-framework behind the hosted face, offline: a chat client that asks the kit.

A call that waits is a request for approval in the answer, and a decision is the response made of it, sent
as a message of the user.  The session is a value that its caller holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
)
from agent_framework import Message as Said
from pydantic import JsonValue

from interlock.conformance import protocol
from interlock.conformance.adapter import Host, Refused, Segment
from interlock.conformance.adapters.handshakes import yes_or_no
from interlock.conformance.protocol import Decision, Message, Scenario


class Turns(BaseChatClient):
    """A chat client whose turns are the kit's."""

    host: Host

    def _inner_get_response(self, *, messages: Any, **more: Any) -> Any:
        return self._answer(messages)

    async def _answer(self, messages: Any) -> ChatResponse:
        turn = await self.host.infer([seen for message in messages for seen in _seen(message)])
        calls = [
            Content.from_function_call(call_id=call.id, name=call.name, arguments=json.dumps(call.args))
            for call in turn.tool_calls
        ]
        said = [Content.from_text(turn.text)] if turn.text else []
        return ChatResponse(messages=[Said(role="assistant", contents=[*said, *calls])])


class KitClient(FunctionInvocationLayer, Turns):
    """The same, with the library's layer that runs tools."""


class AgentFramework:
    """One session of an agent."""

    handshake = yes_or_no(
        "agent-framework",
        "agent-framework-core",
        tool=["ok", "raise"],
        # https://learn.microsoft.com/en-us/agent-framework/agents/conversations: a session is a value.
        policies={"state": "caller"},
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        client = KitClient()
        # It stops by itself after some errors in a row, and some rounds: limits that no schedule is about.
        client.function_invocation_configuration["max_consecutive_errors_per_request"] = 1_000
        client.function_invocation_configuration["max_iterations"] = 1_000
        client.host = self.host = host
        self.asked: dict[str, Content] = {}
        self.waiting: list[str] = []
        self.text: str | None = None  # what was said and has no answer yet
        self.agent = Agent(client=client, tools=[self._tool(spec) for spec in scenario.tools])
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
        return await self._run(Said(role="user", contents=answers))

    async def checkpoint(self) -> Any:
        return json.dumps(self.session.to_dict()), self.asked, self.waiting, self.text

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        session, self.asked, self.waiting, self.text = checkpoint
        self.session = AgentSession.from_dict(json.loads(session))

    async def resume_run(self, run: str) -> Segment:
        """Its caller says again what has no answer, or still has the requests that wait."""
        return Segment("Suspended", self.waiting) if self.text is None else await self.start(self.text)

    async def _run(self, given: Any) -> Segment:
        answer = await self.agent.run(given, session=self.session)
        waiting = {str(one.function_call.call_id): one for one in answer.user_input_requests}
        self.asked |= waiting
        self.waiting, self.text = list(waiting), None
        return Segment("Suspended", self.waiting) if waiting else Segment("NaturalEnd")

    def _request(self, call: str) -> Content:
        """The request that was made for a call, or one that nobody made."""
        nothing = Content.from_function_call(call_id=call, name="nothing", arguments="{}")
        return self.asked.get(call) or Content.from_function_approval_request(id=call, function_call=nothing)

    def _tool(self, spec: protocol.ToolSpec) -> FunctionTool:
        async def body(k: str = "", v: JsonValue = None) -> Any:
            return (await self.host.tool(k, spec.name, {"k": k, "v": v})).content

        return FunctionTool(
            name=spec.name,
            description=spec.name,
            func=body,
            approval_mode="always_require" if spec.permission == "ask" else "never_require",
        )


def _seen(message: Said) -> Iterator[Message]:
    """What the model receives, in the protocol's words."""
    results = [part for part in message.contents if part.type == "function_result"]
    for result in results:
        status: Any = "error" if result.exception else None  # a refusal is a result like any other there
        yield Message(role="tool", call=result.call_id, text=str(result.result), status=status)
    calls = [
        protocol.ToolCall(id=str(part.call_id), name=str(part.name), args=part.parse_arguments() or {})
        for part in message.contents
        if part.type == "function_call"
    ]
    text = " ".join(str(part.text) for part in message.contents if part.type == "text")
    if text or calls or not results:
        yield Message(role=str(message.role), text=text, tool_calls=calls)  # type: ignore[arg-type]
