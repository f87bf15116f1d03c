"""CUT: what broke off in the middle is not taken for what is whole: calls, arguments, and streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import CallShown, GateOpened, Published, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, ObservedGate, Run, is_alike
from runlock.conformance.families.lifecycle.state.wires import parts_of
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.text import cut

LONG: Final = 40

A_BREAK: Final = "a call that breaks off"
A_BROKEN_STREAM: Final = "a broken stream"


def _meant(state: ObservedState, seen: GateOpened | CallShown) -> ObservedCall | None:
    """The call that broke off and that is executed, asked about or shown, if its id leaves no doubt."""
    call = state.call_of(seen)
    return call if call is not None and call.breaks_off and not _is_doubtful(state, call) else None


def _is_doubtful(state: ObservedState, call: ObservedCall) -> bool:
    same = sum(one.id == call.id for run in state.runs.values() for one in run.every_call)
    return same > 1 or call.duplicate_id or call.is_renamed or call.has_agent


def _left_open(state: ObservedState) -> Iterator[tuple[Run, ObservedCall]]:
    """The calls that broke off and that no one has decided about."""
    for run in state.runs.values():
        for call in run.every_call:
            if call.breaks_off and not (call.decisions or _is_doubtful(state, call)):
                yield run, call


# --- calls ------------------------------------------------------------------------------------------


@check("CUT-1", at=("tool",), rank=Rank.OTHER, requires=A_BREAK)
def a_call_that_was_cut_off_does_not_run_as_it_stands(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The last call of a turn that ended for its length is not executed with what was left of it."""
    call = _meant(state, seen)
    if call is not None and call.is_cut:
        left = call.args if call.written is None else call.written
        why = f"the turn ended for its length and may have cut off call {call.id}, yet it runs as it stands"
        yield held_or(not is_alike(seen.args, left), why)


@counts("CUT-1", at=("model",), requires=A_BREAK)
def a_call_that_was_cut_off_was_not_executed(state: ObservedState, _seen: GateOpened) -> CheckResults:
    """Counts the calls that may have been cut off and were not executed."""
    yield from (HELD for _, call in _left_open(state) if call.is_cut and not call.entries)


