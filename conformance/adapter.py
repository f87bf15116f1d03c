"""What the author of a Python adapter imports: the interfaces, the exceptions and the messages."""

from runlock.conformance.families.lifecycle.adapter import (
    AdapterFactory,
    Checkpoint,
    CommitFault,
    HookFault,
    Host,
    HostedAdapter,
    ModelFault,
    PermissionFault,
    Refused,
    RequiredAdapter,
    Segment,
    ToolFault,
    ToolRaised,
    WorldFault,
)
from runlock.conformance.families.lifecycle.messages import (
    Action,
    CallSnapshot,
    Decision,
    DecisionSupport,
    Delta,
    Handshake,
    HookAnswer,
    InputSupport,
    ModelOutcome,
    OfferedOutcomes,
    Outcome,
    PermissionOutcome,
    Reason,
    ReasonCode,
    Resumption,
    Scenario,
    Snapshot,
    StopReason,
    StreamKind,
    ToolFeature,
    ToolOutcome,
    ToolSpec,
    Verdict,
)
from runlock.conformance.protocol import Control, Message, Party, ToolCall, Turn

__all__ = [
    "Action", "AdapterFactory", "CallSnapshot", "Checkpoint", "CommitFault", "Control", "Decision",
    "DecisionSupport", "Delta", "Handshake", "HookAnswer", "HookFault", "Host", "HostedAdapter",
    "InputSupport", "Message", "ModelFault", "ModelOutcome", "OfferedOutcomes", "Outcome", "Party",
    "PermissionFault", "PermissionOutcome", "Reason", "ReasonCode", "Refused", "RequiredAdapter",
    "Resumption", "Scenario", "Segment", "Snapshot", "StopReason", "StreamKind", "ToolCall", "ToolFault",
    "ToolFeature", "ToolOutcome", "ToolRaised", "ToolSpec", "Turn", "Verdict", "WorldFault",
]  # fmt: skip
