"""INPUT: what the user says begins a run, and does something to one that waits."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    check,
    held_or,
)
from runlock.conformance.family.rank import Rank


@check("INPUT-1", rank=Rank.LOST, requires="a wait", excuses=(CANCEL, CRASH))
def input_while_waiting_is_refused(state: ObservedState) -> CheckResults:
    """Where a waiting run takes no input, the input is turned down and the run goes on waiting."""
    run = state.run
    if run is None or state.policy("input.waiting") != "refuse" or not state.alone or not state.newest:
        return
    if state.newest[0][0] != "run.input":
        return
    if run.finished and run.finished[-1].reason.code == "Suspended" and not state.gates_of(run):
        yield held_or(state.refused_whole, "a waiting run takes no input, yet the input was not refused")
    elif (
        run.finished and state.gates_of(run) and all(gate.at == state.stimuli for gate in state.gates_of(run))
    ):
        yield broken("a waiting run takes no input, yet the run went on with it")


@check("INPUT-1", at=("model",), rank=Rank.LOST, requires="a wait")
def refused_input_is_not_shown(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a waiting run has turned down, the model is never shown."""
    if state.policy("input.waiting") != "refuse" or seen.messages is None:
        return
    for text in state.refused_inputs:
        shown = any(message.role == "user" and text in message.text for message in seen.messages)
        if not any(text in said for said in state.inputs):  # and no other input did
            yield held_or(not shown, f"the input {text!r} was refused, yet the model is shown it")


@check("INPUT-4", at=("model",), rank=Rank.LOST, excuses=(CRASH,))
def the_model_is_shown_what_began_the_run(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The first inference of a run shows the model what the user said to begin it."""
    run = state.run_of(seen)
    if run is None or run.steps or run.hooks or not run.said or seen.messages is None:
        return
    shown = any(message.role == "user" and run.said in message.text for message in seen.messages)
    yield held_or(shown, f"run {run.id} began with {run.said!r}, yet the model was not shown that")


def _takes(state: ObservedState, run: Run | None, how: str) -> bool:
    """Whether new input came alone to a run that waited, and does this to it."""
    if run is None or state.policy("input.waiting") != how or run.disturbed_by(CANCEL, FAULT, CRASH):
        return False
    return run.input_at is not None and any(call.input_at == run.input_at for call in run.calls.values())


def _met(run: Run) -> Iterator[ObservedCall]:
    """The calls that waited when the newest input came."""
    return (call for call in run.calls.values() if call.input_at == run.input_at and not call.is_unclear)


@check("INPUT-2", rank=Rank.LOST)
def a_superseded_call_is_over(state: ObservedState) -> CheckResults:
    """Where new input supersedes a wait, the calls that waited are over."""
    run = state.run
    if run is None or not _takes(state, run, "supersede") or run.input_at != state.stimuli:
        return
    if state.refused_whole:
        yield broken("new input supersedes the wait, yet it was turned down")
        return
    if state.is_committing(run):
        return
    for call in _met(run):
        over = call.is_final or call.claimed is None
        yield held_or(over, f"new input superseded the wait, yet call {call.id} is {call.claimed}")


@check("INPUT-2", at=("tool",), rank=Rank.CONSENT)
def a_superseded_call_does_not_run(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where new input supersedes a wait, the calls that waited are never executed."""
    run, call = state.run_of(seen), state.entering(seen)
    superseded = _takes(state, run, "supersede") and not state.refused_whole
    if superseded and call is not None and call.input_at is not None:
        yield broken(f"new input superseded the wait of call {call.id}, yet it was executed")


@check("INPUT-2", at=("model",), rank=Rank.LOST)
def the_model_is_asked_about_the_input(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where new input supersedes a wait, the model is asked about it."""
    run = state.run_of(seen)
    if run is None or not _takes(state, run, "supersede"):
        return
    found = _shows_the_input(state, run, seen)
    if found is not None:
        yield found


def _shows_the_input(state: ObservedState, run: Run, seen: GateOpened) -> CheckResult | None:
    """Whether the first inference after new input shows it; None if this is another inference."""
    asked = state.last_model_gate
    if seen.on != "model" or seen.messages is None or run.input_at is None:
        return None
    if asked is not None and asked.at >= run.input_at:
        return None
    shown = any(m.role == "user" and run.input_text in m.text for m in seen.messages)
    why = f"new input said {run.input_text!r}, yet the model was not shown it"
    return HELD if shown else broken(why)


@check("INPUT-3", at=("model",), rank=Rank.LOST)
def a_placeholder_stands_with_the_input(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where new input goes on during a wait, a placeholder stands for each call that waits."""
    run = state.run_of(seen)
    if run is None or not _takes(state, run, "placeholder"):
        return
    found = _shows_the_input(state, run, seen)
    if found is None:
        return
    yield found
    for call in _met(run):
        if call.claimed == "Suspended":
            shown = any(m.call == call.id and m.role == "tool" for m in seen.messages or ())
            yield held_or(shown, f"call {call.id} still waits, yet nothing is shown in its place")


@check("INPUT-3", rank=Rank.LOST)
def what_was_put_aside_still_waits(state: ObservedState) -> CheckResults:
    """Where new input goes on during a wait, each call that waited can still be decided."""
    run = state.run
    if run is None or not _takes(state, run, "placeholder") or run.is_done or run.input_at is None:
        return
    if state.refused_whole and run.input_at == state.stimuli:
        yield broken("new input goes on during the wait, yet it was turned down")
        return
    for call in _met(run):
        newest = call.decisions[-1] if call.decisions else None
        if call.claimed is not None and (newest is None or newest.at < run.input_at):
            waits = call.claimed == "Suspended"
            yield held_or(waits, f"call {call.id} was put aside for new input, yet it is {call.claimed}")
        elif newest is not None and newest.answers is call and len(call.decisions) == newest.batch == 1:
            why = (
                f"call {call.id} was put aside for new input, yet decision {newest.id} for it was turned down"
            )
            yield held_or(not newest.turned_down, why)
