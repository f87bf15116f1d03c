"""Short descriptions of the moves and observations of a message loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.messages.outcomes import CallPiece
from runlock.conformance.text import counted, plain, quoted
from runlock.conformance.trace.moves import Move

Fields = Mapping[str, Any]


def step(move: Move) -> str:
    """One move of a schedule."""
    words = _part(move.method, move.params)
    return words if move.turns is None else f"{words} (at most {move.turns} turns)"


def _part(method: str, params: Fields) -> str:
    words = _STEPS.get(method)
    return plain(method if words is None else words(params))


def _started(params: Fields) -> str:
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


def _race(params: Fields) -> str:
    return "at once: " + "; ".join(_part(one["method"], one["params"]) for one in params["stimuli"])


_STEPS: Final[Mapping[str, Callable[[Fields], str]]] = {
    "run.start": _started,
    "gate.release": lambda params: f"release {params['gate']} {_outcome(params['outcome'])}",
    "cancel": lambda params: f"cancel {params['run']}",
    "late": lambda params: f"late answer at {params['gate']}: {_outcome(params['outcome'])}",
    "interactor.gone": lambda params: f"interactor {params['interactor']} goes",
    "watch": lambda params: f"{params['watcher']} watches{' and fails' if params.get('fails') else ''}",
    "unwatch": lambda params: f"{params['watcher']} watches no more",
    "clock.advance": lambda params: f"{params['ms']} ms pass",
    "deliver": _race,
    "inspect": lambda params: f"look at {params['run']}",
}


def shown(seen: Fields) -> str:
    """One observation, in short."""
    words = _SEEN.get(str(seen.get("kind")))
    return plain(words(seen) if words is not None else str(seen.get("kind")))


def _message(message: Fields) -> str:
    calls = ", ".join(f"{call['id']}:{call['name']}" for call in message.get("tool_calls") or ())
    call = f" {message['call']} {message.get('status') or ''}".rstrip() if message.get("call") else ""
    text = f" {quoted(message['text'])}" if message.get("text") else ""
    return f"{message.get('role')}{call}{f' {calls}' if calls else ''}{text}"


def _gate(seen: Fields) -> str:
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


def _event(seen: Fields) -> str:
    data = seen.get("data")
    given = {} if not isinstance(data, Mapping) else data
    told = {key: value for key, value in given.items() if key not in ("turnId", "correlationId")}
    to = f" to {seen['watcher']}" if seen.get("watcher") else ""
    return f"{seen.get('name')}{to} {', '.join(f'{key} {value}' for key, value in told.items())}".rstrip()


def _finished(seen: Fields) -> str:
    reason = seen.get("reason") or {}
    stop = f" ({reason['stop'].get('code')})" if reason.get("stop") else ""
    return f"{seen.get('run')} ended: {reason.get('code')}{stop}"


_SEEN: Final[Mapping[str, Callable[[Fields], str]]] = {
    "gate.open": _gate,
    "gate.closed": lambda seen: f"gate {seen.get('gate')} is given up",
    "run.status": lambda seen: f"{seen.get('run')} is {seen.get('to')}",
    "call.status": lambda seen: f"{seen.get('call')} is {seen.get('to')}",
    "message": lambda seen: f"appended: {_message(seen.get('message') or {})}",
    "checkpoint": lambda seen: f"stored: {seen.get('cause')}",
    "event": _event,
    "run.finished": _finished,
}
