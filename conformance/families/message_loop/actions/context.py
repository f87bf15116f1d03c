"""The context that actions read, and how they propose the release of a gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.message_loop.messages import Handshake, Scenario
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedGate, ObservedTurn
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.trace.moves import Move


@dataclass(slots=True)
class Stage:
    """The context of an action: observed state, handshake, and the last used number of each kind of id."""

    state: ObservedState
    counts: dict[str, int] = field(default_factory=dict)
    handshake: Handshake = field(init=False)

    def __post_init__(self) -> None:
        self.handshake = self.state.handshake

    @property
    def scenario(self) -> Scenario:
        """The scenario at hand."""
        return self.state.scenario

    @property
    def turn(self) -> ObservedTurn | None:
        """The turn that has not ended."""
        turn = self.state.run
        return turn if turn is not None and not turn.is_done else None

    def aside(self) -> Stage:
        """A copy with its own id counters, for testing whether an action is enabled."""
        return Stage(self.state, dict(self.counts))

    def fresh(self, prefix: str) -> str:
        """An id that has not been used yet."""
        self.counts[prefix] = self.counts.get(prefix, 0) + 1
        return f"{prefix}{self.counts[prefix]}"

    def gates(self, on: str) -> list[ObservedGate]:
        """The open gates of one kind that can be answered."""
        gone = self.state.gone_in
        return [
            gate for gate in self.state.open_gates if gate.on == on and gate.opened.interactor not in gone
        ]

    def takes(self, stimulus: str) -> bool:
        """Whether the runtime accepts a stimulus."""
        return stimulus in self.handshake.stimuli


Action = Callable[[Stage, Chooser], Move | None]


def release_one(
    stage: Stage, chooser: Chooser, gates: Sequence[ObservedGate], outcome: dict[str, Any]
) -> Move | None:
    """Release one of these gates with an outcome that the runtime accepts."""
    if not gates or not stage.handshake.takes(gates[0].on, outcome["kind"]):
        return None
    return Move("gate.release", {"gate": pick(chooser, gates).ref, "outcome": outcome})


def release(stage: Stage, chooser: Chooser, on: str, outcome: dict[str, Any]) -> Move | None:
    """Release an open gate of that kind with an outcome that the runtime accepts."""
    return release_one(stage, chooser, stage.gates(on), outcome)
