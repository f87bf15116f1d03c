"""LangChain's agent behind the hosted interface: LangGraph's adapter with a graph of LangChain's making.

What asks is its middleware for human approval, in either of its two modes.  In a third configuration, its
middleware for summaries shortens the thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware, wrap_tool_call
from langchain_core.messages import BaseMessage
from langchain_core.tools import StructuredTool
from pydantic import JsonValue

from runlock.conformance.adapter import Decision, Host, PermissionOutcome, Refused, Scenario, Segment
from runlock.conformance.adapters.langgraph import ANSWERS, NOBODY, LangGraph
from runlock.conformance.adapters.models.langgraph import KitModel, seen
from runlock.conformance.adapters.sqlite_saver import Saver

MODES: Final[list[JsonValue]] = ["replay", "use_as_result"]
"""A reviewer may respond in place of the tool."""


class PerCallAgent(LangGraph):
    """An agent whose middleware interrupts for each call."""

    package = "langchain"
    mode: ClassVar[Any] = "per_call"
    # "Human-in-the-loop" of https://docs.langchain.com/oss/python/langchain has a reviewer edit the action;
    # asked for each call, "an edit can't switch tools".
    edits = ("args", "name")
    # The reference says of `when`: it "must return the same answer for the same call".
    permission: ClassVar[Sequence[PermissionOutcome]] = ("allow", "block", "suspend", "set_result")
    policies: ClassVar[Mapping[str, JsonValue]] = {"edit.tool": "refused", "decision.modes": MODES}
    model = ("length", "refusal", "malformed")

    def _build(self, model: KitModel, tools: list[StructuredTool], saver: Saver | None) -> Any:
        answers = {"allowed_decisions": ["approve", "edit", "reject", "respond"]}
        interrupts: Any = {name: answers for name in self.asking}
        if "suspend" in self.permission:
            interrupts |= {name: {**answers, "when": self._is_suspended} for name in self.gated}
        asking = HumanInTheLoopMiddleware(interrupts, interrupt_mode=self.mode)
        middleware = [wrap_tool_call(self._permit(model.host)), asking, *self._summaries(model, saver)]
        return create_agent(model, tools, middleware=middleware, checkpointer=saver)

    def _summaries(self, model: KitModel, saver: Saver | None) -> Sequence[Any]:
        """The middleware that shortens the thread, if there is one."""
        return ()

    def _is_suspended(self, request: Any) -> bool:
        return request.tool_call["id"] in self.suspended

    async def open(self, host: Host, scenario: Scenario) -> None:
        self.compact_above = scenario.agent.compact_above
        await super().open(host, scenario)
        self.actions: dict[str, Any] = {}  # what the requests say of each call

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        try:
            return await super().decide(decisions)
        except ValueError as error:  # the answers do not fit what was asked
            raise Refused(str(error)) from error

    def _request(self, call: str, action: Any) -> str:
        self.actions[call] = action
        return super()._request(call, action)

    def _answer(self, decision: Decision) -> Any:
        edit, action = decision.edit, self.actions.get(decision.call)
        spec = self.specs[action["name"]] if action is not None else None
        if decision.action == "resume" and spec is not None and spec.resume_mode == "use_as_result":
            return {"type": "respond", "message": str(decision.payload)}
        if edit is None or action is None:
            return ANSWERS[decision.action]
        args = action["args"] if edit.args is None else edit.args
        edited = {"name": edit.name or action["name"], "args": args}
        return {"type": "edit", "edited_action": edited}

    def _resumption(self, decisions: Sequence[Decision]) -> dict[str, Any]:
        return {self.asked.get(one.call, NOBODY): self._answer(one) for one in decisions}


class BatchedAgent(PerCallAgent):
    """An agent whose middleware interrupts once for all calls of a turn that need approval."""

    mode = "batched"
    permission = LangGraph.permission  # its predicates are asked after the turn, which nothing wraps
    # One answer to an interrupt has a decision for each of its calls.
    policies: ClassVar[Mapping[str, JsonValue]] = {
        "edit.tool": "taken",
        "decision.modes": MODES,
        "decision.batch": "atomic",
        "resume": "all_or_nothing",
    }

    def _calls(self, asked: Any) -> list[str]:
        self.order = [self._request(action["args"]["k"], action) for action in asked["action_requests"]]
        return self.order

    def _resumption(self, decisions: Sequence[Decision]) -> dict[str, Any]:
        answers = {one.call: self._answer(one) for one in decisions}
        if not set(answers) <= set(self.order):
            raise Refused("answers are given by position, and no call of that id has one")
        given = [answers[call] for call in self.order if call in answers]
        return {self.asked[self.order[0]]: {"decisions": given}}


class SummarizingAgent(PerCallAgent):
    """An agent whose middleware puts a summary in the place of what is too long."""

    def __init__(self) -> None:
        super().__init__()
        observes = [*self.handshake.observes, "thread.edited"]
        self.handshake = self.handshake.model_copy(update={"edits": ["compaction"], "observes": observes})

    def _summaries(self, model: KitModel, saver: Saver | None) -> Sequence[Any]:
        if self.compact_above is None or saver is None:  # an agent within a call has no such bound
            return ()
        return [Summarizing(model, self.compact_above)]


class Summarizing(SummarizationMiddleware):
    """The middleware of the library, which shows what it cut.

    The documentation advises to keep less than what triggers it; the summary is a constant text.
    """

    def __init__(self, model: KitModel, most: int) -> None:
        kept = ("messages", most // 2)
        super().__init__(model, trigger=("messages", most + 1), keep=kept, summarizer=_summary)
        self.host = model.host

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        before: list[BaseMessage] = list(state["messages"])
        change = await super().abefore_model(state, runtime)
        if change is not None:
            after: list[BaseMessage] = change["messages"][1:]  # the first says that all of them go
            self.host.observe(
                "thread.edited",
                why="compaction",
                at=0,
                cut=[seen(one) for one in before if one not in after],
                instead=[seen(one) for one in after if one not in before],
            )
        return change


def _summary(messages: Sequence[BaseMessage]) -> str:
    return f"{len(messages)} messages"
