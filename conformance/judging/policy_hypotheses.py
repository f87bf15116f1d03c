"""Policies that a runtime does not declare: it may have any value of each, but the same one throughout.

Every value is a hypothesis.  A check that depends on an open policy runs under each value that is still
possible, and an objection excludes that value.  Once all values of a policy are excluded, nothing explains
the trace: the runtime mixes two values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import Invariant
from runlock.conformance.family.state import PolicyView, State
from runlock.conformance.judging.applicability import standing_of
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.protocol import Handshake
from runlock.spec.model import Policy


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

    @classmethod
    def of(
        cls,
        family: Family,
        handshake: Handshake,
        declared: Mapping[str, Any],
        selection: Selection = EVERYTHING,
    ) -> Undeclared:
        """What this handshake leaves open, limited to the selected clauses."""
        left = {
            key: tuple(one.values)
            for key, one in family.spec.policies.items()
            if _is_open(one, declared) and not selection.skips(key)
        }
        clauses = dict(_waiting(family, handshake, declared, left))
        return cls(left, {one: values for one, values in clauses.items() if selection.has(one)})


def _is_open(policy: Policy, declared: Mapping[str, Any]) -> bool:
    if policy.key in declared or policy.ruled_out(declared):
        return False
    return policy.kind == "one of"


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

    def exclude(self, check: Invariant, state: State, *seen: Any) -> Iterator[str]:
        """Run a check of a clause that waits for a policy; yields a reason if no value of it is left."""
        key, values = self.undeclared.clauses[check.clause]
        for value in self.left(key):
            if value in values:
                yield from self._try(key, value, check, state, *seen)

    def exclude_by_dependence(
        self, read: Collection[str], check: Invariant, state: State, *seen: Any
    ) -> Iterator[str]:
        """Run a check again under each value of the open policies that it has read."""
        for key in sorted(self.undeclared.policies.keys() & read):
            for value in self.left(key):
                yield from self._try(key, value, check, state, *seen)

    def _try(self, key: str, value: str, check: Invariant, state: State, *seen: Any) -> Iterator[str]:
        supposed = state.under(PolicyView({**state.policies, key: value}))
        reason = check.first_reason(supposed, *seen)
        if not reason:
            return
        self.excluded[key, value] = Exclusion(check.clause, reason)
        if not self.left(key):
            yield self.nothing_left(key)

    def nothing_left(self, key: str) -> str:
        """Why no value of a policy explains what was seen."""
        return nothing_left(
            key, {value: self.excluded[key, value] for value in self.undeclared.policies[key]}
        )


def nothing_left(key: str, excluded: Mapping[str, Exclusion]) -> str:
    """The sentence that gives the objection to each value."""
    whys = "; ".join(f"not {value}, since {why.reason} ({why.clause})" for value, why in excluded.items())
    return f"no value of the policy {key} explains what was seen: {whys}"
