"""Session actions: starts and cancels of turns, interactors that leave, watchers, late answers."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.message_loop.actions.context import Stage
from runlock.conformance.families.message_loop.state.records import ObservedGate
from runlock.conformance.family.chooser import Chooser, chance, pick
from runlock.conformance.trace.moves import INSPECT, Move


def start(stage: Stage, chooser: Chooser) -> Move | None:
    """A turn begins, of a kind that the scenario allows."""
    if stage.turn is not None or (stage.state.run is not None and not stage.takes("run.again")):
        return None
    run = stage.fresh("r")
    return Move("run.start", {"run": run, **pick(chooser, beginnings(stage, run))})


def beginnings(stage: Stage, run: str) -> list[dict[str, Any]]:
    """What a turn may begin with in this scenario."""
    turns, driver = stage.handshake.turns, stage.scenario.driver
    found: list[dict[str, Any]] = [{"input": f"input of {run}"}] if "chat" in turns else []
    names = list(driver.stages) if driver is not None else []
    if names and "stage" in turns:
        found += [{"stage": {"id": stage.fresh("x"), "name": name}} for name in names]
    if len(names) > 1 and "group" in turns:
        group = [{"id": stage.fresh("x"), "name": name} for name in names[:2]]
        found.append({"group": group, "join": None})
        if "join" in turns:
            found.append({"group": group, "join": {"id": stage.fresh("x"), "name": names[-1]}})
    return found or [{"input": f"input of {run}"}]


def cancel(stage: Stage, chooser: Chooser) -> Move | None:
    """The user interrupts the turn."""
    run = stage.state.run
    return Move("cancel", {"run": run.id}) if run is not None and stage.takes("cancel") else None


def late_answer(stage: Stage, chooser: Chooser) -> Move | None:
    """The environment answers a gate that the runtime has closed."""
    gates = late_gates(stage)
    if not gates or not stage.takes("late"):
        return None
    gate = gates[-1 - chooser.choose(len(gates))]
    kinds: dict[str, list[dict[str, Any]]] = {
        "prompt": [{"kind": "allow"}, {"kind": "deny"}],
        "tool": [{"kind": "ok", "content": "too late"}],
    }
    if "session" in stage.handshake.grants:
        kinds["prompt"].append({"kind": "allow", "scope": "session"})
    return Move("late", {"gate": gate.ref, "outcome": pick(chooser, kinds[gate.on])})


def late_gates(stage: Stage) -> list[ObservedGate]:
    """Closed gates that have not received a late answer."""
    answered = {params["gate"] for _, params in stage.state.late}
    return [
        gate
        for gate in stage.state.gates.values()
        if gate.on in ("prompt", "tool")
        and gate.closed_at
        and gate.outcome is None
        and gate.id not in answered
    ]


def interactor_goes(stage: Stage, chooser: Chooser) -> Move | None:
    """An interactor leaves and no longer answers."""
    if not stage.state.active or not stage.takes("interactor.gone"):
        return None
    return Move("interactor.gone", {"interactor": pick(chooser, stage.state.active)})


def watch(stage: Stage, chooser: Chooser) -> Move | None:
    """A watcher subscribes to the events."""
    if not stage.takes("watch"):
        return None
    return Move("watch", {"watcher": stage.fresh("w"), "fails": chance(chooser, 3)})


def unwatch(stage: Stage, chooser: Chooser) -> Move | None:
    """A watcher unsubscribes."""
    watchers = list(stage.state.watchers)
    return (
        Move("unwatch", {"watcher": pick(chooser, watchers)}) if watchers and stage.takes("watch") else None
    )


def settle(stage: Stage, chooser: Chooser) -> Move | None:
    """The runtime runs until it is idle, without a stimulus."""
    return Move("settle", {}) if stage.state.run is not None else None


def time_passes(stage: Stage, chooser: Chooser) -> Move | None:
    """Time passes."""
    if stage.state.run is None or not stage.takes("clock.advance"):
        return None
    return Move("clock.advance", {"ms": 1000}) if stage.handshake.control.clock == "virtual" else None


def look(stage: Stage, chooser: Chooser) -> Move | None:
    """The kit looks at the turn."""
    run = stage.state.run
    return Move(INSPECT, {"run": run.id}) if run is not None else None
