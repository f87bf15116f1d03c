"""An agent, and an adapter with every optional method: the examples of the reference of adapters."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

from runlock.conformance.adapter import (
    CallSnapshot,
    Decision,
    DecisionSupport,
    Handshake,
    Host,
    InputSupport,
    OfferedOutcomes,
    Party,
    ReasonCode,
    Refused,
    Scenario,
    Segment,
    Snapshot,
    ToolCall,
    ToolSpec,
)

FINAL = {"ok": "Succeeded", "error": "Failed", "cancelled": "Cancelled"}


class Adapter:
    """One thread of the agent below."""

    handshake = Handshake(
        implementation=Party(name="every-method", version="1.0"),
        observes=["run.status", "call.status"],
        stimuli=["decide", "cancel", "cancel.waiting", "run.again", "run.input", "clock.advance"],
        tools=["allow", "ask", "expires", "agent"],
        outcomes=OfferedOutcomes(model=["turn"], tool=["ok", "error"]),
        decisions=DecisionSupport(live=False, ids=False, payload=False),
        inputs=InputSupport(working=False),
        policies={"input.waiting": "refuse", "expire.end": "call", "expire.crash": "kept"},
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.host = host
        self.work: asyncio.Task[ReasonCode] | None = None
        self.is_late = False  # a cancel came when the work had just ended
        self.agent = Agent(host, {tool.name: tool for tool in scenario.tools}, host)

    async def start(self, input: str) -> Segment:
        self.agent.begin(input)
        return await self.at_work(self.agent.loop())

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        taken = {}
        for decision in decisions:
            if decision.call in self.agent.pending():
                taken[decision.call] = decision.action
            else:
                self.host.refuse(f"call {decision.call} does not wait", decision.id)
        return await self.go_on(taken) if taken else None

    async def input(self, text: str) -> Segment | None:
        raise Refused("the run waits for a decision" if self.agent.pending() else "the run is over")

    async def cancel(self) -> Segment | None:
        if self.work is not None:  # `start` or `decide` returns the segment
            self.is_late = not self.work.cancel()
            return None
        if not self.agent.pending():
            raise Refused("the run is over")
        return Segment(self.agent.give_up())

    async def time_passed(self) -> Segment | None:
        late = self.agent.late(asyncio.get_running_loop().time())
        return await self.go_on(dict.fromkeys(late, "cancel")) if late else None

    async def checkpoint(self) -> dict[str, Any]:
        return self.agent.state()

    async def restore(self, host: Host, scenario: Scenario, checkpoint: dict[str, Any]) -> None:
        await self.open(host, scenario)
        self.agent.restore(checkpoint)

    async def resume_run(self, run: str) -> Segment | None:
        return await self.at_work(self.agent.loop()) if self.agent.status["run"] == "Running" else None

    def inspect(self, run: str) -> Snapshot:
        status = dict(self.agent.status)
        of_run = status.pop("run", None)
        calls = {call: CallSnapshot(status=one) for call, one in status.items()}
        return Snapshot(status=of_run, calls=calls, messages=self.agent.thread)

    def busy(self) -> bool:
        return False  # all of this agent's work is on the loop, which the kit sees

    async def close(self) -> None:
        if self.work is not None:
            self.work.cancel()
            with suppress(asyncio.CancelledError):
                await self.work

    async def go_on(self, taken: Mapping[str, str]) -> Segment:
        self.agent.run_is("Running")
        return await self.at_work(self.agent.go_on(taken))

    async def at_work(self, work: Coroutine[Any, Any, ReasonCode]) -> Segment:
        self.work = asyncio.ensure_future(work)
        try:
            reason = await self.work
        except asyncio.CancelledError:
            reason = self.agent.give_up()
        finally:
            self.work = None
        if self.is_late and self.agent.pending():
            reason = self.agent.give_up()
        self.is_late = False
        return Segment(reason, self.agent.pending())


class Agent:
    """The runtime: it works on one call at a time, and a tool of it may be an agent."""

    def __init__(self, host: Host, tools: Mapping[str, ToolSpec], told: Host | None = None) -> None:
        self.host, self.tools, self.told = host, tools, told
        self.thread: list[dict[str, Any]] = []
        self.status: dict[str, Any] = {}
        self.waiting: dict[str, ToolCall] = {}
        self.ends_at: dict[str, float] = {}
        self.inner: dict[str, Agent] = {}

    def begin(self, text: str) -> None:
        self.status = {}
        self.run_is("Running")
        self.thread.append({"role": "user", "text": text})

    async def loop(self) -> ReasonCode:
        while True:
            for call in [one for one in self.unanswered() if self.status[one.id] == "New"]:
                await self.execute(call)
            if self.waiting:
                self.run_is("Waiting")
                return "Suspended"
            turn = await self.host.infer(self.thread, tools=list(self.tools))
            calls = list({call.id: call for call in turn.tool_calls}.values())
            self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": calls})
            if not calls:
                self.run_is("Done")
                return "NaturalEnd"
            for call in calls:
                self.status.pop(call.id, None)
                self.call_is(call, "New")
                if call.name in self.tools and self.tools[call.name].permission == "ask":
                    self.wait_for(call)

    async def go_on(self, taken: Mapping[str, str]) -> ReasonCode:
        for call in list(self.waiting.values()):
            if call.id in self.inner:
                await self.go_on_within(call, taken)
            elif taken.get(call.id) == "resume":
                del self.waiting[call.id]
                self.call_is(call, "Resuming")
                await self.execute(call)
            elif call.id in taken:
                del self.waiting[call.id]
                self.answer(call, "cancelled", "not approved")
        return await self.loop()

    async def execute(self, call: ToolCall) -> None:
        tool = self.tools.get(call.name)
        if tool is None:
            self.answer(call, "error", "there is no such tool")
            return
        self.call_is(call, "Running")
        if tool.agent is not None:
            await self.ask_agent(call)
        else:
            outcome = await self.host.tool(call.id, call.name, call.args)
            self.answer(call, outcome.kind, str(outcome.content))

    def agent_of(self, call: ToolCall) -> "Agent":
        offered = self.tools[call.name].agent
        tools = {name: tool for name, tool in self.tools.items() if offered and name in offered.tools}
        return Agent(self.host.within(call.id), tools)

    async def ask_agent(self, call: ToolCall) -> None:
        self.inner[call.id] = agent = self.agent_of(call)
        agent.begin(str(dict(call.args).get("v", "")))
        await agent.loop()
        self.hear(call, agent)

    async def go_on_within(self, call: ToolCall, taken: Mapping[str, str]) -> None:
        agent = self.inner[call.id]
        if taken.keys() & set(agent.pending()):
            del self.waiting[call.id]
            self.call_is(call, "Resuming")
            self.call_is(call, "Running")
            agent.run_is("Running")
            await agent.go_on(taken)
            self.hear(call, agent)

    def hear(self, call: ToolCall, agent: "Agent") -> None:
        if agent.waiting:
            self.wait_for(call)
        else:
            del self.inner[call.id]
            self.answer(call, "ok", agent.thread[-1]["text"])

    def wait_for(self, call: ToolCall) -> None:
        self.call_is(call, "Suspended")
        self.waiting[call.id] = call
        if (most := self.tools[call.name].expires_ms) is not None:
            self.ends_at[call.id] = asyncio.get_running_loop().time() + most / 1000

    def pending(self) -> list[str]:
        every = (self.inner[call].pending() if call in self.inner else [call] for call in self.waiting)
        return [call for calls in every for call in calls]

    def late(self, now: float) -> list[str]:
        own = [call for call in self.waiting if self.ends_at.get(call, now + 1) <= now]
        return own + [call for agent in self.inner.values() for call in agent.late(now)]

    def give_up(self) -> ReasonCode:
        for call in self.unanswered():
            self.answer(call, "cancelled", "the run was cancelled")
        self.waiting, self.inner = {}, {}
        self.run_is("Done")
        return "Cancelled"

    def unanswered(self) -> list[ToolCall]:
        last = max((at for at, one in enumerate(self.thread) if one["role"] == "assistant"), default=None)
        if last is None:
            return []
        answered = {one.get("call") for one in self.thread[last:]}
        return [call for call in self.thread[last]["tool_calls"] if call.id not in answered]

    def answer(self, call: ToolCall, status: str, text: str) -> None:
        self.call_is(call, FINAL[status])
        self.thread.append({"role": "tool", "call": call.id, "status": status, "text": text})

    def run_is(self, status: str) -> None:
        if self.told is not None:
            self.told.observe("run.status", origin=self.status.get("run"), to=status)
        self.status["run"] = status

    def call_is(self, call: ToolCall, status: str) -> None:
        if self.told is not None:
            self.told.observe("call.status", call=call.id, origin=self.status.get(call.id), to=status)
        self.status[call.id] = status

    def state(self) -> dict[str, Any]:
        inner = {call: agent.state() for call, agent in self.inner.items()}
        return {
            "thread": [*self.thread], "status": {**self.status}, "waiting": [*self.waiting],
            "ends_at": {**self.ends_at}, "inner": inner,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self.thread, self.ends_at = state["thread"], state["ends_at"]
        self.run_is(state["status"]["run"])
        for call in self.unanswered():
            waits = call.id in state["waiting"]
            self.call_is(call, "Suspended" if waits else "New")
            if waits:
                self.waiting[call.id] = call
            if waits and call.id in state["inner"]:
                self.inner[call.id] = self.agent_of(call)
                self.inner[call.id].restore(state["inner"][call.id])
