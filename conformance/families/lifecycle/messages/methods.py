"""The verbs of the protocol, each with what it carries and what its answer carries."""

from __future__ import annotations

from typing import Final

from pydantic import Field, field_validator

from runlock.conformance.families.lifecycle.messages.handshake import Handshake
from runlock.conformance.families.lifecycle.messages.observations import (
    AnyObservation,
    Snapshot,
    kept_apart,
)
from runlock.conformance.families.lifecycle.messages.scenario import Scenario
from runlock.conformance.families.lifecycle.messages.stimuli import (
    Decide,
    Deliver,
    RunInput,
    RunStart,
    Unwatch,
    Watch,
)
from runlock.conformance.protocol import reports as shared
from runlock.conformance.protocol.handshake import Initialize
from runlock.conformance.protocol.observations import Observation
from runlock.conformance.protocol.reports import Empty
from runlock.conformance.protocol.scenario import Closed
from runlock.conformance.protocol.stimuli import (
    Cancel,
    ClockAdvance,
    Crash,
    GateRelease,
    Inspect,
    Recover,
    Settle,
)
from runlock.conformance.protocol.wire import Wire


class Report(shared.Report):
    """The answer to a stimulus: all that happened since, in order."""

    observations: list[AnyObservation] = Field(default_factory=list)  # type: ignore[assignment]

    @field_validator("observations")
    @classmethod
    def _keeps_runs_within_calls_apart(cls, shown: list[Observation]) -> list[Observation]:
        return [kept_apart(seen) for seen in shown]


METHODS: Final[dict[str, tuple[type[Wire], type[Wire]]]] = {
    "initialize": (Initialize, Handshake),
    "scenario.open": (Scenario, Empty),
    "scenario.close": (Empty, Closed),
    "shutdown": (Empty, Empty),
    "run.start": (RunStart, Report),
    "gate.release": (GateRelease, Report),
    "decide": (Decide, Report),
    "cancel": (Cancel, Report),
    "run.input": (RunInput, Report),
    "watch": (Watch, Report),
    "unwatch": (Unwatch, Report),
    "clock.advance": (ClockAdvance, Report),
    "deliver": (Deliver, Report),
    "settle": (Settle, Report),
    "crash": (Crash, Empty),
    "recover": (Recover, Report),
    "inspect": (Inspect, Snapshot),
}
"""Each verb of the protocol with the model of its parameters and of its answer."""

STIMULI: Final[tuple[str, ...]] = tuple(name for name, (_, answer) in METHODS.items() if answer is Report)
