"""The messages of the family lifecycle, as pydantic models; the JSON Schemas are generated from them."""

from runlock.conformance.families.lifecycle.messages.handshake import (
    ALL_STIMULI as ALL_STIMULI,
    DecisionSupport as DecisionSupport,
    Handshake as Handshake,
    InputSupport as InputSupport,
    OfferedOutcomes as OfferedOutcomes,
)
from runlock.conformance.families.lifecycle.messages.methods import (
    METHODS as METHODS,
    VOCABULARY as VOCABULARY,
    Report as Report,
)
from runlock.conformance.families.lifecycle.messages.observations import (
    LISTED as LISTED,
    AnyObservation as AnyObservation,
    CallMoved as CallMoved,
    CallShown as CallShown,
    CallSnapshot as CallSnapshot,
    Checkpointed as Checkpointed,
    DecisionTaken as DecisionTaken,
    Exchanged as Exchanged,
    Prompted as Prompted,
    GateOpened as GateOpened,
    InputReturned as InputReturned,
    MessageAppended as MessageAppended,
    Nested as Nested,
    PhaseEntered as PhaseEntered,
    Published as Published,
    Reason as Reason,
    ResumeEntered as ResumeEntered,
    Resumption as Resumption,
    RunInspected as RunInspected,
    RunMoved as RunMoved,
    SegmentEnded as SegmentEnded,
    Snapshot as Snapshot,
    StopReason as StopReason,
    StreamClosed as StreamClosed,
    ThreadEdited as ThreadEdited,
    gate_name as gate_name,
    kept_apart as kept_apart,
)
from runlock.conformance.families.lifecycle.messages.outcomes import (
    RELEASED as RELEASED,
    OUTCOMES_BY_GATE as OUTCOMES_BY_GATE,
    Delta as Delta,
    HookAnswer as HookAnswer,
    Outcome as Outcome,
    Verdict as Verdict,
)
from runlock.conformance.families.lifecycle.messages.scenario import (
    Agent as Agent,
    AgentSpec as AgentSpec,
    HookSpec as HookSpec,
    Scenario as Scenario,
    StateKey as StateKey,
    StopCondition as StopCondition,
    ToolSpec as ToolSpec,
)
from runlock.conformance.families.lifecycle.messages.stimuli import (
    Decide as Decide,
    Decision as Decision,
    Deliver as Deliver,
    Edit as Edit,
    GrantRevoke as GrantRevoke,
    RunInput as RunInput,
    RunStart as RunStart,
    Unwatch as Unwatch,
    Watch as Watch,
)
from runlock.conformance.families.lifecycle.messages.vocabulary import (
    FINAL_CALL_STATUSES as FINAL_CALL_STATUSES,
    Action as Action,
    HookOutcome as HookOutcome,
    ModelOutcome as ModelOutcome,
    PermissionOutcome as PermissionOutcome,
    ReasonCode as ReasonCode,
    StreamKind as StreamKind,
    ToolFeature as ToolFeature,
    ToolOutcome as ToolOutcome,
)
