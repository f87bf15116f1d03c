"""PHASE: the pass of one call through its phases: judged, perhaps executed, looked at in the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runlock.conformance.families.lifecycle.invariants.segment_queries import followed, is_cut_short
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    GateOpened,
    MessageAppended,
    PhaseEntered,
)
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken, check, ranked
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation

BEGINS, ENDS = "BeforeToolExecute", "AfterToolExecute"
ENDS_OF_CALLS = ("Failed", "Succeeded", "Suspended")
PASSES_END = (ENDS, "StepEnd", "RunEnd")

Shown = Sequence[Observation]


@check("PHASE-1", at=PASSES_END, rank=Rank.PHASE, requires="calls")
def a_blocked_call_stays_away_from_its_tool(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A call that was blocked ends its pass without having been Running."""
    for call, shown in _ended(state, seen):
        if _verdict(state, shown) == "block":
            ran = _ran(shown)
            yield (
                HELD
                if not ran
                else broken(f"call {call.id} was blocked, yet it became Running in the same pass")
            )


@check("PHASE-2", at=PASSES_END, rank=Rank.PHASE, requires="a wait")
def a_held_call_stays_away_from_its_tool(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A call that was suspended before execution ends its pass without having been Running."""
    for call, shown in _ended(state, seen):
        if call.tool is not None and _verdict_on(state, call, shown) == "suspend":
            ran = _ran(shown)
            yield (
                HELD
                if not ran
                else broken(f"call {call.id} was held before it ran, yet it ran with no decision in between")
            )


def _ended(state: ObservedState, seen: PhaseEntered) -> Iterator[tuple[ObservedCall, Shown]]:
    """The passes that end with this phase: the one that is looked at, or those that are not."""
    run = followed(state, seen)
    if seen.phase == ENDS:
        call, shown = _ending(state, seen)
        yield from [(call, shown)] if call is not None else []
    elif seen.phase in PASSES_END and run is not None:
        yield from ((call, shown) for call, shown in _passes(run) if not _is_looked_at(shown))


REFUSED = {"PHASE-3": "not offered", "PHASE-4": "", "PHASE-5": "unfit"}
"""The clauses of calls that reach no tool, each with the reason that the call was refused for."""

WHY = {
    "PHASE-3": "the tool {} is not offered",
    "PHASE-4": "there is no tool {}",
    "PHASE-5": "its arguments do not fit the tool {}",
}


def a_refused_call_stays_away_from_its_tool(clause: str) -> Iterator[Invariant]:
    """The checks of a call that names no tool, one that is not offered, or has unfit arguments."""

    def is_meant(call: ObservedCall | None) -> bool:
        return call is not None and call.tool is None and call.refused_for == REFUSED[clause]

    def it_is_not_entered(state: ObservedState, seen: GateOpened) -> CheckResults:
        """No body is entered for a call that is refused."""
        run, call = followed(state, seen), state.entering(seen)
        if run is not None and call is not None and is_meant(call):
            yield broken(f"{WHY[clause].format(call.name)}, yet call {call.id} was executed")

    def it_fails(state: ObservedState, seen: CallMoved) -> CheckResults:
        """A call that is refused comes to no end but Failed, unless the run is ended."""
        run, call = followed(state, seen), state.call_of(seen)
        if run is None or call is None or not is_meant(call) or call.is_unclear or is_cut_short(state, run):
            return
        if seen.to not in ENDS_OF_CALLS:
            return
        right = seen.to == "Failed"
        why = f"{WHY[clause].format(call.name)}, yet call {call.id} became {seen.to}"
        yield HELD if right else broken(why)

    def its_failure_is_recorded(state: ObservedState, seen: MessageAppended) -> CheckResults:
        """Counts the errors that are recorded for calls that are refused."""
        run = followed(state, seen)
        call = run.calls.get(seen.message.call or "") if run is not None else None
        if call is not None and is_meant(call) and not call.is_unclear and seen.message.status == "error":
            yield HELD

    named = {"PHASE-3": "withheld", "PHASE-4": "missing", "PHASE-5": "unfit"}[clause]
    it_is_not_entered.__name__ = f"what_is_{named}_is_not_entered"
    it_fails.__name__ = f"a_call_that_is_{named}_fails"
    its_failure_is_recorded.__name__ = f"what_is_{named}_is_a_failure"
    yield Invariant(clause, it_is_not_entered, GateOpened, at=("tool",))
    yield Invariant(clause, its_failure_is_recorded, MessageAppended, requires="calls")
    yield Invariant(clause, it_fails, CallMoved, at=ENDS_OF_CALLS)


@check("PHASE-6", at=(ENDS,), rank=Rank.PHASE)
def what_is_allowed_is_executed(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A call that nothing holds back does not end its pass without having been executed."""
    call, shown = _ending(state, seen)
    if call is None or call.tool is None or call.decisions or call.raced:
        return
    run = state.run_of(seen)
    if run is not None and (state.may_end_by_a_block(run) or _is_left_behind(state, run, call)):
        return
    if call.tool.permission == "allow" or _verdict(state, shown) == "allow":
        entered = any(isinstance(one, GateOpened) and one.on == "tool" for one in shown)
        yield (
            HELD
            if entered
            else broken(f"nothing held call {call.id} back, yet its pass ends without its tool")
        )


def _is_left_behind(state: ObservedState, run: Run, call: ObservedCall) -> bool:
    """Whether a round that goes one by one may have stopped before the call, at a sibling that waits."""
    stops = state.policy("round.executor") != "parallel"
    return stops and any(one.may_have_waited and one.step == call.step for one in run.calls.values())


def an_answer_makes_the_outcome(clause: str, kind: str, status: str) -> tuple[Invariant, ...]:
    """The checks of one arrow out of ExecuteTool: what an answer makes of the call and of its result."""
    right = {"Succeeded": "ok", "Failed": "error", "Suspended": "pending"}[status]

    def looked_at(state: ObservedState, seen: PhaseEntered) -> CheckResults:
        call, shown = _ending(state, seen)
        if call is None or _answer(state, shown) != kind or call.claimed is None:
            return
        wrong = call.claimed in {"Succeeded", "Failed", "Suspended"} - {status}
        yield (
            HELD
            if not wrong
            else broken(f"the tool of call {call.id} answered {kind}, yet its pass ends as {call.claimed}")
        )

    def recorded(state: ObservedState, seen: MessageAppended) -> CheckResults:
        call, shown = _recorded(state, seen)
        if call is None or _answer(state, shown) != kind or call.approvals:
            return
        said = seen.message.status
        if said == right:
            yield HELD
        elif said in ("ok", "error") and (said == "ok" or right == "ok"):
            yield broken(f"the tool of call {call.id} answered {kind}, yet its result is recorded as {said}")

    def moved(state: ObservedState, seen: CallMoved) -> CheckResults:
        run, call = state.run_of(seen), state.call_of(seen)
        shown = _pass_of(run, call) if run is not None and call is not None and not call.is_unclear else None
        if seen.to == status and shown is not None and _answer(state, shown) == kind:
            yield HELD  # what else it became is for the arrows of the call to say

    looked_at.__name__ = f"a_pass_whose_tool_answers_{kind}_ends_as_{status}"
    recorded.__name__ = f"an_answer_{kind}_is_recorded_as_{right}"
    moved.__name__ = f"a_call_that_answers_{kind}_becomes_{status}"
    return (
        Invariant(clause, looked_at, PhaseEntered, at=(ENDS,)),
        Invariant(clause, recorded, MessageAppended, requires="calls"),
        Invariant(clause, moved, CallMoved, at=(status,)),
    )


def every_outcome_is_looked_at(clause: str, kind: str) -> Invariant:
    """The check of one arrow into AfterToolExecute: it fires for each call with such an outcome."""

    def looked_at(state: ObservedState, seen: PhaseEntered) -> CheckResults:
        run = followed(state, seen)
        if run is None or seen.phase not in ("StepStart", "RunEnd") or _may_have_skipped(state, run, seen):
            return
        for call, shown in _passes(run):
            outcome = _outcome(state, call, shown)
            if outcome == kind and not _may_have_met_the_end(call, seen):
                right = _is_looked_at(shown)
                yield HELD if right else broken(f"call {call.id} {outcome}, yet {ENDS} has not fired for it")

    looked_at.__name__ = f"a_call_that_{kind.replace(' ', '_')}_is_looked_at"
    return Invariant(clause, looked_at, PhaseEntered, at=("StepStart", "RunEnd"), requires="calls")


@check("PHASE-90", at=("StepStart", "RunEnd"), rank=Rank.PHASE, is_deferred=True, requires="calls")
def an_executed_call_is_looked_at(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A call whose tool has answered comes to AfterToolExecute before a step starts or the run ends."""
    run = followed(state, seen)
    if run is None or _may_have_skipped(state, run, seen):
        return
    for call, shown in _passes(run):
        answer = _answer(state, shown)
        if answer in ("ok", "warning", "error") and not _may_have_met_the_end(call, seen):
            right = _is_looked_at(shown)
            yield (
                HELD
                if right
                else broken(f"the tool of call {call.id} answered {answer}, yet {ENDS} has not fired")
            )


def _may_have_skipped(state: ObservedState, run: Run, seen: PhaseEntered) -> bool:
    """Whether the round may have been left before its end; a stop leaves none whose tool has answered."""
    outside = run.disturbed_by(CANCEL, FAULT, INPUT)
    stops = seen.phase == "StepStart" or state.scenario.agent.stop
    return outside or (not stops and is_cut_short(state, run))


def _may_have_met_the_end(call: ObservedCall, seen: PhaseEntered) -> bool:
    """Whether the tool answered in a race, so that the run may have been coming down before it was heard."""
    return seen.phase == "RunEnd" and bool(call.entries) and not call.entries[-1].alone


# --- reading a pass -----------------------------------------------------------------------------


def _pass_of(run: Run, call: ObservedCall) -> Shown | None:
    """What was shown of the call since its newest pass began; nothing if none was seen to begin."""
    shown: list[Observation] = []
    for seen in reversed(run.segment):
        if vars(seen).get("call") == call.id:
            if isinstance(seen, PhaseEntered) and seen.phase == BEGINS:
                return shown[::-1]
            shown.append(seen)
    return None


def _passes(run: Run) -> Iterator[tuple[ObservedCall, Shown]]:
    """The newest pass of each call that began one in this segment."""
    for call in run.calls.values():
        shown = _pass_of(run, call)
        if shown is not None and not call.is_unclear:
            yield call, shown


@once
def _ending(state: ObservedState, seen: PhaseEntered) -> tuple[ObservedCall | None, Shown]:
    """The call whose pass comes to its end with this phase, and what was shown of the pass."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear or seen.phase != ENDS:
        return None, ()
    shown = _pass_of(run, call)
    return (call, shown) if shown is not None else (None, ())


def _recorded(state: ObservedState, seen: MessageAppended) -> tuple[ObservedCall | None, Shown]:
    """The call whose result is recorded, and what was shown of its newest pass."""
    run = followed(state, seen)
    call = run.calls.get(seen.message.call or "") if run is not None else None
    if run is None or call is None or call.is_unclear or is_cut_short(state, run):
        return None, ()
    shown = _pass_of(run, call)
    return (call, shown) if shown is not None else (None, ())


def _gate(state: ObservedState, shown: Shown, on: str) -> str:
    """What the newest gate of this kind in a pass was released with."""
    gates = [state.gates[one.gate] for one in shown if isinstance(one, GateOpened) and one.on == on]
    outcome = gates[-1].outcome if gates else None
    return str(outcome["kind"]) if outcome is not None else ""


def _verdict(state: ObservedState, shown: Shown) -> str:
    return _gate(state, shown, "permission")


def _answer(state: ObservedState, shown: Shown) -> str:
    return _gate(state, shown, "tool")


def _verdict_on(state: ObservedState, call: ObservedCall, shown: Shown) -> str:
    """What was said of the call; a tool that asks suspends it until there is a decision."""
    asks = call.tool is not None and call.tool.permission == "ask" and not call.decisions
    return "suspend" if asks else _verdict(state, shown)


def _is_looked_at(shown: Shown) -> bool:
    return any(isinstance(one, PhaseEntered) and one.phase == ENDS for one in shown)


def _ran(shown: Shown) -> bool:
    """Whether the call became Running by itself: once it resumes, it was decided."""
    moves = [one.to for one in shown if isinstance(one, CallMoved)]
    return "Running" in moves[: moves.index("Resuming")] if "Resuming" in moves else "Running" in moves


def _outcome(state: ObservedState, call: ObservedCall, shown: Shown) -> str:
    """What became of a call in a pass, as far as was witnessed, in words."""
    answer = _answer(state, shown)
    if answer:
        return {"ok": "succeeded", "warning": "succeeded", "error": "failed", "raise": "failed"}.get(
            answer, "was suspended" if answer == "pending" else ""
        )
    if call.tool is None:
        return "failed"
    verdict = _verdict_on(state, call, shown)
    return {"block": "was blocked", "suspend": "was suspended"}.get(verdict, "")


INVARIANTS = ranked(
    Rank.PHASE,
    *(check for clause in REFUSED for check in a_refused_call_stays_away_from_its_tool(clause)),
    *an_answer_makes_the_outcome("PHASE-7", "ok", "Succeeded"),
    *an_answer_makes_the_outcome("PHASE-8", "warning", "Succeeded"),
    *an_answer_makes_the_outcome("PHASE-9", "error", "Failed"),
    *an_answer_makes_the_outcome("PHASE-10", "pending", "Suspended"),
    every_outcome_is_looked_at("PHASE-11", "succeeded"),
    every_outcome_is_looked_at("PHASE-12", "failed"),
    every_outcome_is_looked_at("PHASE-13", "was blocked"),
    every_outcome_is_looked_at("PHASE-14", "was suspended"),
)
