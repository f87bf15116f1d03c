"""CALL: each status that a call claims follows from what its gates and its decisions showed."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import FINAL_CALL_STATUSES, CallMoved, GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken, check, held_or, ranked
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation


def _subject(state: ObservedState, seen: Observation) -> tuple[Run, ObservedCall] | None:
    run, call = state.run_of(seen), state.call_of(seen)
    return (run, call) if run is not None and call is not None and not call.is_unclear else None


@check("CALL-22", rank=Rank.STATUS, requires="calls")
def a_call_moves_from_where_it_was(state: ObservedState, seen: CallMoved) -> CheckResults:
    """Each report of a call's status names the status that was reported before it."""
    subject = _subject(state, seen)
    if subject is None:
        return
    run, call = subject
    if (run.disturbed_by(CRASH) and call.claimed is None) or seen.to == call.claimed:
        return
    was, said = call.claimed or "not at all", seen.origin or "not at all"
    yield held_or(
        was == said,
        f"call {call.id} was last reported {was}, yet it is said to move from {said} to {seen.to}",
    )


@check("CALL-26", rank=Rank.STATUS, requires="calls")
def every_call_is_reported_from_its_beginning(state: ObservedState, seen: CallMoved) -> CheckResults:
    """Where some calls are first reported as New, all are."""
    subject = _subject(state, seen)
    if subject is None or subject[0].disturbed_by(CRASH) or subject[1].claims:
        return
    runs = (run for run in state.runs.values() if not run.disturbed_by(CRASH))
    first = {call.id: call.claims[0] for run in runs for call in run.every_call if call.claims}
    odd = [(call, status) for call, status in (*first.items(), (seen.call, seen.to)) if status != "New"]
    if seen.to == "New" and not odd:
        yield HELD
    elif odd and (seen.to == "New" or "New" in first.values()):
        call, status = odd[-1]
        yield broken(f"the first report of call {call} is {status}, while that of other calls is New")


@check("CALL-23", rank=Rank.STATUS)
def only_what_the_model_asked_for_lives(state: ObservedState, seen: CallMoved | GateOpened) -> CheckResults:
    """A call has a status, or runs, only if the model asked for it."""
    run, call_id = state.run_of(seen), vars(seen).get("call")
    if run is None or call_id is None or any(call.is_unclear for call in run.every_call):
        return
    if call_id in run.calls:
        yield HELD
        return
    earlier = next((one.id for one in state.runs.values() if call_id in one.calls), None)
    known = f"for call {call_id} in run {earlier}, and not in run {run.id}" if earlier else ""
    yield broken(f"the model asked {known or f'for no call {call_id}'}, yet it appeared")


