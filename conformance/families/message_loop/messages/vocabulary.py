"""The closed vocabularies of the family message-loop."""

from __future__ import annotations

from typing import Final, Literal

StageName = Literal[
    "RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER"
]  # fmt: skip
Point = Literal["pre", "post"]
Role = Literal["guard", "transform", "observer"]
Mode = Literal["ask", "allowlist", "yolo"]
Scope = Literal["once", "stage", "session"]
RunStatus = Literal["Running", "Done"]
CallStatus = Literal["New", "Running", "Succeeded", "Failed", "Cancelled"]
ExecutionStatus = Literal["Running", "Exited", "Failed", "Cancelled"]
ReasonCode = Literal["NaturalEnd", "Stopped", "Cancelled", "Blocked", "Error"]
ResultStatus = Literal["ok", "error", "cancelled"]

STAGES: Final[tuple[StageName, ...]] = (
    "RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER"
)  # fmt: skip
GATES: Final = ("model", "tool", "prompt", "hook", "sm", "context", "assert", "store.put")
STIMULI: Final = ("cancel", "late", "interactor.gone", "watch", "run.again", "deliver", "clock.advance")
MODES: Final = ("ask", "allowlist", "yolo")
SCOPES: Final = ("once", "stage", "session")
TURNS: Final = ("chat", "stage", "group", "join")
BOUNDS: Final = ("max_iterations", "turn_cap")

SLOTS: Final = (
    "RECEIVE_INPUT.pre.guard", "RECEIVE_INPUT.pre.transform", "RECEIVE_INPUT.pre.observer",
    "RECEIVE_INPUT.post.observer",
    "COMPOSE_REQUEST.pre.guard", "COMPOSE_REQUEST.pre.observer",
    "COMPOSE_REQUEST.post.guard", "COMPOSE_REQUEST.post.transform", "COMPOSE_REQUEST.post.observer",
    "SEND_REQUEST.pre.guard", "SEND_REQUEST.pre.transform", "SEND_REQUEST.pre.observer",
    "SEND_REQUEST.post.observer",
    "STREAM_RESPONSE.pre.guard", "STREAM_RESPONSE.pre.transform", "STREAM_RESPONSE.pre.observer",
    "STREAM_RESPONSE.post.observer",
    "TOOL_CALL.pre.guard", "TOOL_CALL.pre.transform", "TOOL_CALL.pre.observer",
    "TOOL_CALL.post.transform", "TOOL_CALL.post.observer",
    "RENDER.pre.transform", "RENDER.pre.observer", "RENDER.post.observer",
)  # fmt: skip
"""The slots at which the kit can place a hook: stage, point and role."""

EVENTS: Final = (
    "SessionTurnStart", "SessionTurnEnd", "StagePreFired", "StagePostFired",
    "ProviderRequestStarted", "ProviderTokensStreamed", "ProviderRequestCompleted", "ProviderRequestFailed",
    "ToolInvocationProposed", "ToolInvocationStarted", "ToolInvocationSucceeded", "ToolInvocationFailed",
    "ToolInvocationCancelled", "ToolCallModeInvoked", "ToolCallApproved", "ToolCallDenied", "Rendered",
    "StageEntered", "ActEnded", "StageAssertOutcome", "StageExited", "StageCancelled", "StageGranted",
    "StageCheckGateResult", "WorkflowExit",
)  # fmt: skip

OUTCOMES: Final[dict[str, tuple[str, ...]]] = {
    "model": ("delta", "turn", "terminal", "malformed", "fault"),
    "tool": ("ok", "error", "raise", "fault", "activity"),
    "prompt": ("allow", "deny", "defer", "fault"),
    "hook": ("continue", "deny", "rewrite", "fault"),
    "sm": ("approve", "out", "fault"),
    "context": ("slices", "fault"),
    "assert": ("ok", "retry", "fail", "fault"),
    "store.put": ("ok", "fault"),
}
"""The outcomes that may release each gate; `terminal` and `malformed` are kinds of turns."""

ITERATIONS_DEFAULT: Final = 50
"""The default bound of a pass."""
