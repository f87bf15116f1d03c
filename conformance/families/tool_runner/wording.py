"""Short descriptions of the moves and observations of a runner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.text import plain, quoted
from runlock.conformance.trace.moves import Move

Fields = Mapping[str, Any]


def step(move: Move) -> str:
    """One move of a schedule, as in `push user “note”`."""
    words = _part(move.method, move.params)
    return words if move.turns is None else f"{words} (at most {move.turns} turns)"


def _part(method: str, params: Fields) -> str:
    words = _STEPS.get(method)
    return plain(method if words is None else words(params))


def _released(params: Fields) -> str:
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


def _set(params: Fields) -> str:
    given = [f"params {params['params']}"] if params.get("params") is not None else []
    if params.get("messages") is not None:
        given.append(f"messages {_messages(params['messages'])}")
    return f"set {' and '.join(given)}"


def _tools(params: Fields) -> str:
    changes = [f"{verb} {', '.join(params[verb])}" for verb in ("remove", "add") if params.get(verb)]
    return f"tools {' '.join(changes)}"


def _race(params: Fields) -> str:
    return "at once: " + "; ".join(_part(one["method"], one["params"]) for one in params["stimuli"])


_STEPS: Final[Mapping[str, Callable[[Fields], str]]] = {
    "run.start": lambda params: f"start {params['run']} {quoted(params.get('input', ''))}",
    "gate.release": _released,
    "runner.push": lambda params: f"push {_messages(params['messages'])}",
    "runner.set": _set,
    "runner.respond": lambda params: "respond",
    "runner.tools": _tools,
    "runner.again": lambda params: f"again {params['run']}",
    "cancel": lambda params: f"cancel {params['run']}",
    "clock.advance": lambda params: f"{params['ms']} ms pass",
    "settle": lambda params: "settle",
    "inspect": lambda params: "inspect",
    "deliver": _race,
}


def shown(seen: Fields) -> str:
    """One observation, as in `gate.open model: request 2 with user “hello”`."""
    words = _SEEN.get(str(seen.get("kind")))
    return plain(str(seen.get("kind")) if words is None else words(seen))


def _gate(seen: Fields) -> str:
    if seen.get("on") == "model":
        return f"request {seen.get('step')}: {_messages(seen.get('messages'))}"
    if seen.get("on") == "yield":
        message = seen.get("message")
        return f"yield {seen.get('iteration')}: {_message(message) if message else 'a stream'}"
    return f"tool {seen.get('call')} {seen.get('name')} is entered"


def _finished(seen: Fields) -> str:
    reason = seen.get("reason") or {}
    return f"{seen.get('run')} ended: {reason.get('code')}"


_SEEN: Final[Mapping[str, Callable[[Fields], str]]] = {
    "gate.open": _gate,
    "gate.closed": lambda seen: f"gate {seen.get('gate')} is given up",
    "run.status": lambda seen: f"{seen.get('run')} is {seen.get('to')}",
    "message": lambda seen: f"appended: {_message(seen.get('message') or {})}",
    "runner.response": lambda seen: f"response: {_messages(seen.get('messages'))}",
    "event": lambda seen: f"{seen.get('name')} {seen.get('data')}",
    "run.finished": _finished,
}
