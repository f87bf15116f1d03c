"""The model answers."""

from __future__ import annotations

from typing import Any, Final

from runlock.conformance.families.lifecycle.actions.context import Stage, release
from runlock.conformance.families.lifecycle.state.records import ObservedGate
from runlock.conformance.family.chooser import Chooser, chance, pick
from runlock.conformance.trace.moves import Move

ENOUGH: Final = "that is enough"
"""What the model says now and then; a stop condition may listen for it."""
CALLS_MAX: Final = 3


def _turn(gate: ObservedGate, calls: list[dict[str, Any]], text: str) -> Move:
    outcome = {"kind": "turn", "text": text, "tool_calls": calls, "usage": {"input": 3, "output": 5}}
    return Move("gate.release", {"gate": gate.ref, "outcome": outcome})


def _asked(call: str, tool: str) -> dict[str, Any]:
    return {"id": call, "name": tool, "args": {"k": call, "v": 1}}


def _asked_again(stage: Stage, chooser: Chooser) -> dict[str, Any]:
    """The tool of a call that was approved for longer, often; and sometimes its arguments."""
    given = pick(chooser, stage.state.grants).call
    again = {"name": given.name} if chance(chooser, 2) else {}
    return {**again, "args": dict(given.args)} if again and chance(chooser, 2) else again


def model_asks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for some calls."""
    gates = stage.gates("model")
    if not gates or not stage.state.scenario.tools:
        return None
    count, tools = 1 + chooser.choose(CALLS_MAX), stage.tools(gates[0])
    calls = [_asked(stage.fresh("c"), pick(chooser, tools).name) for _ in range(count)]
    if stage.state.grants and "/" not in gates[0].run:
        calls[0] |= _asked_again(stage, chooser)
    return _turn(gates[0], calls, pick(chooser, ("", "", ENOUGH)))


def model_asks_for_one_kind(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for several calls of one tool."""
    gates = stage.gates("model")
    if not gates or not stage.state.scenario.tools:
        return None
    tool = pick(chooser, stage.tools(gates[0])).name
    return _turn(gates[0], [_asked(stage.fresh("c"), tool) for _ in range(2 + chooser.choose(2))], "")


def model_ends(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for nothing more."""
    gates = stage.gates("model")
    if not gates:
        return None
    return _turn(gates[0], [], f"<said {stage.fresh('a')}>" if "/" in gates[0].run else "that is all")


def model_errs(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for a tool that is not there, twice under one id, or under an id of a former turn."""
    gates = stage.gates("model")
    if not gates or not stage.state.scenario.tools:
        return None
    tool = pick(chooser, stage.tools(gates[0])).name
    first = stage.fresh("c")
    run = stage.run if "/" not in gates[0].run else None
    former = [call.id for call in run.calls.values() if call.is_final] if run is not None else []
    mistakes = [
        [_asked(first, "no-such-tool")],
        [_asked(first, tool), _asked(stage.fresh("c"), "no-such-tool")],
        [_asked(first, tool), _asked(first, tool)],
        [_asked(former[-1] if former else first, tool)],
    ]
    return _turn(gates[0], pick(chooser, mistakes), "")


def model_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model cannot be reached."""
    return release(stage, chooser, "model", {"kind": "fault", "message": "the model broke"})
