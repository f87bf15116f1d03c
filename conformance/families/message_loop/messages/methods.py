"""The methods of the family, each with its parameters and its answer."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from runlock.conformance.families.message_loop.messages.handshake import Handshake
from runlock.conformance.families.message_loop.messages.observations import AnyObservation, Snapshot
from runlock.conformance.families.message_loop.messages.scenario import Scenario
from runlock.conformance.families.message_loop.messages.stimuli import (
    Deliver,
    InteractorGone,
    Late,
    RunStart,
    Unwatch,
    Watch,
)
from runlock.conformance.protocol import reports as shared
from runlock.conformance.protocol.handshake import Initialize
from runlock.conformance.protocol.reports import Empty
from runlock.conformance.protocol.scenario import Closed
from runlock.conformance.protocol.stimuli import Cancel, ClockAdvance, GateRelease, Inspect, Settle
from runlock.conformance.protocol.wire import Wire


class Report(shared.Report):
    """The answer to a stimulus: everything that has happened since, in order."""

    observations: list[AnyObservation] = Field(default_factory=list)  # type: ignore[assignment]


METHODS: Final[dict[str, tuple[type[Wire], type[Wire]]]] = {
    "initialize": (Initialize, Handshake),
    "scenario.open": (Scenario, Empty),
    "scenario.close": (Empty, Closed),
    "shutdown": (Empty, Empty),
    "run.start": (RunStart, Report),
    "gate.release": (GateRelease, Report),
    "cancel": (Cancel, Report),
    "late": (Late, Report),
    "interactor.gone": (InteractorGone, Report),
    "watch": (Watch, Report),
    "unwatch": (Unwatch, Report),
    "clock.advance": (ClockAdvance, Report),
    "deliver": (Deliver, Report),
    "settle": (Settle, Report),
    "inspect": (Inspect, Snapshot),
}
"""Each method with the models of its parameters and of its answer."""
