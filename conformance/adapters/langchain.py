"""LangChain's agent behind the hosted interface: LangGraph's adapter with a graph of LangChain's making.

What asks is its middleware for human approval, in either of its two modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import StructuredTool

from runlock.conformance.adapter import Decision, Refused
from runlock.conformance.adapters.langgraph import ANSWERS, LangGraph
from runlock.conformance.adapters.models.langgraph import KitModel
from runlock.conformance.adapters.sqlite_saver import Saver


class PerCallAgent(LangGraph):
    """An agent whose middleware interrupts for each call."""

    package = "langchain"
    mode: ClassVar[Any] = "per_call"

    def _build(self, model: KitModel, tools: list[StructuredTool], saver: Saver | None) -> Any:
        asking = HumanInTheLoopMiddleware(
            {name: {"allowed_decisions": ["approve", "reject"]} for name in self.asking},
            interrupt_mode=self.mode,
        )
        return create_agent(model, tools, middleware=[asking], checkpointer=saver)


class BatchedAgent(PerCallAgent):
    """An agent whose middleware interrupts once for all calls of a turn that need approval."""

    mode = "batched"

    def _calls(self, asked: Any) -> list[str]:
        self.order = [request["args"]["k"] for request in asked["action_requests"]]
        return self.order

    def _resumption(self, decisions: Sequence[Decision]) -> dict[str, Any]:
        answers = {one.call: ANSWERS[one.action] for one in decisions}
        if not set(answers) <= set(self.order):
            raise Refused("answers are given by position, and no call of that id has one")
        given = [answers[call] for call in self.order if call in answers]
        return {self.asked[self.order[0]]: {"decisions": given}}
