"""One record of a trace as lines of a scenario file.

A record whose shape the words do not fit is written as `record KEY={…}`.  Whether they fit is not
reasoned about: every line is read back before it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.trace.definitions import WIDTH, Notes
from runlock.conformance.trace.line_formats import (
    CRASH,
    DECISION,
    END,
    HANDSHAKE,
    HOOK,
    INDENT,
    OBSERVED,
    OUTCOME,
    REFUSED,
    SAYS,
    SCENARIO,
    SENT,
    STOP,
    TOOL,
    UNLISTED,
    Known,
    Shape,
    about,
    call_of,
    gate_of_a_call,
    reason_of,
)
from runlock.conformance.trace.parser import read
from runlock.conformance.trace.trace import Record
from runlock.conformance.trace.values import (
    Malformed,
    encode,
    quoted,
    same,
)


def write(record: Record, known: Known, notes: Notes) -> list[str]:
    """The lines that say this record to whoever has read the file so far."""
    lines = _told(record, known, notes)
    if lines is not None:
        try:
            if same(read(lines, known, notes), record):
                return lines
        except Malformed:
            pass
    key, value = next(iter(record.items()))
    return [f"record {encode(key)}={notes.text(key, value)}"]


def _told(record: Record, known: Known, notes: Notes) -> list[str] | None:
    key, value = next(iter(record.items()))
    if not isinstance(value, dict):
        return None
    teller = _TELLERS.get(key)
    return teller(value, known, notes) if teller is not None else None


def _tell_stimulus(value: dict[str, Any], known: Known, notes: Notes) -> list[str] | None:
    method, params = value.get("method"), value.get("params")
    shape = SENT.get(method) if isinstance(method, str) else None
    if shape is None or not isinstance(params, dict):
        return None
    if method == "deliver":
        return _tell_race(params, known, notes)
    if method == "gate.release" and isinstance(params.get("outcome"), dict):
        return [_tell_release(params, known, notes)]
    if method == "decide" and _is_plain_batch(params.get("decisions")):
        return [_tell_decide(params, known, notes)]
    return [_line(shape, params, known, notes)]


def _tell_race(params: dict[str, Any], known: Known, notes: Notes) -> list[str] | None:
    members = params.get("stimuli")
    if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
        return None
    rest = {key: value for key, value in params.items() if key != "stimuli"}
    lines = [_line(SENT["deliver"], rest, known, notes)]
    for member in members:
        told = _tell_stimulus(member, known, notes)
        if told is None or len(told) != 1:
            return None
        lines.append(INDENT + told[0])
    return lines


def _tell_release(params: dict[str, Any], known: Known, notes: Notes) -> str:
    outcome = dict(params["outcome"])
    kind = outcome.pop("kind", None)
    words = [known.word_for(params.get("gate")), encode(kind)]
    asked = outcome.get("tool_calls")
    if kind == "turn" and isinstance(asked, list) and asked and all(_short_call(call) for call in asked):
        words += [str(_short_call(call)) for call in outcome.pop("tool_calls")]
    says = SAYS.get(kind) if isinstance(kind, str) else None
    if says is not None and says in outcome:
        said = outcome.pop(says)
        words.append(quoted(said) if isinstance(said, str) and ":" in said else notes.text(says, said))
    rest = {key: value for key, value in params.items() if key not in ("gate", "outcome")}
    words += _named(OUTCOME, outcome, notes) + _named(SENT["gate.release"], rest, notes)
    return " ".join(["release", *words])


def _is_plain_batch(decisions: Any) -> bool:
    return isinstance(decisions, list) and bool(decisions) and all(isinstance(one, dict) for one in decisions)


def _tell_decide(params: dict[str, Any], known: Known, notes: Notes) -> str:
    batch = [" ".join(_words(DECISION, decision, notes)) for decision in params["decisions"]]
    rest = {key: value for key, value in params.items() if key != "decisions"}
    return " ".join([f"decide {'; '.join(batch)}", *_words(about(SENT["decide"], rest, known), rest, notes)])


def _tell_observation(value: dict[str, Any], known: Known, notes: Notes) -> list[str] | None:
    kind = value.get("kind")
    shape = OBSERVED.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return [_line(UNLISTED, value, known, notes, open_ended=True)]
    fields = {key: inner for key, inner in value.items() if key != "kind"}
    if kind in ("run.status", "call.status"):
        return [_tell_status(shape, fields, known, notes)]
    if kind == "message" and isinstance(fields.get("message"), dict):
        fields |= fields.pop("message")
    elif kind == "gate.open":
        fields, shape = _shortened_gate(fields)
    return [_line(shape, fields, known, notes)]


def _tell_status(shape: Shape, fields: dict[str, Any], known: Known, notes: Notes) -> str:
    rest = {key: value for key, value in fields.items() if key not in ("from", "to")}
    words = [encode(rest.pop(name)) for name in shape.positions if name in rest]
    if "from" not in fields:
        words.append("-from")
    elif fields["from"] is not None:
        words.append(encode(fields["from"]))
    words += ["->", encode(fields.get("to"))]
    bare = Shape(shape.word, (), shape.model, shape.unsaid, about_a_run=True)
    return " ".join([shape.word, *words, *_words(about(bare, rest, known), rest, notes)])


def _shortened_gate(fields: dict[str, Any]) -> tuple[dict[str, Any], Shape]:
    on, call = fields.get("on"), fields.get("call")
    if not isinstance(on, str) or not isinstance(call, str):
        return fields, OBSERVED["gate.open"]
    short = {key: value for key, value in fields.items() if key != "call"}
    return {**short, "on": f"{on}:{call}"}, gate_of_a_call(call)


def _tell_scenario(value: dict[str, Any], known: Known, notes: Notes) -> list[str]:
    rest, members = dict(value), []
    if _is_plain_batch(rest.get("tools")):
        members += [_line(TOOL, tool, known, notes) for tool in rest.pop("tools")]
    agent = rest.get("agent")
    if isinstance(agent, dict) and agent.keys() == {"stop"} and _is_plain_batch(agent["stop"]):
        members += [_line(STOP, condition, known, notes) for condition in rest.pop("agent")["stop"]]
    if _is_plain_batch(rest.get("hooks")):
        members += [_line(HOOK, hook, known, notes) for hook in rest.pop("hooks")]
    if isinstance(rest.get("hold"), list) and rest["hold"]:
        members.append(" ".join(["hold", *(encode(gate) for gate in rest.pop("hold"))]))
    return [_line(SCENARIO, rest, known, notes), *(INDENT + member for member in members)]


def _tell_report(value: dict[str, Any], known: Known, notes: Notes) -> list[str] | None:
    if value.keys() != {"quiescent", "refused"} or not isinstance(value["refused"], list):
        return None
    if not all(isinstance(refusal, dict) for refusal in value["refused"]):
        return None
    lines = [_line(REFUSED, refusal, known, notes) for refusal in value["refused"]]
    if value["quiescent"] is not True:
        lines.append(f"report quiescent={encode(value['quiescent'])}")
    return lines


def _telling(shape: Shape) -> Callable[[dict[str, Any], Known, Notes], list[str]]:
    return lambda value, known, notes: [_line(shape, value, known, notes)]


_TELLERS: Final[dict[str, Callable[[dict[str, Any], Known, Notes], list[str] | None]]] = {
    "handshake": _telling(HANDSHAKE),
    "scenario": _tell_scenario,
    "stimulus": _tell_stimulus,
    "observation": _tell_observation,
    "report": _tell_report,
    "crash": _telling(CRASH),
    "end": _telling(END),
}


def _line(
    shape: Shape, fields: Mapping[str, Any], known: Known, notes: Notes, open_ended: bool = False
) -> str:
    return " ".join([shape.word, *_words(about(shape, fields, known), fields, notes, open_ended)])


def _words(shape: Shape, fields: Mapping[str, Any], notes: Notes, open_ended: bool = False) -> list[str]:
    rest, words = dict(fields), []
    for name in shape.positions:
        if name not in rest:
            break
        words.append(_field_text(name, rest.pop(name), notes))
    for name, value in shape.unsaid.items():
        if name not in fields:
            words.append(f"-{name}")
        elif name in rest and same(rest[name], value):
            del rest[name]
    return words + _named(shape, rest, notes, open_ended)


def _named(shape: Shape, rest: Mapping[str, Any], notes: Notes, open_ended: bool = False) -> list[str]:
    listed = shape.fields()
    return [
        f"{'' if open_ended or name in listed else '+'}{encode(name)}={_field_text(name, value, notes)}"
        for name, value in rest.items()
    ]


def _field_text(name: str, value: Any, notes: Notes) -> str:
    """The value of a field: a reason or a call that has nothing particular is one word."""
    if name == "reason":
        code = value.get("code") if isinstance(value, dict) else None
        if isinstance(code, str) and same(value, reason_of(code)) and encode(code) == code:
            return code
        return quoted(value) if isinstance(value, str) else notes.text(name, value)
    if name == "tool_calls" and isinstance(value, list):
        text = f"[{' '.join(_short_call(call) or _unmistakable(call) for call in value)}]"
        return text if len(text) <= WIDTH else notes.text(name, value)
    return notes.text(name, value)


def _unmistakable(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else encode(value)


def _short_call(call: Any) -> str | None:
    """A call as `id:tool`, if it has no argument but its own name."""
    if not isinstance(call, dict) or not isinstance(call.get("id"), str):
        return None
    identifier, name = call["id"], call.get("name")
    if not isinstance(name, str) or ":" in identifier or not same(call, call_of(identifier, name)):
        return None
    short = f"{identifier}:{name}"
    return short if encode(short) == short else None
