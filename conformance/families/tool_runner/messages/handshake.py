"""The handshake of a tool runner."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from runlock.conformance.families.tool_runner.messages.observations import LISTED
from runlock.conformance.families.tool_runner.messages.vocabulary import (
    REQUIRED_GATES,
    RunnerGateKind,
    RunnerStimulus,
    StopReasonName,
)
from runlock.conformance.protocol import Handshake, not_misspelt
from runlock.conformance.protocol.unknown_keys import Declared


def _all_gates(gates: list[RunnerGateKind]) -> list[RunnerGateKind]:
    """Reject a handshake that lacks a gate: every runner of this family has all of them."""
    missing = [gate for gate in REQUIRED_GATES if gate not in gates]
    if missing:
        raise PydanticCustomError("gate", "Input should name '{gate}' too", {"gate": missing[0]})
    return gates


class RunnerOutcomes(Declared):
    """Outcomes that the runner accepts at each gate; what is left out is not offered."""

    model: list[Literal["turn", "delta", "fault"]] = ["turn"]
    tool: list[Literal["ok", "error", "raise", "fault"]] = ["ok"]
    yield_: list[Literal["resume", "break"]] = Field(default=["resume"], alias="yield")

    def at(self, gate: str) -> tuple[str, ...]:
        """The outcomes that are offered at a gate."""
        if gate == "model":
            return tuple(self.model)
        if gate == "tool":
            return tuple(self.tool)
        return tuple(self.yield_) if gate == "yield" else ()


class RunnerOffer(Declared):
    """The capabilities that a scenario may use."""

    stream: list[bool] = [False]
    read: list[Literal["all", "none"]] = ["all"]
    max_iterations: bool = False


class RunnerHandshake(Handshake):
    """The runner's half of the handshake; stimuli, outcomes and stop reasons left out are not offered."""

    family: Literal["tool-runner"] = "tool-runner"
    profile: str = "tool-runner"
    gates: Annotated[list[RunnerGateKind], AfterValidator(_all_gates)]  # type: ignore[assignment]
    observes: list[Annotated[str, AfterValidator(lambda kind: not_misspelt(kind, LISTED))]] = Field(
        default_factory=list
    )
    stimuli: list[RunnerStimulus] = Field(default_factory=list)
    outcomes: RunnerOutcomes = RunnerOutcomes()
    stops: list[StopReasonName] = Field(default_factory=list)
    runner: RunnerOffer = RunnerOffer()
