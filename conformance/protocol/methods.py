"""The verbs of the protocol, each with what it carries and what its answer carries."""

from __future__ import annotations

from typing import Final

from runlock.conformance.protocol.handshake import Handshake, Initialize
from runlock.conformance.protocol.observations import Snapshot
from runlock.conformance.protocol.reports import Empty, Report
from runlock.conformance.protocol.scenario import Closed, Scenario
from runlock.conformance.protocol.stimuli import (
    Cancel,
    ClockAdvance,
    Crash,
    Decide,
    Deliver,
    GateRelease,
    Inspect,
    Recover,
    RunInput,
    RunStart,
    Settle,
    Unwatch,
    Watch,
)
from runlock.conformance.protocol.wire import Wire

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
