"""The reference made wrong on purpose, at least once for each clause that is judged.

A kit that cannot tell these from the reference sees nothing.
"""

from __future__ import annotations

from typing import Final

from runlock.conformance.mutants import (
    arrows,
    call,
    cancel,
    concurrent,
    decide,
    derive,
    failure,
    flow,
    input,
    mixed,
    pair,
    passes,
    phase,
    plugin,
    policy,
    resume,
    run,
    stop,
    store,
    stream,
    telling,
    wait,
    window,
)
from runlock.conformance.mutants import round as rounds
from runlock.conformance.mutants.kind import Mutant

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
    *policy.MUTANTS,
    *plugin.MUTANTS,
    *stream.MUTANTS,
    *telling.MUTANTS,
    *flow.MUTANTS,
    *phase.MUTANTS,
    *passes.MUTANTS,
    *resume.MUTANTS,
    *arrows.MUTANTS,
    *rounds.MUTANTS,
    *concurrent.MUTANTS,
    *mixed.MUTANTS,
)
