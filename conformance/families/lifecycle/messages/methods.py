"""The verbs of the protocol, each with what it carries and what its answer carries."""

from __future__ import annotations

from typing import Final

from pydantic import Field, field_validator

from runlock.conformance.families.lifecycle.messages.handshake import Handshake
from runlock.conformance.families.lifecycle.messages.observations import (
    LISTED,
    AnyObservation,
    Snapshot,
    kept_apart,
)
from runlock.conformance.families.lifecycle.messages.outcomes import OUTCOMES_BY_GATE
from runlock.conformance.families.lifecycle.messages.scenario import Scenario
from runlock.conformance.families.lifecycle.messages.stimuli import SENT
from runlock.conformance.protocol import reports as shared
from runlock.conformance.protocol.methods import methods_of
from runlock.conformance.protocol.observations import Observation
from runlock.conformance.protocol.vocabulary import Vocabulary


class Report(shared.Report):
    """The answer to a stimulus: all that happened since, in order."""

    observations: list[AnyObservation] = Field(default_factory=list)

    @field_validator("observations")
    @classmethod
    def _keeps_runs_within_calls_apart(cls, shown: list[Observation]) -> list[Observation]:
        return [kept_apart(seen) for seen in shown]


METHODS: Final = methods_of(Handshake, Scenario, Report, Snapshot, SENT)
VOCABULARY: Final = Vocabulary(Handshake, Scenario, Report, Snapshot, METHODS, LISTED, OUTCOMES_BY_GATE)
