"""DECIDE: when a decision acts, on how much of what waits, and from which state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from runlock.conformance.families.lifecycle.invariants.policy import may_await_others
from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


@once
def arrived(state: ObservedState) -> tuple[Run, list[Decided]] | None:
    """The decisions that have just come alone, each of them good, to a run that was at rest."""
    run = state.run
    if run is None or not state.alone or [name for name, _ in state.newest] != ["decide"]:
        return None
    if run.disturbed_by(CANCEL, FAULT, CRASH) or state.newest[0][1]["run"] != run.id:
        return None
    sent = [d for call in run.calls.values() for d in call.decisions if d.at == state.stimuli]
    sure = [d for d in sent if d.at_rest and not d.unsure]
    good = [d for d in sure if d.answers is not None and _is_first(d, d.answers)]
    whole = len(good) == len(state.newest[0][1]["decisions"])
    return (run, good) if good and whole else None


def _is_first(decided: Decided, call: ObservedCall) -> bool:
    """Whether no other decision can have been taken for the suspension that it answers."""
    others = [d for d in call.decisions if d is not decided and not (d.turned_down or d.stale)]
    early = [d for d in others if d.disposition == "buffered" and d.in_suspension + 1 == call.suspensions]
    return not (call.is_unclear or early or any(d.in_suspension == decided.in_suspension for d in others))


def rests(decided: Decided) -> bool:
    """Whether the call that the decision met waits as it did, as far as it says so."""
    call = decided.answers
    still = call is not None and call.claimed == "Suspended" and call.suspensions == decided.in_suspension
    return still and call is not None and len(call.entries) == decided.entries_before


def left_out(run: Run, decisions: list[Decided]) -> list[ObservedCall]:
    """The calls that wait and have no decision."""
    named = {decided.call for decided in decisions}
    return [
        call
        for call in run.calls.values()
        if call.waits and call.id not in named and not any(_holds(call, d) for d in call.decisions)
    ]


def may_be_left_out(run: Run, decisions: list[Decided]) -> bool:
    """Whether some call that waits may be undecided: a decision that came early may be spent by now."""
    named = {decided.call for decided in decisions}
    return any(
        call.waits and call.id not in named and not any(_is_held(call, d) for d in call.decisions)
        for call in run.calls.values()
    )


def _is_held(call: ObservedCall, decided: Decided) -> bool:
    return _holds(call, decided) and decided.in_suspension == call.suspensions


def _holds(call: ObservedCall, decided: Decided) -> bool:
    """Whether the call may have taken this decision in the suspension that is open."""
    spent = decided.answers is call and decided.in_suspension < call.suspensions  # it ended an earlier one
    early = decided.in_suspension >= call.suspensions - 1 and not spent
    return early and not (decided.turned_down or decided.stale)


@check("DECIDE-15", rank=Rank.LOST, requires="a decision")
def a_decision_is_all_that_a_run_needs(state: ObservedState) -> CheckResults:
    """A suspended run that the runtime holds goes on from a decision alone."""
    if state.policy("state") == "runtime":
        yield from _is_taken(state, "the run waits, and all its calls that wait are decided")


@check("DECIDE-22", rank=Rank.LOST)
def a_value_is_all_that_a_run_needs(state: ObservedState) -> CheckResults:
    """A suspended run that the caller holds goes on from the value that it was given, and from a decision."""
    if state.policy("state") == "caller":
        yield from _is_taken(state, "the caller gave the run back, and all its calls that wait are decided")


def _is_taken(state: ObservedState, given: str) -> CheckResults:
    found = arrived(state)
    if (
        found is None or may_be_left_out(*found) or found[0].disturbed_by(INPUT)
    ):  # new input may have ended the wait
        return
    for decided in found[1]:
        refused = decided.turned_down
        yield held_or(not refused, f"{given}, yet decision {decided.id} was turned down")


@check("DECIDE-22", at=("model",), rank=Rank.LOST, excuses=(CRASH,))
def a_run_that_was_given_back_is_whole(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A suspended run that the caller holds goes on with what it began with."""
    run = state.run_of(seen)
    if run is None or state.policy("state") != "caller" or seen.messages is None:
        return
    came_back = any(d.at_rest and d.answers is not None for c in run.every_call for d in c.decisions)
    if came_back and run.said:
        shown = any(m.role == "user" and run.said in m.text for m in seen.messages)
        yield held_or(
            shown, f"the run began with {run.said!r}, yet when it was given back the model is not shown that"
        )


@check("DECIDE-14", rank=Rank.LOST, requires="a decision")
def a_part_of_the_decisions_does_what_was_declared(state: ObservedState) -> CheckResults:
    """Decisions for a part of what waits resume that part, are held, or are turned down, as `resume` says."""
    found, policy = arrived(state), state.policy("resume")
    if found is None or policy not in WRONG:
        return
    run, decisions = found
    left = left_out(run, decisions)
    if left:
        wrong = WRONG[policy](run, decisions, bool(state.gates_of(run)))
        part = f"call {left[0].id} waits as well, and decision {decisions[0].id}"
        yield held_or(not wrong, f"{part} {wrong}")


