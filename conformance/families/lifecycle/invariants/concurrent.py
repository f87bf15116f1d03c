"""ROUND, concurrent: one task a call, a dispatcher that wakes those that wait, and a barrier at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from runlock.conformance.families.lifecycle.invariants.round import (
    intercepted,
    is_between,
    is_intercepting,
    round_of,
)
from runlock.conformance.families.lifecycle.messages import CallMoved, DecisionTaken, GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import (
    HELD,
    CheckResults,
    Invariant,
    broken,
    check,
    counts,
    held_or,
    ranked,
)
from runlock.conformance.family.rank import Rank

# --- tasks --------------------------------------------------------------------------------------


def each_allowed_call_has_its_task(clause: str, during_a_hold: bool) -> Invariant:
    """The check that every allowed call is entered, in a round with a held call or in one without."""

    def has_its_task(state: ObservedState) -> CheckResults:
        found = round_of(state)
        if found is None or is_between(state, found[0]):
            return
        made = [intercepted(call) for call in found[1]]
        if None in made or "blocked" in made or ("held" in made) != during_a_hold:
            return
        held = next((c.id for c in found[1] if intercepted(c) == "held"), "")
        concurrent = f" while call {held} waits" if held else ""
        for call, way in zip(found[1], made, strict=True):
            if way == "allowed":
                yield held_or(call.entries, f"call {call.id} is allowed, yet no task runs it{concurrent}")

    where = "during_a_held_one" if during_a_hold else "in_a_round_that_nothing_holds"
    has_its_task.__name__ = f"each_allowed_call_has_its_task_{where}"
    has_its_task.__doc__ = "Each allowed call is executed by a task of its own."
    return Invariant(clause, has_its_task)


@check("ROUND-62", rank=Rank.LOST)
def interception_gives_the_outcome(state: ObservedState) -> CheckResults:
    """A call whose result is set, or which is blocked alone, has its outcome from interception."""
    found = round_of(state)
    right = {"provided": "Succeeded", "blocked": "Failed"}
    for call in found[1] if found is not None else ():
        outcome = right.get(intercepted(call) or "")
        hooked = any(gate.on == "hook" and gate.opened.call == call.id for gate in state.open_gates)
        if outcome is not None and call.claimed is not None and len(call.judged) == 1 and not hooked:
            why = f"interception has given call {call.id} its outcome, yet its status is {call.claimed}"
            yield held_or(call.claimed == outcome, why)


@once
def _answered(state: ObservedState) -> tuple[ObservedCall, str, bool] | None:
    """The call whose tool answered just now and alone, what it answered, and whether in a replay."""
    found = round_of(state)
    if found is None or not state.alone or state.newest[0][0] != "gate.release":
        return None
    gate = state.gates.get(state.newest[0][1]["gate"])
    call = gate.call if gate is not None and gate.on == "tool" else None
    if gate is None or call is None or gate.outcome is None or call.claimed is None or call.is_unclear:
        return None
    replayed = gate.opened.resume is not None or bool(call.approvals)
    hooked = any(gate.on == "hook" for gate in state.open_gates)
    certain = (
        not hooked
        and call.entries[-1:] == [gate]
        and not any(d.disposition == "buffered" for d in call.decisions)
    )
    return (call, str(gate.outcome["kind"]), replayed) if certain else None


STATUS_OF = {"pending": "Suspended", "ok": "Succeeded", "warning": "Succeeded", "error": "Failed"}


def an_answer_moves_its_call_at_once(clause: str, kinds: tuple[str, ...], replayed: bool) -> Invariant:
    """The check that an answer shows in the status of its call, while its siblings go on."""

    def moves(state: ObservedState) -> CheckResults:
        answered = _answered(state)
        if answered is not None and answered[1] in kinds and answered[2] is replayed:
            call, kind, _ = answered
            why = f"the tool of call {call.id} answered {kind}, yet its status is {call.claimed}"
            yield held_or(call.claimed == STATUS_OF[kind], why)

    way = "a_replay" if replayed else "an_execution"
    moves.__name__ = f"{way}_that_answers_{'_or_'.join(kinds)}_moves_its_call_at_once"
    moves.__doc__ = f"What {way.replace('_', ' ')} answers moves its call, while its siblings go on."
    return Invariant(clause, moves)


# --- decisions ----------------------------------------------------------------------------------


def _just_decided(state: ObservedState) -> Iterator[tuple[Run, ObservedCall, Decided]]:
    """The decisions that waiting calls were given just now, in one batch that met nothing else."""
    found = round_of(state)
    if found is None or not state.alone or state.newest[0][0] != "decide":
        return
    raws = state.newest[0][1]["decisions"]
    apart = len(raws) == 1 or state.policy("decision.batch") == "each"
    if not apart or any(gate.on in ("store.put", "hook") for gate in state.gates_of(found[0])):
        return
    if is_intercepting(state, found[0]):
        return
    counted = Counter(raw["call"] for raw in raws)
    for call in found[1]:
        for decided in call.decisions:
            if decided.at == state.stimuli and decided.answers is call and counted[call.id] == 1:
                yield found[0], call, decided


@check("ROUND-64", rank=Rank.LOST, requires="a decision")
def a_decision_is_replayed_with_the_others(state: ObservedState) -> CheckResults:
    """A call whose decision arrives is replayed at once, while other tools are at work."""
    for run, call, decided in _just_decided(state):
        busy = [other.id for other in run.calls.values() if other.executing and other is not call]
        if busy and decided.action == "resume" and not decided.turned_down:
            idle = call.claimed == "Resuming" and not any(g.call is call for g in state.gates_of(run))
            why = f"call {call.id} took decision {decided.id}, yet its replay waits for call {busy[0]}"
            yield held_or(not idle, why)


@check("ROUND-68", rank=Rank.LOST, requires="a decision")
def a_rejected_call_is_over(state: ObservedState) -> CheckResults:
    """A call that waits is over when it is rejected."""
    for _, call, decided in _just_decided(state):
        if decided.action == "cancel" and not decided.turned_down and call.claimed is not None:
            why = f"call {call.id} was rejected, yet its status is {call.claimed}"
            yield held_or(call.claimed == "Cancelled", why)


def a_wait_can_be_decided(clause: str, which: str, said: str) -> Invariant:
    """The check that a decision for an open wait is taken: for the first, for later ones, for a wait anew."""

    def can_be_decided(state: ObservedState) -> CheckResults:
        for run, call, decided in _just_decided(state):
            if _kind_of_wait(run, call, decided) == which and not state.may_end_by_a_block(run):
                why = f"call {call.id} {said}, yet decision {decided.id} for it was turned down"
                yield held_or(not decided.turned_down, why)

    can_be_decided.__name__ = f"a_decision_for_a_call_that_{said.replace(' ', '_')}_is_taken"
    can_be_decided.__doc__ = f"A decision for a call that {said} is taken."
    return Invariant(clause, can_be_decided)


def _kind_of_wait(run: Run, call: ObservedCall, decided: Decided) -> str:
    if decided.in_suspension > 1:
        return "anew"
    before = [d for c in run.every_call for d in c.decisions if d.at < decided.at and not d.turned_down]
    return "later" if before else "first"


@check("ROUND-70", rank=Rank.LOST)
def a_batch_is_dealt_with_in_order(state: ObservedState, seen: DecisionTaken) -> CheckResults:
    """Of a batch of decisions each one is dealt with, in the order of the batch."""
    if round_of(state) is None or not state.alone or state.newest[0][0] != "decide":
        return
    ids = [raw["id"] for raw in state.newest[0][1]["decisions"]]
    if len(set(ids)) < 2 or len(set(ids)) < len(ids) or seen.decision not in ids:
        return
    told = [one.decision for one in state.shown if isinstance(one, DecisionTaken)]
    overtaken = [later for later in ids[ids.index(seen.decision) + 1 :] if later in told]
    if overtaken and seen.decision not in told:
        yield broken(f"decision {overtaken[0]} was dealt with, yet decision {seen.decision} came before it")
    elif not overtaken:
        yield HELD


@check("ROUND-73", rank=Rank.LOST)
def what_nobody_waits_for_has_no_effect(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A decision that came when no call waited for it does not act on a wait that begins later."""
    found, call = round_of(state), state.call_of(seen)
    if found is None or call not in found[1] or call.claimed != "Suspended" or seen.to == "Suspended":
        return
    if state.policy("decision.early") != "ignore":
        return
    standing = [d for d in call.decisions if not (d.stale or d.repeats)]
    early = [d for d in standing if d.alone and d.answers is None and d.in_suspension < call.suspensions]
    if standing and len(early) == len(standing):
        said = f"decision {early[0].id} came when nobody waited for it"
        yield broken(f"{said}, yet call {call.id} became {seen.to} on it")


