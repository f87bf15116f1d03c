"""Mutants of the reference runner: at least one for each clause that a hosted runner can violate.

Each has one injected fault, which the kit must detect.
"""

from __future__ import annotations

from typing import Final

from runlock.conformance.families.tool_runner.mutants import (
    cancels,
    ends,
    history,
    iteration,
    limits,
    responses,
    results,
    rounds,
    streams,
    toolsets,
)
from runlock.conformance.families.tool_runner.mutants.mutant import Mutant
from runlock.conformance.family.made import mutants_in

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final = mutants_in(
    Mutant,
    iteration,
    history,
    results,
    rounds,
    responses,
    toolsets,
    limits,
    ends,
    cancels,
    streams,
)
