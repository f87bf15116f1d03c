"""What the charts of flow allow: follows segments, steps and passes of calls along their drawn ways.

What no drawn way explains breaks the clause that closes the chart.  It is held back until the runtime has
settled, so that a clause that can name the cause speaks first.  Each arrow that was certainly taken
counts as exercised, permissions too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from functools import cache, cached_property
from itertools import takewhile
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.segment_queries import has_fired, may_hold_back
from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    PhaseEntered,
    ResumeEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import Call, Run
from runlock.conformance.family.chart_monitor import (
    NO_DETOURS,
    Detours,
    Follower,
    Reading,
)
from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import Observation
from runlock.machines.lifecycle.charts.run_flow import RunFlow
from runlock.machines.lifecycle.charts.step import StepEndsAfterTools, StepEndsBeforeTools, StepWithToolGate
from runlock.machines.lifecycle.charts.tool_call import ToolCallPhases
from runlock.machines.table import Table, compile_chart

FLOW: Final = compile_chart(RunFlow)
STEP_BEFORE_TOOLS: Final = compile_chart(StepEndsBeforeTools)
STEP_AFTER_TOOLS: Final = compile_chart(StepEndsAfterTools)
STEP_WITH_GATE: Final = compile_chart(StepWithToolGate)
PASS: Final = compile_chart(ToolCallPhases)

TABLES: Final[tuple[Table, ...]] = (FLOW, STEP_BEFORE_TOOLS, STEP_AFTER_TOOLS, STEP_WITH_GATE, PASS)

CHECKED_BY_PATHS: Final = frozenset(
    clause for table in TABLES for clause in (*(row.clause for row in table.rows), *table.closed.values())
)
"""The clauses that following these charts judges, or counts."""

GATE: Final = "the resume gate"
INFERENCE: Final = "the inference"
CALL_PHASE: Final = "a phase of a call"
BODY: Final = "its body"
REPLAYED: Final = "ToolResultsCommitted of a replay"
ROUND: Final = "ToolResultsCommitted of the round"

PHASES_OF_CALLS: Final = ("ToolGate", "BeforeToolExecute", "AfterToolExecute")

FLOW_READING: Final = Reading(
    FLOW,
    enters={
        "RunStart": ("RunStart",),
        "CommitUser": ("UserMessage",),
        "ResumeReplay0": (GATE,),
        "CommitReplay0": (REPLAYED,),
        "ResumeToolCall": (GATE,),
        "StepPrepare": ("StepStart",),
        "LlmCall": (INFERENCE,),
        "AfterInference": ("AfterInference",),
        "CommitAssistant": ("AssistantTurnCommitted",),
        "ToolRound": (CALL_PHASE,),
        "CommitTool": (ROUND,),
        "ResumeAfterTool": (GATE,),
        "RunEnd": ("RunEnd",),
        "CommitFinished": ("RunFinished",),
    },
    within={
        "ResumeReplay0": (GATE, CALL_PHASE),
        "CommitReplay0": (GATE,),
        "ResumeToolCall": (GATE, CALL_PHASE, REPLAYED),
        "StepPrepare": ("BeforeInference",),
        "AfterInference": ("StepEnd",),
        "ToolRound": (CALL_PHASE,),
        "ResumeAfterTool": (GATE, CALL_PHASE, REPLAYED),
    },
    silent=frozenset(
        # a gate that finds nothing may pass for two that follow each other
        {"ResumeReplay0", "ResumeToolCall", "ResumeAfterTool"}
        | {"LoopTop", "Terminate", "NaturalEnd", "Suspended", "Cancelled", "Error"}
    ),
)


FLOW_DETOURS: Final[Detours] = frozenset(
    {
        ("CommitReplay0", "ResumeReplay0"),  # the gate goes on until nothing is decided any more
        ("CommitAssistant", "ResumeAfterTool"),  # what was decided is drained before a natural end
        ("ResumeAfterTool", "NaturalEnd"),
    }
)
"""What other clauses add to the flow wherever it is followed."""


class Case(Enum):
    """A case in which other clauses change the flow of a segment."""

    ENTERED_ANEW = auto()
    NOTHING_TO_REPLAY = auto()
    CANCELLED = auto()
    CANCELLED_BETWEEN = auto()  # between two segments
    BROKEN = auto()
    MAY_BE_STOPPED = auto()
    HOLDS_BACK = auto()  # calls of a round


DETOURS_OF_CASES: Final[Mapping[Case, Detours]] = {
    Case.ENTERED_ANEW: frozenset({("RunStart", "ResumeReplay0")}),
    Case.NOTHING_TO_REPLAY: frozenset({("ResumeReplay0", "Suspended")}),
    Case.CANCELLED: frozenset({(None, "Cancelled")}),
    Case.CANCELLED_BETWEEN: frozenset({(None, "CommitFinished")}),
    Case.BROKEN: frozenset({(None, "Error")}),
    Case.MAY_BE_STOPPED: frozenset({(None, "Terminate")}),
    Case.HOLDS_BACK: frozenset({("ResumeToolCall", "ToolRound"), ("ResumeAfterTool", "ToolRound")}),
}
"""What they add in some cases: ways out that are open anywhere, and what goes on next to the flow."""


@cache
def _flow_detours(*cases: Case) -> Detours:
    """What is added to the flow in these cases: one object each time, which is quick to look up."""
    return FLOW_DETOURS.union(*(DETOURS_OF_CASES[case] for case in cases))


ENDS_ANYWHERE: Final[Detours] = frozenset({(None, "StepEnd")})
"""A step that is cut short may still be told to be over."""

ENDS_AT_WAITS: Final[Detours] = frozenset({("BeforeToolExecute", "StepEnd")})
"""A call that its tool suspended has no outcome that anybody could look at."""


def _step_reading(table: Table, *silent: str) -> Reading:
    seen = {state: (state,) for state in table.states if state not in silent}
    return Reading(table, {**seen, "LlmCall": (INFERENCE,)}, silent=frozenset(silent))


STEP_READINGS: Final = {
    ("eight", "before_tools"): _step_reading(STEP_BEFORE_TOOLS, "CommitTool", "NaturalEnd", "Terminate"),
    ("eight", "after_tools"): _step_reading(STEP_AFTER_TOOLS, "Terminate"),
    ("nine", "after_tools"): _step_reading(STEP_WITH_GATE, "Terminate"),
}

PASS_READING: Final = Reading(
    PASS,
    enters={
        "BeforeToolExecute": ("BeforeToolExecute",),
        "ExecuteTool": (BODY,),
        "AfterToolExecute": ("AfterToolExecute",),
    },
    silent=frozenset({"Blocked", "Succeeded", "Failed", "Suspended"}),
)


COMMITS: Final = ("UserMessage", "AssistantTurnCommitted", "RunFinished")
"""Triggers that the flow of a segment draws by their own names."""

Who = tuple[str, Any]
"""What is on its way, by the word for it and its name, which are put together where there is an objection."""

TELLING: Final = (PhaseEntered, GateOpened, ResumeEntered, Checkpointed, SegmentEnded)
"""The kinds of observation that tell where on its way something stands."""


class Paths(Monitor):
    """Follows the segments, steps and passes of one scenario."""

    clauses = CHECKED_BY_PATHS
    says = "what a runtime shows takes a drawn way, and no other"

    def __init__(self, state: ObservedState, trails: Trails, applies: Mapping[str, bool]) -> None:
        self.state = state
        self.trails = trails
        self.life = state.life
        self.segments: dict[str, Follower] = {}
        self.steps: dict[str, Follower] = {}
        self.passes: dict[Call, Follower] = {}
        self.objections: list[ClauseResult] = []
        self.in_batches = False  # the phases of calls name no call

    def settled(self) -> Iterator[ClauseResult]:
        """Yield what the charts do not explain, after all other checks."""
        yield from self.objections
        self.objections.clear()

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Yield the clauses of the ways that an observation shows to be taken."""
        self._forget_a_lost_life()
        run = self.state.run_of(seen) if isinstance(seen, TELLING) else None
        if run is None or not self.state.observes("phase"):
            return
        yield from self._segment(run, seen)
        yield from self._step(run, seen)
        yield from self._pass(run, seen)

    def _forget_a_lost_life(self) -> None:
        if self.life == self.state.life:
            return
        self.life = self.state.life
        self.objections.clear()
        for follower in (*self.segments.values(), *self.steps.values(), *self.passes.values()):
            follower.lose()

    def _take(
        self,
        who: Who,
        follower: Follower,
        label: str,
        detours: Detours = NO_DETOURS,
        *,
        surely: bool = True,
    ) -> Iterator[ClauseResult]:
        closed = follower.reading.closed
        if surely and not follower.after(label, detours):
            self._object(closed, who, follower, label, detours)
            follower.lose()
            return
        taken = follower.see(label, detours, surely=surely)
        self._note(follower)
        if surely:
            yield ClauseResult(closed)
        if taken:
            yield ClauseResult(taken)

    def _note(self, follower: Follower) -> None:
        """Note the arrows that were certainly taken."""
        table = follower.reading.table
        if follower.is_lost:
            self.trails.lose(table, follower)
        for row in follower.taken:
            if row is None:  # a detour
                self.trails.lose(table, follower)
            else:
                self.trails.take(table, follower, row)

    def _object(self, clause: str, named: Who, follower: Follower, label: str, detours: Detours) -> None:
        ways, who = " or ".join(follower.right(detours)), "{} {}".format(*named)
        if not ways:
            why = f"{who} is over, yet {label} was seen after {follower.last}"
        elif follower.last:
            why = f"{who}: after {follower.last} comes {ways}, yet {label} was seen"
        else:
            why = f"{who} begins with {ways}, yet {label} was seen"
        self.objections.append(clause_result(clause, why))

    # -- segments

    def _segment(self, run: Run, seen: Observation) -> Iterator[ClauseResult]:
        if not self._has_this_flow:
            return
        follower = self.segments.get(run.id)
        if follower is None:
            follower = self.segments[run.id] = Follower(FLOW_READING)
        label, is_over = _flow_label(seen), isinstance(seen, SegmentEnded)
        if label is None and not is_over:
            return
        who, detours = ("the segment of run", run.id), _flow_detours(*self._cases_of_the_flow(run))
        if label is None:
            if "CommitFinished" not in follower.states and run.faulted != "store.put":
                self._object(FLOW.closed["RunEnd"], who, follower, "the end of the segment", detours)
            self.segments[run.id] = Follower(FLOW_READING)
            return
        companions = label in (GATE, REPLAYED) and self.state.policy("decision.window") != "after_round"
        surely = not companions and not (label == CALL_PHASE and _may_be_replayed(run, seen))
        yield from self._take(who, follower, label, detours, surely=surely)

    @cached_property
    def _has_this_flow(self) -> bool:
        shown = all(self.state.observes(kind) for kind in ("checkpoint", "resume"))
        flow = [self.state.policy(key) for key in ("checkpoint.at", "step.end", "waiting")]
        return shown and flow == ["triggers", "before_tools", "reentered"]

    def _cases_of_the_flow(self, run: Run) -> Iterator[Case]:
        """The cases that the run is in."""
        if run.finished or run.disturbed_by(CRASH):  # there is no input to commit again
            yield Case.ENTERED_ANEW
        resolved = any(one.entered.state == "ResolveDecision" for one in run.stations)
        spent = run.disturbed_by(CRASH) or (run.finished and not resolved)  # an earlier segment took it
        if spent or self.state.policy("replay.commit") != "yes":
            yield Case.NOTHING_TO_REPLAY
        if run.disturbed_by(CANCEL):
            yield Case.CANCELLED
            if run.finished and not has_fired(run.segment, "RunStart"):  # it met the run between segments
                yield Case.CANCELLED_BETWEEN
        if run.disturbed_by(FAULT):
            yield Case.BROKEN
        if self.state.scenario.agent.stop or self.state.policy("round.block") != "fail_call":
            yield Case.MAY_BE_STOPPED
        if self._holds_back or run.disturbed_by(CRASH):  # what a life did not begin, the next one begins
            yield Case.HOLDS_BACK

    @cached_property
    def _holds_back(self) -> bool:
        return may_hold_back(self.state)

    # -- steps

    def _step(self, run: Run, seen: Observation) -> Iterator[ClauseResult]:
        label, reading = _step_label(seen), self._step_reading
        if reading is None or label is None:
            return
        follower = self.steps.get(run.id)
        if follower is None:
            follower = self.steps[run.id] = Follower(reading)
        detours = self._step_detours if self._holds_back else NO_DETOURS
        ends = reading.table.finals - {"Terminate"}
        if label == "StepEnd" and self._ends_after_tools:
            detours |= ENDS_ANYWHERE if self._is_broken_off(run) else NO_DETOURS
            detours |= ENDS_AT_WAITS if _was_left_to_wait(run) else NO_DETOURS
        if self._holds_back:  # what was left out runs after the end of its step
            ends |= {"BeforeToolExecute", "AfterToolExecute"}
        if label in ("RunStart", "RunEnd"):  # a step that is cut short stops where it stands
            self.steps[run.id] = Follower(reading)
            if run.crashes and label == "RunStart":
                self.steps[run.id].lose()  # a life that begins anew goes on in the middle of a step
        elif label == "StepStart" and follower.may_begin(ends, detours):
            follower.begin(label)
        else:
            after_the_wait = self._holds_back and run.finished and not has_fired(run.segment, "StepStart")
            held_back = after_the_wait and label in PHASES_OF_CALLS
            ends_again = self._ends_after_tools and label == "StepEnd" and _has_ended_to_wait(run)
            surely = not (held_back or ends_again or _may_be_replayed(run, seen))
            number = vars(seen).get("step") or run.steps  # not each kind has one
            yield from self._take(("step", number), follower, label, detours, surely=surely)

    @cached_property
    def _step_reading(self) -> Reading | None:
        return STEP_READINGS.get((self.state.policy("phases"), self.state.policy("step.end")))

    def _is_broken_off(self, run: Run) -> bool:
        """Whether something ends the run, or the round, wherever it stands."""
        return bool(run.disturbed_by(CANCEL, FAULT, INPUT) or self.state.may_end_by_a_block(run))

    @cached_property
    def _ends_after_tools(self) -> bool:
        """Whether a step is over after its round; one that waits may end before its wait, and once more."""
        return bool(self.state.policy("step.end") == "after_tools")

    @cached_property
    def _step_detours(self) -> Detours:
        """Calls that their round left behind are made ready when the wait is over, and end no step again."""
        first = "ToolGate" if self.state.policy("phases") == "nine" else "BeforeToolExecute"
        if self.state.policy("step.end") == "before_tools":
            return frozenset({("CommitTool", first)})
        return frozenset(
            {("StepEnd", first), ("BeforeToolExecute", "StepEnd"), ("ToolGate", "BeforeToolExecute")}
        )

    # -- passes of calls

    def _pass(self, run: Run, seen: Observation) -> Iterator[ClauseResult]:
        label = _pass_label(seen)
        call = self.state.call_of(seen) if label is not None else None
        self.in_batches |= label in PHASES_OF_CALLS and call is None
        if label is None or call is None or call.duplicate_id or self.in_batches or not self._has_passes:
            return
        follower = self.passes.get(call)
        if follower is None:
            follower = self.passes[call] = Follower(PASS_READING)
        if call.approvals and self.state.policy("replay.gate") != "yes":
            follower.lose()  # a replay may reach the body without passing its phases
        if label == "BeforeToolExecute" and self._may_begin(follower):
            follower.begin(label)
        else:
            yield from self._take(("call", call.id), follower, label)

    @cached_property
    def _has_passes(self) -> bool:
        return [self.state.policy(key) for key in ("phases", "step.end")] == ["eight", "before_tools"]

    def _may_begin(self, follower: Follower) -> bool:
        left_behind = self._holds_back and "BeforeToolExecute" in follower.states
        return left_behind or follower.may_begin(PASS.finals)


