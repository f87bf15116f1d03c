"""Answers of a runtime to a stimulus."""

from __future__ import annotations

from pydantic import Field

from runlock.conformance.protocol.observations import Observation
from runlock.conformance.protocol.stimuli import Refusal
from runlock.conformance.protocol.wire import Wire


class Report(Wire):
    """The answer to a stimulus: everything that has happened since the last one, in order."""

    observations: list[Observation] = Field(default_factory=list)
    quiescent: bool = True
    refused: list[Refusal] = Field(default_factory=list)


class Empty(Wire):
    """No parameters, or an answer without content."""
