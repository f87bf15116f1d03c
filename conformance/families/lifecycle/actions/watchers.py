"""Someone comes to watch, or stops."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.actions.context import Stage
from runlock.conformance.families.lifecycle.actions.decisions import decide_one
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.trace.moves import Move


def watch(stage: Stage, chooser: Chooser) -> Move | None:
    """A watcher comes, and replaces the one before."""
    run = stage.state.run
    if run is None or not stage.handshake.is_watched("watch"):
        return None
    stream = pick(chooser, stage.handshake.streams)
    return Move("watch", {"run": run.id, "watcher": stage.fresh("w"), "stream": stream})


def unwatch(stage: Stage, chooser: Chooser) -> Move | None:
    """The watcher's stream is cut."""
    run = stage.state.run
    if run is None or stage.state.audience.watcher is None or not stage.handshake.is_watched("watch"):
        return None
    return Move("unwatch", {"run": run.id})


def decide_and_watch(stage: Stage, chooser: Chooser) -> Move | None:
    """One request brings decisions and a watcher of what comes of them."""
    move = decide_one("resume")(stage, chooser)
    if move is None or not stage.handshake.is_watched("watch"):
        return None
    stream = pick(chooser, stage.handshake.streams)
    return Move("decide", {**move.params, "watcher": stage.fresh("w"), "stream": stream})
