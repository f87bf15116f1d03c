"""agno behind the hosted interface, offline: a model that asks the kit, and tools that need confirmation.

A run that waits has a requirement for each of its calls, which its caller resolves and gives back.
The events of a run say when it runs, waits and is over, and when a call begins and ends.
The session lies in the JSON files of the library's own database.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import count
from typing import Any

from agno.agent import Agent
from agno.db.json import JsonDb
from agno.models.response import ToolExecution
from agno.run.agent import RunEvent, RunOutput
from agno.run.base import RunStatus
from agno.run.requirement import RunRequirement
from agno.tools import tool
from agno.tools.function import FunctionCall
from pydantic import JsonValue

from runlock.conformance.adapter import (
    Decision,
    Host,
    Reason,
    ReasonCode,
    Refused,
    Scenario,
    Segment,
    StopReason,
    ToolSpec,
)
from runlock.conformance.adapters.libraries import ABSENT, ENDS, Thread, given, offers
from runlock.conformance.adapters.models.agno import KitModel

logging.getLogger("agno").setLevel(logging.CRITICAL)  # it logs each tool that fails


NUMBERS = count(1)  # of runs: the library keeps the ids of the cancelled runs of all agents in one place
STATUS = {
    RunEvent.run_started: "Running",
    RunEvent.run_continued: "Running",
    RunEvent.run_paused: "Waiting",
    RunEvent.run_completed: "Done",
    RunEvent.run_cancelled: "Done",
    RunEvent.run_error: "Done",
}
"""What the events of a run say of it."""

BEGUN = RunEvent.tool_call_started
NOTHING = "nothing"
OVER = ("Succeeded", "Failed", "Cancelled")

STREAM: Any = {"stream": True, "stream_events": True, "yield_run_output": True}
REASONS: dict[RunStatus, ReasonCode] = {RunStatus.cancelled: "Cancelled", RunStatus.error: "Error"}


class Agno(Thread):
    """One session of an agent."""

    handshake = offers(
        "agno",
        "agno",
        tool=["ok", "raise"],
        model=["malformed"],
        # At https://docs.agno.com/: hitl/overview stores a run that waits, continues it by its id, and runs
        # each call that is confirmed; tools/overview executes the calls of a turn concurrently with `arun`;
        # run-cancellation/overview looks at a cancel between two steps; tools/exceptions gives the model the
        # error of a tool, and stops after a tool.
        policies={
            "state": "runtime",
            "round.executor": "parallel",
            "round.block": "fail_call",
            "round.failure": "isolated",
            "tool.raises": "failed_call",
            "cancel.inflight": "drain",
            "decision.modes": ["replay"],
            "decision.batch": "each",
            "decision.cancel_path": "direct",
            "durability": "segment",
            "stop.conditions": ["stop_on_tool"],
            "stop.tools": "drained",
            "reasons": [*ENDS, "Stopped"],
        },
        keeps_waits=True,
        observes=["call.shown", "run.status", "call.status"],
        # https://docs.agno.com/tools/hooks: a hook raises, or returns another result.
        permission=["allow", "block", "set_result"],
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.run = ""  # the library's newest
        self.status: str | None = None  # as its events said last
        self.calls: dict[str, str] = {}  # the status of each call, in the same way
        self.requirements: dict[str, dict[str, RunRequirement]] = {}  # that its caller has, by run and call
        self.unresolved: dict[str, list[RunRequirement]] = {}  # those of each run that waits
        self.stops = [one.tool_name for one in scenario.agent.stop]
        self.gated = [spec.name for spec in scenario.tools if spec.permission == "gate"]
        self.agent = Agent(
            model=KitModel(host),
            tools=[self._tool(spec) for spec in scenario.tools],
            tool_hooks=[self._permit],
            db=JsonDb(db_path=scenario.data),
            session_id="session",
            add_history_to_context=True,
            num_history_runs=1_000,  # all of them: the default is 3
            telemetry=False,
        )

    async def start(self, text: str) -> Segment:
        self.status = None
        self.unresolved.clear()
        return await self.input(text)

    async def input(self, text: str) -> Segment:
        self.run = f"run-{next(NUMBERS)}"
        return await self._left(self.agent.arun(text, run_id=self.run, **STREAM))

    async def decide(self, decisions: Sequence[Decision]) -> Segment:
        """Continue each of the library's runs that a decision is for; without one, the newest."""
        by_run: dict[str, list[Decision]] = {} if decisions else {self.run: []}
        for decision in decisions:
            by_run.setdefault(self._run_of(decision.call), []).append(decision)
        segments = [await self._continue(run, given) for run, given in by_run.items()]
        return segments[-1]

    def _run_of(self, call: str) -> str:
        """The last run that asked for this call; for an unknown one the run at hand."""
        asked = [run for run, requirements in self.requirements.items() if call in requirements]
        return asked[-1] if asked else self.run

    async def _continue(self, run: str, decisions: Sequence[Decision]) -> Segment:
        """Confirm or reject requirements, and continue the run unless none of that succeeded."""
        asked = self.requirements.setdefault(run, {})
        failed = [one for one in decisions if not self._is_taken(one, asked)]
        if decisions and len(failed) == len(decisions):
            raise Refused("no requirement could be confirmed or rejected")
        given = [*asked.values()]
        return await self._left(self.agent.acontinue_run(run_id=run, requirements=given, **STREAM))

    def _is_taken(self, decision: Decision, asked: dict[str, RunRequirement]) -> bool:
        requirement = asked.setdefault(decision.call, _unknown(decision.call))
        try:
            requirement.confirm() if decision.action == "resume" else requirement.reject()
        except ValueError as error:  # it is decided already
            self.host.refuse(str(error), decision.id)
            return False
        self._show_call(requirement.tool_execution)
        return True

    async def cancel(self) -> None:
        await self.agent.acancel_run(self.run)

    async def checkpoint(self) -> Any:
        return self.run

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        await self.open(host, scenario)
        self.run = checkpoint

    async def resume_run(self, run: str) -> Segment:
        """Its caller has the id of the run alone, and continues it."""
        stored = await self.agent.aget_run_output(self.run)
        if stored is None:
            raise Refused("nothing was durable")
        if stored.status is RunStatus.paused:
            left = self._ended(stored)
            self.status = "Waiting"
            self.host.observe("run.status", to=self.status)
            return left
        return await self._left(self.agent.acontinue_run(run_id=self.run, requirements=[], **STREAM))

    async def _left(self, events: Any) -> Segment:
        """How a run ended, whose events are shown; one that is not read to its end counts as cancelled."""
        output: RunOutput | None = None
        async for event in events:
            if isinstance(event, RunOutput):
                output = event
                continue
            if one := getattr(event, "tool", None):
                self._show_call(one, begun=event.event == BEGUN)
            self._show_calls(getattr(event, "tools", None))
            if event.event in STATUS:
                self._show_run(event)
        if output is None:
            raise RuntimeError("the stream of the run ended without its output")
        return self._ended(output)

    def _show_run(self, event: Any) -> None:
        """Show what a run has become; while an earlier one waits, the thread does when this one is over."""
        before, self.status = self.status, STATUS[event.event]
        others = [one for run, left in self.unresolved.items() if run != event.run_id for one in left]
        if self.status == "Done" and others and event.event != RunEvent.run_cancelled:
            self.status = "Waiting"
        if self.status != before:
            self.host.observe("run.status", origin=before, to=self.status)

    def _show_calls(self, executions: Sequence[ToolExecution] | None) -> None:
        """Show what has become of calls; of two with one id, the newer one."""
        for one in {one.tool_call_id: one for one in executions or ()}.values():
            self._show_call(one)

    def _show_call(self, one: ToolExecution, *, begun: bool = False) -> None:
        """Show what has become of a call, unless that is known; one that is not over any more is another."""
        call = str(one.tool_call_id)
        before, status = self.calls.get(call), "Running" if begun else _status(one)
        if status is not None and status != before and one.tool_name != NOTHING:
            self.calls[call] = status
            origin = None if before in OVER and status not in OVER else before
            self.host.observe("call.status", call=call, origin=origin, to=status)

    def _ended(self, output: RunOutput) -> Segment:
        """How a run ended; its caller has every requirement in its output."""
        self._show_calls(output.tools)
        run = str(output.run_id)
        self.requirements[run] = {_call(one): one for one in output.requirements or ()}
        is_paused = output.status is RunStatus.paused
        self.unresolved[run] = output.active_requirements if is_paused else []
        for one in self.unresolved[run]:
            self.show(_call(one), str(one.tool_execution.tool_name), one.tool_execution.tool_args)
        if output.status is RunStatus.cancelled:
            self.unresolved.clear()
        waiting = [(_call(one), one) for requirements in self.unresolved.values() for one in requirements]
        return self.ended(waiting, _reason(output))

    async def _permit(self, function_name: str, function_call: Any, arguments: dict[str, Any]) -> Any:
        """A hook around each call, which finds the id of the call among its arguments."""
        if function_name in self.gated:
            verdict = await self.host.permit(arguments.get("k", ""), function_name, arguments)
            if verdict.kind == "block":
                raise ValueError("blocked")
            if verdict.kind == "set_result":
                return verdict.content
        return await function_call(**arguments)

    def _tool(self, spec: ToolSpec) -> Any:
        async def body(fc: FunctionCall, k: str = ABSENT, v: JsonValue = ABSENT) -> Any:
            answer = await self.host.tool(fc.call_id or "", spec.name, given(k=k, v=v))
            return answer.content

        asks = spec.permission == "ask"
        return tool(
            name=spec.name,
            description=spec.name,
            requires_confirmation=asks,
            stop_after_tool_call=spec.name in self.stops,
        )(body)


def _call(requirement: RunRequirement) -> str:
    return str(requirement.tool_execution.tool_call_id)


def _status(one: ToolExecution) -> str | None:
    """What an execution of a tool says of its call; it does not say that it has begun."""
    if one.confirmed is False:
        return "Cancelled"
    if one.tool_call_error:
        return "Failed"
    if one.result is not None:
        return "Succeeded"
    if not one.requires_confirmation:
        return None
    return "Suspended" if one.confirmed is None else "Resuming"


def _reason(output: RunOutput) -> Reason:
    """Why a run is over; a tool that stops it is the last that it executed."""
    code = REASONS.get(output.status, "NaturalEnd")
    last = output.messages[-1] if output.messages else None
    if code == "NaturalEnd" and last is not None and last.role == "tool" and last.stop_after_tool_call:
        return Reason(code="Stopped", stop=StopReason(code="stop_on_tool"))
    return Reason(code=code)


def _unknown(call: str) -> RunRequirement:
    """A requirement that the run does not have."""
    return RunRequirement(ToolExecution(tool_call_id=call, tool_name=NOTHING, requires_confirmation=True))
