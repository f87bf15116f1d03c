"""The reference made wrong on purpose, at least once for each clause that a hosted runner can break.

A kit that cannot tell these from the reference sees nothing.
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
