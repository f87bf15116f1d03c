"""The model answers, whole or piece by piece."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.message_loop.actions.context import Stage
from runlock.conformance.families.message_loop.state.records import ObservedGate
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.trace.moves import Move

CALLS_MAX: Final = 3
UNKNOWN: Final = "no-such-tool"


def begun(gate: ObservedGate) -> tuple[str, list[dict[str, Any]]]:
    """The text and the calls that were streamed so far; the whole response must contain them."""
    text = "".join(str(delta.get("text") or "") for delta in gate.deltas)
    calls: dict[str, dict[str, Any]] = {}
    for piece in (delta["tool_call"] for delta in gate.deltas if delta.get("tool_call")):
        known = calls.setdefault(piece["id"], asked(piece["id"], piece.get("name") or UNKNOWN))
        known["name"] = piece.get("name") or known["name"]
    return text, list(calls.values())


def asked(call: str, tool: str) -> dict[str, Any]:
    """A tool call requested by the model; every tool accepts its call id and any value."""
    return {"id": call, "name": tool, "args": {"k": call, "v": 1}}


def _gate(stage: Stage, chooser: Chooser) -> ObservedGate | None:
    gates = stage.gates("model")
    return pick(chooser, gates) if gates else None


def response(gate: ObservedGate, text: str, calls: list[dict[str, Any]], **more: Any) -> Move:
    """Release a model gate with a whole response, which begins with what was streamed."""
    said, pieces = begun(gate)
    known = {call["id"] for call in pieces}
    every = [*pieces, *(call for call in calls if call["id"] not in known)]
    outcome: dict[str, Any] = {"kind": "turn", "text": said + text, "tool_calls": every, "terminal": False}
    return Move("gate.release", {"gate": gate.ref, "outcome": {**outcome, **more}})


def offered(stage: Stage, gate: ObservedGate) -> list[str]:
    """The tools that the model may request here: those of the scenario, except stage completions."""
    return [tool.name for tool in stage.scenario.tools]


def model_asks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for some calls."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.scenario.tools:
        return None
    tools = offered(stage, gate)
    calls = [asked(stage.fresh("c"), pick(chooser, tools)) for _ in range(1 + chooser.choose(CALLS_MAX))]
    return response(gate, pick(chooser, ("", f"asks {gate.id}")), calls)


def model_asks_for_one_kind(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for several calls of one tool."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.scenario.tools:
        return None
    tool = pick(chooser, offered(stage, gate))
    return response(gate, "", [asked(stage.fresh("c"), tool) for _ in range(2 + chooser.choose(2))])


def model_ends(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for nothing more."""
    gate = _gate(stage, chooser)
    return response(gate, f"that is all, {stage.fresh('end')}", []) if gate is not None else None


def model_is_terminal(stage: Stage, chooser: Chooser) -> Move | None:
    """The provider says that the turn ends after these calls."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.scenario.tools or not stage.handshake.takes("model", "terminal"):
        return None
    calls = [asked(stage.fresh("c"), pick(chooser, offered(stage, gate)))]
    return response(gate, "the last calls", calls, terminal=True)


def model_errs(stage: Stage, chooser: Chooser) -> Move | None:
    """The model requests a tool that does not exist, or sends arguments that are not valid JSON."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.scenario.tools:
        return None
    tool = pick(chooser, offered(stage, gate))
    good, unknown = asked(stage.fresh("c"), tool), asked(stage.fresh("c"), UNKNOWN)
    choices = [[unknown], [good, unknown]]
    if stage.handshake.takes("model", "malformed"):
        bad = {**asked(stage.fresh("c"), tool), "args": '{"k": '}
        choices += [[bad], [good, bad], [bad, good]]
    return response(gate, "", pick(chooser, choices))


def model_repeats_an_id(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for two calls under one id, or under the id of an earlier response."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.scenario.tools or gate.path is None:
        return None
    tool, first = pick(chooser, offered(stage, gate)), stage.fresh("c")
    earlier = [call.id for call in gate.path.every_call() if call.answered_with]
    choices = [[asked(first, tool), asked(first, tool)]]
    if earlier:
        choices.insert(0, [asked(earlier[-1], tool)])
    return response(gate, "", pick(chooser, choices))


def model_says(stage: Stage, chooser: Chooser) -> Move | None:
    """The model streams a piece of text."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.handshake.takes("model", "delta"):
        return None
    delta = {"kind": "delta", "text": f"{stage.fresh('piece')} "}
    return Move("gate.release", {"gate": gate.ref, "outcome": delta})


def model_begins_a_call(stage: Stage, chooser: Chooser) -> Move | None:
    """The model streams a piece of a call, or the whole of it, and its response goes on."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.scenario.tools or not stage.handshake.takes("model", "delta"):
        return None
    call = asked(stage.fresh("c"), pick(chooser, offered(stage, gate)))
    args_text = json.dumps(call["args"])
    piece = {"id": call["id"], "name": call["name"], "args_text": pick(chooser, (args_text[:6], args_text))}
    return Move("gate.release", {"gate": gate.ref, "outcome": {"kind": "delta", "tool_call": piece}})


def model_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model cannot be reached, or breaks while it answers."""
    gate = _gate(stage, chooser)
    if gate is None or not stage.handshake.takes("model", "fault"):
        return None
    return Move(
        "gate.release", {"gate": gate.ref, "outcome": {"kind": "fault", "message": "the model broke"}}
    )


def completed(gate: ObservedGate, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The turn, extended so that it begins with everything that was streamed."""
    said, pieces = begun(gate)
    text = str(outcome.get("text") or "")
    calls = list(outcome.get("tool_calls") or [])
    missing = [piece for piece in pieces if piece["id"] not in {call["id"] for call in calls}]
    whole = text if text.startswith(said) else said + text
    return {"terminal": False, **outcome, "text": whole, "tool_calls": [*calls, *missing]}
