"""Mutants of the reference loop, each with one injected fault; the kit must detect every one of them."""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.message_loop.mutants import (
    authority,
    cancel,
    events,
    faults,
    hooks,
    loop,
    rounds,
    runs,
    turns,
)
from runlock.conformance.families.message_loop.mutants.mutant import Mutant
from runlock.conformance.family.made import mutants_in

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final = mutants_in(
    Mutant,
    loop,
    authority,
    hooks,
    turns,
    events,
    cancel,
    rounds,
    runs,
    faults,
)
