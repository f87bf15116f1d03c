"""INPUT at work: what the user says to a run is shown to the model once, in order, and never lost unsaid.

An input was taken if the answer to its stimulus does not refuse it.  Where it raced, or the runtime had not
settled, it is not known when it came: then it may be missing, but never be shown twice or in a wrong place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from runlock.conformance.families.lifecycle.invariants.failure import free_calls
from runlock.conformance.families.lifecycle.messages import GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.inputs import Input
from runlock.conformance.families.lifecycle.state.records import ObservedCall, ObservedGate, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message

AN_INPUT = "an input"


@check("INPUT-9", at=("model", "tool"), rank=Rank.CONSENT, requires=AN_INPUT, excuses=(CRASH,))
def input_starts_nothing_after_a_stop(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a cancel that met no race, no inference of the run shows an input that waited."""
    run = state.run_of(seen)
    if run is None or not (run.cancel_alone or run.cancel_settled) or run.is_done:
        return
    for given in state.given if run.cancel_at is not None else ():
        if given.run == run.id and not given.is_shown and given.is_in(seen.messages or ()):
            yield broken(f"the run was cancelled, yet it begins again with the input {given.text!r}")


@counts("INPUT-9", requires=AN_INPUT, excuses=(CRASH,))
def a_stopped_run_stays_stopped(state: ObservedState) -> CheckResults:
    """Counts the runs that were sent input and then cancelled, and are over."""
    run = state.run
    if run is None or not run.cancel_settled or not run.is_done or state.gates_of(run):
        return
    if any(given.run == run.id for given in state.given):
        yield HELD


# --- shown, by the next inference ---------------------------------------------------------------


