"""A tiny agent and its Runlock adapter: it awaits the host where it would await the world.

runlock check py:adapter:Adapter
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runlock.conformance.adapter import (
    Control,
    Decision,
    DecisionSupport,
    Handshake,
    Host,
    OfferedOutcomes,
    Party,
    ReasonCode,
    Refused,
    Scenario,
    Segment,
    ToolCall,
)

FINAL = {"ok": "Succeeded", "error": "Failed", "cancelled": "Cancelled"}


class Adapter:
    """One thread of the agent."""

    handshake = Handshake(
        implementation=Party(name="tiny-agent", version="1.0"),
        control=Control(store="own", crash=["soft", "kill"]),
        observes=["run.status", "call.status", "checkpoint"],
        stimuli=["decide", "run.again"],
        tools=["allow", "ask"],
        outcomes=OfferedOutcomes(model=["turn"], tool=["ok", "error"]),
        decisions=DecisionSupport(live=True, ids=True, payload=False),
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.host = host
        self.thread: list[dict[str, Any]] = []
        self.waiting: dict[str, ToolCall] = {}
        self.status: dict[str, str] = {}
        self.decided: dict[str, Decision] = {}
        self.taken: list[str] = []
        self.calls: dict[str, ToolCall] = {}
        self.step = 0
        self.store = Path(scenario.data or ".", "thread.json")
        self.tools = {tool.name: tool.permission for tool in scenario.tools}

    async def start(self, input: str) -> Segment:
        self.status, self.calls, self.step = {}, {}, 0
        self.run_is("Running")
        self.thread.append({"role": "user", "text": input})
        self.save()
        return await self.loop()

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        for decision in decisions:
            self.take(decision)
        if not self.decided:
            return None
        waits = self.status["run"] == "Waiting"
        if waits:
            self.run_is("Running")
        self.save()
        return await self.loop() if waits else None  # else the segment under way acts on them

    def take(self, decision: Decision) -> None:
        is_awaited = decision.call in self.waiting and decision.call not in self.decided
        if is_awaited and decision.id not in self.taken:
            self.taken.append(decision.id)
            self.decided[decision.call] = decision
        else:
            self.host.refuse("no call waits for this decision", decision.id)

    async def loop(self) -> Segment:
        while True:
            await self.round()
            await self.carry_out()
            if self.waiting:
                return self.end("Waiting", "Suspended")
            turn = await self.host.infer(self.thread)
            self.step += 1
            calls = {call.id: call for call in turn.tool_calls}
            asked = [call.to_wire() for call in calls.values()]
            self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": asked})
            if not calls:
                return self.end("Done", "NaturalEnd")
            self.calls |= calls
            for call in calls.values():
                self.status.pop(call.id, None)
                self.call_is(call, "New")
                if self.tools.get(call.name) == "ask":
                    self.call_is(call, "Suspended")
                    self.waiting[call.id] = call
            self.save()

    async def round(self) -> None:
        for call in [one for one in self.calls.values() if self.status[one.id] == "New"]:
            if call.name in self.tools:
                await self.execute(call)
            else:
                self.answer(call, "error", "there is no such tool")

    async def carry_out(self) -> None:
        while ready := self.waiting.keys() & self.decided.keys():
            call = self.waiting.pop(min(ready))
            if self.decided[call.id].action == "resume":
                self.call_is(call, "Resuming")
                await self.execute(call)
            else:
                self.answer(call, "cancelled", "rejected")

    async def execute(self, call: ToolCall) -> None:
        self.call_is(call, "Running")
        outcome = await self.host.tool(call.id, call.name, call.args)
        self.answer(call, outcome.kind, str(outcome.content))

    def answer(self, call: ToolCall, status: str, text: str) -> None:
        self.call_is(call, FINAL[status])
        self.decided.pop(call.id, None)
        self.thread.append({"role": "tool", "call": call.id, "status": status, "text": text})
        self.save()

    def end(self, status: str, reason: ReasonCode) -> Segment:
        self.run_is(status)
        self.save(reason)
        return Segment(reason, list(self.waiting))

    def run_is(self, status: str) -> None:
        self.host.observe("run.status", origin=self.status.get("run"), to=status)
        self.status["run"] = status

    def call_is(self, call: ToolCall, status: str) -> None:
        self.host.observe("call.status", call=call.id, origin=self.status.get(call.id), to=status)
        self.status[call.id] = status

    def save(self, reason: ReasonCode | None = None) -> None:
        state = {
            "run": {"status": self.status["run"], "reason": reason and {"code": reason}, "step": self.step},
            "calls": {call.id: self.as_stored(call) for call in self.calls.values()},
            "decisions": {call: decision.to_wire() for call, decision in self.decided.items()},
            "messages": self.thread,
            "taken": self.taken,
        }
        self.store.write_text(json.dumps(state))
        self.host.observe("checkpoint", trigger="StepEnd", state=state)

    def as_stored(self, call: ToolCall) -> dict[str, Any]:
        return {**call.to_wire(), "status": self.status[call.id], "resume_mode": "replay", "suspension": 1}

    async def restore(self, host: Host, scenario: Scenario, checkpoint: None) -> None:
        await self.open(host, scenario)
        if not self.store.exists():
            raise Refused("nothing was stored")
        state = json.loads(self.store.read_text())
        self.thread, self.taken, self.step = state["messages"], state["taken"], state["run"]["step"]
        self.decided = {call: Decision(**one) for call, one in state["decisions"].items()}
        self.run_is(state["run"]["status"])
        for call_id, one in state["calls"].items():
            self.take_up(ToolCall(id=call_id, name=one["name"], args=one["args"]), one["status"])

    def take_up(self, call: ToolCall, status: str) -> None:
        self.calls[call.id] = call
        if status == "Suspended" or call.id in self.decided:
            self.waiting[call.id] = call
            status = "Suspended"
        self.call_is(call, status if status in (*FINAL.values(), "Suspended") else "New")

    async def resume_run(self, run: str) -> Segment | None:
        return await self.loop() if self.status["run"] == "Running" else None
