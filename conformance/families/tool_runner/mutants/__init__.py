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

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: Final[tuple[Mutant, ...]] = (
    *iteration.MUTANTS,
    *history.MUTANTS,
    *results.MUTANTS,
    *rounds.MUTANTS,
    *responses.MUTANTS,
    *toolsets.MUTANTS,
    *limits.MUTANTS,
    *ends.MUTANTS,
    *cancels.MUTANTS,
    *streams.MUTANTS,
)
