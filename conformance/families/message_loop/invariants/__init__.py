"""Every invariant of the message loop, in the order of blame.

The order matters where several checks object to one observation: what names the cause comes before what
names a consequence.
"""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.invariants import (
    bounds,
    cancelling,
    denials,
    ends,
    entry,
    executions,
    hooks,
    pairs,
    prompts,
    requests,
    rewrites,
    rounds,
    sessions,
    stage_events,
    statuses,
    wire,
)
from runlock.conformance.families.message_loop.invariants.results import SELECTORS
from runlock.conformance.family.invariant import Invariant

INVARIANTS: Final[tuple[Invariant, ...]] = (
    *cancelling.INVARIANTS,
    *rounds.INVARIANTS,
    *denials.INVARIANTS,
    *rewrites.INVARIANTS,
    *hooks.INVARIANTS,
    *entry.INVARIANTS,
    *prompts.INVARIANTS,
    *bounds.INVARIANTS,
    *requests.INVARIANTS,
    *pairs.INVARIANTS,
    *executions.INVARIANTS,
    *sessions.INVARIANTS,
    *stage_events.INVARIANTS,
    *wire.INVARIANTS,
    *statuses.INVARIANTS,
    *ends.INVARIANTS,
)

__all__ = ["INVARIANTS", "SELECTORS"]
