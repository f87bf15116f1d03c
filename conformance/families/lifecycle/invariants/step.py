"""PHASE: the phases of one step, from StepStart to StepEnd, and what has to happen between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    CALL_PHASES,
    Followed,
    Segment,
    asked_for,
    asked_for_nothing,
    followed,
    is_among,
)
from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    PhaseEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Rule, table


@dataclass(frozen=True)
class Step(Segment):
    """A segment, and how far its newest step is."""

    @property
    def ends_before_tools(self) -> bool:
        """Whether StepEnd stands before the tools of a step."""
        return self.declares("step.end", "before_tools")

    @property
    def ends_after_tools(self) -> bool:
        """Whether StepEnd stands after the tools of a step."""
        return self.declares("step.end", "after_tools")

    @property
    def has_no_calls(self) -> bool:
        """Whether the newest turn asked for no call."""
        return asked_for_nothing(self.run)

    @property
    def is_answered(self) -> bool:
        """Whether the model was asked in this step, and has answered."""
        gate = self.state.last_model_gate
        if gate is None or gate.run != self.run.id or gate.outcome is None:
            return False
        return is_among(gate.opened, self.shown("StepStart"))

    @property
    def executes_nothing(self) -> bool:
        """Whether the newest turn asked for calls of which none was executed."""
        calls = self.run.calls.values()
        return bool(asked_for(self.run)) and not any(c.entries for c in calls if c.step == self.run.steps)

    @property
    def busy(self) -> str:
        """The first call of the newest turn that is executing by itself."""
        calls = asked_for(self.run)
        return next((call.id for call in calls if call.executing and not call.decisions), "")

    @property
    def counted(self) -> int | None:
        """The number that the phase gives to its step."""
        return self.seen.step if isinstance(self.seen, PhaseEntered) else None

    @property
    def expected(self) -> int:
        """The number of the next step."""
        former = [phase.step for phase in self.run.phases if phase.phase == "StepStart"]
        return (former[-1] or 0) + 1 if former else 1

    @property
    def is_left_open(self) -> bool:
        """Whether the run has ended right after AfterInference."""
        return [phase.phase for phase in self.run.phases[-2:]] == ["AfterInference", "RunEnd"]

    @property
    def who(self) -> str:
        """Which call a phase is for, or that it is for all of a round."""
        return f"call {self.named}" if self.named else "the round"


def steps(state: ObservedState, seen: Followed) -> Iterator[Step]:
    """The segment, if it can be followed."""
    run = followed(state, seen)
    if run is not None:
        yield Step(state, run, seen)


def next_phases(state: ObservedState, seen: PhaseEntered) -> Iterator[Step]:
    """The segment, if the phase comes next in its step: by no way out of it, and not in a replay."""
    for step in steps(state, seen):
        if seen.phase != "RunEnd" and not step.is_a_replay:
            yield step


@dataclass(frozen=True)
class Called(Step):
    """A segment, and the call of it whose pass goes on."""

    call: ObservedCall

    @property
    def is_prepared(self) -> bool:
        """Whether BeforeToolExecute has fired for it, or for all calls, since the model answered."""
        shown = (one for one in self.shown("AfterInference") if isinstance(one, PhaseEntered))
        return any(one.phase == "BeforeToolExecute" and one.call in (None, self.call.id) for one in shown)

    @property
    def flaw(self) -> str:
        """Why the call cannot have its outcome yet."""
        if self.call.executing:
            return "its body is executing"
        waits = _is_allowed(self.call) and not self.call.entries and not self.call.is_final
        return "the call has not been executed" if waits else ""

    @property
    def often(self) -> str:
        """How permission is asked for it."""
        return "once more " if self.call.judged else ""

    @property
    def is_named(self) -> bool:
        """Whether the phases of calls name the call that they are for."""
        return all(one.call for one in self.run.phases if one.phase in CALL_PHASES)

    def is_due_after(self, phase: str) -> bool:
        """Whether this phase has fired for the call more often than permission was asked."""
        fired = sum(one.phase == phase and one.call == self.call.id for one in self.run.phases)
        return fired > len(self.call.judged)


def called(state: ObservedState, seen: PhaseEntered | GateOpened) -> Iterator[Called]:
    """The segment, if a call of it is spoken of, and it is clear which one."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is not None and call is not None and not call.is_unclear:
        yield Called(state, run, seen, call)


