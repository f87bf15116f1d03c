"""Policies that a runtime does not declare: it may have any value of each, but the same one throughout.

Every value is a hypothesis.  A check that depends on an open policy runs under each value that is still
possible, and an objection excludes that value.  Once all values of a policy are excluded, nothing explains
the trace: the runtime mixes two values, and the clause that forbids it is broken.  A check that objects
under every value at the same moment says nothing about the policy: its own clause is broken, if the runtime
claims it: a runtime that claims the universal core alone is bound by a further clause only where it declares
the policy of that clause.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import HELD, Invariant, broken
from runlock.conformance.family.state import PolicyView, State
from runlock.conformance.judging.applicability import claims, open_policies, standing_of
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.protocol import Handshake


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a policy cannot have a value: the clause that would be broken, and how."""

    clause: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undeclared:
    """The open policies with their values, and the clauses that cannot be judged without one of them."""

    policies: Mapping[str, tuple[str, ...]]
    clauses: Mapping[str, tuple[str, tuple[str, ...]]]  # clause: the policy, and the values it applies under
    mixing: str = ""  # the clause that a runtime breaks if it mixes two values of a policy
    declared: Mapping[str, str] = field(default_factory=dict)  # clause: the declared values it applies under
    unclaimed: frozenset[str] = frozenset()  # clauses that bind only where the policy is declared

    @classmethod
    def of(
        cls,
        family: Family,
        handshake: Handshake,
        declared: Mapping[str, Any],
        selection: Selection = EVERYTHING,
    ) -> Undeclared:
        """What this handshake leaves open, limited to the selected clauses."""
        among = open_policies(family, declared)
        left = {one.key: tuple(one.values) for one in among if not selection.skips(one.key)}
        clauses = dict(_waiting(family, handshake, declared, left))
        kept = {one: values for one, values in clauses.items() if selection.has(one)}
        unclaimed = frozenset(one for one in kept if not claims(family, family.spec.clauses[one], handshake))
        return cls(left, kept, family.judging.mixing, dict(_conditions(family, declared)), unclaimed)


def _conditions(family: Family, declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The clauses that apply under declared values of policies, with these values."""
    for clause in family.spec.clauses.values():
        values = [f"{key}={declared[key]}" for key in clause.applies if isinstance(declared.get(key), str)]
        if values:
            yield clause.id, ", ".join(values)


def _waiting(
    family: Family, handshake: Handshake, declared: Mapping[str, Any], left: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    """The clauses that one open policy alone keeps from being judged."""
    for clause in family.spec.clauses.values():
        keys = [key for key in clause.applies if key in left]
        if len(keys) != 1:
            continue
        values = tuple(clause.applies[keys[0]])
        if standing_of(family, clause, handshake, {**declared, keys[0]: values[0]}).is_judged:
            yield clause.id, (keys[0], values)


class OpenPolicies:
    """The values that are still possible in one scenario."""

    def __init__(self, undeclared: Undeclared) -> None:
        self.undeclared = undeclared
        self.excluded: dict[tuple[str, str], Exclusion] = {}

    def left(self, key: str) -> list[str]:
        """The values that a policy may still have."""
        return [value for value in self.undeclared.policies[key] if (key, value) not in self.excluded]

    @property
    def exhausted(self) -> set[str]:
        """The policies of which no value is left."""
        return {key for key in self.undeclared.policies if not self.left(key)}

    def judge(
        self, check: Invariant, keys: Collection[str], state: State, *seen: Any
    ) -> Iterator[ClauseResult]:
        """Run a check under each value that is left of these policies; exclude those that it objects to."""
        for key in sorted(self.undeclared.policies.keys() & keys):
            left = self.left(key)
            reasons = self._reasons(check, key, left, state, *seen)
            if reasons and len(reasons) == len(left) and self._objects_to_all(check, key, state, *seen):
                if check.clause not in self.undeclared.unclaimed:
                    yield ClauseResult(check.clause, broken(next(iter(reasons.values()))), always=True)
            elif reasons:
                self.excluded |= {(key, one): Exclusion(check.clause, why) for one, why in reasons.items()}
                yield self._result_of(key, check.clause)

    def _result_of(self, key: str, clause: str) -> ClauseResult:
        """The result for the clause about mixing, after values of a policy were excluded."""
        mixing = self.undeclared.mixing or clause
        return ClauseResult(mixing, HELD) if self.left(key) else clause_result(mixing, self.nothing_left(key))

    def _objects_to_all(self, check: Invariant, key: str, state: State, *seen: Any) -> bool:
        values = self.undeclared.policies[key]
        return len(self._reasons(check, key, values, state, *seen)) == len(values)

    def _reasons(
        self, check: Invariant, key: str, values: Collection[str], state: State, *seen: Any
    ) -> dict[str, str]:
        """Why a check objects, by those of the values under which it does."""
        _, applying = self.undeclared.clauses.get(check.clause, (key, values))
        return {
            value: reason
            for value in values
            if value in applying
            and (reason := check.first_reason(state.under(PolicyView({**state.policies, key: value})), *seen))
        }

    def nothing_left(self, key: str) -> str:
        """Why no value of a policy explains what was seen."""
        values = {value: self.excluded[key, value] for value in self.undeclared.policies[key]}
        return nothing_left(key, values, self.undeclared)


def nothing_left(key: str, excluded: Mapping[str, Exclusion], undeclared: Undeclared) -> str:
    """The sentence that gives the objection to each value."""
    whys = "; ".join(_objection(value, why, undeclared) for value, why in excluded.items())
    return f"no value of the policy {key} explains what was seen: {whys}"


def _objection(value: str, why: Exclusion, undeclared: Undeclared) -> str:
    declared = undeclared.declared.get(why.clause)
    under = f", with {declared} as declared" if declared else ""
    return f"not {value}, since {why.reason} ({why.clause}{under})"