@counts("ROUND-73")
def what_nobody_waits_for_had_no_effect(state: ObservedState) -> CheckResults:
    """Counts the decisions for calls that did not wait, after which the call was what it had been."""
    found = round_of(state)
    if found is not None and state.alone and state.newest[0][0] == "decide":
        for call in found[1]:
            early = [d for d in call.decisions if d.at == state.stimuli and d.answers is None]
            if early and call.claimed in ("New", "Running"):
                yield HELD


@check("ROUND-74", at=("Error",), rank=Rank.LOST, excuses=(CANCEL, FAULT, CRASH))
def to_come_too_late_breaks_nothing(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A decision whose waiter has gone meanwhile does not end the run."""
    run = state.run_of(seen)
    if run is None:
        return
    for call in _decided_twice(state, run):
        yield broken(
            f"a decision for call {call.id} came when its waiter had gone, and the run ended as Error"
        )


@counts("ROUND-74")
def what_came_too_late_broke_nothing(state: ObservedState) -> CheckResults:
    """Counts the waits that were decided twice at once, after which the run was whole."""
    run = state.run
    for _ in _decided_twice(state, run) if run is not None else ():
        yield HELD


def _decided_twice(state: ObservedState, run: Run) -> Iterator[ObservedCall]:
    sent: Counter[str] = Counter(raw["call"] for raw in _raws(state))
    for call, times in sent.items():
        if times > 1 and call in run.calls and run.calls[call].suspensions:
            yield run.calls[call]


def _raws(state: ObservedState) -> Iterator[Mapping[str, Any]]:
    for method, params in state.newest:
        if method == "decide":
            yield from params["decisions"]


# --- the barrier --------------------------------------------------------------------------------


@check("ROUND-80", rank=Rank.LOST)
def the_last_call_ends_the_round(state: ObservedState) -> CheckResults:
    """A concurrent round is over when the last of its calls is."""
    found = round_of(state)
    if found is None or not state.tells_ends or state.gates_of(found[0]):
        return
    if all(call.is_final for call in found[1]):
        last = found[1][-1].id
        yield broken(f"every call of the round is over, call {last} too, yet the round is not")


@counts("ROUND-80", at=("model",))
def the_last_call_has_ended_the_round(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the rounds that were over with their last call."""
    found = round_of(state)
    if found is not None and all(call.is_final for call in found[1]):
        yield HELD


@check("ROUND-81", at=("model",), rank=Rank.LOST)
def a_round_waits_for_its_tasks(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A concurrent round is not over while a call of it executes or is replayed."""
    found = round_of(state)
    if found is None:
        return
    for call in found[1]:
        at_work = bool(call.executing) or call.claimed in ("Running", "Resuming")
        at_a_gate = any(gate.call is call for gate in state.gates_of(found[0]))
        why = f"call {call.id} is still at work, yet the model is asked"
        yield broken(why) if at_work or at_a_gate else HELD


RESULTS = ("ok", "warning", "error")


INVARIANTS = ranked(
    Rank.LOST,
    an_answer_moves_its_call_at_once("ROUND-63", ("pending",), replayed=False),
    an_answer_moves_its_call_at_once("ROUND-65", RESULTS, replayed=False),
    an_answer_moves_its_call_at_once("ROUND-66", ("pending",), replayed=True),
    an_answer_moves_its_call_at_once("ROUND-67", RESULTS, replayed=True),
    a_wait_can_be_decided("ROUND-66", "anew", "waits anew"),
    a_wait_can_be_decided("ROUND-72", "first", "waits"),
    a_wait_can_be_decided("ROUND-75", "later", "waits after another batch"),
    each_allowed_call_has_its_task("ROUND-60", during_a_hold=False),
    each_allowed_call_has_its_task("ROUND-61", during_a_hold=True),
)
