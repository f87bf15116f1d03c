"""What holds at every observation and every quiescent point, from the words of the spec.

The order is the order of blame: the first check that objects names the violation.  Checks that can name the
cause come first, and those that only see its consequences come last.
"""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.tool_runner.invariants import (
    again,
    calls,
    cancel,
    pair,
    progress,
    request_content,
    response,
    run,
    runner_order,
    stop,
    stream,
)
from runlock.conformance.families.tool_runner.invariants import round as rounds
from runlock.conformance.family.invariant import Invariant

__all__ = ["INVARIANTS"]

INVARIANTS: Final[tuple[Invariant, ...]] = (
    *runner_order.FIRST_INVARIANTS,
    *calls.AFTER_LEAVING,
    *request_content.FIRST_INVARIANTS,
    *run.FIRST_INVARIANTS,
    *cancel.INVARIANTS,
    *stream.FIRST_INVARIANTS,
    *again.INVARIANTS,
    *response.INVARIANTS,
    *calls.FIRST_INVARIANTS,
    *rounds.FIRST_INVARIANTS,
    *stop.INVARIANTS,
    *calls.CUT_OFF_INVARIANTS,
    *runner_order.INVARIANTS,
    *request_content.TURN_INVARIANTS,
    *calls.INVARIANTS,
    *request_content.INVARIANTS,
    *pair.INVARIANTS,
    *rounds.INVARIANTS,
    *run.INVARIANTS,
    *runner_order.LATE_INVARIANTS,
    *progress.INVARIANTS,
)
