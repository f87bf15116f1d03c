"""The messages that every family has, protocol version 1, as pydantic models.

Fields that a model does not declare are ignored.  An observation of an unknown kind is kept, and no clause
judges it.
"""

from runlock.conformance.protocol.handshake import (
    PROTOCOL_VERSION,
    SPEC_REVISION,
    Control,
    Handshake,
    Initialize,
    Party,
    SpecRevision,
    VersionRange,
    not_misspelt,
)
from runlock.conformance.protocol.observations import GateClosed, GateOpened, Message, Observation, Unlisted
from runlock.conformance.protocol.outcomes import Acknowledged, Fault, ToolCall, Turn, Usage
from runlock.conformance.protocol.reports import Empty, Report
from runlock.conformance.protocol.scenario import Closed, Ended, Scenario
from runlock.conformance.protocol.stimuli import (
    Cancel,
    ClockAdvance,
    Crash,
    Deliver,
    GateRelease,
    Inspect,
    Recover,
    Refusal,
    Request,
    Settle,
    Stimulus,
)
from runlock.conformance.protocol.wire import (
    DID_NOT_SETTLE,
    ILLEGAL_STIMULUS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NO_SUCH_GATE,
    SUT_CRASHED,
    UNSUPPORTED,
    JsonObject,
    ProtocolError,
    Wire,
)

__all__ = [
    "DID_NOT_SETTLE",
    "ILLEGAL_STIMULUS",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "METHOD_NOT_FOUND",
    "NO_SUCH_GATE",
    "PROTOCOL_VERSION",
    "SPEC_REVISION",
    "SUT_CRASHED",
    "UNSUPPORTED",
    "Acknowledged",
    "Cancel",
    "ClockAdvance",
    "Closed",
    "Control",
    "Crash",
    "Deliver",
    "Empty",
    "Ended",
    "Fault",
    "GateClosed",
    "GateOpened",
    "GateRelease",
    "Handshake",
    "Initialize",
    "Inspect",
    "JsonObject",
    "Message",
    "Observation",
    "Party",
    "ProtocolError",
    "Recover",
    "Refusal",
    "Report",
    "Request",
    "Scenario",
    "Settle",
    "SpecRevision",
    "Stimulus",
    "ToolCall",
    "Turn",
    "Unlisted",
    "Usage",
    "VersionRange",
    "Wire",
    "not_misspelt",
]  # fmt: skip
