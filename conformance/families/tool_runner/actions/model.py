"""Actions of the model: whole turns, streamed pieces, mistakes, faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from runlock.conformance.families.tool_runner.actions.context import Stage, offered, release
from runlock.conformance.families.tool_runner.state.records import Iteration
from runlock.conformance.family.chooser import Chooser, chance, pick
from runlock.conformance.trace.moves import Move

CALLS_MAX: Final = 3
PIECES_MAX: Final = 4
Calls = Sequence[dict[str, Any]]


def pieces_of(iteration: Iteration | None) -> tuple[str, list[dict[str, Any]]]:
    """The text and the calls streamed so far, with which the whole turn begins."""
    pieces = [piece for piece, _ in iteration.deltas] if iteration is not None else []
    calls = [piece.tool_call.model_dump() for piece in pieces if piece.tool_call is not None]
    return "".join(piece.text or "" for piece in pieces), calls


def whole_turn(stage: Stage, calls: Calls, text: str, stop: str | None = None) -> Move | None:
    """The model completes its turn, which begins with the streamed pieces."""
    gates = stage.gates("model")
    if not gates:
        return None
    begun, begun_calls = pieces_of(stage.state.iteration)
    outcome: dict[str, Any] = {"kind": "turn", "text": begun + text, "tool_calls": [*begun_calls, *calls]}
    if stop is not None and stop in stage.handshake.stops:
        outcome["stop_reason"] = stop
    return Move("gate.release", {"gate": gates[0].ref, "outcome": outcome})


def asked(stage: Stage, tool: str) -> dict[str, Any]:
    """A new call of a tool."""
    call = stage.fresh("c")
    return {"id": call, "name": tool, "args": {"k": call, "v": 1}}


def said(stage: Stage) -> str:
    """Text that has not been used before, so that no two turns are equal."""
    return f"words {stage.fresh('w')}"


def _in_set(stage: Stage) -> list[str]:
    return sorted(stage.state.tools) or [tool.name for tool in stage.state.scenario.tools]


def model_asks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for some calls."""
    if not stage.gates("model") or not stage.state.scenario.tools:
        return None
    count = 1 + chooser.choose(CALLS_MAX)
    calls = [asked(stage, pick(chooser, _in_set(stage))) for _ in range(count)]
    return whole_turn(stage, calls, "" if chance(chooser, 2) else said(stage))


def model_ends(stage: Stage, chooser: Chooser) -> Move | None:
    """The model asks for nothing more."""
    return whole_turn(stage, [], said(stage)) if not pieces_of(stage.state.iteration)[1] else None


def model_stops(stage: Stage, chooser: Chooser) -> Move | None:
    """The model stops for any reason, with or without calls."""
    if not stage.gates("model") or not stage.handshake.stops or not stage.state.scenario.tools:
        return None
    stop = pick(chooser, stage.handshake.stops)
    calls = [asked(stage, pick(chooser, _in_set(stage))) for _ in range(chooser.choose(3))]
    return whole_turn(stage, calls, said(stage), stop)


def model_pauses(stage: Stage, chooser: Chooser) -> Move | None:
    """The model pauses."""
    if (
        "pause_turn" not in stage.handshake.stops
        or not stage.gates("model")
        or not stage.state.scenario.tools
    ):
        return None
    calls = [asked(stage, pick(chooser, _in_set(stage)))] if chance(chooser, 2) else []
    return whole_turn(stage, calls, said(stage), "pause_turn")


def model_errs(stage: Stage, chooser: Chooser) -> Move | None:
    """The model requests a tool that is not in the set, or two calls under one id."""
    if not stage.gates("model") or not stage.state.scenario.tools:
        return None
    tool = pick(chooser, _in_set(stage))
    known = [one.name for one in stage.state.scenario.tools]
    outside = pick(chooser, ["no-such-tool", *[name for name in known if name not in stage.state.tools]])
    mistake = chooser.choose(3)
    if mistake == 0:
        calls = [asked(stage, outside)]
    elif mistake == 1:
        calls = [asked(stage, tool), asked(stage, outside)]
    else:
        calls = [asked(stage, tool)] * 2
    return whole_turn(stage, calls, said(stage))


def model_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """The model cannot be reached, or fails during its answer."""
    return release(stage, chooser, "model", {"kind": "fault", "message": "the model broke"})


def model_gives_a_piece(stage: Stage, chooser: Chooser) -> Move | None:
    """The model streams a piece of its turn: some text, or a call."""
    iteration = stage.state.iteration
    if not stage.state.scenario.runner.stream or "delta" not in offered(stage, "model") or iteration is None:
        return None
    if not stage.gates("model") or len(iteration.deltas) >= PIECES_MAX:
        return None
    piece: dict[str, Any] = {"kind": "delta", "text": said(stage)}
    if stage.state.scenario.tools and chance(chooser, 3):
        piece = {"kind": "delta", "tool_call": asked(stage, pick(chooser, _in_set(stage)))}
    return release(stage, chooser, "model", piece)
