"""What actions look at, and how they release a gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.lifecycle.messages import Handshake, ToolSpec
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.nesting import leaves
from runlock.conformance.families.lifecycle.state.records import ObservedCall, ObservedGate, Run
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.trace.moves import Move


@dataclass(slots=True)
class Stage:
    """What actions look at: the state, the handshake, and how far each kind of id has been used."""

    state: ObservedState
    counts: dict[str, int] = field(default_factory=dict)
    handshake: Handshake = field(init=False)  # what the runtime can take

    def __post_init__(self) -> None:
        self.handshake = self.state.handshake

    @property
    def run(self) -> Run | None:
        """The run that is not Done."""
        run = self.state.run
        return run if run is not None and not run.is_done else None

    def aside(self) -> Stage:
        """The same, for actions that only try whether there is an occasion for them."""
        return Stage(self.state, dict(self.counts))

    def fresh(self, prefix: str) -> str:
        """An id that was not used yet."""
        self.counts[prefix] = self.counts.get(prefix, 0) + 1
        return f"{prefix}{self.counts[prefix]}"

    def request(self, method: str, params: dict[str, Any]) -> Move:
        """A move that is a request: with a watcher, where each request has a stream of its own."""
        if not self.handshake.is_watched("watch.request"):
            return Move(method, params)
        return request(self.handshake, method, params, self.fresh("w"), self.counts["w"])

    def gates(self, on: str) -> list[ObservedGate]:
        """The open gates of one kind."""
        return [gate for gate in self.state.open_gates if gate.on == on]

    def tools(self, gate: ObservedGate) -> list[ToolSpec]:
        """The tools that the model at a gate may ask for."""
        return self.state.scene_of(gate).tools

    def waiting(self) -> list[ObservedCall]:
        """The calls of the run that wait for a decision, and those within its calls."""
        return [] if self.run is None else [call for call in leaves(self.state, self.run) if call.waits]

    def may_decide(self) -> bool:
        """Whether a decision can be handed over now."""
        return self.state.run is not None and "decide" in self.handshake.stimuli and self.takes_verbs()

    def takes_verbs(self) -> bool:
        """Whether something can be handed to the run now: some runtimes take nothing while a segment runs."""
        return self.handshake.decisions.live or self.is_idle()

    def is_idle(self) -> bool:
        """Whether no segment runs."""
        return self.state.quiescent and not self.state.open_gates


def request(handshake: Handshake, method: str, params: dict[str, Any], watcher: str, number: int) -> Move:
    """A request with a watcher, if each has a stream of its own; `number` selects the kind of stream.

    Every second one leaves the earlier messages out, where that can be.
    """
    if not handshake.is_watched("watch.request"):
        return Move(method, params)
    stream = handshake.streams[number % len(handshake.streams)]
    resent = {"resent": "none"} if handshake.inputs.newest and number % 2 == 0 else {}
    return Move(method, {**params, "watcher": watcher, "stream": stream, **resent})


Action = Callable[[Stage, Chooser], Move | None]


def offered(stage: Stage, on: str, kind: str) -> bool:
    """Whether the runtime takes an outcome of that kind at a gate."""
    return stage.handshake.takes_at(on, kind)


def release(stage: Stage, chooser: Chooser, on: str, outcome: dict[str, Any]) -> Move | None:
    """An open gate of that kind is released with an outcome that the runtime takes."""
    gates = stage.gates(on)
    if not gates or not offered(stage, on, outcome["kind"]):
        return None
    return Move("gate.release", {"gate": pick(chooser, gates).ref, "outcome": outcome})
