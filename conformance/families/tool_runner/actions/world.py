"""Actions of the environment: start, cancel, tool answers, time, and `inspect`."""

from __future__ import annotations

from runlock.conformance.families.tool_runner.actions.context import Action, Stage, release
from runlock.conformance.family.chooser import Chooser
from runlock.conformance.trace.moves import INSPECT, Move


def start(stage: Stage, chooser: Chooser) -> Move | None:
    """A runner is created and starts to iterate."""
    return None if stage.state.runs else Move("run.start", {"run": "r1", "input": "hello r1"})


def cancel(stage: Stage, chooser: Chooser) -> Move | None:
    """The abort signal is given."""
    run = stage.state.run
    return Move("cancel", {"run": run.id}) if run is not None and stage.takes("cancel") else None


def tool_answers(kind: str) -> Action:
    """Builds the action in which a tool gives this kind of answer."""

    def answer(stage: Stage, chooser: Chooser) -> Move | None:
        """A tool answers."""
        words = f"{kind} {stage.fresh('a')}"
        field = "content" if kind in ("ok", "error") else "message"
        return release(stage, chooser, "tool", {"kind": kind, field: words})

    return answer


def settle(stage: Stage, chooser: Chooser) -> Move | None:
    """The runner runs until it is idle, without a stimulus."""
    return Move("settle", {}) if stage.state.runs else None


def time_passes(stage: Stage, chooser: Chooser) -> Move | None:
    """Time passes."""
    if not stage.state.runs or not stage.takes("clock.advance"):
        return None
    return Move("clock.advance", {"ms": 1000}) if stage.handshake.control.clock == "virtual" else None


def look(stage: Stage, chooser: Chooser) -> Move | None:
    """The kit inspects the run."""
    run = stage.state.run
    return Move(INSPECT, {"run": run.id}) if run is not None else None
