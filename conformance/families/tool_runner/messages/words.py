"""The sentences of messages whose words are more than a template."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.protocol.declared import Fields
from runlock.conformance.text import quoted


def released(params: Fields) -> str:
    return f"release {params['gate']} {_outcome(params['outcome'])}"


def _outcome(outcome: Fields) -> str:
    kind = str(outcome.get("kind"))
    calls = ", ".join(f"{call['id']}:{call['name']}" for call in outcome.get("tool_calls") or ())
    words = outcome.get("text") or outcome.get("content") or outcome.get("message")
    stop = f" ({outcome['stop_reason']})" if outcome.get("stop_reason") else ""
    piece = outcome.get("tool_call")
    named = f" {piece['id']}:{piece['name']}" if piece else ""
    return f"{kind}{f' {calls}' if calls else ''}{named}{f' {quoted(words)}' if words else ''}{stop}"


def _messages(messages: Sequence[Fields] | None) -> str:
    return "; ".join(map(_message, messages or ())) or "nothing"


def _message(message: Fields) -> str:
    calls = ", ".join(f"{call['id']}:{call['name']}" for call in message.get("tool_calls") or ())
    call = f" {message['call']} {message.get('status') or ''}".rstrip() if message.get("call") else ""
    text = f" {quoted(message['text'])}" if message.get("text") else ""
    return f"{message.get('role')}{call}{f' {calls}' if calls else ''}{text}"


def set_to(params: Fields) -> str:
    given = [f"params {params['params']}"] if params.get("params") is not None else []
    if params.get("messages") is not None:
        given.append(f"messages {_messages(params['messages'])}")
    return f"set {' and '.join(given)}"


def changed(params: Fields) -> str:
    changes = [f"{verb} {', '.join(params[verb])}" for verb in ("remove", "add") if params.get(verb)]
    return f"tools {' '.join(changes)}"


def pushed(params: Fields) -> str:
    return f"push {_messages(params['messages'])}"


# --- observations -------------------------------------------------------------------------------


def opened(seen: Fields) -> str:
    if seen.get("on") == "model":
        return f"request {seen.get('step')}: {_messages(seen.get('messages'))}"
    if seen.get("on") == "yield":
        message = seen.get("message")
        return f"yield {seen.get('iteration')}: {_message(message) if message else 'a stream'}"
    return f"tool {seen.get('call')} {seen.get('name')} is entered"


def finished(seen: Fields) -> str:
    reason = seen.get("reason") or {}
    return f"{seen.get('run')} ended: {reason.get('code')}"


def appended(seen: Fields) -> str:
    return f"appended: {_message(seen.get('message') or {})}"


def responded(seen: Fields) -> str:
    return f"response: {_messages(seen.get('messages'))}"
