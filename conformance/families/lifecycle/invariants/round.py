"""ROUND: a serial round looks at all its calls before it enters any, and tells its step how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened, PhaseEntered, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
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

LOOKS: Final = ("BeforeToolExecute", "ToolGate")

Round = tuple[Run, list[ObservedCall]]


@once
def round_of(state: ObservedState) -> Round | None:
    """The newest round, while nothing but verdicts, answers and decisions has touched it."""
    run = state.run
    if run is None or run.is_done or run.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
        return None
    calls = [call for call in run.calls.values() if call.step == run.steps]
    if not calls or any(call.is_unclear or call.raced for call in calls):
        return None
    return run, calls


@once
def first_pass(state: ObservedState) -> Round | None:
    """The newest round, as long as no call of it has a decision."""
    found = round_of(state)
    return None if found is None or any(call.decisions for call in found[1]) else found


def intercepted(call: ObservedCall) -> str | None:
    """What interception made of a call, as far as it is witnessed: its first verdict counts."""
    if call.tool is None:
        return "unknown"
    if call.tool.permission != "gate":
        return {"allow": "allowed", "ask": "held"}[call.tool.permission]
    verdict = call.judged[0].outcome if call.judged else None
    made = {"allow": "allowed", "suspend": "held", "set_result": "provided", "block": "blocked"}
    return made.get(verdict["kind"]) if verdict is not None else None


def is_gated(call: ObservedCall) -> bool:
    """Whether its look shows as a permission gate."""
    return call.tool is not None and call.tool.permission == "gate"


def is_between(state: ObservedState, run: Run) -> bool:
    """Whether the run waits for something that is neither the model nor a tool."""
    return any(gate.on not in ("model", "tool") for gate in state.gates_of(run))


def is_intercepting(state: ObservedState, run: Run) -> bool:
    """Whether a call is looked at for the first time: the round's tasks may begin after that."""
    at = [gate.call for gate in state.gates_of(run) if gate.on == "permission"]
    return any(call is None or not call.decisions for call in at)


# --- interception -------------------------------------------------------------------------------


def interception_goes_on_after(clause: str, made: str, said: str, seeing: bool) -> Invariant:
    """The check of one arrow of interception: after such a call the next one is looked at."""

    def goes_on(state: ObservedState, seen: GateOpened | None = None) -> CheckResults:
        found = first_pass(state)
        if found is None or is_between(state, found[0]):
            return
        if seen is not None and (seen.on != "tool" or seen.resume is not None):
            return
        if not any(intercepted(call) == "blocked" for call in found[1]):
            yield from _goes_on(*found, made, said)

    goes_on.__name__ = f"interception_goes_on_after_a_call_that_{said.replace(' ', '_')}"
    goes_on.__doc__ = f"After a call that {said} interception goes on."
    return Invariant(clause, goes_on, GateOpened if seeing else None)


def _goes_on(run: Run, calls: list[ObservedCall], made: str, said: str) -> CheckResults:
    for index, call in enumerate(calls):
        if is_gated(call) and not call.judged:
            before = _looked_at_last(run, calls[:index])
            if before is not None and intercepted(before) == made:
                yield broken(f"call {before.id} {said}, yet call {call.id} after it was not looked at")
            return
        if is_gated(call) and index and intercepted(calls[index - 1]) == made:
            yield HELD


def _looked_at_last(run: Run, calls: Sequence[ObservedCall]) -> ObservedCall | None:
    return next((call for call in reversed(calls) if _was_looked_at(run, call)), None)


def _was_looked_at(run: Run, call: ObservedCall) -> bool:
    phases = (p for p in run.phases if p.step == call.step and p.phase in LOOKS)
    named = any(phase.call == call.id for phase in phases)
    return bool(call.judged or call.entries or named) or call.claimed not in (None, "New")


