"""The parts of a family's vocabulary of messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from runlock.conformance.protocol.declared import Declared
from runlock.conformance.protocol.handshake import Handshake
from runlock.conformance.protocol.observations import Observation
from runlock.conformance.protocol.reports import Report
from runlock.conformance.protocol.scenario import Scenario
from runlock.conformance.protocol.wire import Wire


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The messages of a family: models of its handshake, scenario, verbs, observations and gate outcomes."""

    handshake: type[Handshake]
    scenario: type[Scenario]
    report: type[Report]
    snapshot: type[Wire]
    methods: Mapping[str, tuple[type[Wire], type[Wire]]]  # verb: its parameters and its answer
    observations: Mapping[str, type[Observation]]  # kind: its model
    outcomes: Mapping[str, TypeAdapter[Any]]  # gate: its outcomes

    @property
    def stimuli(self) -> tuple[str, ...]:
        """The verbs whose answer is a report."""
        return tuple(verb for verb, (_, answer) in self.methods.items() if answer is self.report)

    def need_of(self, verb: str) -> str:
        """What a runtime has to offer for a verb, in the words of the clauses' needs; empty for nothing."""
        params = self.methods[verb][0] if verb in self.methods else None
        declared: Declared | None = getattr(params, "declared", None)
        return declared.needs if declared is not None else ""

    def is_taken(self, verb: str, handshake: Handshake) -> bool:
        """Whether the handshake names the stimulus that a verb is, where a runtime may lack it."""
        word, _, stimulus = self.need_of(verb).partition(" ")
        return word != "stimulus" or stimulus in handshake.stimuli

    def check_observation(self, seen: Mapping[str, Any]) -> None:
        """Raise a `ValidationError` if an observation does not fit the model of its kind."""
        self.report.model_validate({"observations": [seen]})
