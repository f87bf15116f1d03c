"""FLOW: the ways out of a segment, and the forced checkpoint that is the last of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    TRIGGERS,
    Segment,
    segments,
)
from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    PhaseEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.records import ObservedGate, Run
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Rule, table


def faulted(state: ObservedState, seen: GateOpened | SegmentEnded) -> Iterator[Segment]:
    """The segment, if a fault alone has met it."""
    run = state.run_of(seen)
    if run is not None and run.fault_alone and not run.disturbed_by(CANCEL, CRASH):
        yield Segment(state, run, seen)


@dataclass(frozen=True)
class Cancelled:
    """A segment that ends after a cancel that met no race."""

    state: ObservedState
    run: Run
    code: str

    def gave_up(self, *on: str) -> bool:
        """Whether the cancel took away a gate of one of these kinds."""
        gates = self.state.gates.values()
        return any(gate.run == self.run.id and gate.gone is not None and gate.on in on for gate in gates)


def cancelled(state: ObservedState, seen: SegmentEnded) -> Iterator[Cancelled]:
    """The segment, if a cancel alone has met it."""
    run = state.run_of(seen)
    if run is None or run.cancel_at is None or not run.cancel_alone or run.disturbed_by(FAULT, CRASH):
        return
    yield Cancelled(state, run, seen.reason.code)


def cancelled_inference(state: ObservedState) -> Iterator[ObservedGate]:
    """The inference that the newest stimulus, a cancel, has met."""
    run, gate = state.run, state.last_model_gate
    if run is not None and run.cancel_at == state.stimuli and run.cancel_alone:
        yield from [gate] if gate is not None and gate.run == run.id else []


def _is_stored_before_its_end(run: Run) -> bool:
    """Whether more ends of the segment are stored than RunEnd has fired for."""
    ended = sum(isinstance(one, PhaseEntered) and one.phase == "RunEnd" for one in run.segment)
    return ended < sum(isinstance(one, Checkpointed) and one.trigger == "RunFinished" for one in run.segment)


ASKED_AGAIN = Occasion(faulted, GateOpened, ("model",))
FAULTED = Occasion(faulted, SegmentEnded)
CANCELLED = Occasion(cancelled, SegmentEnded)
ENDS = {"NaturalEnd": "FLOW-25", "Suspended": "FLOW-26", "Cancelled": "FLOW-27", "Error": "FLOW-28"}

# fmt: off
INVARIANTS = table(
    Rank.STATUS,
    Rule("FLOW-11", "a broken model ends the segment", ASKED_AGAIN, None,
         "the model broke, yet the model is asked again", lambda v: v.run.faulted == "model", "a fault"),
    Rule("FLOW-11", "a broken model ends the segment", FAULTED, lambda v: v.name == "Error",
         "the model broke, yet the segment ended as {v.name}", lambda v: v.run.faulted == "model", "a fault"),
    Rule("FLOW-18", "a broken executor ends the segment", ASKED_AGAIN, None,
         "the tool executor broke, yet the model is asked again",
         lambda v: v.run.faulted == "tool", "a fault"),
    Rule("FLOW-18", "a broken executor ends the segment", FAULTED, lambda v: v.name == "Error",
         "the tool executor broke, yet the segment ended as {v.name}",
         lambda v: v.run.faulted == "tool", "a fault"),
    Rule("FLOW-12", "a cancelled inference is given up", Occasion(cancelled_inference),
         lambda v: v.gone is not None,
         "the run was cancelled while the model was asked, yet the answer is still waited for",
         lambda v: v.gone is not None or v.is_open, "a cancel", (CRASH,)),
    Rule("FLOW-12", "a cancelled inference ends as Cancelled", CANCELLED, lambda v: v.code == "Cancelled",
         "its inference was given up for a cancel, yet the segment ended as {v.code}",
         lambda v: v.gave_up("model"), "a cancel"),
    Rule("FLOW-19", "a cancelled round ends as Cancelled", CANCELLED, lambda v: v.code == "Cancelled",
         "its round was given up for a cancel, yet the segment ended as {v.code}",
         lambda v: v.gave_up("permission", "tool"), "a cancel"),
) + table(
    Rank.PHASE,
    Rule("FLOW-29", "the end is committed after RunEnd", Occasion(segments, PhaseEntered, ("RunEnd",)), None,
         "RunEnd fires, yet RunFinished is stored already", lambda v: _is_stored_before_its_end(v.run)),
    Rule("FLOW-29", "the end is committed after RunEnd", Occasion(segments, Checkpointed, TRIGGERS), None,
         "the segment has stored RunFinished, yet {v.name} is stored after it",
         lambda v: v.stored("RunFinished") and not v.is_cut),
    Rule("FLOW-29", "the end was committed after RunEnd", Occasion(segments, Checkpointed, ("RunFinished",)),
         None, when=lambda v: v.fired("RunEnd")),
    # what never started, as where a cancel meets a run between segments, is FLOW-1's
    *(Rule(clause, f"a segment that ends as {code} passes RunEnd", Occasion(segments, SegmentEnded, (code,)),
           lambda v: v.fired("RunEnd"), "the segment ended as {v.name}, yet RunEnd has not fired",
           lambda v: v.fired("RunStart"))
      for code, clause in ENDS.items()),
)
# fmt: on