@check("CALL-23", at=("permission", "tool"), rank=Rank.OTHER)
def a_call_runs_the_tool_that_was_asked_for(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call enters the tool that the model named, at first and in every replay."""
    subject = _subject(state, seen)
    if subject is None or subject[1].tool is None or seen.name not in state.tools:
        return
    call = subject[1]
    right = seen.name == call.name
    yield held_or(right, f"the model asked for {call.name} in call {call.id}, yet {seen.name} is entered")


@check("CALL-2", at=("Suspended",), rank=Rank.STATUS)
def a_gate_suspends_before_execution(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call is suspended before it runs because its tool asks, or the permission hook suspends it."""
    subject = _subject(state, seen)
    if subject is None or seen.origin != "New" or subject[1].entries:
        return
    call = subject[1]
    held = call.tool is not None and (call.tool.permission == "ask" or call.last_verdict == "suspend")
    yield held_or(held, f"nothing held call {call.id} back, yet it was Suspended before it ran")


def an_answer_decides_the_status(kinds: tuple[str, ...], right: str) -> Invariant:
    """The check of one arrow out of Running: which answers lead to which status."""
    clause = {"Suspended": "CALL-3", "Succeeded": "CALL-4", "Failed": "CALL-5"}[right]

    def follows(state: ObservedState, seen: CallMoved) -> CheckResults:
        subject = _subject(state, seen)
        if subject is None or seen.to not in ("Suspended", *FINAL_CALL_STATUSES) or subject[1].executing:
            return
        call = subject[1]
        answer = call.last_answer
        if answer is None or answer["kind"] not in kinds or seen.to == call.claimed or call.is_final:
            return
        if seen.to == "Cancelled" or seen.origin not in ("Running", "Resuming"):
            return
        if seen.origin == "Resuming" and len(call.entries) <= call.entries_when_suspended:
            return  # its replay has not entered the body, so that no answer is its
        yield (
            HELD
            if seen.to == right
            else (
                broken(f"the tool of call {call.id} answered {answer['kind']}, yet the call became {seen.to}")
            )
        )

    follows.__name__ = f"a_tool_that_answers_{'_or_'.join(kinds)}_leaves_its_call_{right}"
    follows.__doc__ = f"A tool that answers {' or '.join(kinds)} leaves its call {right}."
    return Invariant(clause, follows, CallMoved)


@check("CALL-20", rank=Rank.STATUS, requires="calls", excuses=(CANCEL,))
def a_body_that_was_entered_is_Running(state: ObservedState) -> CheckResults:
    """A call whose body is entered and has not answered is Running; a replay may leave it unsaid."""
    run = state.run
    if run is None or not state.observes("call.status"):
        return
    for call in run.calls.values():
        if call.is_unclear or call.claimed in (None, "New", "Resuming"):
            continue
        if call.executing:
            right = call.claimed == "Running"
            yield held_or(right, f"the body of call {call.id} is executing, yet its status is {call.claimed}")


@check("CALL-24", rank=Rank.STATUS, requires="calls", excuses=(CANCEL, FAULT, CRASH))
def an_answer_is_taken(state: ObservedState) -> CheckResults:
    """Once the round is over, the status of a call is the one that its answer gave it."""
    run = state.run
    if run is None or not state.observes("call.status"):
        return
    if any(gate.on != "model" for gate in state.gates_of(run)):
        return
    for call in run.calls.values():
        if call.is_unclear or call.executing or call.result is None or call.claimed is None:
            continue
        if call.claimed == "Cancelled" and not all(gate.alone for gate in call.entries):
            continue  # its answer raced with what cancelled it
        right = "Failed" if call.result["kind"] == "error" else "Succeeded"
        yield (
            HELD
            if call.claimed == right
            else (
                broken(
                    f"the tool of call {call.id} answered {call.result['kind']}, "
                    f"yet its status is {call.claimed}"
                )
            )
        )


@check("CALL-15", at=("Cancelled", "Failed", "Succeeded"), rank=Rank.STATUS)
def a_block_fails_the_call(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that is blocked, or that names no tool, fails without having run."""
    subject = _subject(state, seen)
    if (
        subject is None
        or seen.origin != "New"
        or seen.to not in FINAL_CALL_STATUSES
        or subject[0].disturbed_by(CANCEL)
    ):
        return
    run, call = subject
    if call.tool is None or call.last_verdict == "block":
        why = WHY_REFUSED[call.refused_for] if call.tool is None else "was blocked"
        is_closed = seen.to == "Cancelled" and call.tool is None and _may_end_unjudged(state, run)
        right = seen.to == "Failed" or is_closed
        yield held_or(right, f"call {call.id} {why}, yet it became {seen.to}")


WHY_REFUSED = {
    "": "names no tool",
    "not offered": "names a tool that is not offered",
    "unfit": "does not fit its tool's arguments",
}


def _may_end_unjudged(state: ObservedState, run: Run) -> bool:
    """Whether the run may end before it has looked at every call: then it closes those in its own way."""
    return bool(run.disturbed_by(FAULT) or run.broke_at or state.scenario.agent.stop)


@check("CALL-14", at=("Cancelled", "Failed", "Succeeded"), rank=Rank.STATUS)
def a_set_result_succeeds_the_call(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call whose result the permission hook sets succeeds without having run; nothing else does so."""
    subject = _subject(state, seen)
    if (
        subject is None
        or seen.origin != "New"
        or seen.to not in FINAL_CALL_STATUSES
        or subject[0].disturbed_by(CANCEL)
    ):
        return
    call = subject[1]
    if call.last_verdict == "set_result":
        yield held_or(
            seen.to == "Succeeded", f"the result of call {call.id} was set, yet it became {seen.to}"
        )
    elif seen.to == "Succeeded":
        yield broken(f"call {call.id} has not run and nobody set its result, yet it Succeeded")


@check("CALL-7", at=("Resuming",), rank=Rank.STATUS)
def only_a_decision_resumes(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A Suspended call becomes Resuming only on a decision for it."""
    subject = _subject(state, seen)
    if subject is None or subject[1].claimed != "Suspended":
        return
    call = subject[1]
    decided = [d for d in call.decisions if not (d.turned_down or d.stale)]
    yield held_or(
        decided or subject[0].disturbed_by(CRASH), f"nobody decided about call {call.id}, yet it is Resuming"
    )


INVARIANTS = ranked(
    Rank.STATUS,
    an_answer_decides_the_status(("pending",), "Suspended"),
    an_answer_decides_the_status(("ok", "warning"), "Succeeded"),
    an_answer_decides_the_status(("error",), "Failed"),
)
