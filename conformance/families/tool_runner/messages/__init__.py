"""The messages of the family tool-runner, as pydantic models: what its requests and answers carry.

The models that all families share (messages of a thread, faults, reports) come from the protocol.
"""

from runlock.conformance.families.tool_runner.messages.handshake import (
    RunnerHandshake,
    RunnerOffer,
    RunnerOutcomes,
)
from runlock.conformance.families.tool_runner.messages.methods import (
    METHODS,
    VOCABULARY,
)
from runlock.conformance.families.tool_runner.messages.observations import (
    LISTED,
    MessageAppended,
    Published,
    Reason,
    Responded,
    RunFinished,
    RunMoved,
    RunnerCall,
    RunnerGate,
    RunnerInspected,
    RunnerObservation,
    RunnerReport,
    RunnerSnapshot,
    StopReason,
)
from runlock.conformance.families.tool_runner.messages.outcomes import (
    OUTCOMES_BY_GATE,
    Delta,
    Resume,
    RunnerOutcome,
    RunnerTurn,
)
from runlock.conformance.families.tool_runner.messages.scenario import (
    RunnerOptions,
    RunnerScenario,
    RunnerTool,
)
from runlock.conformance.families.tool_runner.messages.stimuli import (
    Again,
    ChangeTools,
    Push,
    Respond,
    RunnerDeliver,
    RunnerPart,
    RunStart,
    SetState,
)
from runlock.conformance.families.tool_runner.messages.vocabulary import (
    REQUIRED_GATES,
    RunnerGateKind,
    RunnerStatus,
    RunnerStimulus,
    StopReasonName,
)

__all__ = [
    "LISTED",
    "METHODS",
    "OUTCOMES_BY_GATE",
    "REQUIRED_GATES",
    "VOCABULARY",
    "Again",
    "ChangeTools",
    "Delta",
    "MessageAppended",
    "Published",
    "Push",
    "Reason",
    "Respond",
    "Responded",
    "Resume",
    "RunFinished",
    "RunMoved",
    "RunStart",
    "RunnerCall",
    "RunnerDeliver",
    "RunnerGate",
    "RunnerGateKind",
    "RunnerHandshake",
    "RunnerInspected",
    "RunnerObservation",
    "RunnerOffer",
    "RunnerOptions",
    "RunnerOutcome",
    "RunnerOutcomes",
    "RunnerPart",
    "RunnerReport",
    "RunnerScenario",
    "RunnerSnapshot",
    "RunnerStatus",
    "RunnerStimulus",
    "RunnerTool",
    "RunnerTurn",
    "SetState",
    "StopReason",
    "StopReasonName",
]
