"""Functions on messages: the calls of a turn, its position, its results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from runlock.machines.tool_runner.runtime.world import AskedCall, ModelTurn

Message = dict[str, Any]
Call = dict[str, Any]

NOT_SAID: Final[tuple[Any, ...]] = (None, [], "")


def plain(message: Mapping[str, Any]) -> Message:
    """A message without empty fields, so that equal messages compare equal."""
    said = {key: value for key, value in message.items() if value not in NOT_SAID and key != "text"}
    return {**said, "role": message["role"], "text": message.get("text") or ""}


def call_of(call: AskedCall) -> Call:
    """The call of a turn or of a piece."""
    return {"id": call.id, "name": call.name, "args": dict(call.args)}


def turn_message(turn: ModelTurn) -> Message:
    """The message of an assistant's turn."""
    calls = [call_of(one) for one in turn.tool_calls]
    return plain({"role": "assistant", "text": turn.text, "tool_calls": calls})


def stop_of(turn: ModelTurn) -> str:
    """Why the model stopped."""
    return turn.stop_reason or ("tool_use" if turn.tool_calls else "end_turn")


def result_message(call: Call, status: str, content: Any) -> Message:
    """The result of a call."""
    text = content if isinstance(content, str) else json.dumps(content)
    return plain({"role": "tool", "call": call["id"], "status": status, "text": text})


def calls_of(message: Mapping[str, Any]) -> list[Call]:
    """The calls of a message; repeated ids are left out."""
    calls: dict[str, Call] = {}
    for call in message.get("tool_calls", ()):
        calls.setdefault(call["id"], call)
    return list(calls.values())


def position(messages: Sequence[Message], message: Message, start: int = 0) -> int | None:
    """The first position of a message from `start` on."""
    return next((at for at in range(start, len(messages)) if messages[at] == message), None)


def answered(messages: Iterable[Message]) -> set[str]:
    """The ids of the calls that these messages answer."""
    return {message["call"] for message in messages if message["role"] == "tool"}


def after_results(messages: Sequence[Message], turn_at: int) -> int:
    """The position after a turn and its results."""
    at = turn_at + 1
    while at < len(messages) and messages[at]["role"] == "tool":
        at += 1
    return at
