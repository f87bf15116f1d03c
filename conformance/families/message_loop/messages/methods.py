"""The methods of the family, each with its parameters and its answer."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from runlock.conformance.families.message_loop.messages.handshake import Handshake
from runlock.conformance.families.message_loop.messages.observations import (
    LISTED,
    AnyObservation,
    Snapshot,
)
from runlock.conformance.families.message_loop.messages.outcomes import OUTCOMES_BY_GATE
from runlock.conformance.families.message_loop.messages.scenario import Scenario
from runlock.conformance.families.message_loop.messages.stimuli import SENT
from runlock.conformance.protocol import reports as shared
from runlock.conformance.protocol.methods import methods_of
from runlock.conformance.protocol.vocabulary import Vocabulary


class Report(shared.Report):
    """The answer to a stimulus: everything that has happened since, in order."""

    observations: list[AnyObservation] = Field(default_factory=list)


METHODS: Final = methods_of(Handshake, Scenario, Report, Snapshot, SENT)
VOCABULARY: Final = Vocabulary(Handshake, Scenario, Report, Snapshot, METHODS, LISTED, OUTCOMES_BY_GATE)