def _no_part(run: Run, decisions: list[Decided], moving: bool) -> str:
    """What is wrong where a part is resumed."""
    if any(decided.turned_down for decided in decisions):
        return "was turned down, though it acts by itself"
    return "has not acted, though it acts by itself" if not moving and all(map(rests, decisions)) else ""


def _not_held(run: Run, decisions: list[Decided], moving: bool) -> str:
    """What is wrong where a part is held."""
    if any(decided.turned_down for decided in decisions):
        return "was turned down, and was to be held"
    return "acted, and was to be held" if any(map(_acted, decisions)) else ""


def _not_refused(run: Run, decisions: list[Decided], moving: bool) -> str:
    """What is wrong where a part is turned down."""
    taken = not all(decided.turned_down for decided in decisions)
    return "was taken, which takes all of them or none" if taken else ""


def _acted(decided: Decided) -> bool:
    """Whether the call has certainly moved on the decision."""
    call = decided.answers
    return call is not None and (bool(call.executing) or (call.claimed is not None and not rests(decided)))


WRONG: Final = {"partial": _no_part, "collect": _not_held, "all_or_nothing": _not_refused}
"""What each way with a part of the decisions must not show."""


@check("DECIDE-16", at=("Suspended",), rank=Rank.LOST)
def an_answered_call_is_not_made_to_wait(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that was decided while its round ran is not made to wait again by what the round had for it."""
    call = state.call_of(seen)
    if call is None or call.is_unclear or call.claimed in ("Suspended", "Resuming", None):
        return
    decided = _during_its_round(call)
    if (
        decided is None
        or state.policy("decision.window") != "immediate"
        or state.runs[call.run].disturbed_by(CRASH)
    ):
        return
    if not _suspended_anew(call, decided):
        why = f"call {call.id} was decided by {decided.id} while call {decided.busy_sibling} executed"
        yield broken(f"{why}, yet the round made it wait again")


@counts("DECIDE-16", requires="a decision", excuses=(CRASH,))
def an_answered_call_was_not_made_to_wait(state: ObservedState) -> CheckResults:
    """Counts the calls that were decided while their round ran and do not wait for that again."""
    run = state.run
    if run is None or state.policy("decision.window") != "immediate":
        return
    for call in run.calls.values():
        if _during_its_round(call) is not None and call.is_final:
            yield HELD


def _during_its_round(call: ObservedCall) -> Decided | None:
    """The decision that it took while another call of its round was executing."""
    newest = call.decisions[-1] if call.decisions else None
    taken = newest is not None and newest.answers is call and newest.busy_sibling is not None
    return newest if taken and newest is not None and not newest.turned_down else None


def _suspended_anew(call: ObservedCall, decided: Decided) -> bool:
    """Whether its tool, or the permission hook, has suspended it since it was decided."""
    answers = [gate.outcome for gate in call.entries[decided.entries_before :]]
    verdicts = [gate.outcome for gate in call.judged if gate.at >= decided.at]
    kinds = {outcome["kind"] for outcome in (*answers, *verdicts) if outcome is not None}
    return bool(kinds & {"pending", "suspend"})


def _again(state: ObservedState, run: Run) -> list[ObservedCall]:
    """The calls that the replay at the start of this segment has suspended again."""
    asked = state.last_model_gate
    return [
        call
        for call in run.calls.values()
        if run.is_replaying(call)
        and call.claimed == "Suspended"
        and call.suspensions == call.decisions[-1].in_suspension + 1
        and (asked is None or asked.at < call.decisions[-1].at)
    ]


@check("DECIDE-19", at=("model",), rank=Rank.LOST, requires="a decision")
def a_new_suspension_ends_the_segment(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a new suspension in the replay at the start ends the segment, the model is not asked."""
    run = state.run_of(seen)
    if run is None or state.policy("replay.start") != "end_if_any":
        return
    for call in _again(state, run) if not (run.disturbed_by(CRASH, INPUT)) else ():
        yield broken(
            f"the replay at the start suspended call {call.id} again, yet the model is asked during it"
        )


@check("DECIDE-19", at=("Suspended",), rank=Rank.LOST, excuses=(CRASH,))
def a_new_suspension_counts_as_declared(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Where a new suspension in the replay at the start is one of the outcomes, the others count too."""
    run, policy = state.run_of(seen), state.policy("replay.start")
    if run is None or policy is None:
        return
    for call in _again(state, run):
        over = [
            c.id for c in run.calls.values() if c.is_final and run.is_replaying(c) and c.step == run.steps
        ]
        why = f"the replay suspended call {call.id} again and call {over[0] if over else ''} is over"
        goes_on = policy == "by_outcomes" and bool(over)
        yield held_or(not goes_on, f"{why}, which counts, yet the segment ended")


@check("DECIDE-20", at=("Suspended",), rank=Rank.LOST, excuses=(CANCEL, FAULT, CRASH))
def a_decided_run_does_not_announce_that_it_waits(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that was decided while it was at work, call by call, does not announce that it waits."""
    run = state.run_of(seen)
    if run is None or state.policy("decision.window") != "after_round":
        return
    if state.policy("resume") == "all_or_nothing":
        return
    pending = [run.calls[call] for call in seen.pending if call in run.calls]
    decided = [(call, _unheard(call)) for call in pending]
    if pending and all(found is not None for _, found in decided):
        call, found = decided[0]
        came = f"decision {found.id if found else ''} for call {call.id} came while the run was at work"
        yield broken(f"{came}, yet that says that it waits")


def _unheard(call: ObservedCall) -> Decided | None:
    """The decision that came while the run was at work and has not acted."""
    for decided in reversed(call.decisions):
        taken = decided.answers is call and decided.at_work and not decided.turned_down
        if taken and rests(decided) and not call.is_unclear:
            return decided
    return None


@counts("DECIDE-20", requires="a decision")
def a_decision_that_came_at_work_has_acted(state: ObservedState) -> CheckResults:
    """Counts the decisions that came while the run was at work, and have acted."""
    run = state.run
    if run is None or state.policy("decision.window") != "after_round":
        return
    for call in run.calls.values():
        for decided in call.decisions:
            if decided.answers is call and decided.at_work and not (decided.turned_down or rests(decided)):
                yield HELD


def only_early(state: ObservedState, run: Run, call: ObservedCall) -> Decided | None:
    """The decision that came too early for the call, if it has got no other."""
    if run.disturbed_by(CANCEL, FAULT, CRASH, INPUT) or call.is_unclear:
        return None
    early = [d for d in call.decisions if d.early and d.answers is None]
    return early[0] if early and len(early) == len(call.decisions) else None


@check("DECIDE-23", at=("Cancelled", "Resuming"), rank=Rank.LOST, is_deferred=True)
def an_early_decision_does_not_act(state: ObservedState, seen: CallMoved) -> CheckResults:
    """Where an early decision has no effect, its call waits for another one once it is suspended."""
    run, call = state.run_of(seen), state.call_of(seen)
    if run is None or call is None or state.policy("decision.early") != "ignore":
        return
    early = only_early(state, run, call)
    moved = call.claimed == "Suspended" and seen.to in ("Resuming", "Cancelled")
    if early is not None and moved and not run.is_done:
        why = f"decision {early.id} came before call {call.id} was suspended"
        yield broken(f"{why}, yet that became {seen.to} on it")


@counts("DECIDE-23", requires="a decision")
def a_call_waits_for_another_decision(state: ObservedState) -> CheckResults:
    """Counts the calls that wait though someone had decided too early."""
    run = state.run
    if run is None or state.policy("decision.early") != "ignore":
        return
    for call in run.calls.values():
        if call.claimed == "Suspended" and only_early(state, run, call) is not None:
            yield HELD


@check("DECIDE-24", rank=Rank.LOST, requires="a decision")
def a_decision_is_replayed_there_and_then(state: ObservedState) -> CheckResults:
    """Where decisions act at once, one that comes during inference or a round is replayed there and then."""
    run, at_once = state.run, state.policy("decision.window") == "immediate"
    within = run is not None and any(gate.run != run.id for gate in state.gates_of(run))
    if run is None or not at_once or within or state.policy("replay.commit") != "yes":
        return
    for call, decided in came_alone_at_work(state, run):
        if may_await_others(state, run, call):
            continue
        why = f"decision {decided.id} came while the run was at work"
        yield held_or(not rests(decided), f"{why} and acts at once, yet call {call.id} is still Suspended")


def came_alone_at_work(state: ObservedState, run: Run) -> Iterator[tuple[ObservedCall, Decided]]:
    """The decision that has just come while the model or a round was at work, and no replay was."""
    if not state.alone or run.disturbed_by(CANCEL, FAULT, CRASH) or run.is_done:
        return
    if [len(params.get("decisions", ())) for _, params in state.newest] != [1]:
        return
    gates = state.gates_of(run)
    for call in run.calls.values():
        for decided in call.decisions:
            mine = decided.at == state.stimuli and decided.answers is call and decided.at_work
            others = [g for g in gates if g.call is not None and g.call is not call and g.call.decisions]
            storing = state.is_committing(run)
            if mine and not (others or storing or decided.turned_down or call.is_unclear):
                yield call, decided
