"""Whole messages: when two of them are the same, and when one history continues another."""

from __future__ import annotations

import json
import marshal
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter

from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.records import Form
from runlock.conformance.protocol import Message
from runlock.conformance.protocol.answers import written

MESSAGES_KEPT: Final = 2_048

_MESSAGES = TypeAdapter(list[Message])


def messages_of(state: Any) -> Sequence[Message] | None:
    """The messages that a checkpoint holds, or None where it holds none that can be read."""
    raw = state.get("messages") if isinstance(state, Mapping) else None
    try:
        return _read(written(raw))
    except ValueError:  # which a `ValidationError` is too
        return None


@lru_cache(MESSAGES_KEPT)
def _read(messages: bytes) -> Sequence[Message]:
    """The messages; equal lists are parsed once, so that no reader may change them."""
    return _MESSAGES.validate_python(marshal.loads(messages))


def what_differs(before: Message, after: Message) -> str:
    """In which part two messages differ, or an empty string; a status that is left out differs from none."""
    if before.role != after.role or before.call != after.call:
        return "speaker"
    if before.text != after.text:
        return "text"
    if None not in (before.status, after.status) and before.status != after.status:
        return "status"
    return "calls" if spell_calls(before.tool_calls) != spell_calls(after.tool_calls) else ""


def spell_calls(calls: Iterable[Any]) -> list[str]:
    """The calls of a turn in their order; an argument that is null counts as left out."""
    return [json.dumps([one.id, one.name, _without_nulls(one.args)], sort_keys=True) for one in calls]


def _without_nulls(args: Mapping[str, Any] | str) -> dict[str, Any] | str:
    if isinstance(args, str):
        return args
    return {key: value for key, value in args.items() if value is not None}


def brief(message: Message) -> str:
    """A message as a sentence quotes it."""
    of_call = f" of call {message.call}" if message.call else ""
    status = f" ({message.status})" if message.status else ""
    asked = ", ".join(f"{call.id}={call.name} {json.dumps(call.args)}" for call in message.tool_calls)
    return f"{message.role}{of_call}{status} {message.text[:30]!r}{' asking for ' + asked if asked else ''}"


def as_asked_for(state: Knowledge, messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, with each call that was edited as the model asked for it: a history may show both."""
    if "an edit" not in state.features:
        return messages
    edited = {call.id: call.forms for run in state.runs.values() for call in run.every_call if call.edits}
    return [_as_asked_for(message, edited) for message in messages]


def _as_asked_for(message: Message, edited: Mapping[str, list[Form]]) -> Message:
    calls = [
        one.model_copy(update={"name": forms[0].name, "args": forms[0].args})
        if (forms := edited.get(one.id)) and any(Form(one.name, one.args).is_like(form) for form in forms)
        else one
        for one in message.tool_calls
    ]
    return message.model_copy(update={"tool_calls": calls})


@dataclass(slots=True)
class Passage:
    """A message of the user or the model, and the results that follow it, those that are final."""

    said: Message
    results: list[Message] = field(default_factory=list)


def passages(messages: Sequence[Message]) -> list[Passage]:
    """A history cut at each message of the user or the model; what the system says is left out."""
    found: list[Passage] = []
    for message in messages:
        if message.role in ("user", "assistant"):
            found.append(Passage(message))
        elif message.role == "tool" and message.status != "pending" and found:
            found[-1].results.append(message)
    return found


def break_between(before: Sequence[Passage], after: Sequence[Passage]) -> str:
    """How a history does not continue an earlier one, or an empty string."""
    for index, was in enumerate(before):
        if index >= len(after):
            return f"{brief(was.said)} is missing"
        now = after[index]
        if what_differs(was.said, now.said):
            return f"{brief(was.said)} is now {brief(now.said)}"
        if changed := _changed_result(was.results, now.results):
            return changed
    return ""


def _changed_result(before: Sequence[Message], after: Sequence[Message]) -> str:
    """Which result is gone, or is not what it was; those that have come since may stand anywhere.

    Results under an id that was used twice are left to PAIR-3 and ROUND-3.
    """
    places, uses = [], Counter(one.call for one in before)
    for was in (one for one in before if uses[one.call] == 1):
        same = [at for at, now in enumerate(after) if now.call == was.call]
        if not same:
            return f"{brief(was)} is missing"
        if what_differs(was, after[same[0]]):
            return f"{brief(was)} is now {brief(after[same[0]])}"
        places.append(same[0])
    return "" if places == sorted(places) else "its results stand in another order"
