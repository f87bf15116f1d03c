"""Moves and observations in short readable words, safe to print whatever a runtime put into them.

A runtime's text may hold anything: what would move the cursor, change a colour or turn the writing
around is shown by its code instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.text import plain, quoted
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move

Params = Mapping[str, Any]

SPELLED: Final = {
    "ag ui": "AG-UI",
    "ai sdk": "AI SDK",
    "copilotkit": "CopilotKit",
    "max rounds": "max_rounds",
}
"""Words of titles as their owners spell them."""


def step(move: Move) -> str:
    """One move of a schedule, as in `decide c1 resume (d1)`."""
    words = _part(move.method, move.params)
    return words if move.turns is None else f"{words} (at most {_counted(move.turns, 'turn')})"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _part(method: str, params: Params) -> str:
    words = _STEPS.get(method)
    return plain(method if words is None else words(params))


def _started(params: Params) -> str:
    return f"start {params['run']} {quoted(params.get('input', ''))}{_with_decisions(params)}"


def _given_input(params: Params) -> str:
    return f"input {params['run']} {quoted(params.get('input', ''))}{_with_decisions(params)}"


def _with_decisions(params: Params) -> str:
    return f", decide {_decisions(params)}" if params.get("decisions") else ""


def _decided(params: Params) -> str:
    return f"decide {_decisions(params) or 'nothing'}"


def _decisions(params: Params) -> str:
    return ", ".join(_decision(one) for one in params.get("decisions", ()))


def _decision(decision: Params) -> str:
    payload = f" with {quoted(decision['payload'])}" if decision.get("payload") is not None else ""
    if decision.get("edit"):
        payload += f", edited to {quoted(decision['edit'])}"
    suspension = decision.get("suspension")
    of = f", its suspension {suspension}" if suspension is not None else ""
    return f"{decision['call']} {decision['action']}{payload} ({decision['id']}{of})"


def _released(params: Params) -> str:
    on, _, call = str(params["gate"]).partition(":")
    return _RELEASES.get(on, _released_other)(call, params["outcome"], on)


def _model(call: str, outcome: Params, _on: str) -> str:
    model = f"model of {call}" if call else "model"
    if outcome["kind"] == "fault":
        return f"{model} breaks"
    text, asked = outcome.get("text", ""), ", ".join(map(_asked, outcome.get("tool_calls", ())))
    usage = outcome.get("usage") or {}
    tokens = usage.get("input", 0) + usage.get("output", 0)
    said = f"says {quoted(text)} and asks" if text else "asks"
    return f"{model} {f'{said} {asked}' if asked else f'ends {quoted(text)}'}{_tokens(tokens)}"


def _tokens(number: int) -> str:
    return f" ({number} tokens)" if number else ""


def _asked(call: Params) -> str:
    """A call with the arguments that are not just its own id."""
    args = {key: value for key, value in call.get("args", {}).items() if (key, value) != ("k", call["id"])}
    return f"{call['id']} {call['name']}{f' {quoted(args)}' if args else ''}"


def _permission(call: str, outcome: Params, _on: str) -> str:
    verbs = {"allow": "allows", "block": "blocks", "suspend": "suspends", "set_result": "answers for"}
    return f"permission {verbs.get(outcome['kind'], 'breaks at')} {call}"


def _tool(call: str, outcome: Params, _on: str) -> str:
    verbs = {"raise": "throws", "fault": "cannot be run", "activity": "tells what it is doing"}
    return f"tool {call} {verbs.get(outcome['kind'], 'answers ' + str(outcome['kind']))}"


def _hook(at: str, outcome: Params, _on: str) -> str:
    verbs = {
        "continue": "lets it go on",
        "terminate": "ends the run",
        "skip_inference": "skips the inference",
        "rewrite": f"rewrites {quoted(outcome.get('data'))}",
        "block": "tries to block the call",
    }
    phase, _, call = at.partition(":")
    return f"plugin at {phase}{f' of {call}' if call else ''} {verbs.get(outcome['kind'], 'breaks')}"


def _store(_call: str, outcome: Params, _on: str) -> str:
    return "store breaks" if outcome["kind"] == "fault" else "store takes it"


def _released_other(call: str, outcome: Params, on: str) -> str:
    return f"{on}{f' {call}' if call else ''} answers {outcome['kind']}"


_RELEASES: Final[dict[str, Callable[[str, Params, str], str]]] = {
    "model": _model,
    "permission": _permission,
    "tool": _tool,
    "hook": _hook,
    "store.put": _store,
}


def _raced(params: Params) -> str:
    return f"race: {' | '.join(_part(one['method'], one['params']) for one in params['stimuli'])}"


_STEPS: Final[dict[str, Callable[[Params], str]]] = {
    "run.start": _started,
    "run.input": _given_input,
    "decide": _decided,
    "gate.release": _released,
    "deliver": _raced,
    "cancel": lambda params: f"cancel {params['run']}",
    "watch": lambda params: f"{params['watcher']} watches",
    "unwatch": lambda _: "the stream is cut",
    "inspect": lambda params: f"look at {params['run']}",
    "clock.advance": lambda params: f"{params['ms']} ms pass",
    CRASH_AND_RECOVER: lambda params: (
        "kill and recover" if params.get("by") == "kill" else "crash and recover"
    ),
}


# --- observations -------------------------------------------------------------------------------


def shown(seen: Params) -> str:
    """One observation, as in `c1 is Suspended`."""
    words = _SHOWN.get(str(seen.get("kind")))
    try:
        return plain(words(seen) if words is not None else _other(seen))
    except (KeyError, TypeError, AttributeError):  # it does not fit the protocol
        return plain(_other(seen))


def _other(seen: Params) -> str:
    return f"{seen.get('kind')} {quoted({key: value for key, value in seen.items() if key != 'kind'})}"


def _run_of(seen: Params) -> str:
    return f"run {seen['run']}" if "/" in str(seen.get("run")) else "the run"


def _opened(seen: Params) -> str:
    if seen["on"] == "model":
        within = str(seen.get("run")).rpartition("/")[2] if "/" in str(seen.get("run")) else ""
        return f"the model of {within} is asked" if within else "the model is asked"
    if seen["on"] == "tool":
        attempt = seen.get("attempt")
        return f"tool {seen['call']} is entered{f' (attempt {attempt})' if (attempt or 1) > 1 else ''}"
    if seen["on"] == "permission":
        return f"permission for {seen['call']} is asked"
    if seen["on"] == "hook":
        return f"a plugin is held at {seen['at']}{' of ' + str(seen['call']) if seen.get('call') else ''}"
    if seen["on"] == "store.put":
        return f"{seen.get('trigger')} waits for the store"
    return f"a {seen['on']} gate opens"


def _ended(seen: Params) -> str:
    reason = seen["reason"]
    pending = ", ".join(str(call) for call in seen.get("pending", ()))
    within = f" of {seen['run']}" if "/" in str(seen.get("run")) else ""
    return f"the segment{within} ends: {reason['code']}{f', {pending} pending' if pending else ''}"


def _message(seen: Params) -> str:
    message = seen["message"]
    of = f" for {message['call']}" if message.get("call") is not None else ""
    status = f" ({message['status']})" if message.get("status") is not None else ""
    return f"message of {message['role']}{of}{status}: {quoted(message.get('text', ''))}"


def _inspected(seen: Params) -> str:
    calls = "".join(f", {call} {one['status']}" for call, one in (seen.get("calls") or {}).items())
    return f"the look shows the run {seen.get('status')}{calls}"


_SHOWN: Final[dict[str, Callable[[Params], str]]] = {
    "gate.open": _opened,
    "gate.closed": lambda seen: f"gate {seen['gate']} is given up",
    "run.status": lambda seen: f"{_run_of(seen)} is {seen['to']}",
    "call.status": lambda seen: f"{seen['call']} is {seen['to']}",
    "run.finished": _ended,
    "message": _message,
    "checkpoint": lambda seen: f"checkpoint {seen['trigger']}",
    "event": lambda seen: f"event {seen['name']} to {seen.get('watcher') or 'nobody'}",
    "stream.closed": lambda seen: f"the stream of {seen.get('watcher') or 'nobody'} is closed",
    "phase": lambda seen: f"phase {seen['phase']}{' of ' + str(seen['call']) if seen.get('call') else ''}",
    "resume": lambda seen: f"resume gate: {seen['state']}",
    "decision": lambda seen: f"decision {seen['decision']} is {seen['disposition']}",
    "call.shown": lambda seen: f"{seen['call']} is shown as {seen['name']} {quoted(seen.get('args'))}",
    "inspect": _inspected,
}
