"""PAIR and RECOVER: the history that the model is shown is what was said, and nothing of it changes later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.records import ObservedCall, ObservedGate, Run
from runlock.conformance.families.lifecycle.state.thread import (
    as_asked_for,
    break_between,
    brief,
    messages_of,
    passages,
    spell_calls,
)
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message, ToolCall

ENDS_WELL: Final = ("NaturalEnd", "Stopped")


@once
def _shown_before(state: ObservedState) -> ObservedGate | None:
    """The inference before this one, in this life."""
    gate = state.last_model_gate
    return gate if gate is not None and gate.life == state.life and gate.opened.messages is not None else None


@check("PAIR-8", at=("model",), rank=Rank.HISTORY)
def a_history_goes_on(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Each inference is shown the history of the one before, unchanged, with what has come since."""
    before = _shown_before(state)
    if before is None or seen.messages is None or _may_be_left_out(state, before):
        return
    shown = [one for one in before.opened.messages or () if not _stood_for_a_result(state, before, one)]
    was, now = (as_asked_for(state, messages) for messages in (shown, seen.messages))
    why = break_between(passages(was), passages(now))
    yield held_or(not why, f"the history that the model was shown has changed: {why}")


def _stood_for_a_result(state: ObservedState, before: ObservedGate, message: Message) -> bool:
    """Whether a result without a status was of a call that waited undecided then, so that it was none."""
    if message.role != "tool" or message.status is not None:
        return False
    same = [call for run in state.runs.values() for call in run.every_call if call.id == message.call]
    return any(call.may_have_waited and all(one.at > before.at for one in call.decisions) for call in same)


def _may_be_left_out(state: ObservedState, before: ObservedGate) -> bool:
    """Whether the run of an inference fell: it may leave no messages in the thread."""
    run = state.runs.get(before.run)
    return run is not None and _fell(run)