@check("INPUT-5", at=("model",), rank=Rank.LOST, requires=AN_INPUT)
def input_is_shown_by_the_next_inference(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An input that was taken is shown by the next inference of its run, or of the next run."""
    run, messages = state.run_of(seen), seen.messages
    for given in state.given if run is not None and messages is not None else ():
        if run is None or messages is None or not _is_its_own(state, given):
            continue
        if given.answer == "refused":
            yield from _refused(state, given, messages)
        elif given.is_passed and not given.is_shown and given.is_in(messages):
            yield broken(f"an inference has passed the input {given.text!r} over, yet it is shown now")
        elif given.is_due and given.at < state.stimuli and not given.may_miss and _has_its_turn(given, run):
            yield HELD if given.is_in(messages) else broken(_lost(given))


def _is_its_own(state: ObservedState, given: Input) -> bool:
    """Whether no other input can be taken for it."""
    others = [other.text for other in state.given if other is not given]
    return not any(given.text in text for text in (*others, *(run.said for run in state.runs.values())))


def _has_its_turn(given: Input, run: Run) -> bool:
    """Whether this inference has to show it."""
    return given.met is None if given.run == run.id else given.met == "natural end"


def _refused(state: ObservedState, given: Input, messages: Sequence[Message]) -> CheckResults:
    in_a_wait = state.policy("input.waiting") == "refuse" and given.text in state.refused_inputs
    if not in_a_wait:  # INPUT-1 is about that
        why = f"the input {given.text!r} was refused, yet the model is shown it"
        yield held_or(not given.is_in(messages), why)


def _lost(given: Input) -> str:
    if given.met is None:
        return f"the input {given.text!r} was taken, yet the next inference does not show it"
    return f"the input {given.text!r} was taken during the last inference, yet no run shows it"


@check("INPUT-5", at=("NaturalEnd",), rank=Rank.LOST, requires=AN_INPUT)
def no_input_is_left_at_the_end(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Where no run can follow, a run does not end by itself before it has shown what it took."""
    run = state.run_of(seen)
    if run is None or "run.again" in state.handshake.stimuli:
        return
    for given in _left(state, run):
        if given.answer == "taken":
            yield broken(f"the input {given.text!r} was taken, yet the run ended without showing it")


def _left(state: ObservedState, run: Run) -> Iterator[Input]:
    """What came alone, and was not shown when the run ended."""
    for given in state.given:
        certain = given.alone and given.at < state.stimuli and not given.is_passed
        if given.run == run.id and certain and not given.is_shown and given.met in (None, "natural end"):
            yield given


# --- once, in order, after whole rounds ---------------------------------------------------------


@check("INPUT-6", at=("model",), rank=Rank.LOST, requires=AN_INPUT)
def input_is_shown_once(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The history has each input once."""
    said = [message.text for message in seen.messages or () if message.role == "user"]
    for given in state.given:
        if _is_its_own(state, given):
            twice = sum(text.count(given.text) for text in said) > 1
            yield held_or(not twice, f"the input {given.text!r} is shown more than once")


@check("INPUT-6", at=("model",), rank=Rank.LOST, requires=AN_INPUT, excuses=(CRASH,))
def inputs_are_shown_in_order(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The history has the inputs in the order in which they were sent."""
    said = "\n".join(message.text for message in seen.messages or () if message.role == "user")
    shown = [given for given in state.given if given.text in said and _is_its_own(state, given)]
    for first, second in pairwise(shown):
        if said.index(first.text) > said.index(second.text):
            yield broken(f"the input {second.text!r} is shown before {first.text!r}, which was sent earlier")


@check("INPUT-6", at=("model",), rank=Rank.LOST, requires=AN_INPUT)
def input_stands_after_whole_rounds(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No input stands between a turn and the results of its calls."""
    for place, call in _torn(seen.messages or ()):
        for given in state.given:
            if given.text in place.text:
                yield broken(f"the input {given.text!r} stands between call {call} and its result")


def _torn(messages: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """What the user said between a turn and the result of one of its calls, with that call."""
    asked: set[str] = set()
    between: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            asked, between = {call.id for call in message.tool_calls}, []
        elif message.role == "user":
            between.append(message)
        elif message.role == "tool" and message.call in asked:
            yield from ((one, message.call) for one in between)
            asked.remove(message.call)


# --- what is late, and what an end does ---------------------------------------------------------


@check("INPUT-7", at=("NaturalEnd",), rank=Rank.LOST, requires=AN_INPUT)
def a_run_ends_with_late_input_only_as_declared(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that ends by itself after input in its last inference has refused it, or left it to the next."""
    run, late = state.run_of(seen), state.policy("input.late")
    for given in _left(state, run) if run is not None else ():
        if given.answer == "taken":
            yield HELD if late == "next_run" else broken(f"{_came(given)} was taken, yet the run ended")
        elif given.answer == "refused" and _was_last(state, given):
            yield HELD if late == "refused" else broken(f"{_came(given)} was refused")


@check("INPUT-7", at=("model",), rank=Rank.LOST, requires=AN_INPUT)
def a_run_goes_on_with_late_input_only_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A run whose model asked for nothing more goes on with late input only where that is declared."""
    run, late = state.run_of(seen), state.policy("input.late")
    for given in state.given:
        if run is None or given.run != run.id or not (given.is_due and given.alone):
            continue
        if _was_last(state, given) and given.is_in(seen.messages or ()) and not _decided_since(run, given):
            yield HELD if late == "goes_on" else broken(f"{_came(given)} made the run go on")


def _came(given: Input) -> str:
    return f"the input {given.text!r}, which came during the last inference,"


def _decided_since(run: Run, given: Input) -> bool:
    """Whether a decision that came during the inference, or after it, is a reason to go on."""
    asked = given.asked
    return asked is not None and any(d.at >= asked.at for call in run.every_call for d in call.decisions)


def _was_last(state: ObservedState, given: Input) -> bool:
    """Whether the inference that it met has asked for no call, and no other one has begun since."""
    return given.asked is state.last_model_gate and _asks_for_nothing(given.asked)


def _asks_for_nothing(asked: ObservedGate | None) -> bool:
    """Whether an inference is certainly over and was the last of its run."""
    if asked is None or asked.outcome is None:
        return False
    turn = asked.outcome
    ends = turn["kind"] == "turn" and turn.get("stop") != "pause"  # a turn that pauses is asked for again
    return asked.alone and ends and not turn.get("tool_calls")


def _is_left_to_the_next(state: ObservedState, given: Input) -> bool:
    """Whether its run was about to end by itself, and leave it to the next one, when the end broke."""
    is_late = given.asked in (None, state.last_model_gate) and _asks_for_nothing(state.last_model_gate)
    return given.met == "error" and state.policy("input.late") == "next_run" and is_late


@check("INPUT-8", at=("model",), rank=Rank.LOST, requires=AN_INPUT)
def an_end_does_to_input_what_is_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The first inference after a cancel, an error or a crash tells what became of what was not shown."""
    for given in state.given:
        met = given.met in ("cancel", "error", "crash") and given.alone and given.at < state.stimuli
        if _is_left_to_the_next(state, given):
            continue
        if met and given.is_due and seen.messages is not None and _is_its_own(state, given):
            why = _other_fate(state, given, is_shown=given.is_in(seen.messages))
            yield held_or(not why, why)


def _other_fate(state: ObservedState, given: Input, *, is_shown: bool) -> str:
    """What an end has done to an input that is not what was declared, or an empty string."""
    fate, what = state.policy("input.fate"), f"the input {given.text!r} was taken before the {given.met},"
    if fate == "next_run":
        return "" if is_shown else f"{what} yet the model is not shown it when it is asked again"
    if is_shown:
        return f"{what} yet the model is shown it when it is asked again"
    if fate == "dropped":
        return f"{what} yet it is given back" if given.is_returned else ""
    unreturned = state.observes("input.returned") and not given.is_returned
    return f"{what} yet it is not given back" if unreturned else ""


# --- the round that it comes during ------------------------------------------------------------


@check("INPUT-10", at=("model",), rank=Rank.LOST, requires=AN_INPUT, excuses=(CANCEL, FAULT, CRASH))
def input_leaves_no_call_out(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where the round goes on, the model is asked only when each free call of it was entered."""
    run = state.run_of(seen)
    given = _during_round(state, run, run.steps) if run is not None else None
    if run is None or given is None or state.policy("input.round") != "goes_on":
        return
    for call in free_calls(run, run.steps):
        why = f"the input {given.text!r} came during the round, yet call {call.id}"
        yield held_or(call.entries, f"{why}, which nothing holds back, was not entered")


@check("INPUT-10", at=("tool",), rank=Rank.LOST, requires=AN_INPUT, excuses=(CANCEL, FAULT, CRASH))
def nothing_begins_after_input(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where input ends the round, no call of it is entered for the first time after that."""
    run, call = state.run_of(seen), state.entering(seen)
    if run is None or call is None or call.entries or state.policy("input.round") != "skips_rest":
        return
    given = _during_round(state, run, call.step)
    if given is not None and call in free_calls(run, call.step):
        yield broken(f"the input {given.text!r} came, which ends the round, yet call {call.id} is entered")


@counts("INPUT-10", at=("model",), requires=AN_INPUT, excuses=(CANCEL, FAULT, CRASH))
def nothing_has_begun_after_input(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the rounds that input has ended."""
    run = state.run_of(seen)
    ends = run is not None and state.policy("input.round") == "skips_rest"
    if run is not None and ends and _during_round(state, run, run.steps) is not None:
        yield HELD


def _during_round(state: ObservedState, run: Run, step: int) -> Input | None:
    """An input that was taken while a round was at work, if nothing else can leave a call of it out."""
    calls = [call for call in run.calls.values() if call.step == step]
    began = min((call.entries[0].at for call in calls if call.entries), default=None)
    if began is None or any(map(_may_end_its_round, calls)):
        return None
    mine = (given for given in state.given if given.run == run.id and given.alone)
    came = (given for given in mine if given.answer == "taken" and began < given.at < state.stimuli)
    return next(came, None)


def _may_end_its_round(call: ObservedCall) -> bool:
    """Whether the call failed, was blocked, or may have come to wait."""
    failed = call.result is not None and call.result["kind"] == "error"
    return failed or call.may_have_waited or call.is_unclear or call.last_verdict == "block"