def _flow_label(seen: Observation) -> str | None:
    if isinstance(seen, PhaseEntered):
        return CALL_PHASE if seen.phase in PHASES_OF_CALLS else seen.phase
    if isinstance(seen, GateOpened):
        return INFERENCE if seen.on == "model" else None
    if isinstance(seen, Checkpointed):
        return _label_of_a_commit(seen)
    return GATE if isinstance(seen, ResumeEntered) else None


def _label_of_a_commit(seen: Checkpointed) -> str | None:
    if seen.trigger == "ToolResultsCommitted":
        return ROUND if seen.cause in (None, "round") else REPLAYED
    return seen.trigger if seen.trigger in COMMITS else None


def _step_label(seen: Observation) -> str | None:
    if isinstance(seen, PhaseEntered):
        return seen.phase
    return INFERENCE if isinstance(seen, GateOpened) and seen.on == "model" else None


def _pass_label(seen: Observation) -> str | None:
    if isinstance(seen, PhaseEntered):
        return seen.phase if seen.phase in PHASES_OF_CALLS else None
    return BODY if isinstance(seen, GateOpened) and seen.on == "tool" else None


def _waits_in_its_step(run: Run) -> bool:
    """Whether a call of the newest step waits, or has waited."""
    return any(call.may_have_waited and call.step == run.steps for call in run.calls.values())


def _was_left_to_wait(run: Run) -> bool:
    """Whether the call that was made ready last waits or has waited; any of its step, where none is named."""
    call = run.calls.get((run.phases[-1].call if run.phases else None) or "")
    return call.may_have_waited if call is not None else _waits_in_its_step(run)


def _has_ended_to_wait(run: Run) -> bool:
    """Whether the newest step has ended once, and not just now, with a call that waits or has waited."""
    if has_fired(run.segment[-1:], "StepEnd"):
        return False
    of_this_step = [*takewhile(lambda one: one.phase != "StepStart", reversed(run.phases))]
    return _waits_in_its_step(run) and has_fired(of_this_step, "StepEnd")


def _may_be_replayed(run: Run, seen: Observation) -> bool:
    """Whether a phase may belong to a replay, which is a pass of its own and no part of the step."""
    if not isinstance(seen, PhaseEntered) or seen.phase not in PHASES_OF_CALLS:
        return False
    call = run.calls.get(seen.call or "")
    if call is None:
        return any(call.decisions for call in run.every_call) or any(c.duplicate_id for c in run.every_call)
    return bool(call.decisions) or call.duplicate_id or call.step != run.steps
