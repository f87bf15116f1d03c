"""The line formats of scenario files of the message loop."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.messages import (
    LISTED,
    METHODS,
    OUTCOMES_BY_GATE,
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
    keeps_open=frozenset({"delta", "activity"}),
    begins_run=frozenset({"run.start"}),
    gate_name=named_by(*GATE_FIELDS),
)
