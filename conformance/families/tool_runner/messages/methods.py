"""The methods of the family, each with its parameters and its answer."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.tool_runner.messages.handshake import RunnerHandshake
from runlock.conformance.families.tool_runner.messages.observations import (
    LISTED,
    RunnerReport,
    RunnerSnapshot,
)
from runlock.conformance.families.tool_runner.messages.outcomes import OUTCOMES_BY_GATE
from runlock.conformance.families.tool_runner.messages.scenario import RunnerScenario
from runlock.conformance.families.tool_runner.messages.stimuli import (
    Again,
    ChangeTools,
    Push,
    Respond,
    RunnerDeliver,
    RunStart,
    SetState,
)
from runlock.conformance.protocol import (
    Cancel,
    ClockAdvance,
    Closed,
    Empty,
    GateRelease,
    Initialize,
    Inspect,
    Settle,
    Wire,
)
from runlock.conformance.protocol.vocabulary import Vocabulary

METHODS: Final[dict[str, tuple[type[Wire], type[Wire]]]] = {
    "initialize": (Initialize, RunnerHandshake),
    "scenario.open": (RunnerScenario, Empty),
    "scenario.close": (Empty, Closed),
    "shutdown": (Empty, Empty),
    "run.start": (RunStart, RunnerReport),
    "gate.release": (GateRelease, RunnerReport),
    "runner.push": (Push, RunnerReport),
    "runner.set": (SetState, RunnerReport),
    "runner.respond": (Respond, RunnerReport),
    "runner.tools": (ChangeTools, RunnerReport),
    "runner.again": (Again, RunnerReport),
    "cancel": (Cancel, RunnerReport),
    "clock.advance": (ClockAdvance, RunnerReport),
    "deliver": (RunnerDeliver, RunnerReport),
    "settle": (Settle, RunnerReport),
    "inspect": (Inspect, RunnerSnapshot),
}
"""Each method of the family with the models of its parameters and of its answer."""

VOCABULARY: Final = Vocabulary(
    handshake=RunnerHandshake,
    scenario=RunnerScenario,
    report=RunnerReport,
    snapshot=RunnerSnapshot,
    methods=METHODS,
    observations=LISTED,
    outcomes=OUTCOMES_BY_GATE,
)
