"""The messages of the family message-loop, as pydantic models; the JSON Schemas are generated from them."""

from runlock.conformance.families.message_loop.messages.handshake import (
    Handshake as Handshake,
    OfferedOutcomes as OfferedOutcomes,
)
from runlock.conformance.families.message_loop.messages.methods import (
    METHODS as METHODS,
    VOCABULARY as VOCABULARY,
    Report as Report,
)
from runlock.conformance.families.message_loop.messages.observations import (
    LISTED as LISTED,
    CallMoved as CallMoved,
    Checkpointed as Checkpointed,
    GateOpened as GateOpened,
    Message as Message,
    MessageAppended as MessageAppended,
    Published as Published,
    Reason as Reason,
    RunInspected as RunInspected,
    RunMoved as RunMoved,
    Snapshot as Snapshot,
    StopReason as StopReason,
    TurnEnded as TurnEnded,
)
from runlock.conformance.families.message_loop.messages.outcomes import (
    OUTCOMES_BY_GATE as OUTCOMES_BY_GATE,
    RELEASED as RELEASED,
    Answer as Answer,
    Assertion as Assertion,
    CallPiece as CallPiece,
    Delta as Delta,
    HookAnswer as HookAnswer,
    Outcome as Outcome,
    Slices as Slices,
    ToolCall as ToolCall,
    Turn as Turn,
    Verdict as Verdict,
)
from runlock.conformance.families.message_loop.messages.scenario import (
    Bounds as Bounds,
    ContextSpec as ContextSpec,
    Driver as Driver,
    HookSpec as HookSpec,
    Scenario as Scenario,
    StageSpec as StageSpec,
    TokenSpec as TokenSpec,
    ToolSpec as ToolSpec,
)
from runlock.conformance.families.message_loop.messages.stimuli import (
    Deliver as Deliver,
    InteractorGone as InteractorGone,
    Late as Late,
    RunStart as RunStart,
    StageStart as StageStart,
    Unwatch as Unwatch,
    Watch as Watch,
)
from runlock.conformance.families.message_loop.messages.vocabulary import (
    BOUNDS as BOUNDS,
    EVENTS as EVENTS,
    GATES as GATES,
    ITERATIONS_DEFAULT as ITERATIONS_DEFAULT,
    MODES as MODES,
    OUTCOMES as OUTCOMES,
    SLOTS as SLOTS,
    STIMULI as STIMULI,
    TURNS as TURNS,
    ReasonCode as ReasonCode,
)
