"""LangGraph behind the hosted interface, offline: a chat model that asks the kit, and a saver in SQLite.

The tools of `ToolNodeGraph` ask with `interrupt`, each for its call.  A decision is a `Command` that resumes
an interrupt by its id; a rejected call's message says so with its status.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from langchain.tools import ToolRuntime
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt
from pydantic import JsonValue

from runlock.conformance.adapter import (
    Decision,
    Host,
    ModelOutcome,
    Outcome,
    PermissionOutcome,
    Refused,
    Scenario,
    Segment,
    ToolSpec,
)
from runlock.conformance.adapters.libraries import ABSENT, YES_OR_NO, Thread, given, offers
from runlock.conformance.adapters.models.langgraph import KitModel
from runlock.conformance.adapters.sqlite_saver import Saver

NOBODY = "0" * 32
"""An interrupt's id that was given to no one."""

THREAD: Any = {"configurable": {"thread_id": "thread"}}
ANSWERS = {"resume": {"type": "approve"}, "cancel": {"type": "reject"}}


class LangGraph(Thread, ABC):
    """One thread of a graph, whatever it is made of."""

    package: ClassVar[str] = "langgraph"
    edits: ClassVar[Sequence[str]] = ()
    # What wraps a call may answer it.  It is not to interrupt: answers go by the order of interrupts.
    permission: ClassVar[Sequence[PermissionOutcome]] = ("allow", "block", "set_result")
    policies: ClassVar[Mapping[str, JsonValue]] = {}
    model: ClassVar[Sequence[ModelOutcome]] = ("length", "refusal")

    def __init__(self) -> None:
        self.handshake = offers(
            f"{self.package} {type(self).__name__}",
            self.package,
            tool=["ok", "error", "raise", "fault"],
            permission=self.permission,
            # At https://docs.langchain.com/oss/python/langgraph/ persistence keeps the state, and
            # durable-execution stores what a step has done before the next one, with `sync`.
            # `interrupts` has the graph wait for its answers, and goes on with those that are there.
            # The reference of ToolNode runs the calls of a turn in parallel.  A graph that is
            # cancelled is a cancelled task: what a node has not stored is gone.
            policies={
                "state": "runtime",
                "durability": "round",
                "tool.raises": "end_run",
                "round.executor": "parallel",
                "round.mixed": "wait",
                "round.block": "fail_call",
                "checkpoint.at": "step_end",
                "decision.modes": ["replay"],
                "decision.batch": "each",
                "resume": "partial",
                "cancel.inflight": "abort",
                "cancel.results": "dropped",
                **self.policies,
            },
            model=self.model,
            tools=["agent"],
            # As "Fault tolerance" there says, whatever comes next tries again what an error ended; what a
            # cancel ended too: https://docs.langchain.com/langgraph-platform/cancel-run
            decisions=YES_OR_NO.model_copy(
                update={
                    "after_error": False,
                    "after_cancel": False,
                    "edit": list(self.edits),
                    "payload": "decision.modes" in self.policies,
                }
            ),
            observes=["call.shown"],
            store=True,
        )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.saver = Saver(sqlite3.connect(":memory:"))
        self.saver.host = host
        self.saver.setup()  # some versions of SQLite cannot serialize a database that has no tables yet
        self.asking = [tool.name for tool in scenario.tools if tool.permission == "ask"]
        self.gated = [tool.name for tool in scenario.tools if tool.permission == "gate"]
        self.specs = {spec.name: spec for spec in scenario.tools}
        self.hosts: dict[str, Host] = {}  # of the runs within calls
        self.suspended: set[str] = set()  # the calls that a verdict suspended
        self.graph: Any = self._agent(host, list(self.specs), self.saver)

    def _agent(self, host: Host, offered: Sequence[str], saver: Saver | None) -> Any:
        return self._build(KitModel(host=host), [self._tool(self.specs[one], host) for one in offered], saver)

    async def start(self, text: str) -> Segment:
        self.suspended.clear()
        return await self._run({"messages": [HumanMessage(text)]})

    input = start

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        if not (await self.graph.aget_state(THREAD)).interrupts:
            raise Refused("nothing is interrupted")  # invoked all the same, it would try a failed step again
        return await self._run(Command(resume=self._resumption(decisions)))

    async def checkpoint(self) -> Any:
        return self.saver.conn.serialize(), set(self.suspended)

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        saved, self.suspended = checkpoint
        self.saver.conn.deserialize(saved)
        if not (await self.graph.aget_state(THREAD)).values:
            raise Refused("nothing was durable")

    async def resume_run(self, run: str) -> Segment:
        state = await self.graph.aget_state(THREAD)
        return await self._run(None) if state.next and not state.interrupts else self._left(state)

    async def _run(self, given: Any) -> Segment:
        await self.graph.ainvoke(given, THREAD, durability="sync")
        return self._left(await self.graph.aget_state(THREAD))

    def _left(self, state: Any) -> Segment:
        requests = {call: one.id for one in state.interrupts for call in self._calls(one.value)}
        return self.ended(requests.items())

    @abstractmethod
    def _build(self, model: KitModel, tools: list[StructuredTool], saver: Saver | None) -> Any:
        """The graph of this model and these tools; one without a saver has that of the graph around it."""

    def _permit(self, host: Host) -> Any:
        """What wraps each call; a call that was suspended is not asked about again."""

        async def permit(request: ToolCallRequest, run: Any) -> Any:
            name, call = request.tool_call["name"], str(request.tool_call["id"])
            if name in self.gated and call not in self.suspended:
                verdict = await host.permit(call, name, request.tool_call["args"])
                if verdict.kind == "suspend":
                    self.suspended.add(call)
                elif verdict.kind != "allow":
                    status = "error" if verdict.kind == "block" else "success"
                    return ToolMessage(str(verdict.content), tool_call_id=call, status=status)
            answer = await run(request)
            self.suspended.discard(call)
            return answer

        return permit

    def _calls(self, asked: Any) -> list[str]:
        """The calls that an interrupt is about, each shown as it says."""
        return [self._request(asked["tool_call_id"], asked)]

    def _request(self, call: str, action: Any) -> str:
        self.show(call, action["name"], action["args"])
        return call

    def _resumption(self, decisions: Sequence[Decision]) -> dict[str, Any]:
        return {self.asked.get(one.call, NOBODY): ANSWERS[one.action] for one in decisions}

    def _tool(self, spec: ToolSpec, host: Host) -> StructuredTool:
        async def body(runtime: ToolRuntime, k: str = ABSENT, v: JsonValue = ABSENT) -> Any:
            call = str(runtime.tool_call_id)
            if spec.agent is not None:
                return await self._run_within(host, call, spec.agent.tools, str(v))
            answer = await self._enter(host, spec.name, call, given(k=k, v=v))
            if answer.kind == "error":
                raise ToolException(answer.message or str(answer.content))
            return answer.content

        return StructuredTool.from_function(
            coroutine=body, name=spec.name, description=spec.name, handle_tool_error=True
        )

    async def _run_within(self, host: Host, call: str, offered: Sequence[str], text: str) -> str:
        """A subgraph that is invoked in a tool, as "Subgraphs" of the documentation has it."""
        within = self.hosts.setdefault(call, host.within(call))
        answer = await self._agent(within, offered, None).ainvoke({"messages": [HumanMessage(text)]})
        return str(answer["messages"][-1].content)

    async def _enter(self, host: Host, tool: str, call: str, args: Any) -> Outcome:
        return await host.tool(call, tool, args)


class ToolNodeGraph(LangGraph):
    """A model, a ToolNode, and tools that interrupt their own call."""

    def _build(self, model: KitModel, tools: list[StructuredTool], saver: Saver | None) -> Any:
        async def ask_model(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", ask_model)
        graph.add_node("tools", ToolNode(tools, awrap_tool_call=self._permit(model.host)))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        return graph.compile(checkpointer=saver)

    async def _enter(self, host: Host, tool: str, call: str, args: Any) -> Outcome:
        request = {"tool_call_id": call, "name": tool, "args": args}
        if tool in self.asking and interrupt(request) != ANSWERS["resume"]:
            raise ToolException("rejected")
        return await super()._enter(host, tool, call, args)
