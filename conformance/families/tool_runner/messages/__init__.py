"""The messages of the family tool-runner, as pydantic models: what its requests and answers carry.

The models that all families share (messages of a thread, faults, reports) come from the protocol.
"""

from runlock.conformance.families.tool_runner.messages.handshake import (
    RunnerHandshake as RunnerHandshake,
    RunnerOffer as RunnerOffer,
    RunnerOutcomes as RunnerOutcomes,
)
from runlock.conformance.families.tool_runner.messages.methods import (
    METHODS as METHODS,
    VOCABULARY as VOCABULARY,
)
from runlock.conformance.families.tool_runner.messages.observations import (
    LISTED as LISTED,
    MessageAppended as MessageAppended,
    Published as Published,
    Reason as Reason,
    Responded as Responded,
    RunFinished as RunFinished,
    RunMoved as RunMoved,
    RunnerGate as RunnerGate,
    RunnerInspected as RunnerInspected,
    RunnerReport as RunnerReport,
)
from runlock.conformance.families.tool_runner.messages.outcomes import (
    RELEASED as RELEASED,
    OUTCOMES_BY_GATE as OUTCOMES_BY_GATE,
    Delta as Delta,
    Resume as Resume,
    RunnerOutcome as RunnerOutcome,
    RunnerTurn as RunnerTurn,
)
from runlock.conformance.families.tool_runner.messages.scenario import (
    RunnerOptions as RunnerOptions,
    RunnerScenario as RunnerScenario,
    RunnerTool as RunnerTool,
)
from runlock.conformance.families.tool_runner.messages.stimuli import (
    USER_VERBS as USER_VERBS,
)
