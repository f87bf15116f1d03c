"""The checks of the lifecycle's clauses, written from the words of the spec: a module for each area.

`blame` says which check is blamed where several object to one observation.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from runlock.conformance.families.lifecycle.invariants import (
    call,
    call_arrows,
    call_phases,
    cancel,
    checkpoint_content,
    checkpoint_timing,
    concurrent,
    decide,
    decision_window,
    derive,
    edit,
    expire,
    failure,
    flow,
    flow_ends,
    gate,
    history,
    input,
    inspect,
    keep,
    nest,
    once,
    pair,
    payload_modes,
    phase,
    plugin,
    policy,
    progress,
    recover,
    resume,
    round,
    run,
    run_arrows,
    shown,
    shown_results,
    single_call_round,
    step,
    stop,
    stopping,
    store,
    stored_calls,
    stored_thread,
    stream,
    wait,
    wire,
)
from runlock.conformance.families.lifecycle.invariants.selectors import name_of, newest_of
from runlock.conformance.family.invariant import HELD, NOTHING, Invariant, in_order_of_blame

__all__ = ["AREAS", "HELD", "INVARIANTS", "NOTHING", "Invariant", "name_of", "newest_of"]

AREAS: Final[tuple[tuple[Invariant, ...], ...]] = (
    call.INVARIANTS,
    call_arrows.INVARIANTS,
    call_phases.INVARIANTS,
    cancel.INVARIANTS,
    checkpoint_content.INVARIANTS,
    checkpoint_timing.INVARIANTS,
    concurrent.INVARIANTS,
    decide.INVARIANTS,
    decision_window.INVARIANTS,
    derive.INVARIANTS,
    edit.INVARIANTS,
    expire.INVARIANTS,
    failure.INVARIANTS,
    flow.INVARIANTS,
    flow_ends.INVARIANTS,
    gate.INVARIANTS,
    history.INVARIANTS,
    input.INVARIANTS,
    inspect.INVARIANTS,
    keep.INVARIANTS,
    nest.INVARIANTS,
    once.INVARIANTS,
    pair.INVARIANTS,
    payload_modes.INVARIANTS,
    phase.INVARIANTS,
    plugin.INVARIANTS,
    policy.INVARIANTS,
    progress.INVARIANTS,
    recover.INVARIANTS,
    resume.INVARIANTS,
    round.INVARIANTS,
    run.INVARIANTS,
    run_arrows.INVARIANTS,
    shown.INVARIANTS,
    shown_results.INVARIANTS,
    single_call_round.INVARIANTS,
    step.INVARIANTS,
    stop.INVARIANTS,
    stopping.INVARIANTS,
    store.INVARIANTS,
    stored_calls.INVARIANTS,
    stored_thread.INVARIANTS,
    stream.INVARIANTS,
    wait.INVARIANTS,
    wire.INVARIANTS,
)
"""The checks of each module; their order has no meaning."""

INVARIANTS: Final = in_order_of_blame(chain.from_iterable(AREAS))
