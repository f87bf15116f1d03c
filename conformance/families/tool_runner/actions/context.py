"""The context that actions read, and how they propose the release of a gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.tool_runner.messages import RunnerHandshake
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.families.tool_runner.state.records import Iteration, ObservedGate
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.trace.moves import Move


@dataclass(slots=True)
class Stage:
    """The context of an action: the observed state, the handshake, and the ids used so far."""

    state: ObservedRunner
    counts: dict[str, int] = field(default_factory=dict)
    handshake: RunnerHandshake = field(init=False)

    def __post_init__(self) -> None:
        self.handshake = self.state.handshake

    def aside(self) -> Stage:
        """A copy with its own id counters, for testing whether an action is enabled."""
        return Stage(self.state, dict(self.counts))

    def fresh(self, prefix: str) -> str:
        """An id that has not been used yet."""
        self.counts[prefix] = self.counts.get(prefix, 0) + 1
        return f"{prefix}{self.counts[prefix]}"

    def gates(self, on: str) -> list[ObservedGate]:
        """The open gates of one kind."""
        return [gate for gate in self.state.open_gates if gate.on == on]

    def takes(self, stimulus: str) -> bool:
        """Whether the runner accepts a stimulus."""
        return stimulus in self.handshake.stimuli

    @property
    def acting(self) -> Iteration | None:
        """The iteration whose yield is open, in which the user can act."""
        iteration = self.state.iteration
        return iteration if iteration is not None and iteration.yielded is not None else None


Action = Callable[[Stage, Chooser], Move | None]


def offered(stage: Stage, on: str) -> list[str]:
    """The outcomes that the runner accepts at a gate."""
    return [*stage.handshake.outcomes.at(on)]


def release(stage: Stage, chooser: Chooser, on: str, outcome: dict[str, Any]) -> Move | None:
    """Release an open gate of that kind with an outcome that the runner accepts."""
    gates = stage.gates(on)
    if not gates or outcome["kind"] not in offered(stage, on):
        return None
    return Move("gate.release", {"gate": pick(chooser, gates).ref, "outcome": outcome})
