"""The reference made wrong on purpose, at least once for each clause that is judged.

A kit that cannot tell these from the reference sees nothing.
"""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.lifecycle.mutants import (
    arrows,
    call,
    cancel,
    concurrent,
    decide,
    derive,
    edit,
    expire,
    failure,
    flow,
    input,
    keep,
    mixed,
    nest,
    pair,
    phase,
    plugin,
    policy,
    resume,
    run,
    settled,
    stop,
    store,
    stream,
    wait,
    whole,
    wire,
)
from runlock.conformance.families.lifecycle.mutants import call_phases as passes
from runlock.conformance.families.lifecycle.mutants import decision_window as window
from runlock.conformance.families.lifecycle.mutants import reporting as telling
from runlock.conformance.families.lifecycle.mutants import round as rounds
from runlock.conformance.families.lifecycle.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *run.MUTANTS,
    *call.MUTANTS,
    *derive.MUTANTS,
    *decide.MUTANTS,
    *window.MUTANTS,
    *wait.MUTANTS,
    *pair.MUTANTS,
    *cancel.MUTANTS,
    *store.MUTANTS,
    *stop.MUTANTS,
    *failure.MUTANTS,
    *input.MUTANTS,
    *keep.MUTANTS,
    *edit.MUTANTS,
    *expire.MUTANTS,
    *nest.MUTANTS,
    *policy.MUTANTS,
    *plugin.MUTANTS,
    *stream.MUTANTS,
    *wire.MUTANTS,
    *telling.MUTANTS,
    *flow.MUTANTS,
    *phase.MUTANTS,
    *passes.MUTANTS,
    *resume.MUTANTS,
    *arrows.MUTANTS,
    *rounds.MUTANTS,
    *concurrent.MUTANTS,
    *mixed.MUTANTS,
    *whole.MUTANTS,
    *settled.MUTANTS,
)
