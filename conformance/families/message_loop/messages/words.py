"""The sentences of messages whose words are more than a template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from runlock.conformance.families.message_loop.messages.outcomes import CallPiece
from runlock.conformance.protocol.declared import Fields
from runlock.conformance.text import counted, quoted


def started(params: Fields) -> str:
    if params.get("group") is not None:
        names = " and ".join(one["name"] for one in params["group"])
        join = f", joined by {params['join']['name']}" if params.get("join") else ""
        return f"start {params['run']} with stages {names}{join}"
    if params.get("stage"):
        return f"start {params['run']} with stage {params['stage']['name']}"
    return f"start {params['run']} {quoted(params.get('input') or '')}"


def _outcome(outcome: Fields) -> str:
    calls = ", ".join(f"{call['id']}:{call['name']}" for call in outcome.get("tool_calls") or ())
    piece = outcome.get("tool_call")
    words = outcome.get("text") or outcome.get("content") or outcome.get("message")
    scope = outcome.get("scope")
    parts = [
        str(outcome.get("kind")),
        calls,
        f"{_extent(piece)} of {piece['id']}:{piece.get('name')}" if piece else "",
        quoted(str(words)) if words else "",
        f"for the {scope}" if scope not in (None, "once") else "",
        "as the last one" if outcome.get("terminal") else "",
        str(outcome["data"]) if outcome.get("data") else "",
    ]
    return " ".join(part for part in parts if part)


def _extent(piece: Fields) -> str:
    return "a piece" if CallPiece.model_validate(piece).whole is None else "the whole"


def released(params: Fields) -> str:
    return f"release {params['gate']} {_outcome(params['outcome'])}"


def late(params: Fields) -> str:
    return f"late answer at {params['gate']}: {_outcome(params['outcome'])}"


def watched(params: Fields) -> str:
    return f"{params['watcher']} watches{' and fails' if params.get('fails') else ''}"


# --- observations -------------------------------------------------------------------------------


def _message(message: Fields) -> str:
    calls = ", ".join(f"{call['id']}:{call['name']}" for call in message.get("tool_calls") or ())
    call = f" {message['call']} {message.get('status') or ''}".rstrip() if message.get("call") else ""
    text = f" {quoted(message['text'])}" if message.get("text") else ""
    return f"{message.get('role')}{call}{f' {calls}' if calls else ''}{text}"


def opened(seen: Fields) -> str:
    on, stage = str(seen.get("on")), f" of {seen['stage']}" if seen.get("stage") else ""
    words = _GATES.get(on)
    return f"{words(seen) if words is not None else f'a {on} gate opens'}{stage}"


def _hook(seen: Fields) -> str:
    about = f" for {seen['call']}" if seen.get("call") else ""
    return f"{seen.get('role')} {seen.get('hook')} at {seen.get('at')} {seen.get('point')}{about}"


_GATES: Final[Mapping[str, Callable[[Fields], str]]] = {
    "model": lambda seen: f"the model is asked with {counted(len(seen.get('messages') or []), 'message')}",
    "tool": lambda seen: f"tool {seen.get('call')} {seen.get('name')} is entered",
    "prompt": lambda seen: f"{seen.get('interactor')} is asked about {seen.get('call')} {seen.get('name')}",
    "hook": _hook,
    "sm": lambda seen: f"the state machine is asked about {seen.get('call')} {seen.get('name')}",
    "context": lambda seen: f"provider {seen.get('provider')} is asked",
    "assert": lambda seen: "the assertion is asked",
    "store.put": lambda seen: f"commit {seen.get('cause')}",
}


def published(seen: Fields) -> str:
    data = seen.get("data")
    given = {} if not isinstance(data, Mapping) else data
    told = {key: value for key, value in given.items() if key not in ("turnId", "correlationId")}
    to = f" to {seen['watcher']}" if seen.get("watcher") else ""
    return f"{seen.get('name')}{to} {', '.join(f'{key} {value}' for key, value in told.items())}".rstrip()


def finished(seen: Fields) -> str:
    reason = seen.get("reason") or {}
    stop = f" ({reason['stop'].get('code')})" if reason.get("stop") else ""
    return f"{seen.get('run')} ended: {reason.get('code')}{stop}"


def appended(seen: Fields) -> str:
    return f"appended: {_message(seen.get('message') or {})}"
