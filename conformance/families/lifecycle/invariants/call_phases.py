"""PHASE: the pass of one call through its phases: judged, perhaps executed, looked at in the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    followed,
    has_fired,
    is_cut_short,
)
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    GateOpened,
    MessageAppended,
    PhaseEntered,
)
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Row, Rule, table
from runlock.conformance.protocol import Observation

BEGINS, ENDS = "BeforeToolExecute", "AfterToolExecute"
ENDS_OF_CALLS = ("Failed", "Succeeded", "Suspended")
PASSES_END = (ENDS, "StepEnd", "RunEnd")
Shown = Sequence[Observation]

OUTCOMES = {
    "ok": "succeeded",
    "warning": "succeeded",
    "error": "failed",
    "raise": "failed",
    "pending": "was suspended",
}
"""What becomes of a call whose tool answers so."""


@dataclass(frozen=True)
class Pass:
    """The newest pass of a call, what was shown in it, and what it comes to: a status or a phase."""

    state: ObservedState
    run: Run
    call: ObservedCall
    shown: Sequence[Observation]
    to: str | None = None

    def _gate(self, on: str) -> str:
        """What the newest gate of this kind was released with."""
        gates = [one.gate for one in self.shown if isinstance(one, GateOpened) and one.on == on]
        outcome = self.state.gates[gates[-1]].outcome if gates else None
        return str(outcome["kind"]) if outcome is not None else ""

    @property
    def verdict(self) -> str:
        """What the permission gate said."""
        return self._gate("permission")

    @property
    def judged(self) -> str:
        """What was said of the call; a tool that asks suspends it until there is a decision."""
        asks = self.call.tool is not None and self.call.tool.permission == "ask" and not self.call.decisions
        return "suspend" if asks else self.verdict

    @property
    def answer(self) -> str:
        """What the tool answered."""
        return self._gate("tool")

    @property
    def ran(self) -> bool:
        """Whether the call became Running by itself: once it resumes, it was decided."""
        moves = [one.to for one in self.shown if isinstance(one, CallMoved)]
        return "Running" in (moves[: moves.index("Resuming")] if "Resuming" in moves else moves)

    @property
    def was_entered(self) -> bool:
        """Whether its tool was entered."""
        return any(isinstance(one, GateOpened) and one.on == "tool" for one in self.shown)

    @property
    def is_looked_at(self) -> bool:
        """Whether AfterToolExecute has fired for it."""
        return has_fired(self.shown, ENDS)

    @property
    def outcome(self) -> str:
        """What became of the call, as far as was witnessed, in words."""
        if answer := self.answer:
            return OUTCOMES.get(answer, "")
        if self.call.tool is None:
            return "failed"
        return {"block": "was blocked", "suspend": "was suspended"}.get(self.judged, "")

    @property
    def is_free(self) -> bool:
        """Whether nothing holds the call back, and its round has come to it."""
        call = self.call
        if call.tool is None or call.decisions or call.raced:
            return False
        if self.state.may_end_by_a_block(self.run) or self.is_left_behind:
            return False
        return call.tool.permission == "allow" or self.verdict == "allow"

    @property
    def is_left_behind(self) -> bool:
        """Whether a round that goes one by one may have stopped before it, at a sibling that waits."""
        stops = self.state.policy("round.executor") != "parallel"
        siblings = (one for one in self.run.calls.values() if one.step == self.call.step)
        return stops and any(one.may_have_waited for one in siblings)


# --- which pass it is ---------------------------------------------------------------------------


def looked_at(state: ObservedState, seen: PhaseEntered) -> Iterator[Pass]:
    """The pass that comes to its end with this AfterToolExecute."""
    run, call = followed(state, seen), state.call_of(seen)
    shown = _ending(state, seen)
    if run is not None and call is not None and shown is not None:
        yield Pass(state, run, call, shown, seen.phase)


@once
def _ending(state: ObservedState, seen: PhaseEntered) -> Shown | None:
    run, call = followed(state, seen), state.call_of(seen)
    return None if run is None or call is None or call.is_unclear else _pass_of(run, call)


def ended(state: ObservedState, seen: PhaseEntered) -> Iterator[Pass]:
    """The passes that end with this phase: the one that is looked at, or those that are not."""
    if seen.phase == ENDS:
        yield from looked_at(state, seen)
    else:
        yield from (one for one in passes(state, seen) if not one.is_looked_at)


def passes(state: ObservedState, seen: PhaseEntered) -> Iterator[Pass]:
    """The newest pass of each call that began one in this segment."""
    run = followed(state, seen)
    for call in run.calls.values() if run is not None else ():
        shown = _pass_of(run, call) if run is not None else None
        if run is not None and shown is not None and not call.is_unclear:
            yield Pass(state, run, call, shown, seen.phase)


def left(state: ObservedState, seen: PhaseEntered) -> Iterator[Pass]:
    """The newest pass of each call, as the round is left: none if that may be before its end.

    A stop leaves no call whose tool has answered; one that answers in a race may meet the end of the run.
    """
    run = followed(state, seen)
    if run is None or run.disturbed_by(CANCEL, FAULT, INPUT):
        return
    is_end = seen.phase == "RunEnd"
    if is_end and not state.scenario.agent.stop and is_cut_short(state, run):
        return
    for one in passes(state, seen):
        if not (is_end and one.call.entries and not one.call.entries[-1].alone):
            yield one


def recorded(state: ObservedState, seen: MessageAppended) -> Iterator[Pass]:
    """The pass whose result is recorded."""
    run = followed(state, seen)
    call = run.calls.get(seen.message.call or "") if run is not None else None
    if run is None or call is None or call.is_unclear or is_cut_short(state, run):
        return
    shown = _pass_of(run, call)
    if shown is not None:
        yield Pass(state, run, call, shown, seen.message.status)


def moved(state: ObservedState, seen: CallMoved) -> Iterator[Pass]:
    """The pass of a call that moves."""
    run, call = state.run_of(seen), state.call_of(seen)
    shown = _pass_of(run, call) if run is not None and call is not None and not call.is_unclear else None
    if run is not None and call is not None and shown is not None:
        yield Pass(state, run, call, shown, seen.to)


def _pass_of(run: Run, call: ObservedCall) -> Shown | None:
    """What was shown of the call since its newest pass began; nothing if none was seen to begin."""
    shown: list[Observation] = []
    for seen in reversed(run.segment):
        if vars(seen).get("call") == call.id:
            if isinstance(seen, PhaseEntered) and seen.phase == BEGINS:
                return shown[::-1]
            shown.append(seen)
    return None


def refusals(state: ObservedState, seen: GateOpened | CallMoved | MessageAppended) -> Iterator[Pass]:
    """A call that reaches no tool, where it is entered all the same, moves, or has its result recorded."""
    run = followed(state, seen)
    named = seen.message.call if isinstance(seen, MessageAppended) else seen.call
    call = run.calls.get(named or "") if run is not None else None
    if run is None or call is None or call.is_unclear or call.tool is not None:
        return
    if isinstance(seen, GateOpened):
        yield Pass(state, run, call, ())
    elif isinstance(seen, MessageAppended):
        yield Pass(state, run, call, (), seen.message.status)
    elif not is_cut_short(state, run):
        yield Pass(state, run, call, (), seen.to)


# --- the rules ----------------------------------------------------------------------------------

ENTERED = Occasion(refusals, GateOpened, ("tool",))
ENDED = Occasion(ended, PhaseEntered, PASSES_END)
LOOKED_AT = Occasion(looked_at, PhaseEntered, (ENDS,))
LEFT = Occasion(left, PhaseEntered, ("StepStart", "RunEnd"))


# fmt: off
def refused(clause: str, named: str, reason: str, why: str) -> tuple[Row, ...]:
    """The rules of a call that names no tool, one that is not offered, or has unfit arguments."""
    return (
        Rule(clause, f"what is {named} is not entered", ENTERED, None,
             f"{why}, yet call {{v.call.id}} was executed", lambda v: v.call.refused_for == reason),
        Rule(clause, f"what is {named} is a failure", Occasion(refusals, MessageAppended), None,
             when=lambda v: v.call.refused_for == reason and v.to == "error", requires="calls"),
        Rule(clause, f"a call that is {named} fails", Occasion(refusals, CallMoved, ENDS_OF_CALLS),
             lambda v: v.to == "Failed", f"{why}, yet call {{v.call.id}} became {{v.to}}",
             lambda v: v.call.refused_for == reason),
    )


def makes(clause: str, kind: str, status: str, result: str) -> tuple[Row, ...]:
    """The rules of one arrow out of ExecuteTool: what an answer makes of the call and of its result."""
    others = {*ENDS_OF_CALLS} - {status}
    said = {"ok", result} if result != "ok" else {"ok", "error"}
    return (
        Rule(clause, f"a pass whose tool answers {kind} ends as {status}", LOOKED_AT,
             lambda v: v.call.claimed not in others,
             f"the tool of call {{v.call.id}} answered {kind}, yet its pass ends as {{v.call.claimed}}",
             lambda v: v.answer == kind and v.call.claimed is not None),
        Rule(clause, f"an answer {kind} is recorded as {result}", Occasion(recorded, MessageAppended),
             lambda v: v.to == result,
             f"the tool of call {{v.call.id}} answered {kind}, yet its result is recorded as {{v.to}}",
             lambda v: v.answer == kind and not v.call.approvals and v.to in said, "calls"),
        # what else it becomes is for the arrows of the call to say
        Rule(clause, f"a call that answers {kind} becomes {status}", Occasion(moved, CallMoved, (status,)),
             None, when=lambda v: v.answer == kind),
    )


def is_looked_at(clause: str, outcome: str) -> Row:
    """The rule of one arrow into AfterToolExecute: it fires for each call with such an outcome."""
    return Rule(clause, f"a call that {outcome} is looked at", LEFT, lambda v: v.is_looked_at,
                f"call {{v.call.id}} {outcome}, yet AfterToolExecute has not fired for it",
                lambda v: v.outcome == outcome, "calls")


INVARIANTS = table(
    Rank.PHASE,
    Rule("PHASE-1", "a blocked call stays away from its tool", ENDED, lambda v: not v.ran,
         "call {v.call.id} was blocked, yet it became Running in the same pass",
         lambda v: v.verdict == "block", "calls"),
    Rule("PHASE-2", "a held call stays away from its tool", ENDED, lambda v: not v.ran,
         "call {v.call.id} was held before it ran, yet it ran with no decision in between",
         lambda v: v.call.tool is not None and v.judged == "suspend", "a wait"),
    Rule("PHASE-6", "what is allowed is executed", LOOKED_AT, lambda v: v.was_entered,
         "nothing held call {v.call.id} back, yet its pass ends without its tool", lambda v: v.is_free),
    Rule("PHASE-90", "an executed call is looked at", LEFT, lambda v: v.is_looked_at,
         "the tool of call {v.call.id} answered {v.answer}, yet AfterToolExecute has not fired",
         lambda v: v.answer in ("ok", "warning", "error"), "calls", is_deferred=True),
    *refused("PHASE-3", "withheld", "not offered", "the tool {v.call.name} is not offered"),
    *refused("PHASE-4", "missing", "", "there is no tool {v.call.name}"),
    *refused("PHASE-5", "unfit", "unfit", "its arguments do not fit the tool {v.call.name}"),
    *makes("PHASE-7", "ok", "Succeeded", "ok"),
    *makes("PHASE-8", "warning", "Succeeded", "ok"),
    *makes("PHASE-9", "error", "Failed", "error"),
    *makes("PHASE-10", "pending", "Suspended", "pending"),
    is_looked_at("PHASE-11", "succeeded"),
    is_looked_at("PHASE-12", "failed"),
    is_looked_at("PHASE-13", "was blocked"),
    is_looked_at("PHASE-14", "was suspended"),
)
# fmt: on
