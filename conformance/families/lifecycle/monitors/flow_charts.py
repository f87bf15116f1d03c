"""What the charts of flow allow: follows segments, steps and passes of calls along their drawn ways.

What no drawn way explains breaks the clause that closes the chart.  It is held back until the runtime has
settled, so that a clause that can name the cause speaks first.  Each arrow that was certainly taken
counts as exercised, permissions too.  Arrows that are taken in some cases only are drawn like all others,
in the same chart or in one that goes on from its states; `Case` says when they are followed.
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
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.chart_monitor import (
    NO_DETOURS,
    NOT_BEGUN,
    Detour,
    Detours,
    Follower,
    Reading,
)
from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.invariant import broken
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import Observation
from runlock.machines.lifecycle.charts.run_flow import RunFlow, SegmentCutShort
from runlock.machines.lifecycle.charts.step import (
    StepCutShort,
    StepEndsAfterTools,
    StepEndsBeforeTools,
    StepThatWaited,
    StepWithToolGate,
)
from runlock.machines.lifecycle.charts.tool_call import ToolCallPhases
from runlock.machines.table import Row, Table, compile_chart
from runlock.spec.model import load_spec

FLOW: Final = compile_chart(RunFlow)
STEP_BEFORE_TOOLS: Final = compile_chart(StepEndsBeforeTools)
STEP_AFTER_TOOLS: Final = compile_chart(StepEndsAfterTools)
STEP_WITH_GATE: Final = compile_chart(StepWithToolGate)
PASS: Final = compile_chart(ToolCallPhases)
SEGMENT_CUT: Final = compile_chart(SegmentCutShort)
STEP_THAT_WAITED: Final = compile_chart(StepThatWaited)
STEP_CUT: Final = compile_chart(StepCutShort)

TABLES: Final[tuple[Table, ...]] = (
    FLOW, SEGMENT_CUT, STEP_BEFORE_TOOLS, STEP_AFTER_TOOLS, STEP_WITH_GATE, STEP_THAT_WAITED, STEP_CUT, PASS,
)  # fmt: skip

ANYWHERE: Final = "Station"
"""The state that stands for every state of the chart which is cut short."""


def _drawn(*tables: Table, clauses: str) -> Detours:
    """The arrows under these clauses, which are followed in some cases only."""
    named = clauses.split()
    rows = {row.clause: row for table in tables for row in table.rows if row.clause in named}
    sources = {clause: None if row.source == ANYWHERE else row.source for clause, row in rows.items()}
    return frozenset(Detour(sources[clause], rows[clause].target, rows[clause]) for clause in named)


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

PERMISSIONS: Final = frozenset(
    row.clause
    for table in TABLES
    for row in table.rows
    if load_spec("lifecycle").clause(row.clause).level == "MAY"
)
"""Arrows that need not be taken; a station that shows nothing may hide that one was."""

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
        "ResumeBeforeEnd": (GATE,),
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
        "ResumeBeforeEnd": (GATE, CALL_PHASE, REPLAYED),
    },
    silent=frozenset(
        # a gate that finds nothing may pass for two that follow each other
        {"ResumeReplay0", "ResumeToolCall", "ResumeAfterTool", "ResumeBeforeEnd"}
        | {"LoopTop", "Terminate", "NaturalEnd", "Suspended", "Cancelled", "Error"}
    ),
    conditional=frozenset({"FLOW-30", "FLOW-31", "FLOW-37", "FLOW-38"}),
)


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
    Case.ENTERED_ANEW: _drawn(FLOW, clauses="FLOW-30"),
    Case.NOTHING_TO_REPLAY: _drawn(FLOW, clauses="FLOW-31"),
    Case.HOLDS_BACK: _drawn(FLOW, clauses="FLOW-37 FLOW-38"),
    Case.MAY_BE_STOPPED: _drawn(SEGMENT_CUT, clauses="FLOW-42"),
    Case.CANCELLED: _drawn(SEGMENT_CUT, clauses="FLOW-43"),
    Case.BROKEN: _drawn(SEGMENT_CUT, clauses="FLOW-44"),
    Case.CANCELLED_BETWEEN: _drawn(SEGMENT_CUT, clauses="FLOW-45"),
}
"""The arrows that are followed in these cases, in addition to those that are followed always."""


@cache
def _flow_detours(*cases: Case) -> Detours:
    """What is followed in these cases: one object each time, which is quick to look up."""
    return NO_DETOURS.union(*(DETOURS_OF_CASES[case] for case in cases))


CUT_SHORT: Final = _drawn(STEP_CUT, clauses="PHASE-75")
WAITS: Final = _drawn(STEP_WITH_GATE, clauses="PHASE-65")
ENDS_AGAIN: Final = _drawn(STEP_THAT_WAITED, clauses="PHASE-68")
LEFT_BEHIND: Final[Mapping[tuple[str, str], Detours]] = {
    ("eight", "before_tools"): _drawn(STEP_BEFORE_TOOLS, clauses="PHASE-64"),
    ("eight", "after_tools"): _drawn(STEP_THAT_WAITED, clauses="PHASE-67"),
    ("nine", "after_tools"): _drawn(STEP_WITH_GATE, STEP_THAT_WAITED, clauses="PHASE-65 PHASE-66"),
}
"""What calls that a sequential round left behind add to its step, by `phases` and `step.end`."""

MADE_READY_AGAIN: Final = _drawn(PASS, clauses="PHASE-15")

OVER_AFTER_A_WAIT: Final = frozenset(row.source for row in STEP_THAT_WAITED.rows if row.target == "Over")
"""Where a step that waited may be when the next one starts."""


def _step_reading(table: Table, *silent: str) -> Reading:
    seen = {state: (state,) for state in table.states if state not in silent}
    conditional = frozenset({"PHASE-64", "PHASE-65"})
    return Reading(
        table, {**seen, "LlmCall": (INFERENCE,)}, silent=frozenset(silent), conditional=conditional
    )


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
    conditional=frozenset({"PHASE-15"}),
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
    reads = TELLING

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.life = state.life
        self.segments: dict[str, Follower] = {}
        self.steps: dict[str, Follower] = {}
        self.passes: dict[ObservedCall, Follower] = {}
        self.in_batches = False  # the phases of calls name no call

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Yield the clauses of the ways that an observation shows to be taken."""
        self._forget_a_lost_life()
        run = self.state.run_of(seen)
        if run is None or not self.state.observes("phase"):
            return
        yield from self._segment(run, seen)
        yield from self._step(run, seen)
        yield from self._pass(run, seen)

    def _forget_a_lost_life(self) -> None:
        if self.life == self.state.life:
            return
        self.life = self.state.life
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
            yield _unexplained(closed, who, follower, label, detours)
            follower.lose()
            return
        taken = follower.see(label, detours, surely=surely)
        self._note(follower)
        if surely:
            yield ClauseResult(closed)
        if taken:
            yield ClauseResult(taken)
        yield from (ClauseResult(row.clause) for row in follower.taken if row and row.clause in PERMISSIONS)

    def _note(self, follower: Follower) -> None:
        """Note the arrows that were certainly taken."""
        table = follower.reading.table
        if follower.is_lost:
            self.trails.lose(table, follower)
        for row in follower.taken:
            if row is None:  # the beginning
                self.trails.lose(table, follower)
            else:
                self.trails.take(_chart_of(row, table), follower, row)

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
                yield _unexplained(FLOW.closed["RunEnd"], who, follower, "the end of the segment", detours)
            self.segments[run.id] = Follower(FLOW_READING)
            return
        is_concurrent = label in (GATE, REPLAYED) and self.state.policy("decision.window") != "after_round"
        surely = not is_concurrent and not (label == CALL_PHASE and _may_be_replayed(run, seen))
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
        detours = self._left_behind if self._holds_back else NO_DETOURS
        ends = reading.table.finals - {"Terminate"}
        if label == "StepEnd" and self._ends_after_tools:
            detours |= CUT_SHORT if self._is_broken_off(run) else NO_DETOURS
            detours |= WAITS if _was_left_to_wait(run) else NO_DETOURS
        if self._holds_back and self._ends_after_tools:  # what was left out runs after the end of its step
            ends |= OVER_AFTER_A_WAIT
        if label in ("RunStart", "RunEnd"):  # a step that is cut short stops where it stands
            yield from _left_for(follower, "Gone")
            self.steps[run.id] = Follower(reading)
            if run.crashes and label == "RunStart":
                self.steps[run.id].lose()  # a life that begins anew goes on in the middle of a step
        elif label == "StepStart" and follower.may_begin(ends, detours):
            if self._ends_after_tools and _waits_in_its_step(run):
                yield from _left_for(follower, "Over")
            follower.begin(label)
        else:
            after_the_wait = self._holds_back and run.finished and not has_fired(run.segment, "StepStart")
            held_back = after_the_wait and label in PHASES_OF_CALLS
            if self._ends_after_tools and label == "StepEnd" and _has_ended_to_wait(run):
                detours |= ENDS_AGAIN
            surely = not (held_back or _may_be_replayed(run, seen))
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
    def _left_behind(self) -> Detours:
        """What calls that their round left behind add to its step."""
        return LEFT_BEHIND[self.state.policy("phases"), self.state.policy("step.end")]

    # -- passes of calls

    def _pass(self, run: Run, seen: Observation) -> Iterator[ClauseResult]:
        label = _pass_label(seen)
        call = self.state.call_of(seen) if label is not None else None
        self.in_batches |= label in PHASES_OF_CALLS and call is None
        if label is None or call is None or call.is_unclear or self.in_batches or not self._has_passes:
            return
        if label == BODY and call.entries and call.entries[-1].has_timed_out:
            return  # it is tried again, which is no pass of its own
        follower = self.passes.get(call)
        if follower is None:
            follower = self.passes[call] = Follower(PASS_READING)
        if call.approvals and self.state.policy("replay.gate") != "yes":
            follower.lose()  # a replay may reach the body without passing its phases
        detours = MADE_READY_AGAIN if self._holds_back else NO_DETOURS
        if label == "BeforeToolExecute" and follower.may_begin(PASS.finals):
            follower.begin(label)
        else:
            yield from self._take(("call", call.id), follower, label, detours)

    @cached_property
    def _has_passes(self) -> bool:
        return [self.state.policy(key) for key in ("phases", "step.end")] == ["eight", "before_tools"]