def allowed(state: ObservedState, seen: PhaseEntered) -> Iterator[Called]:
    """Each call of the newest turn that ToolGate allowed, unless its round may have left it behind."""
    for step in steps(state, seen):
        if not step.declares("phases", "nine") or step.is_cut or not step.fired("AfterInference"):
            return
        run = step.run
        if step.declares("round.executor", "parallel") or not _may_stop(state, run):
            yield from (Called(state, run, seen, call) for call in asked_for(run) if _is_allowed(call))


def _may_stop(state: ObservedState, run: Run) -> bool:
    """Whether the newest round may have left calls behind: at a suspension, a failure or an input."""
    calls = [call for call in run.calls.values() if call.step == run.steps]
    at_failure = any(map(_may_have_failed, calls)) and state.policy("round.failure") != "isolated"
    at_input = run.disturbed_by(INPUT) and state.policy("input.round") != "goes_on"
    return at_failure or at_input or any(map(_may_wait, calls))


def _may_have_failed(call: ObservedCall) -> bool:
    """Whether a call failed, by its status or by what its tool answered, or did not."""
    answered = call.result["kind"] if call.result is not None else None
    return call.claimed == "Failed" or (bool(call.entries) and answered not in ("ok", "warning"))


def the_gate_fires_where_it_has_a_place(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """ToolGate is a phase where there are nine, and no phase where there are eight."""
    phases = state.policy("phases")
    if phases == "eight":
        yield held_or(seen.phase != "ToolGate", "ToolGate fires, yet there are eight phases without it")
    elif phases == "nine" and seen.phase == "ToolGate":
        yield HELD


def _may_wait(call: ObservedCall) -> bool:
    """Whether a call waits or has waited, or may do so where it does not say."""
    return call.suspensions > 0 or (call.claimed is None and not call.is_final)


def _is_allowed(call: ObservedCall) -> bool:
    """Whether nothing holds a call back, as far as was witnessed."""
    if call.tool is None or call.decisions:
        return False
    return call.tool.permission == "allow" or call.last_verdict == "allow"


def _after(phase: str, *at: str) -> Occasion[Step]:
    return Occasion(next_phases, PhaseEntered, at, (phase,))


STEP_START = Occasion(steps, PhaseEntered, ("StepStart",))
NATURAL_END = Occasion(steps, SegmentEnded, ("NaturalEnd",))
PERMISSION = Occasion(called, GateOpened, ("permission",))
LOOKED_AT = ("AfterToolExecute",)

# fmt: off
INVARIANTS = table(
    Rank.PHASE,
    Rule("PHASE-40", "StepStart leads to BeforeInference", _after("StepStart"),
         lambda v: v.name == "BeforeInference", "StepStart is followed by {v.name}, not by BeforeInference"),
    Rule("PHASE-43", "AfterInference has an answer", Occasion(steps, PhaseEntered, ("AfterInference",)),
         lambda v: v.is_answered, "AfterInference fires, yet the model has not answered in this step",
         lambda v: not v.run.disturbed_by(CANCEL)),
    Rule("PHASE-41", "the request goes out as prepared", _after("BeforeInference"),
         lambda v: v.has_asked("BeforeInference"),
         "{v.name} fires after BeforeInference, yet the model was not asked",
         lambda v: v.name != "StepEnd"),
    Rule("PHASE-46", "AfterInference leads to StepEnd", _after("AfterInference"),
         lambda v: v.name == "StepEnd", "AfterInference is followed by {v.name}, not by StepEnd",
         lambda v: v.ends_before_tools),
    Rule("PHASE-47", "a step without calls has no phase of tools",
         Occasion(steps, PhaseEntered, ("StepStart", *CALL_PHASES, "RunEnd")),
         lambda v: v.name not in CALL_PHASES, "the model asked for no calls, yet {v.name} fires",
         lambda v: v.ends_before_tools and v.has_no_calls and v.fired("AfterInference")
         and not (v.named or v.is_a_replay)),
    Rule("PHASE-48", "a round begins with BeforeToolExecute", _after("StepEnd", *CALL_PHASES),
         lambda v: v.name == "BeforeToolExecute",
         "the round begins with {v.name}, not with BeforeToolExecute", lambda v: v.ends_before_tools),
    Rule("PHASE-49", "no calls lead straight to StepEnd", _after("AfterInference"),
         lambda v: v.name == "StepEnd", "the model asked for no calls, yet AfterInference leads to {v.name}",
         lambda v: v.ends_after_tools and v.has_no_calls),
    Rule("PHASE-53", "what is allowed is prepared", Occasion(allowed, PhaseEntered, ("StepEnd",)),
         lambda v: v.is_prepared,
         "call {v.call.id} was allowed at ToolGate, yet BeforeToolExecute has not fired for it"),
    # a round that leaves calls waiting is not at its end: its step may end before the wait, or after it
    *(Rule(clause, "a round with nothing to execute ends its step", STEP_START,
           lambda v: v.fired("StepEnd", since="AfterInference"),
           "nothing was left to execute in the round, yet StepEnd has not fired",
           lambda v: v.ends_after_tools and not v.is_cut and v.executes_nothing and v.fired("AfterInference"),
           "calls")
      for clause in ("PHASE-54", "PHASE-60")),
    Rule("PHASE-61", "a step ends when its calls rest", Occasion(steps, PhaseEntered, ("StepEnd",)),
         lambda v: not v.busy, "StepEnd fires, yet call {v.busy} of the step is executing",
         lambda v: v.ends_after_tools, is_deferred=True),
    Rule("PHASE-56", "AfterToolExecute has an outcome", Occasion(called, PhaseEntered, LOOKED_AT),
         lambda v: not v.flaw, "AfterToolExecute fires for call {v.call.id}, yet {v.flaw}",
         lambda v: v.call.executing or not (v.call.decisions or v.call.raced)),
    Rule("PHASE-62", "a round is applied after its phases", Occasion(steps, PhaseEntered, LOOKED_AT), None,
         "AfterToolExecute fires for {v.who}, yet the round is committed already",
         lambda v: v.ends_before_tools and not v.is_a_replay
         and v.stored("ToolResultsCommitted", "round", since="BeforeToolExecute")),
    Rule("PHASE-62", "a round is applied after its phases", Occasion(steps, Checkpointed), None,
         when=lambda v: v.ends_before_tools and v.cause == "round"
         and v.fired("AfterToolExecute", since="StepEnd"), requires="calls"),
    Rule("PHASE-85", "steps are counted by StepStart", STEP_START, lambda v: v.counted == v.expected,
         "StepStart counts step {v.counted}, where step {v.expected} was next",
         lambda v: v.counted is not None),
    Invariant("PHASE-86", the_gate_fires_where_it_has_a_place, PhaseEntered),

    # by which way a step ends
    Rule("PHASE-46", "no answer is left in its step", NATURAL_END, lambda v: not v.is_left_open,
         "the model asked for no calls, yet AfterInference leads to RunEnd", lambda v: v.ends_before_tools),
    Rule("PHASE-49", "no answer is left in its step", NATURAL_END, lambda v: not v.is_left_open,
         "the model asked for no calls, yet AfterInference leads to RunEnd", lambda v: v.ends_after_tools),
    Rule("PHASE-87", "permission is asked after BeforeToolExecute", PERMISSION,
         lambda v: v.is_due_after("BeforeToolExecute"),
         "permission is asked {v.often}for call {v.call.id}, "
         "yet BeforeToolExecute has not fired {v.often}for it",
         lambda v: v.declares("phases", "eight") and v.is_named),
    Rule("PHASE-88", "permission is asked after ToolGate", PERMISSION, lambda v: v.is_due_after("ToolGate"),
         "permission is asked {v.often}for call {v.call.id}, yet ToolGate has not fired {v.often}for it",
         lambda v: v.declares("phases", "nine") and v.is_named),
    Rule("PHASE-50", "a round of eight phases begins with BeforeToolExecute",
         _after("AfterInference", *CALL_PHASES), lambda v: v.name == "BeforeToolExecute",
         "the round begins with {v.name}, not with BeforeToolExecute",
         lambda v: v.declares("phases", "eight") and v.ends_after_tools and asked_for(v.run)),
    Rule("PHASE-51", "a round of nine phases begins with ToolGate",
         _after("AfterInference", *CALL_PHASES), lambda v: v.name == "ToolGate",
         "the round begins with {v.name}, not with ToolGate",
         lambda v: v.declares("phases", "nine") and v.ends_after_tools and asked_for(v.run)),
)
# fmt: on
