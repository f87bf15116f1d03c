"""What holds at every observation and every quiescent point, written from the words of the spec.

The order is the order of blame: where several checks object to one observation, the first one that can
name the cause speaks, and those that only see its consequences come last.
"""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.lifecycle.invariants import (
    call,
    call_arrows,
    cancel,
    concurrent,
    decide,
    derive,
    failure,
    flow,
    flow_ends,
    gate,
    input,
    once,
    pair,
    phase,
    plugin,
    policy,
    progress,
    recover,
    resume,
    run,
    run_arrows,
    step,
    stop,
    stopping,
    store,
    stream,
    wait,
)
from runlock.conformance.families.lifecycle.invariants import call_phases as passes
from runlock.conformance.families.lifecycle.invariants import checkpoint_content as stored
from runlock.conformance.families.lifecycle.invariants import checkpoint_timing as occasions
from runlock.conformance.families.lifecycle.invariants import decision_window as window
from runlock.conformance.families.lifecycle.invariants import inspect as look
from runlock.conformance.families.lifecycle.invariants import payload_modes as meaning
from runlock.conformance.families.lifecycle.invariants import round as rounds
from runlock.conformance.families.lifecycle.invariants import single_call_round as single
from runlock.conformance.families.lifecycle.invariants.selectors import name_of, newest_of
from runlock.conformance.family.invariant import HELD, NOTHING, Invariant

__all__ = ["HELD", "INVARIANTS", "NOTHING", "Invariant", "name_of", "newest_of"]

INVARIANTS: Final[tuple[Invariant, ...]] = (
    *wait.INVARIANTS,
    *stream.FIRST_INVARIANTS,
    *plugin.INVARIANTS,
    *flow_ends.FIRST_INVARIANTS,
    *flow.FIRST_INVARIANTS,
    *cancel.FIRST_INVARIANTS,
    *run.INVARIANTS,
    *cancel.INVARIANTS,
    *stopping.INVARIANTS,
    *stop.INVARIANTS,
    *recover.INVARIANTS,
    *store.INVARIANTS,
    *stored.INVARIANTS,
    *input.INVARIANTS,
    *look.INVARIANTS,
    *once.INVARIANTS,
    *gate.FIRST_INVARIANTS,
    *window.INVARIANTS,
    *decide.FIRST_INVARIANTS,
    *meaning.INVARIANTS,
    *decide.INVARIANTS,
    *meaning.LATE_INVARIANTS,
    *gate.INVARIANTS,
    *rounds.INVARIANTS,
    *concurrent.INVARIANTS,
    *failure.INVARIANTS,
    *policy.INVARIANTS,
    *derive.INVARIANTS,
    *pair.INVARIANTS,
    *call.INVARIANTS,
    *flow.INVARIANTS,
    *flow_ends.INVARIANTS,
    *step.FIRST_INVARIANTS,
    *phase.INVARIANTS,
    *step.INVARIANTS,
    *passes.INVARIANTS,
    *rounds.LATE_INVARIANTS,
    *resume.INVARIANTS,
    *call_arrows.INVARIANTS,
    *run_arrows.INVARIANTS,
    *single.INVARIANTS,
    *occasions.INVARIANTS,
    *run.LATE_INVARIANTS,
    *stream.INVARIANTS,
    *rounds.LAST_INVARIANTS,
    *concurrent.LAST_INVARIANTS,
    *progress.INVARIANTS,
)