@check("PAIR-8", at=("model",), rank=Rank.HISTORY)
def what_was_added_was_said(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a history has more than the one before, the user or the model has said."""
    before = _shown_before(state)
    if before is None or seen.messages is None:
        return
    added = passages(as_asked_for(state, seen.messages))[len(passages(before.opened.messages or ())) :]
    for one in added:
        if one.said.role == "user":
            yield from _was_said_by_the_user(state, one.said)
    yield from _was_said_by_the_model(
        state, before, [one.said for one in added if one.said.role == "assistant"]
    )


def _was_said_by_the_user(state: ObservedState, message: Message) -> CheckResults:
    said = any(text in message.text for text in state.inputs)
    yield HELD if said else broken(f"the model is shown {brief(message)}, which the user did not say")


def _was_said_by_the_model(
    state: ObservedState, before: ObservedGate, turns: Sequence[Message]
) -> CheckResults:
    """Judge the turns that were added: together they are the answer to the inference before."""
    run, answer = state.runs.get(before.run), before.outcome or {}
    if before.deltas and before.outcome is None:
        return  # what a cancel leaves of a turn that was streamed is not said
    if turns and answer.get("kind") != "turn":
        yield broken(f"the model is shown {brief(turns[-1])}, which it did not say")
    elif turns and run is not None:
        why = _misquoted(run, answer, turns)
        yield held_or(not why, why)
    elif run is not None and _is_bound_to_be_shown(run, before):
        yield broken(f"the model said {str(answer.get('text'))[:30]!r}, yet it is not shown that")


def _misquoted(run: Run, answer: Mapping[str, Any], turns: Sequence[Message]) -> str:
    """How the turns that are shown differ from what the model answered, or an empty string."""
    said, shown = str(answer.get("text", "")), "".join(turn.text for turn in turns)
    asked = _calls_of(run.last_turn or answer)
    is_blank = not said.strip() and not asked  # APIs refuse a blank turn, so something may stand for it
    if said.split() != shown.split() and not is_blank:
        return f"the model said {said[:30]!r}, yet it is shown {shown[:30]!r} as its turn"
    calls = [call for turn in turns for call in turn.tool_calls]
    is_shown = {call.id for call in calls}
    expected = [call for call in asked if call.id in is_shown or not _may_lack_a_result(run, call)]
    calls, expected = _without_broken_off(run, calls), _without_broken_off(run, expected)
    if spell_calls(expected) == spell_calls(calls) or _is_an_id_taken(run, asked):
        return ""
    return f"the model is shown other calls than it asked for: {_ids(turns)}"


def _without_broken_off(run: Run, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """The calls without the arguments of those that broke off: what stands for these is for CUT-3."""
    return [
        one.model_copy(update={"args": {}}) if call is not None and call.breaks_off else one
        for one in calls
        for call in (run.calls.get(one.id),)
    ]


def _calls_of(turn: Mapping[str, Any]) -> list[ToolCall]:
    return [ToolCall.model_validate(call) for call in turn.get("tool_calls", [])]


def _may_lack_a_result(run: Run, call: ToolCall) -> bool:
    """Whether a call waits, or its run fell; a call without a result may be left out of the history."""
    same = [one for one in run.every_call if one.id == call.id]
    if _fell(run) or any(one.input_at is not None or one.breaks_off for one in same):
        return True
    return any(one.waits and not _must_be_over(run, one) for one in same)


def _must_be_over(run: Run, call: ObservedCall) -> bool:
    """Whether a run that goes on has a decision for a call, and for each call that waits."""
    waiting = [one for one in run.calls.values() if one.waits]
    return run.ended is None and all(one.decision_in_force is not None for one in (call, *waiting))


def _fell(run: Run) -> bool:
    """Whether a run was cancelled or broke."""
    return run.ended is not None and run.ended.code not in (*ENDS_WELL, "Suspended")


def _ids(turns: Sequence[Message]) -> str:
    return ", ".join(f"{call.id} of {call.name}" for turn in turns for call in turn.tool_calls) or "none"


def _is_an_id_taken(run: Run, asked: Sequence[ToolCall]) -> bool:
    """Whether a call may be left out or renamed, since another one has its id."""
    ids = Counter([*(call.id for call in asked), *(call.id for call in run.former_calls)])
    return any(ids[call.id] > 1 for call in asked)


def _is_bound_to_be_shown(run: Run, before: ObservedGate) -> bool:
    """Whether nothing can have kept the answer to an inference out of the thread."""
    answer = before.outcome or {}
    told = answer.get("kind") == "turn" and bool(answer.get("text") or answer.get("tool_calls"))
    broke = run.was_sent_cancel or run.faulted is not None or bool(run.hooks)
    if not told or broke or not before.alone or (run.ended is not None and run.ended.code not in ENDS_WELL):
        return False
    asked = _calls_of(answer)
    return not any(_may_lack_a_result(run, call) for call in asked) and not _is_an_id_taken(run, asked)


@check("RECOVER-3", at=("model",), rank=Rank.HISTORY, requires="a crash")
def a_recovered_history_is_the_stored_one(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The first inference after a recovery is shown the messages of the checkpoint, unchanged."""
    run = state.run_of(seen)
    stored = messages_of(state.recovered_from) if state.handshake.control.store == "kit" else None
    if run is None or stored is None or seen.messages is None or state.life == 1 or _has_asked(state):
        return
    before, after = (passages(as_asked_for(state, messages)) for messages in (stored, seen.messages))
    forged = [one.said for one in after[len(before) :] if one.said.role == "assistant"]
    why = break_between(before, after)
    if why:
        yield broken(f"the model is not shown the thread of the checkpoint: {why}")
    elif forged:
        yield broken(f"the model is shown {brief(forged[0])}, which is not in the checkpoint")
    else:
        yield HELD


def _has_asked(state: ObservedState) -> bool:
    """Whether the model was asked in this life."""
    return state.last_model_gate is not None and state.last_model_gate.life == state.life
