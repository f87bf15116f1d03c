"""Which family a target is of, and which clauses it may have."""

from __future__ import annotations

from runlock.conformance.campaign.audit import facts_of
from runlock.conformance.campaign.targets import Target
from runlock.conformance.driving.bench import Bench
from runlock.conformance.family.family import Family, families
from runlock.conformance.trace.trace import read_trace
from runlock.spec.model import Clause


def family_of(target: Target) -> Family:
    """The family of a target; a runtime is started for its handshake where nothing else tells."""
    if target.family is not None:
        return target.family
    if target.path is not None:
        return facts_of(target.path, read_trace(target.path)).family
    bench = Bench(target.open)
    bench.close()
    return bench.family


def clauses_for(target: Target) -> dict[str, Clause]:
    """The clauses of its family; those of every family where only the runtime could tell."""
    some = families() if target.family is None else (target.family,)
    return {one.id: one for family in reversed(some) for one in family.spec.clauses.values()}
