"""The checks of the message loop's clauses, written from the words of the spec: a module for each area."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.invariants import (
    arrows,
    bounds,
    cancelling,
    denials,
    ends,
    entry,
    executions,
    hooks,
    hooks_after,
    inspect,
    over,
    pairs,
    prompts,
    requests,
    rewrites,
    rounds,
    sessions,
    stage_events,
    statuses,
    told,
    wire,
)
from runlock.conformance.family.invariant import gathered

INVARIANTS: Final = gathered(
    denials,
    cancelling,
    over,
    rounds,
    rewrites,
    hooks,
    hooks_after,
    entry,
    prompts,
    bounds,
    requests,
    pairs,
    executions,
    sessions,
    stage_events,
    wire,
    statuses,
    told,
    ends,
    inspect,
    arrows,
)
"""Every check, in the order of blame; of checks with one rank, those of an earlier module come first."""
