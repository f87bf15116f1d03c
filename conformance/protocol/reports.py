"""What a runtime answers to a stimulus."""

from __future__ import annotations

from pydantic import Field

from runlock.conformance.protocol.observations import Observation
from runlock.conformance.protocol.stimuli import Refusal
from runlock.conformance.protocol.wire import Wire


class Report(Wire):
    """The answer to a stimulus: all that happened since, in order."""

    observations: list[Observation] = Field(default_factory=list)
    quiescent: bool = True
    refused: list[Refusal] = Field(default_factory=list)


class Empty(Wire):
    """No parameters, or an answer that only says: done."""
