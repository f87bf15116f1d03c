"""The line formats of scenario files of the message loop."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.messages import (
    LISTED,
    METHODS,
    OUTCOMES_BY_GATE,
    RELEASED,
    Handshake,
    Scenario,
)
from runlock.conformance.families.message_loop.state.naming import GATE_FIELDS
from runlock.conformance.trace.line_formats import named_by
from runlock.conformance.trace.plain_formats import plain_formats

LINE_FORMATS: Final = plain_formats(
    "message-loop",
    METHODS,
    LISTED,
    Scenario,
    OUTCOMES_BY_GATE,
    handshake=Handshake,
    released=RELEASED,
    lines={"clock.advance": "advance", "gate.closed": "gate.closed {gate}"},
    gate_name=named_by(*GATE_FIELDS),
)
