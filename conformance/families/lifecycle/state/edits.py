"""Edits of the thread: what a runtime cuts out of it, and what it puts there instead.

Checks read the thread as it would be without its edits.  So what was cut is not missing, and a summary is not
taken for something that was said.  Whether the calls of a history have results is judged by what is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from runlock.conformance.families.lifecycle.messages import GateOpened, ThreadEdited
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.records import ThreadEdit
from runlock.conformance.families.lifecycle.state.thread import (
    Passage,
    as_asked_for,
    break_between,
    passages,
    what_differs,
)
from runlock.conformance.protocol import Message, Observation, ToolCall

LONG: Final = 7
"""From as many messages on, another first message may be a summary; in a shorter thread it is other words."""


def read(state: Knowledge, seen: Observation) -> Observation:
    """An observation as checks are given it: of an inference, the history without the edits of the thread."""
    if isinstance(seen, ThreadEdited):
        state.edits.append(ThreadEdit(seen.at, seen.cut, seen.instead, is_declared=True, why=seen.why))
    if not isinstance(seen, GateOpened) or seen.on != "model" or seen.messages is None:
        return seen
    before, state.as_shown, state.shown_at = state.as_shown, seen.messages, seen.gate
    is_new = bool(state.edits) and state.edits[-1].is_declared and not state.edits[-1].is_seen
    inferred = None if is_new else _inferred(state, before, seen.messages)
    if inferred is not None:
        state.edits.append(inferred)
    state.last_edit = inferred
    if not state.edits:
        return seen
    full: Sequence[Message] = seen.messages
    for edit in reversed(state.edits):
        full = undone(edit, full) if stands_in(edit, full) else full
    return seen.model_copy(update={"messages": full})


def stands_in(edit: ThreadEdit, messages: Sequence[Message]) -> bool:
    """Whether the thread has what the edit put in the place."""
    there = messages[edit.at : edit.at + len(edit.instead)]
    same = len(there) == len(edit.instead) and edit.at <= len(messages)
    return same and not any(map(what_differs, edit.instead, there))


def undone(edit: ThreadEdit, messages: Sequence[Message]) -> list[Message]:
    """The thread with what was cut."""
    return [*messages[: edit.at], *edit.cut, *messages[edit.at + len(edit.instead) :]]


def _inferred(state: Knowledge, before: Sequence[Message], now: Sequence[Message]) -> ThreadEdit | None:
    """The edit that put one message in the place of the older part of the thread, if that explains it."""
    if not before or not now or (now[0] == before[0] and not state.edits):
        return None
    was, then = (passages(as_asked_for(state, messages)) for messages in (before, now))
    if not was or not break_between(was, then) or not _is_a_summary(state, now[0]):
        return None
    rest = then if now[0].role == "system" else then[1:]
    whole = next(at for at in range(len(was) + 1) if not break_between(was[at:], rest))
    cut = [message for passage in was[:whole] for message in (passage.said, *passage.results)]
    if not cut or (len(cut) == 1 and len(now) < LONG):
        return None
    unseen = _turn_that_was_cut(state, rest) if whole == len(was) else ()
    return ThreadEdit(0, [*cut, *unseen], [now[0]], is_declared=False)


def _is_a_summary(state: Knowledge, message: Message) -> bool:
    return not message.tool_calls and message.role != "tool" and message.text not in state.inputs


def _turn_that_was_cut(state: Knowledge, rest: Sequence[Passage]) -> Iterator[Message]:
    """The newest turn of the model with what its tools answered, if it was cut before it was shown."""
    gate = state.last_model_gate
    turn = gate.outcome if gate is not None else None
    if gate is None or turn is None or turn.get("kind") != "turn":
        return
    if any(passage.said.role == "assistant" for passage in rest):
        return
    asked = [ToolCall.model_validate(call) for call in turn.get("tool_calls", [])]
    yield Message(role="assistant", text=turn.get("text", ""), tool_calls=asked)
    calls = state.runs[gate.run].calls
    for call in (calls[one.id] for one in asked if one.id in calls):
        if call.result is not None:
            text = str(call.result.get("content"))
            failed = call.result["kind"] == "error"
            yield Message(role="tool", call=call.id, status="error" if failed else "ok", text=text)
