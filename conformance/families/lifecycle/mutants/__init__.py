"""The reference made wrong on purpose, at least once for each clause that is judged.

A kit that cannot tell these from the reference sees nothing.
"""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.lifecycle.mutants import (
    again,
    arrows,
    call,
    cancel,
    concurrent,
    cut,
    decide,
    derive,
    edit,
    expire,
    failure,
    flow,
    grant,
    input,
    keep,
    limit,
    mixed,
    nest,
    pair,
    phase,
    plugin,
    policy,
    producer,
    prompt,
    reshown,
    resume,
    run,
    settled,
    steering,
    stop,
    store,
    stream,
    thread,
    wait,
    whole,
    wire,
)
from runlock.conformance.families.lifecycle.mutants import call_phases as passes
from runlock.conformance.families.lifecycle.mutants import decision_window as window
from runlock.conformance.families.lifecycle.mutants import reporting as telling
from runlock.conformance.families.lifecycle.mutants import round as rounds
from runlock.conformance.families.lifecycle.mutants.mutant import Mutant
from runlock.conformance.family.made import mutants_in

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final = mutants_in(
    Mutant,
    run,
    call,
    derive,
    decide,
    window,
    wait,
    pair,
    again,
    cancel,
    store,
    stop,
    failure,
    input,
    steering,
    keep,
    limit,
    grant,
    cut,
    reshown,
    edit,
    expire,
    nest,
    policy,
    plugin,
    stream,
    thread,
    wire,
    producer,
    prompt,
    telling,
    flow,
    phase,
    passes,
    resume,
    arrows,
    rounds,
    concurrent,
    mixed,
    whole,
    settled,
)
