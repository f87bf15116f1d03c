"""The family of a target, its clauses, and those that were retired."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from runlock.conformance.campaign.audit import facts_of
from runlock.conformance.campaign.targets import Target
from runlock.conformance.driving.bench import Bench
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family, families
from runlock.conformance.trace.trace import read_trace


def family_of(target: Target) -> Family:
    """The family of a target; starts a runtime for its handshake if the name does not determine it."""
    if target.family is not None:
        return target.family
    if target.path is not None:
        return facts_of(target.path, read_trace(target.path)).family
    bench = Bench(target.open)
    bench.close()
    return bench.family


def families_for(target: Target) -> Sequence[Family]:
    """Its family; every family if only a running runtime could tell."""
    return families() if target.family is None else (target.family,)


def refuse_idle(option: str, patterns: Iterable[str], among: Sequence[Family]) -> None:
    """Refuse a pattern that matches no clause of these families, and say which may be meant."""
    refuse_retired(option, patterns, among)
    known = [clause for family in among for clause in family.spec.clauses]
    areas = [f"{area}-*" for family in among for area in family.spec.areas]
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            near = get_close_matches(pattern.upper(), [*known, *areas], n=1)
            right = f"Did you mean `{near[0]}`?" if near else "`runlock list clauses` shows them all."
            raise UsageError(f"`{option} {pattern}` names no clause.", right)


def refuse_retired(option: str, patterns: Iterable[str], among: Sequence[Family]) -> None:
    """Refuse a pattern that is the id of a retired clause, and say which clause to name."""
    for pattern in patterns:
        is_judged = any(pattern in family.spec.clauses for family in among)
        for family in () if is_judged else among:
            if one := family.spec.retired.get(pattern.upper()):
                raise UsageError(f"`{option} {pattern}` has no effect: {one}.")
