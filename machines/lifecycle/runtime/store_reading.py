"""What a stored checkpoint has to be before a run goes on from it.

A store outlives the program that wrote it.  What is read is therefore judged whole before any of it is
used: a run that goes on from half a state would execute what it should not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from runlock.machines.lifecycle.runtime.state import CALL_TABLE, CREATED_TABLE
from runlock.machines.lifecycle.runtime.world import WorldFault

FORMAT: Final = 1
"""Raised whenever a checkpoint says something new, or the same in another way."""


class StoreRefused(WorldFault):
    """A store that cannot be used; the words name the file and the place, and nothing was changed."""


class _Read(BaseModel):
    model_config = ConfigDict(strict=True)


class _Run(_Read):
    number: int
    status: str
    reason: dict[str, Any] | None
    step: int


class _Call(_Read):
    status: str
    name: str
    args: dict[str, JsonValue]
    resume_mode: Literal["replay", "use_as_result", "pass_to_tool"]
    suspension: int
    step: int
    committed: bool
    expires_at_ms: int | None = None
    waits_as: str | None = None


class _Decision(_Read):
    id: str
    action: Literal["resume", "cancel"]
    payload: JsonValue
    edit: dict[str, JsonValue] | None = None


class _Early(_Decision):
    call: str
    suspension: int | None


class _Asked(_Read):
    id: str
    name: str
    args: dict[str, JsonValue] | str  # as text where they do not parse


class _Message(_Read):
    role: Literal["user", "assistant", "tool"]
    text: str
    tool_calls: list[_Asked] = []
    call: str | None = None
    status: Literal["ok", "error", "pending", "cancelled"] | None = None


class _Own(_Read):
    early: list[_Early]
    seen_decisions: list[str]
    turn_was_last: bool
    tokens: int
    errors_in_a_row: int
    history_of_calls: list[list[JsonValue]]
    started_ms: int
    steps_ended: int
    setup: dict[str, JsonValue] = {}


class _Checkpoint(_Read):
    run: _Run
    calls: dict[str, _Call]
    decisions: dict[str, _Decision]
    messages: list[_Message]
    own: _Own


def read_checkpoint(written_as: int, text: str, where: str) -> dict[str, Any]:
    """The checkpoint that stands at `where`, once nothing speaks against it; raises `StoreRefused`."""
    if written_as != FORMAT:
        raise StoreRefused(
            f"{where}: the checkpoint has format {written_as}, and this runtime reads {FORMAT}."
        )
    try:
        state = json.loads(text)
        seen = _Checkpoint.model_validate(state)
    except (TypeError, ValueError) as flaw:
        raise StoreRefused(f"{where}: the checkpoint {_told(flaw)}.") from flaw
    for objection in _objections(seen):
        raise StoreRefused(f"{where}: {objection}.")
    read: dict[str, Any] = state
    return read


def _told(flaw: Exception) -> str:
    if not isinstance(flaw, ValidationError):
        return f"is no JSON: {flaw}"
    first = flaw.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "as a whole"
    if first["type"] == "missing":
        return f"lacks {place}"
    return f"does not fit at {place}, which is {str(first['input'])[:60]!r}: {first['msg']}"


def _objections(seen: _Checkpoint) -> Iterator[str]:
    """What contradicts itself: statuses that no chart has, and calls that only half of the state knows."""
    yield from _unknown_statuses(seen)
    asked = [call.id for message in seen.messages for call in message.tool_calls]
    own = asked[len(asked) - len(seen.own.history_of_calls) :]  # the others are calls of the runs before
    decided = [*seen.decisions, *(decision.call for decision in seen.own.early)]
    for source, calls in (("a decision", decided), ("a turn of the model", own)):
        for call in calls:
            if call not in seen.calls:
                yield f"{source} names call {call}, which is not in the checkpoint"
    yield from _unasked(seen, asked, own)


def _unknown_statuses(seen: _Checkpoint) -> Iterator[str]:
    for call_id, call in seen.calls.items():
        if call.status not in CALL_TABLE.states:
            known = ", ".join(CALL_TABLE.states)
            yield f"call {call_id} is {call.status}, which is none of {known}"
    if seen.run.status not in CREATED_TABLE.states:
        yield f"the run is {seen.run.status}, which is none of {', '.join(CREATED_TABLE.states)}"


def _unasked(seen: _Checkpoint, asked: list[str], own: list[str]) -> Iterator[str]:
    answered: Mapping[str, _Message] = {m.call: m for m in seen.messages if m.role == "tool" and m.call}
    for named in answered:
        if named not in asked:
            yield f"a message answers call {named}, which is not in the checkpoint"
    for call_id, call in seen.calls.items():
        if call_id not in own:
            yield f"call {call_id} is in the checkpoint, but no turn of the model asked for it"
        if call.committed and call_id not in answered:
            yield f"call {call_id} is {call.status}, but the message with its result is not in the checkpoint"
