"""Runs begin, are cancelled, are given input, are lost and come back; or time passes."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.lifecycle.actions.context import Stage
from runlock.conformance.family.chooser import Chooser, chance, pick
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move

SELDOM_IN_REAL_TIME: Final = 4
"""One crash in four is sent to a runtime that lives in real time."""

LOADED: Final = 3
"""One run in three after the first comes from a client that has loaded the thread."""

SPANS: Final = (1000, 2000, 4000)
"""How much time passes at once where waits have an end, in ms."""


def start(stage: Stage, chooser: Chooser) -> Move | None:
    """A run begins on the thread."""
    again = bool(stage.state.runs)
    if stage.run is not None or not stage.state.quiescent or stage.state.is_committing():
        return None  # the last commit of a run may stand between it and the next
    if again and "run.again" not in stage.handshake.stimuli:
        return None
    run = stage.fresh("r")
    loaded = again and stage.handshake.inputs.loaded and chance(chooser, LOADED)
    return stage.request(
        "run.start", {"run": run, "input": f"hello {run}", **({"resent": "loaded"} if loaded else {})}
    )


def cancel(stage: Stage, chooser: Chooser) -> Move | None:
    """The external cancel signal."""
    run = stage.state.run
    if run is None or "cancel" not in stage.handshake.stimuli:
        return None
    waits = stage.state.quiescent and not stage.state.open_gates
    if waits and "cancel.waiting" not in stage.handshake.stimuli and not run.is_done:
        return None
    return Move("cancel", {"run": run.id})


def give_input(stage: Stage, chooser: Chooser) -> Move | None:
    """New user input for a run that is not Done."""
    if stage.run is None or "run.input" not in stage.handshake.stimuli:
        return None
    if not (stage.handshake.inputs.working or stage.is_idle()):
        return None
    return Move("run.input", {"run": stage.run.id, "input": f"never mind, do {stage.fresh('i')} instead"})


def crash(stage: Stage, chooser: Chooser) -> Move | None:
    """The runtime is lost, and comes back from what is durable."""
    run = stage.run
    if run is None or "soft" not in stage.handshake.control.crash:
        return None
    if stage.handshake.control.clock == "real" and not chance(chooser, SELDOM_IN_REAL_TIME):
        return None  # a process that starts takes longer than all of the rest
    return Move(CRASH_AND_RECOVER, {}) if stage.state.can_come_back(run) else None


def kill(stage: Stage, chooser: Chooser) -> Move | None:
    """The process of the runtime is killed, and another one comes back from what is durable."""
    run = stage.run
    if run is None or "kill" not in stage.handshake.control.crash:
        return None
    return Move(CRASH_AND_RECOVER, {"by": "kill"}) if stage.state.can_come_back(run) else None


def settle(stage: Stage, chooser: Chooser) -> Move | None:
    """Nothing happens; the runtime runs on."""
    return Move("settle", {}) if stage.state.runs else None


def time_passes(stage: Stage, chooser: Chooser) -> Move | None:
    """The clock moves on; where waits have an end, often past one."""
    able = "clock.advance" in stage.handshake.stimuli and stage.handshake.control.clock == "virtual"
    if not able or not stage.state.runs:
        return None
    return Move("clock.advance", {"ms": pick(chooser, SPANS) if stage.state.has_expiries else 1000})
