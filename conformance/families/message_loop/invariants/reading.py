"""How the messages of a request are read: what was said, and what it should have become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.message_loop.invariants.occasions import (
    request_of,
    rewrite_of,
    rewritten_by,
)
from runlock.conformance.families.message_loop.messages import GateOpened, Message
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedCall,
    ObservedPass,
    ObservedRequest,
    ObservedTurn,
)

Said = tuple[Any, ...]


def said(message: Message) -> Said:
    """What a message says, so that two can be compared."""
    return message.role, message.text, tuple(call.id for call in message.tool_calls), message.call


def upcoming(state: ObservedState, path: ObservedPass) -> ObservedRequest | None:
    """The request that is about to be sent, if its stages opened a gate before."""
    return request_of(state, path, "SEND_REQUEST", "pre")


def is_as_composed(state: ObservedState, path: ObservedPass) -> bool:
    """Whether no transform rewrote the messages of the request that is about to be sent."""
    request = upcoming(state, path)
    return request is None or not request.rewritten("messages")


def slices_given(path: ObservedPass) -> list[str]:
    """Every slice that a context provider has given in a pass."""
    gates = (gate for request in path.requests for gate in request.contexts)
    return [text for gate in gates for text in (gate.answer or {}).get("slices") or [] if text]


def conversation(state: ObservedState, path: ObservedPass, messages: Sequence[Message]) -> list[Message]:
    """The messages without system messages, and without those that hold context."""
    slices = slices_given(path) if state.scenario.context else []
    return [one for one in messages if one.role != "system" and not any(text in one.text for text in slices)]


def base_of(state: ObservedState, request: ObservedRequest) -> list[Message] | None:
    """The messages of a request that was sent as composed."""
    gate = request.gate
    if gate is None or gate.opened.messages is None or request.rewritten("messages"):
        return None
    return conversation(state, request.path, gate.opened.messages)


def texts_of(request: ObservedRequest) -> set[str] | None:
    """The texts that a response may have in the history; None where transforms rewrote pieces of it."""
    if request.response is None:
        return None
    if any(rewritten_by(gate) for gate in request.hook_gates("STREAM_RESPONSE", "pre")):
        return None
    return {str(request.response.get("text", ""))}


def final_texts_of(path: ObservedPass) -> set[str] | None:
    """The texts that the last response of a pass may have in the history: its own, or its payload."""
    texts = texts_of(path.sent[-1]) if path.sent else None
    if texts is None:
        return None
    was_rewritten, value = rewrite_of([g for g in path.hooks if g.opened.at == "RENDER"], "text")
    return texts | ({str(value)} if was_rewritten else set())


def input_of(path: ObservedPass) -> str | None:
    """The input of a pass, as transforms rewrote it; the body in a stage execution."""
    gates = [g for g in path.hooks if (g.opened.at, g.opened.point) == ("RECEIVE_INPUT", "pre")]
    was_rewritten, value = rewrite_of(gates, "input")
    if was_rewritten:
        return value if isinstance(value, str) else None
    if path.stage is None:
        return path.turn.input
    execution = path.turn.executions.get(path.stage)
    return execution.spec.body if execution is not None and execution.spec is not None else None


def result_of(call: ObservedCall) -> tuple[str | None, str | None]:
    """Status and text that the result of a call must have, each None where it is not fixed."""
    status, text = _answered(call)
    was_rewritten, value = rewrite_of(call.hook_gates("post"), "status")
    if was_rewritten:
        status = str(value)
    was_rewritten, value = rewrite_of(call.hook_gates("post"), "content")
    if was_rewritten:
        text = value if isinstance(value, str) else None
    return status, text


def _answered(call: ObservedCall) -> tuple[str | None, str | None]:
    kind = call.answered_with
    content = (call.answer or {}).get("content")
    text = content if isinstance(content, str) and content else None
    if kind == "ok":
        return "ok", text
    if kind == "error":
        return "error", text
    if kind == "raise":
        return "error", None
    if call.was_aborted:
        return "cancelled", None
    return (None if call.path.turn.cancelled_at else "error"), None


def chat_turns_before(state: ObservedState, turn: ObservedTurn) -> list[ObservedTurn]:
    """The chat turns before a turn, oldest first."""
    return [one for one in state.turns.values() if one.number < turn.number and one.kind == "chat"]


def is_doubled(turn: ObservedTurn) -> bool:
    """Whether a response of the turn asked for two calls under one id."""
    return any(call.doubled for call in turn.every_call())


def any_doubled(state: ObservedState) -> bool:
    """Whether any response of the session did."""
    return any(is_doubled(turn) for turn in state.turns.values())


def sending(state: ObservedState, seen: GateOpened) -> tuple[ObservedPass, list[Message]] | None:
    """The pass of a request that opens its model gate, and its conversation, if it is as composed."""
    path = state.path_of(seen)
    if path is None or seen.messages is None or not is_as_composed(state, path):
        return None
    return path, conversation(state, path, seen.messages)
