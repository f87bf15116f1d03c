"""The sentences of messages whose words are more than a template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from runlock.conformance.protocol.declared import Fields, Sentence, filled
from runlock.conformance.text import quoted


def with_decisions(template: str) -> Sentence:
    """The template, followed by the decisions that come with the request."""

    def words(params: Fields) -> str:
        decisions = f", decide {_decisions(params)}" if params.get("decisions") else ""
        return f"{filled(template, params)}{decisions}{_resent(params)}"

    return words


def decided(params: Fields) -> str:
    return f"decide {_decisions(params) or 'nothing'}{_resent(params)}"


def _resent(params: Fields) -> str:
    said = {"none": ", without the earlier messages", "loaded": ", by a client that has loaded the thread"}
    return said.get(params.get("resent", ""), "")


def _decisions(params: Fields) -> str:
    return ", ".join(_decision(one) for one in params.get("decisions", ()))


def _decision(decision: Fields) -> str:
    payload = f" with {quoted(decision['payload'])}" if decision.get("payload") is not None else ""
    if decision.get("edit"):
        payload += f", edited to {quoted(decision['edit'])}"
    payload += f" for the {decision['scope']}" if decision.get("scope") else ""
    suspension = decision.get("suspension")
    of = f", its suspension {suspension}" if suspension is not None else ""
    return f"{decision['call']} {decision['action']}{payload} ({decision['id']}{of})"


def released(params: Fields) -> str:
    on, _, call = str(params["gate"]).partition(":")
    return _RELEASES.get(on, _released_other)(call, params["outcome"], on)


def _model(call: str, outcome: Fields, _on: str) -> str:
    model = f"model of {call}" if call else "model"
    if outcome["kind"] == "fault":
        return f"{model} breaks"
    if outcome["kind"] == "delta":
        return f"{model} streams {_streamed(outcome)}"
    text, asked = outcome.get("text", ""), ", ".join(map(_asked, outcome.get("tool_calls", ())))
    usage = outcome.get("usage") or {}
    tokens = usage.get("input", 0) + usage.get("output", 0)
    said = f"says {quoted(text)} and asks" if text else "asks"
    stop = SHORT.get(outcome.get("stop") or "", "")
    return f"{model} {f'{said} {asked}' if asked else f'ends {quoted(text)}'}{_tokens(tokens)}{stop}"


SHORT: Final[Mapping[str, str]] = {
    "length": " and is cut off",
    "refusal": ", as it refuses",
    "pause": ", and pauses",
}
"""By how a turn stopped before the model was done: what a sentence says of it."""


def _streamed(outcome: Fields) -> str:
    text, call = outcome.get("text"), outcome.get("tool_call")
    return " and ".join([*([quoted(text)] if text else []), *([_asked(call)] if call else [])]) or "nothing"


def _tokens(number: int) -> str:
    return f" ({number} tokens)" if number else ""


def _asked(call: Fields) -> str:
    """A call with the arguments that are not just its own id."""
    args = call.get("args", {})
    if isinstance(args, str):
        return f"{call['id']} {call['name']} {quoted(args)}"
    args = {key: value for key, value in args.items() if (key, value) != ("k", call["id"])}
    return f"{call['id']} {call['name']}{f' {quoted(args)}' if args else ''}"


def _permission(call: str, outcome: Fields, _on: str) -> str:
    verbs = {"allow": "allows", "block": "blocks", "suspend": "suspends", "set_result": "answers for"}
    return f"permission {verbs.get(outcome['kind'], 'breaks at')} {call}"


def _tool(call: str, outcome: Fields, _on: str) -> str:
    verbs = {"raise": "throws", "fault": "cannot be run", "activity": "tells what it is doing"}
    return f"tool {call} {verbs.get(outcome['kind'], 'answers ' + str(outcome['kind']))}"


def _hook(at: str, outcome: Fields, _on: str) -> str:
    verbs = {
        "continue": "lets it go on",
        "terminate": "ends the run",
        "skip_inference": "skips the inference",
        "rewrite": f"rewrites {quoted(outcome.get('data'))}",
        "block": "tries to block the call",
    }
    phase, _, call = at.partition(":")
    return f"plugin at {phase}{f' of {call}' if call else ''} {verbs.get(outcome['kind'], 'breaks')}"


def _store(_call: str, outcome: Fields, _on: str) -> str:
    return "store breaks" if outcome["kind"] == "fault" else "store takes it"


def _released_other(call: str, outcome: Fields, on: str) -> str:
    return f"{on}{f' {call}' if call else ''} answers {outcome['kind']}"


_RELEASES: Final[dict[str, Callable[[str, Fields, str], str]]] = {
    "model": _model,
    "permission": _permission,
    "tool": _tool,
    "hook": _hook,
    "store.put": _store,
}


# --- observations -------------------------------------------------------------------------------


def other(seen: Fields) -> str:
    return f"{seen.get('kind')} {quoted({key: value for key, value in seen.items() if key != 'kind'})}"


def moved(seen: Fields) -> str:
    run = f"run {seen['run']}" if "/" in str(seen.get("run")) else "the run"
    return f"{run} is {seen['to']}"


def entered(seen: Fields) -> str:
    return f"phase {seen['phase']}{' of ' + str(seen['call']) if seen.get('call') else ''}"


def shown_as(seen: Fields) -> str:
    return f"{seen['call']} is shown as {seen['name']} {quoted(seen.get('args'))}"


def published(seen: Fields) -> str:
    return f"event {seen['name']} to {seen.get('watcher') or 'nobody'}"


def closed(seen: Fields) -> str:
    return f"the stream of {seen.get('watcher') or 'nobody'} is closed"


def exchanged(seen: Fields) -> str:
    events = [str(event.get("type")) for event in seen.get("events", ())]
    told = f"{len(events)} events, the last one {events[-1]}" if events else "no event"
    request = (seen.get("request") or {}).get("runId")
    ended = ENDS.get(str(seen.get("ended", "closed")), "over")
    return f"{request or 'a request'} is answered with {told}; its stream is {ended}"


def prompted(seen: Fields) -> str:
    events = [str(event.get("type")) for event in seen.get("events", ())]
    return f"a prompt is {seen.get('ended', 'answered')} after {len(events)} messages"


ENDS: Final[Mapping[str, str]] = {
    "closed": "closed",
    "refused": "refused",
    "left": "left by the client",
}
"""By who ended a stream: what a sentence says of it."""


def opened(seen: Fields) -> str:
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


def ended(seen: Fields) -> str:
    reason = seen["reason"]
    pending = ", ".join(str(call) for call in seen.get("pending", ()))
    within = f" of {seen['run']}" if "/" in str(seen.get("run")) else ""
    return f"the segment{within} ends: {reason['code']}{f', {pending} pending' if pending else ''}"


def appended(seen: Fields) -> str:
    message = seen["message"]
    of = f" for {message['call']}" if message.get("call") is not None else ""
    status = f" ({message['status']})" if message.get("status") is not None else ""
    return f"message of {message['role']}{of}{status}: {quoted(message.get('text', ''))}"


def inspected(seen: Fields) -> str:
    calls = "".join(f", {call} {one['status']}" for call, one in (seen.get("calls") or {}).items())
    return f"the look shows the run {seen.get('status')}{calls}"
