"""PHASE: phases fire in their order, each where something of the run happens that they frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    Followed,
    Segment,
    followed,
    segments,
)
from runlock.conformance.families.lifecycle.messages import GateOpened, PhaseEntered, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, NOTHING, CheckResults, Invariant, broken, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Rule, table


@dataclass(frozen=True)
class Called(Segment):
    """A segment, and the call of it that is about to be judged, prepared or executed."""

    call: ObservedCall

    @property
    def is_of_the_round(self) -> bool:
        """Whether it runs in the round of the newest step: one that was decided may run during any step."""
        return self.call.step == self.run.steps and not self.call.decisions

    @property
    def is_early(self) -> bool:
        """Whether AfterInference of the newest step has not fired."""
        return not _fired_since(self.run, "AfterInference", "StepStart")

    @property
    def prepared(self) -> list[str | None]:
        """The calls that BeforeToolExecute has fired for; where it fires for a batch, it names none."""
        return [phase.call for phase in self.run.phases if phase.phase == "BeforeToolExecute"]

    @property
    def is_framed(self) -> bool:
        """Whether it was prepared; once more for each execution, unless a replay does not pass the gate.

        A try after a time limit is no execution of its own.
        """
        tried = [gate for gate in self.call.entries if not gate.has_timed_out]
        executed = len(tried) if self.declares("replay.gate", "yes") else 0
        return self.prepared.count(self.call.id) > executed

    @property
    def why_not(self) -> str:
        """Why it will not execute."""
        if self.call.claimed == "Suspended":
            return "it is Suspended"
        return "it is over" if self.call.is_final else ""


def calls(state: ObservedState, seen: Followed) -> Iterator[Called]:
    """The segment, if a call of it is spoken of."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is not None and call is not None:
        yield Called(state, run, seen, call)


def a_step_ends_where_it_should(state: ObservedState, seen: GateOpened) -> CheckResults:
    """StepEnd stands before the tools of its step, or after them, as the policy has it."""
    at = state.policy("step.end")
    for v in calls(state, seen):
        ended = _fired_since(v.run, "StepEnd", "StepStart")
        first = not v.call.entries and v.call.claimed != "Suspended"
        if at is None or not v.is_of_the_round:
            return
        if at == "before_tools":
            yield held_or(ended, f"call {v.call.id} runs before StepEnd of its step")
        elif first and not ended:
            yield HELD
        elif first and (v.declares("round.rest", "failed") or v.declares("round.executor", "parallel")):
            yield broken(f"call {v.call.id} runs for the first time after StepEnd of its step")


def _fired_since(run: Run, phase: str, other: str) -> bool:
    """Whether a phase has fired since that other one did."""
    newest = next((one.phase for one in reversed(run.phases) if one.phase in (phase, other)), "")
    return newest == phase


def _may_start(v: Segment) -> bool:
    """Whether RunStart may fire: once for the run, or where a decision enters it anew, for each segment."""
    fired = sum(phase.phase == "RunStart" for phase in v.run.phases)
    return fired < (1 if v.declares("waiting", "parked") else len(v.run.finished) + 1)


def _starts_anew(v: Segment) -> bool:
    """Whether the phase enters the run anew; a cancel enters one that waits only to end it."""
    again = v.name in ("RunStart", "RunEnd")
    return again and not v.declares("waiting", "parked") and not v.fired("RunEnd")


ANY = Occasion(segments, PhaseEntered)
RUN_START = Occasion(segments, PhaseEntered, ("RunStart",))
GATE = Occasion(segments, GateOpened, ("model", "permission", "tool"))
MODEL = Occasion(segments, GateOpened, ("model",))
TOOL = Occasion(calls, GateOpened, ("tool",))

# fmt: off
INVARIANTS = table(
    Rank.PHASE,
    Rule("PHASE-21", "run start comes first", Occasion(segments, PhaseEntered, after=(NOTHING,)),
         lambda v: v.name == "RunStart", "the first phase of the run is {v.name}, not RunStart",
         lambda v: not v.run.phases),
    Rule("PHASE-22", "run start fires once", RUN_START, _may_start,
         "RunStart fires again, though nothing has entered the run anew",
         lambda v: v.state.policy("waiting") is not None),
    Rule("PHASE-22", "run start fires in each segment", GATE, lambda v: v.fired("RunStart"),
         "the run was entered anew and is at work, yet RunStart has not fired",
         lambda v: v.run.finished and v.declares("waiting", "reentered"), excuses=(CANCEL,)),
    Rule("PHASE-23", "inference is framed", MODEL, lambda v: v.framing == "StepStart and BeforeInference",
         "the model is asked after {v.framing}, not after StepStart and BeforeInference",
         lambda v: not v.run.disturbed_by(CANCEL)),
    Rule("PHASE-24", "tools come after the inference", TOOL, lambda v: not v.is_early,
         "call {v.call.id} runs, yet AfterInference of its step has not fired",
         lambda v: v.is_of_the_round),
    Rule("PHASE-24", "calls are looked at after the inference", Occasion(calls, PhaseEntered), None,
         "{v.name} fires for call {v.call.id}, yet AfterInference of its step has not fired",
         lambda v: not v.call.is_unclear and v.is_of_the_round and v.is_early, "calls"),
    Invariant("PHASE-25", a_step_ends_where_it_should, GateOpened, at=("tool",)),
    Rule("PHASE-26", "a call is framed before", TOOL, lambda v: v.is_framed,
         "call {v.call.id} runs, yet BeforeToolExecute has not fired for it",
         lambda v: not v.call.is_unclear and (any(v.prepared) or not v.prepared)),
    Rule("PHASE-28", "only what executes is prepared", Occasion(calls, PhaseEntered, ("BeforeToolExecute",)),
         lambda v: not v.why_not, "BeforeToolExecute fires for call {v.call.id}, yet {v.why_not}",
         lambda v: v.declares("phases", "nine") and not v.call.is_unclear),
    Rule("PHASE-29", "run end comes last", ANY, lambda v: v.last != "RunEnd" or _starts_anew(v),
         "{v.name} fires after RunEnd", lambda v: v.run.phases and "RunEnd" in (v.last, v.name)),
    Rule("PHASE-30", "run end comes before the end", Occasion(segments, SegmentEnded),
         lambda v: v.last == "RunEnd", "the run ended as {v.name}, yet its last phase is {v.last}",
         lambda v: v.run.phases and v.name != "Suspended"),
) + table(
    Rank.LOST,
    Rule("PHASE-27", "the gate judges before execution",
         Occasion(segments, PhaseEntered, ("BeforeToolExecute",)),
         lambda v: any(one.phase == "ToolGate" and one.call == v.named for one in v.run.phases),
         "BeforeToolExecute fires for call {v.named}, yet ToolGate has not",
         lambda v: v.named and v.declares("phases", "nine")),
)
# fmt: on
