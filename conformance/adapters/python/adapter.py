"""A tiny agent and its Runlock adapter: it awaits the host where it would await the world.

runlock check py:adapter:Adapter
"""

from collections.abc import Sequence
from typing import Any

from runlock.conformance.adapter import (
    Decision,
    DecisionSupport,
    Handshake,
    Host,
    OfferedOutcomes,
    Party,
    Refused,
    Scenario,
    Segment,
    ToolCall,
)


class Adapter:
    """One thread of the agent."""

    handshake = Handshake(
        implementation=Party(name="tiny-agent", version="1.0"),
        stimuli=["decide", "run.again"],
        tools=["allow", "ask"],
        outcomes=OfferedOutcomes(model=["turn"], tool=["ok", "error"]),
        decisions=DecisionSupport(live=False, ids=False, payload=False),
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.host = host
        self.thread: list[dict[str, Any]] = []
        self.waiting: dict[str, ToolCall] = {}
        self.tools = {tool.name: tool.permission for tool in scenario.tools}

    async def start(self, input: str) -> Segment:
        self.thread.append({"role": "user", "text": input})
        return await self.loop()

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        calls = {d.call: (self.waiting.pop(d.call), d.action) for d in decisions if d.call in self.waiting}
        if not calls:
            raise Refused("no call of that id waits")
        for call, action in calls.values():
            if action == "resume":
                await self.execute(call)
            else:
                self.answer(call, "cancelled", "rejected")
        return await self.loop()

    async def loop(self) -> Segment:
        while not self.waiting:
            turn = await self.host.infer(self.thread)
            calls = {call.id: call for call in turn.tool_calls}
            self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": list(calls.values())})
            if not calls:
                return Segment("NaturalEnd")
            for call in calls.values():
                if self.tools.get(call.name) == "ask":
                    self.waiting[call.id] = call
                elif call.name in self.tools:
                    await self.execute(call)
                else:
                    self.answer(call, "error", "there is no such tool")
        return Segment("Suspended", list(self.waiting))

    async def execute(self, call: ToolCall) -> None:
        outcome = await self.host.tool(call.id, call.name, call.args)
        self.answer(call, outcome.kind, str(outcome.content))

    def answer(self, call: ToolCall, status: str, text: str) -> None:
        self.thread.append({"role": "tool", "call": call.id, "status": status, "text": text})
