"""What a runtime answers to a stimulus, and to a look at it."""

from __future__ import annotations

from pydantic import Field

from interlock.conformance.protocol.observations import AnyObservation, Message, Reason
from interlock.conformance.protocol.stimuli import Refusal
from interlock.conformance.protocol.vocabulary import CallStatus, RunStatus
from interlock.conformance.protocol.wire import Wire


class Report(Wire):
    """The answer to a stimulus: all that happened since, in order."""

    observations: list[AnyObservation] = Field(default_factory=list)
    quiescent: bool = True
    refused: list[Refusal] = Field(default_factory=list)


class CallSnapshot(Wire):
    """A call as `inspect` shows it."""

    status: CallStatus
    attempts: int | None = None


class Snapshot(Wire):
    """A run as `inspect` shows it; before the first run the status is null."""

    status: RunStatus | None = None
    reason: Reason | None = None
    step: int | None = None
    calls: dict[str, CallSnapshot] = Field(default_factory=dict)
    messages: list[Message] = Field(default_factory=list)


class Empty(Wire):
    """No parameters, or an answer that only says: done."""