@check("ROUND-23", "ROUND-43", rank=Rank.LOST)
def a_call_that_is_allowed_is_left_alone(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that interception allows does not move before the round executes."""
    found, call = first_pass(state), state.call_of(seen)
    if found is None or call not in found[1] or seen.origin != "New" or not is_gated(call):
        return
    ends = any(other.entries or intercepted(other) == "blocked" for other in found[1])
    if intercepted(call) == "allowed" and not ends:
        left = seen.to not in ("Succeeded", "Failed")
        yield held_or(left, f"call {call.id} was allowed, yet it {seen.to} before it ran")


@check("ROUND-21", "ROUND-41", seeing=(CallMoved,), at=("Suspended",), rank=Rank.LOST, requires="calls")
@check("ROUND-21", "ROUND-41", seeing=(PhaseEntered,), at=LOOKS, rank=Rank.LOST, requires="calls")
def nothing_after_a_block_is_looked_at(state: ObservedState, seen: CallMoved | PhaseEntered) -> CheckResults:
    """Where a block ends the run, the calls after it are not looked at."""
    found, call = first_pass(state), state.call_of(seen)
    looks = seen.phase in LOOKS if isinstance(seen, PhaseEntered) else seen.to == "Suspended"
    if found is None or call is None or not looks or call not in found[1]:
        return
    before = found[1][: found[1].index(call)]
    blocked = [c.id for c in before if intercepted(c) == "blocked" and c.judged[0].alone]
    if blocked:
        yield broken(f"call {blocked[0]} was blocked, yet call {call.id} after it was looked at")


@counts("ROUND-21", "ROUND-41")
def no_call_after_a_block_was_looked_at(state: ObservedState) -> CheckResults:
    """Counts the calls after a block that were not looked at."""
    run = state.run
    calls = [c for c in run.calls.values() if c.step == run.steps] if run is not None else []
    blocked = next((i for i, call in enumerate(calls) if intercepted(call) == "blocked"), len(calls))
    for call in calls[blocked + 1 :]:
        if not call.judged:
            yield HELD


@check("ROUND-24", "ROUND-25", "ROUND-46", "ROUND-47", at=("tool",), rank=Rank.LOST)
def all_are_looked_at_before_any_runs(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A round enters its first allowed call once every call of it has been looked at."""
    found, call = first_pass(state), state.entering(seen)
    if found is None or call not in found[1] or call.entries:
        return
    yield from _overtakes(*found, f"call {call.id} runs", "has not been looked at")


def _overtakes(run: Run, calls: list[ObservedCall], what: str, not_yet: str) -> CheckResults:
    unseen = next((other for other in calls if is_gated(other) and not _has_its_verdict(run, other)), None)
    if unseen is not None and _stopped_after(run, calls[: calls.index(unseen)]):
        return  # interception has not gone on, which is more than being overtaken
    if any(is_gated(other) for other in calls):
        yield HELD if unseen is None else broken(f"{what}, yet call {unseen.id} {not_yet}")


def _has_its_verdict(run: Run, call: ObservedCall) -> bool:
    """Whether its gate has answered, or it was looked at without asking there."""
    return intercepted(call) is not None or (not call.judged and _was_looked_at(run, call))


def _stopped_after(run: Run, calls: Sequence[ObservedCall]) -> bool:
    before = _looked_at_last(run, calls)
    return before is not None and intercepted(before) in ("held", "provided")


@check("ROUND-44", at=("BeforeToolExecute",), rank=Rank.LOST)
def all_are_judged_before_any_is_made_ready(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where there is a gate stage, no call is made ready before every call has its verdict."""
    found, call = first_pass(state), state.call_of(seen)
    if found is not None and call in found[1]:
        yield from _overtakes(*found, f"call {call.id} is made ready", "is not judged")


@check("ROUND-45", at=("BeforeToolExecute",), rank=Rank.LOST)
def a_call_is_made_ready_once(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where there is a gate stage, a call is made ready once before it runs."""
    found, call = first_pass(state), state.call_of(seen)
    if found is not None and call in found[1]:
        named = [p for p in found[0].phases if p.phase == "BeforeToolExecute" and p.step == seen.step]
        once = sum(phase.call == call.id for phase in named) <= len(call.entries)
        yield held_or(once, f"call {call.id} is made ready twice, yet it has not run in between")


@check("ROUND-48", at=("permission",), rank=Rank.LOST)
def what_has_run_is_not_judged_again(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where there is a gate stage, a call may be judged again only as long as it has not run."""
    found, call = first_pass(state), state.call_of(seen)
    if found is not None and call in found[1] and seen.resume is None:
        yield held_or(not call.entries, f"call {call.id} has run, yet it is judged again")


# --- execution ----------------------------------------------------------------------------------


def _allowed(calls: Sequence[ObservedCall]) -> list[ObservedCall]:
    return [call for call in calls if intercepted(call) == "allowed"]


def _has_suspended(call: ObservedCall) -> bool:
    answer = call.last_answer
    return answer is not None and answer["kind"] == "pending"


@check("ROUND-26", rank=Rank.LOST)
def the_next_call_runs(state: ObservedState, seen: GateOpened | SegmentEnded) -> CheckResults:
    """A sequential round goes on to the next allowed call when the one before it has its result."""
    found = first_pass(state)
    if found is None or state.policy("round.executor") != "sequential":
        return
    if isinstance(seen, SegmentEnded) and seen.reason.code != "Suspended":
        return
    allowed = _allowed(found[1])
    for before, call in pairwise(allowed):
        if _has_suspended(before) or before.result is None:
            return
        if before.result["kind"] == "error" and state.policy("round.failure") != "isolated":
            return  # ROUND-11 speaks of that
        if found[0].had_input and state.policy("input.round") != "goes_on":
            return  # INPUT-10 speaks of that
        if isinstance(seen, GateOpened) and seen.on == "tool":
            if seen.call == call.id:
                yield HELD
        elif not call.entries and (isinstance(seen, SegmentEnded) or seen.on == "model"):
            yield broken(
                f"call {before.id} has its result, yet call {call.id}, which is allowed, was not entered"
            )
            return


@check("ROUND-27", at=("tool",), rank=Rank.LOST, requires="a wait")
def nothing_after_a_suspension_runs(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A sequential round enters no call after the first one that suspends."""
    found, call = first_pass(state), state.entering(seen)
    if found is None or call not in found[1] or call.entries:
        return
    held = [c.id for c in found[1] if _has_suspended(c) and c.claimed in (None, "Suspended")]
    if held:
        yield broken(f"call {held[0]} suspended while it ran, yet call {call.id} after it is entered")


@counts("ROUND-27", at=("Suspended",))
def no_call_after_a_suspension_has_run(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Counts the calls after a suspension that a sequential round has not entered."""
    found = first_pass(state)
    if found is None or not any(map(_has_suspended, found[1])):
        return
    for call in _allowed(found[1]):
        if not call.entries:
            yield HELD


@check("ROUND-28", "ROUND-31", rank=Rank.LOST)
def a_round_with_a_held_call_leaves_its_step_suspended(state: ObservedState) -> CheckResults:
    """A round that is over with a call held leaves its step suspended."""
    found = first_pass(state)
    if found is None or state.gates_of(found[0]):
        return
    run, calls = found
    held = [call.id for call in calls if _is_held(call)]
    if held:
        suspended = bool(run.finished) and run.finished[-1].reason.code == "Suspended"
        right = suspended and not run.segment_open
        yield (
            HELD
            if right
            else broken(
                f"the round is over and call {held[0]} is held, yet its step is not suspended: "
                "its wait is to be stored, and run.finished to say Suspended"
            )
        )


def _is_held(call: ObservedCall) -> bool:
    """Whether the call waits, by its claim or by what held it."""
    witnessed = intercepted(call) == "held" or _has_suspended(call)
    return call.claimed == "Suspended" or (call.claimed is None and witnessed)


@check("ROUND-29", "ROUND-32", rank=Rank.LOST)
def a_round_without_a_held_call_completes(state: ObservedState) -> CheckResults:
    """A round that is over with no call held lets its step complete."""
    found = first_pass(state)
    if found is None or not state.tells_ends or state.gates_of(found[0]):
        return
    if all(call.is_final for call in found[1]):
        yield broken("the round is over and no call of it is held, yet its step is not complete")


@counts("ROUND-29", "ROUND-32", at=("model",))
def a_round_without_a_held_call_has_completed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the rounds without a held call after which the model was asked again."""
    found = first_pass(state)
    if found is not None and all(call.is_final for call in found[1]):
        yield HELD


@check("ROUND-30", at=("model",), rank=Rank.LOST)
def a_batch_waits_for_every_outcome(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A parallel round waits for the outcome of every allowed call, whether one suspends or fails."""
    found = first_pass(state)
    if found is not None:
        for call in _allowed(found[1]):
            busy = bool(call.executing)
            yield held_or(not busy, f"call {call.id} is executing, yet its round is taken for over")


EARLIER: Final = (("held", "is held"), ("provided", "has its result set"), ("allowed", "is allowed"))
PHASES_20: Final = ("ROUND-20", "ROUND-22", "ROUND-23")
STAGES_40: Final = ("ROUND-40", "ROUND-42", "ROUND-43")


INVARIANTS = ranked(
    Rank.LOST,
    *(
        interception_goes_on_after(clause, made, said, seeing)
        for clauses in (PHASES_20, STAGES_40)
        for clause, (made, said) in zip(clauses, EARLIER, strict=True)
        for seeing in ((False, True) if made != "allowed" else (False,))
    ),
)