@check("CUT-3", at=("permission", "tool"), rank=Rank.OTHER, requires=A_BREAK)
def a_call_is_not_emptied(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose arguments do not parse is not executed, nor asked about, with empty ones."""
    yield from _is_not_emptied(state, seen, "it is executed" if seen.on == "tool" else "it is asked about")


@check("CUT-3", rank=Rank.OTHER, requires=A_BREAK)
def a_call_is_not_shown_as_empty(state: ObservedState, seen: CallShown) -> CheckResults:
    """A call whose arguments do not parse is not shown with empty ones to those who decide."""
    yield from _is_not_emptied(state, seen, "it is shown")


def _is_not_emptied(state: ObservedState, seen: GateOpened | CallShown, how: str) -> CheckResults:
    call = _meant(state, seen)
    if call is not None and call.written is not None and not _is_replaced(call):
        why = f"the arguments of call {call.id} do not parse: {call.written!r}; yet {how} with empty ones"
        yield held_or(seen.args not in ({}, None), why)


def _is_replaced(call: ObservedCall) -> bool:
    """Whether a decision has given the arguments."""
    mode = call.tool.resume_mode if call.tool is not None else None
    return bool(call.edits) or (bool(call.approvals) and mode == "pass_to_tool")


@check("CUT-3", at=("model",), rank=Rank.SHOWN, requires=A_BREAK)
def the_history_has_no_empty_arguments(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The history has no empty arguments in the place of those that do not parse."""
    calls = {call.id: call for _, call in _left_open(state) if call.written is not None}
    for one in (one for message in seen.messages or () for one in message.tool_calls if one.id in calls):
        written = calls[one.id].written
        why = f"the arguments of call {one.id} do not parse: {written!r}; yet the history has empty ones"
        yield held_or(one.args != {}, why)


@check("CUT-2", at=("tool",), rank=Rank.OTHER, requires=A_BREAK)
def what_is_refused_does_not_run(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where turn.cut is refused, a call that may have been cut off, or does not parse, is not executed."""
    call = _meant(state, seen)
    is_refused = state.policy("turn.cut") == "refused"
    if is_refused and call is not None and _is_broken_off(call) and not _is_replaced(call):
        yield broken(f"turn.cut is refused and call {call.id} {_how(call)}, yet it is executed")


@check("CUT-2", at=("model",), rank=Rank.SHOWN, requires=A_BREAK, excuses=(CANCEL, FAULT, CRASH))
def what_is_refused_is_a_visible_error(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where turn.cut is refused, the model is shown an error for each call that broke off."""
    if state.policy("turn.cut") != "refused":
        return
    for call, statuses in _shown_for_breaks(state, seen):
        why = f"turn.cut is refused and call {call.id} {_how(call)}, yet the model is shown no error for it"
        yield held_or(set(statuses) & {"error", None}, why)


@check("CUT-2", at=("model",), rank=Rank.SHOWN, requires=A_BREAK, excuses=(CANCEL, FAULT, CRASH, INPUT))
def what_is_repaired_is_executed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where turn.cut is repaired, a call that can be completed is not a failure without having run."""
    if state.policy("turn.cut") != "repaired":
        return
    for call, statuses in _shown_for_breaks(state, seen):
        if _may_be_left_out(state, state.run_of(seen), call):
            continue
        can_be_completed = call.written is not None and "," in call.written
        if can_be_completed and call.tool is not None and call.tool.permission == "allow":
            why = f"turn.cut is repaired and call {call.id} can be completed, yet it failed unexecuted"
            yield held_or(call.entries or "error" not in statuses, why)


def _shown_for_breaks(
    state: ObservedState, seen: GateOpened
) -> Iterator[tuple[ObservedCall, list[str | None]]]:
    """The calls of this run that broke off and are in the history, with the statuses of their results."""
    shown = {one.id for message in seen.messages or () for one in message.tool_calls}
    for run, call in _left_open(state):
        if run is state.run_of(seen) and call.id in shown and _is_broken_off(call) and not run.hooks:
            results = [one for one in seen.messages or () if one.role == "tool" and one.call == call.id]
            if results:
                yield call, [one.status for one in results]


def _may_be_left_out(state: ObservedState, run: Run | None, call: ObservedCall) -> bool:
    """Whether its round may have ended before it, since an earlier call of it waits, or has failed."""
    others = [one for one in run.calls.values() if one.step == call.step] if run is not None else []
    if len(others) > 1 and not state.observes("call.status"):
        return True
    waits = any(one.suspensions for one in others) and state.policy("round.rest") != "deferred"
    has_failed = any(one.claimed == "Failed" for one in others if one is not call)
    return waits or (has_failed and state.policy("round.failure") != "isolated")


def _is_broken_off(call: ObservedCall) -> bool:
    return call.is_cut or call.written is not None


def _how(call: ObservedCall) -> str:
    return "does not parse" if call.written is not None else "may have been cut off"


# --- streams ----------------------------------------------------------------------------------------


@once
def _broken_streams(state: ObservedState) -> list[ObservedGate]:
    return [gate for gate in state.gates.values() if gate.is_broken_stream and gate.alone]


def _texts(state: ObservedState, gate: ObservedGate) -> list[str]:
    """What a stream had told before it broke, and no whole turn said."""
    said = [text for run in state.runs.values() for text in run.texts if text]
    told = [str(delta.get("text") or "").strip() for delta in gate.deltas]
    return [text for text in told if text and not any(text in whole for whole in said)]


def _calls(state: ObservedState, gate: ObservedGate) -> list[str]:
    """The calls that a stream had begun before it broke, and that no whole turn asked for."""
    asked = {call.id for run in state.runs.values() for call in run.every_call}
    begun = [delta["tool_call"]["id"] for delta in gate.deltas if delta.get("tool_call")]
    return [call for call in begun if call not in asked]


BROKE: Final = "the stream of a turn broke before it was whole"


@check("CUT-4", at=("model",), rank=Rank.LOST, requires=A_BROKEN_STREAM)
def a_broken_stream_leaves_no_text(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No text of a turn whose stream broke is in the history."""
    turns = [one.text for one in seen.messages or () if one.role == "assistant"]
    for gate in _broken_streams(state) if seen.messages is not None else ():
        for text in _texts(state, gate):
            why = f"{BROKE}, yet the model is shown its {cut(text, LONG)!r}"
            yield held_or(not any(text in turn for turn in turns), why)


@check("CUT-4", at=("model",), rank=Rank.LOST, requires=A_BROKEN_STREAM)
def a_broken_stream_leaves_no_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No call of a turn whose stream broke is in the history."""
    shown = {one.id for message in seen.messages or () for one in message.tool_calls}
    shown |= {message.call for message in seen.messages or () if message.call is not None}
    for gate in _broken_streams(state) if seen.messages is not None else ():
        for call in _calls(state, gate):
            yield held_or(call not in shown, f"{BROKE}, yet the model is shown its call {call}")


@check("CUT-5", at=("permission", "tool"), rank=Rank.CONSENT, requires=A_BROKEN_STREAM)
def a_call_of_a_broken_stream_is_not_executed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No call of a turn whose stream broke is executed or asked about."""
    what = "executed" if seen.on == "tool" else "asked about"
    yield from _is_of_no_broken_stream(state, seen.call, what)


@check("CUT-5", rank=Rank.CONSENT, requires=A_BROKEN_STREAM)
def a_call_of_a_broken_stream_is_not_shown(state: ObservedState, seen: CallShown) -> CheckResults:
    """No call of a turn whose stream broke is shown to those who decide."""
    yield from _is_of_no_broken_stream(state, seen.call, "shown")


def _is_of_no_broken_stream(state: ObservedState, call: str | None, what: str) -> CheckResults:
    for gate in _broken_streams(state):
        if call in _calls(state, gate):
            yield broken(f"{BROKE}, yet call {call} of it is {what}")


@counts("CUT-5", requires=A_BROKEN_STREAM)
def a_call_of_a_broken_stream_was_left(state: ObservedState) -> CheckResults:
    """Counts the calls that a stream had begun before it broke."""
    yield from (HELD for gate in _broken_streams(state) for _ in _calls(state, gate))


@check("CUT-6", rank=Rank.STREAM, requires=A_BROKEN_STREAM)
def a_retry_tells_nothing_of_the_try(state: ObservedState, seen: Published) -> CheckResults:
    """Once the model is asked again, no event tells the text of a stream that broke, or opens its calls."""
    opened = {part.call for part in parts_of(seen) if part.what in ("open", "args", "whole", "request")}
    told = json.dumps(seen.data, ensure_ascii=False)
    for gate in _broken_streams(state):
        if state.last_model_gate is gate:
            continue  # what it told may still be on its way
        again = [repr(cut(text, LONG)) for text in _texts(state, gate) if _quoted(text) in told]
        again += [f"call {call}" for call in _calls(state, gate) if call in opened and _is_alive(seen)]
        why = f"{BROKE} and the model was asked again, yet event {seen.name} tells its {''.join(again[:1])}"
        yield held_or(not again, why)


def _is_alive(seen: Published) -> bool:
    """Whether an event speaks of a call as one that is still to come: an error closes it."""
    return seen.name != "tool-input-error"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


# --- permissions ------------------------------------------------------------------------------------


@counts("CUT-7", at=("model",))
def a_run_goes_on_after_a_pause(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the inferences right after a turn that paused."""
    if _stopped_with(state.run_of(seen)) == "pause":
        yield HELD


@counts("CUT-8")
def a_run_ends_after_a_refusal(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Counts the ends of runs whose model refused."""
    if _stopped_with(state.run_of(seen)) == "refusal":
        yield HELD


def _stopped_with(run: Run | None) -> Any:
    return (run.last_turn or {}).get("stop") if run is not None else None
