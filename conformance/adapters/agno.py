"""agno behind the hosted interface, offline: a model that asks the kit, and tools that need confirmation.

A run that waits has a requirement for each of its calls, which its caller confirms or rejects and gives back.
The events of a run say when it runs, waits and is over.
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

from runlock.conformance.adapter import Decision, Host, ReasonCode, Refused, Scenario, Segment, ToolSpec
from runlock.conformance.adapters.libraries import ABSENT, Thread, given, offers
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

STREAM: Any = {"stream": True, "stream_events": True, "yield_run_output": True}
ENDS: dict[RunStatus, ReasonCode] = {RunStatus.cancelled: "Cancelled", RunStatus.error: "Error"}


class Agno(Thread):
    """One session of an agent."""

    handshake = offers(
        "agno",
        "agno",
        tool=["ok", "raise"],
        model=["malformed"],
        # https://docs.agno.com/hitl/overview: a run that waits is stored, and is continued by its id.
        # https://docs.agno.com/tools/overview: with `arun` the calls of a turn are executed concurrently.
        policies={"state": "runtime", "round.executor": "parallel"},
        observes=["call.shown", "run.status"],
        # https://docs.agno.com/tools/hooks: a hook raises, or returns another result.
        permission=["allow", "block", "set_result"],
    )

    async def open(self, host: Host, scenario: Scenario) -> None:
        await super().open(host, scenario)
        self.run = ""  # the library's newest
        self.status: str | None = None  # as its events said last
        self.requirements: dict[str, dict[str, RunRequirement]] = {}  # that its caller has, by run and call
        self.unresolved: dict[str, list[RunRequirement]] = {}  # those of each run that waits
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
            return self._ended(stored)
        return await self._left(self.agent.acontinue_run(run_id=self.run, requirements=[], **STREAM))

    async def _left(self, events: Any) -> Segment:
        """How a run ended, whose events are shown."""
        async for event in events:
            if isinstance(event, RunOutput):
                return self._ended(event)
            if event.event in STATUS:
                before, self.status = self.status, STATUS[event.event]
                self.host.observe("run.status", origin=before, to=self.status)
        raise RuntimeError("the stream of the run ended without its output")

    def _ended(self, output: RunOutput) -> Segment:
        """How a run ended; its caller has every requirement in its output."""
        run = str(output.run_id)
        self.requirements[run] = {_call(one): one for one in output.requirements or ()}
        is_paused = output.status is RunStatus.paused
        self.unresolved[run] = output.active_requirements if is_paused else []
        for one in self.unresolved[run]:
            self.show(_call(one), str(one.tool_execution.tool_name), one.tool_execution.tool_args)
        waiting = [(_call(one), one) for requirements in self.unresolved.values() for one in requirements]
        return self.ended(waiting, ENDS.get(output.status, "NaturalEnd"))

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
        return tool(name=spec.name, description=spec.name, requires_confirmation=asks)(body)


def _call(requirement: RunRequirement) -> str:
    return str(requirement.tool_execution.tool_call_id)


def _unknown(call: str) -> RunRequirement:
    """A requirement that the run does not have."""
    return RunRequirement(ToolExecution(tool_call_id=call, tool_name="nothing", requires_confirmation=True))
