"""PHASE: each phase of a call fires once for each pass of it, and the call goes nowhere before its pass."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.families.lifecycle.invariants.segment_queries import CALL_PHASES, followed
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    PhaseEntered,
    ResumeEntered,
    RunMoved,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import CheckResults, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation

FIRST, LAST = ("ToolGate", "BeforeToolExecute"), "AfterToolExecute"


@check(
    "PHASE-90",
    at=("BeforeToolExecute", "AfterToolExecute"),
    rank=Rank.PHASE,
    is_deferred=True,
    requires="calls",
)
def a_phase_fires_once_a_pass(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """BeforeToolExecute and AfterToolExecute fire once for each pass of a call."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear or seen.phase not in ("BeforeToolExecute", LAST):
        return
    since = _since(run, call, seen.phase)
    if since is not None:
        again = any(_may_begin_anew(one, call, seen.phase) for one in since)
        if not state.observes("call.status"):  # a replay has no word for its beginning
            again = again or bool(call.approvals)
        again = again or _may_be_held_back(state, run, call)
        yield held_or(again, f"{seen.phase} fires twice for call {call.id} in one pass")


def _may_be_held_back(state: ObservedState, run: Run, call: ObservedCall) -> bool:
    """Whether its sequential round may have held it back, where the states of resumes are not shown."""
    siblings = (one for one in run.calls.values() if one.step == call.step and one is not call)
    is_hidden = not state.observes("resume") and state.policy("round.rest") in (None, "deferred")
    return is_hidden and not call.entries and any(one.suspensions for one in siblings)


def _since(run: Run, call: ObservedCall, phase: str) -> Sequence[Observation] | None:
    """What the segment has shown since this phase fired for the call, if it did."""
    for at in range(len(run.segment) - 1, -1, -1):
        seen = run.segment[at]
        if isinstance(seen, PhaseEntered) and seen.phase == phase and seen.call == call.id:
            return run.segment[at + 1 :]
    return None


def _may_begin_anew(seen: Observation, call: ObservedCall, phase: str) -> bool:
    """Whether another pass of the call may begin here, or one that was left behind."""
    if isinstance(seen, PhaseEntered):
        other = LAST if phase in FIRST else "BeforeToolExecute"
        return seen.phase not in CALL_PHASES or (seen.call == call.id and seen.phase in (other, "ToolGate"))
    if isinstance(seen, CallMoved):
        return seen.call == call.id and seen.to == "Resuming"
    return isinstance(seen, GateOpened | Checkpointed | ResumeEntered | RunMoved)


@check("PHASE-90", at=("AfterToolExecute",), rank=Rank.PHASE, is_deferred=True, requires="calls")
def a_pass_has_its_first_phase(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """AfterToolExecute does not fire for a call whose pass has not begun."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or seen.phase != LAST or call.is_unclear:
        return
    first = "ToolGate" if state.policy("phases") == "nine" else "BeforeToolExecute"
    if not call.decisions:
        right = _has_begun(run, call, (first,))
        yield held_or(right, f"{LAST} fires for call {call.id}, yet {first} has not")
    elif state.policy("replay.gate") == "yes" and call.suspensions:
        right = _has_begun_anew(run, call, first)
        yield held_or(right, f"{LAST} fires for call {call.id} in its replay, yet {first} has not")


def _has_begun_anew(run: Run, call: ObservedCall, first: str) -> bool:
    """Whether the first phase has fired for the call since its last pass ended, or in this segment."""
    since = _since(run, call, LAST)
    shown = run.segment if since is None else since
    return any(isinstance(one, PhaseEntered) and one.phase == first and one.call == call.id for one in shown)


@check(
    "PHASE-91", at=("Running", "Succeeded", "Suspended"), rank=Rank.PHASE, is_deferred=True, requires="calls"
)
def a_call_is_judged_before_it_moves(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that is Running, Suspended or Succeeded has left New after the phase that judges it."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear:
        return
    nine = state.policy("phases") == "nine" and seen.to != "Running"
    first = "ToolGate" if nine else "BeforeToolExecute"
    if call.claimed == "New":
        right = _has_begun(run, call, (first,))
        yield held_or(right, f"call {call.id} became {seen.to}, yet {first} has not fired for it")
    elif call.claimed == "Resuming" and seen.to == "Running" and state.policy("replay.gate") == "yes":
        right = _has_begun_anew(run, call, first)
        yield held_or(right, f"call {call.id} is Running in its replay, yet {first} has not fired for it")


def _has_begun(run: Run, call: ObservedCall, first: Sequence[str]) -> bool:
    """Whether one of these phases fired for the call, or for its batch."""
    return any(phase.phase in first and phase.call in (None, call.id) for phase in run.phases)


@check("PHASE-91", at=("Resuming",), rank=Rank.PHASE, is_deferred=True)
def a_call_is_Resuming_before_it_is_judged_again(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that waited is Resuming before the first phase of its replay fires."""
    run, call = followed(state, seen), state.call_of(seen)
    if run is None or call is None or call.is_unclear or call.claimed != "Suspended":
        return
    early = _judged_while_it_waited(run, call)
    yield held_or(not early, f"call {call.id} became Resuming, yet {early} of its replay has fired")


def _judged_while_it_waited(run: Run, call: ObservedCall) -> str:
    """The phase that judged the call since it was said to be Suspended."""
    for seen in reversed(run.segment):
        if vars(seen).get("call") != call.id:
            continue
        if isinstance(seen, CallMoved):
            return ""
        if isinstance(seen, PhaseEntered) and seen.phase in FIRST:
            return seen.phase
    return ""