def _unexplained(clause: str, named: Who, follower: Follower, label: str, detours: Detours) -> ClauseResult:
    """What no drawn way explains; it waits for quiescence, since others may name the cause."""
    ways, who = " or ".join(follower.right(detours)), "{} {}".format(*named)
    if not ways:
        why = f"{who} is over, yet {label} was seen after {follower.last}"
    elif follower.last:
        why = f"{who}: after {follower.last} comes {ways}, yet {label} was seen"
    else:
        why = f"{who} begins with {ways}, yet {label} was seen"
    return ClauseResult(clause, broken(why), is_deferred=True)


def _left_for(follower: Follower, end: str) -> Iterator[ClauseResult]:
    """The permission to be over from where a step certainly stands, if its chart does not end there."""
    table = STEP_THAT_WAITED if end == "Over" else STEP_CUT
    over = follower.reading.table.finals if end == "Gone" else ()
    if len(follower.states) == 1 and not follower.states & {NOT_BEGUN, *over}:
        rows = (row for row in table.rows if row.target == end and row.source in (ANYWHERE, *follower.states))
        yield from (ClauseResult(row.clause) for row in rows)


def _chart_of(row: Row, table: Table) -> Table:
    """The chart that draws an arrow: the one that is followed, if it does."""
    return next(one for one in (table, *TABLES) if row in one.rows)


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
        return any(call.decisions for call in run.every_call) or any(c.is_unclear for c in run.every_call)
    return bool(call.decisions) or call.is_unclear or call.step != run.steps
