"""Traces of mutants: their witnesses, replayed."""

from __future__ import annotations

from functools import cache
from typing import Final

from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.selftest.witnesses import replay, witnesses
from runlock.conformance.trace.trace import Trace

BY_NAME: Final = {mutant.name: mutant for mutant in MUTANTS}


@cache
def trace_of(name: str) -> Trace:
    """The trace of the witness of this mutant."""
    return replay(BY_NAME[name], witnesses()[name]).trace
