"""The messages that every family has, protocol version 1, as pydantic models.

Fields that a model does not declare are ignored.  An observation of an unknown kind is kept, and no clause
judges it.
"""

from runlock.conformance.protocol.handshake import (
    PROTOCOL_VERSION as PROTOCOL_VERSION,
    SPEC_REVISION as SPEC_REVISION,
    Control as Control,
    Handshake as Handshake,
    Initialize as Initialize,
    Party as Party,
    SpecRevision as SpecRevision,
    VersionRange as VersionRange,
    not_misspelt as not_misspelt,
)
from runlock.conformance.protocol.observations import (
    GateClosed as GateClosed,
    GateOpened as GateOpened,
    Message as Message,
    Observation as Observation,
    Unlisted as Unlisted,
)
from runlock.conformance.protocol.outcomes import (
    Acknowledged as Acknowledged,
    Fault as Fault,
    ToolCall as ToolCall,
    Turn as Turn,
    Usage as Usage,
)
from runlock.conformance.protocol.reports import (
    Empty as Empty,
    Report as Report,
)
from runlock.conformance.protocol.scenario import (
    Closed as Closed,
    Ended as Ended,
    Scenario as Scenario,
)
from runlock.conformance.protocol.stimuli import (
    Cancel as Cancel,
    ClockAdvance as ClockAdvance,
    Crash as Crash,
    Deliver as Deliver,
    GateRelease as GateRelease,
    Inspect as Inspect,
    Recover as Recover,
    Refusal as Refusal,
    Request as Request,
    Settle as Settle,
    Stimulus as Stimulus,
)
from runlock.conformance.protocol.wire import (
    DID_NOT_SETTLE as DID_NOT_SETTLE,
    ILLEGAL_STIMULUS as ILLEGAL_STIMULUS,
    INTERNAL_ERROR as INTERNAL_ERROR,
    INVALID_PARAMS as INVALID_PARAMS,
    METHOD_NOT_FOUND as METHOD_NOT_FOUND,
    NO_SUCH_GATE as NO_SUCH_GATE,
    SUT_CRASHED as SUT_CRASHED,
    UNSUPPORTED as UNSUPPORTED,
    JsonObject as JsonObject,
    ProtocolError as ProtocolError,
    Wire as Wire,
)
