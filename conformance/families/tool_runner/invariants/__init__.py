"""The checks of the tool runner's clauses, written from the words of the spec: a module for each area."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.tool_runner.invariants import (
    again,
    calls,
    calls_owed,
    cancel,
    looking,
    pair,
    progress,
    received_turn,
    request_content,
    response,
    round,
    run,
    runner_order,
    stop,
    stream,
    tool_set,
)
from runlock.conformance.family.invariant import gathered

INVARIANTS: Final = gathered(
    cancel,
    stream,
    again,
    response,
    tool_set,
    calls,
    stop,
    round,
    runner_order,
    calls_owed,
    received_turn,
    request_content,
    pair,
    run,
    looking,
    progress,
)
"""Every check, in the order of blame; of checks with one rank, those of an earlier module come first."""
