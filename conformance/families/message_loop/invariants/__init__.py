"""Every invariant of the message loop, in the order of blame.

The order matters where several checks object to one observation: what names the cause comes before what
names a consequence.
"""

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
from runlock.conformance.families.message_loop.invariants.results import SELECTORS
from runlock.conformance.family.invariant import Invariant

FIRST: Final = ("AUTH-20", "CANCEL-4", "RUN-20", "RUN-21", "WIRE-8")
"""What arrives late, and what comes after the end, is blamed as that, whatever else it would break."""

BY_CAUSE: Final[tuple[Invariant, ...]] = (
    *cancelling.INVARIANTS,
    *rounds.INVARIANTS,
    *denials.INVARIANTS,
    *rewrites.INVARIANTS,
    *hooks.INVARIANTS,
    *entry.INVARIANTS,
    *prompts.INVARIANTS,
    *bounds.INVARIANTS,
    requests.SIBLING,
    *pairs.INVARIANTS,
    *requests.INVARIANTS,
    *executions.INVARIANTS,
    *sessions.INVARIANTS,
    *stage_events.INVARIANTS,
    *wire.INVARIANTS,
    *statuses.INVARIANTS,
    *told.INVARIANTS,
    *ends.INVARIANTS,
    *arrows.INVARIANTS,
)


def _rank(check: Invariant) -> int:
    return FIRST.index(check.clause) if check.clause in FIRST else len(FIRST)


INVARIANTS: Final[tuple[Invariant, ...]] = tuple(sorted(BY_CAUSE, key=_rank))

__all__ = ["INVARIANTS", "SELECTORS"]
