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
from runlock.conformance.families.tool_runner.messages.stimuli import SENT
from runlock.conformance.protocol.methods import methods_of
from runlock.conformance.protocol.vocabulary import Vocabulary

METHODS: Final = methods_of(RunnerHandshake, RunnerScenario, RunnerReport, RunnerSnapshot, SENT)
VOCABULARY: Final = Vocabulary(
    RunnerHandshake, RunnerScenario, RunnerReport, RunnerSnapshot, METHODS, LISTED, OUTCOMES_BY_GATE
)
