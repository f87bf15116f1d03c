"""The closed vocabularies of the family lifecycle: statuses, reasons, kinds and the like, word for word."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from runlock.conformance.protocol.declared import OneOf
from runlock.spec.needs import needs_of

RunStatus = Literal["Created", "Running", "Waiting", "Done"]
CallStatus = Literal["New", "Running", "Suspended", "Resuming", "Succeeded", "Failed", "Cancelled"]
GateKind = Literal["model", "permission", "tool", "hook", "apply", "store.put"]
ResumeMode = Literal["replay", "use_as_result", "pass_to_tool"]
Action = Literal["resume", "cancel"]
Scope = Literal["run", "session"]
ScopeName = Literal["once", "run", "session"]
Disposition = Literal["accepted", "buffered", "ignored", "refused", "duplicate"]
ReasonCode = Literal[
    "NaturalEnd", "BehaviorRequested", "Stopped", "Cancelled", "Blocked", "Suspended", "Error"
]
Trigger = Literal["UserMessage", "AssistantTurnCommitted", "ToolResultsCommitted", "StepEnd", "RunFinished"]
STIMULUS_KINDS: Final = tuple(needs_of("lifecycle")["stimulus"])
StimulusKind = Annotated[str, OneOf(STIMULUS_KINDS)]
PhaseName = Literal[
    "RunStart", "StepStart", "BeforeInference", "AfterInference", "ToolGate",
    "BeforeToolExecute", "AfterToolExecute", "StepEnd", "RunEnd",
]  # fmt: skip
ModelOutcome = Literal["turn", "fault", "length", "refusal", "pause", "malformed", "delta"]
"""What the model may answer; all but `turn`, `fault` and `delta` are kinds of turns."""
PermissionOutcome = Literal["allow", "block", "suspend", "set_result", "fault"]
ToolOutcome = Literal["ok", "warning", "error", "raise", "fault", "pending", "activity"]
HookOutcome = Literal["continue", "terminate", "skip_inference", "rewrite", "block", "fault"]
ToolFeature = Literal[
    "allow", "ask", "gate", "parameters", "offered", "agent", "expires", "timeout", "retries", "unabortable"
]  # fmt: skip
StreamKind = Literal["native", "ai-sdk-v6", "ag-ui", "copilotkit"]
ResumeState = Literal[
    "DrainDecisionChannel", "NoDecision", "ResolveDecision", "PersistResumeDecision", "Replay",
    "ReplayCancel", "ReplayResume", "ExecuteReplayedTool", "SetNextSuspended", "ClearResolved",
    "SnapshotIfStateChanged", "CommitReplay",
]  # fmt: skip

FINAL_CALL_STATUSES: Final[frozenset[CallStatus]] = frozenset({"Succeeded", "Failed", "Cancelled"})
