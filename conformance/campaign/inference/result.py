"""The result of inference: inferred and open policies, and the handshake that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.family.parts import Inference
from runlock.conformance.judging.applicability import unmet
from runlock.conformance.protocol import Handshake
from runlock.conformance.trace.trace import Trace
from runlock.spec.model import Clause, Policy, Profile

Value = tuple[str, str]
"""A policy, and a value of it."""


def named(value: Value) -> str:
    """A value in the place of a clause, while the evidence against it is shrunk."""
    return "=".join(value)


NOT_SEEN: Final = "no schedule that was played shows it"


@dataclass(frozen=True, slots=True)
class Against:
    """The evidence against a value: the observation, the clause if there is one, and the schedule."""

    reason: str
    clause: str
    steps: int
    trace: Trace


@dataclass(slots=True)
class Inferred:
    """The result of inference for one runtime."""

    target: str
    handshake: Handshake
    against: dict[Value, Against] = field(default_factory=dict)
    schedules: int = 0
    aside: tuple[str, ...] = ()  # clauses that broke under every policy
    troubles: list[Trouble] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    partial: str = ""

    @property
    def family(self) -> Family:
        """The family of the runtime."""
        return family_named(self.handshake.family)

    @property
    def inference(self) -> Inference:
        """How policies of this family are inferred."""
        return self.family.inference

    @property
    def declared(self) -> dict[str, Any]:
        """The declared policies, including those of the profile."""
        return self.family.spec.policies_of(self.handshake.profile, self.handshake.policies)

    @property
    def sets(self) -> dict[str, Any]:
        """The policies whose values are sets, which are accepted as declared."""
        return {key: value for key, value in self.declared.items() if isinstance(value, list)}

    def left(self, key: str) -> list[str]:
        """The values that a policy may still have."""
        return left(self.family, key, self.against)

    @property
    def policies(self) -> list[Policy]:
        """The policies that can be inferred."""
        return to_find_out(self.family)

    @property
    def settled(self) -> dict[str, str]:
        """The policies with one value left."""
        return settled(self.family, self.against)

    @property
    def mixed(self) -> list[str]:
        """The policies of which each value was ruled out."""
        return [one.key for one in self.policies if not self.left(one.key)]

    @property
    def contradicted(self) -> dict[str, str]:
        """The declared values that were ruled out."""
        said = {key: value for key, value in self.declared.items() if isinstance(value, str)}
        return {key: value for key, value in said.items() if (key, value) in self.against}

    @property
    def untold(self) -> dict[str, str]:
        """The policies with several values left, each with the reason."""
        many = [one.key for one in self.policies if len(self.left(one.key)) > 1]
        return {key: self._why_untold(key) for key in many}

    def _why_untold(self, key: str) -> str:
        why = self._why_alike(key)
        if why:
            return why
        missing = "; ".join(dict.fromkeys(one for lacks in self._lacks(key) for one in lacks))
        return f"{NOT_SEEN}; of what else would, {missing}" if missing else NOT_SEEN

    def _why_alike(self, key: str) -> str:
        """Why the remaining values are indistinguishable on this runtime, if that is known."""
        if idle_under := self._idle_under(key):
            return f"it makes no difference where {idle_under} is {self.settled[idle_under]}"
        if self._is_hidden(key):
            return self._why_hidden(key)
        alike, why = self.inference.alike.get(key, (frozenset(), ""))
        return why if frozenset(self.left(key)) <= alike else ""

    def _idle_under(self, key: str) -> str | None:
        """The settled policy under whose value this one has no observable effect, if there is one."""
        idle = self.inference.idle.get(key, ())
        noted = (other for other, value in idle if self.settled.get(other) == value)
        return next(noted, self.family.spec.policy(key).ruled_out(self.settled))

    def _is_hidden(self, key: str) -> bool:
        """Whether there can be no evidence about the remaining values on any runtime."""
        lacks = self._lacks(key)
        return (bool(lacks) and all(lacks)) or bool(self.inference.hidden(key, self.sets))

    def _why_hidden(self, key: str) -> str:
        return self.inference.hidden(key, self.sets) or "; ".join(
            dict.fromkeys(one for lacks in self._lacks(key) for one in lacks)
        )

    def _lacks(self, key: str) -> list[list[str]]:
        """For each possible evidence against a remaining value, why it was not observed."""
        if self.inference.new_learner is None:
            clauses = self.family.spec.clauses.values()
            return [self._unmet(clause) for clause in clauses if key in clause.applies]
        telling = [
            one
            for one in self.inference.signs()
            if one.policy == key and set(self.left(key)) & set(one.values)
        ]
        return [one.lacks(self.handshake) for one in telling]

    def _unmet(self, clause: Clause) -> list[str]:
        """Why a clause cannot be judged on this runtime."""
        return [why for need in clause.needs if (why := unmet(self.family, need, self.handshake))]

    # -- profiles

    def differences(self, profile: Profile) -> dict[str, str]:
        """The policies for which a profile has a value that was ruled out, with that value."""
        return {key: value for key, value in _plain(profile).items() if (key, value) in self.against}

    @property
    def nearest(self) -> Profile:
        """The profile with the fewest differences, and then with the most values in common."""
        known = [one for one in self.family.spec.profiles.values() if one.policies]
        settled = self.settled.items()
        return min(known, key=lambda one: (len(self.differences(one)), -len(settled & _plain(one).items())))

    def is_claimable(self, profile: Profile) -> bool:
        """Whether this profile implies nothing beyond what was observed."""
        open_ = [key for key in _plain(profile) if len(self.left(key)) > 1]
        return not any(self._is_hidden(key) or not self._why_alike(key) for key in open_)

    @property
    def pasteable(self) -> dict[str, Any]:
        """The proposed handshake: a profile, and the policies in which the runtime differs from it."""
        nearest = self.nearest if self.is_claimable(self.nearest) else self.family.core_profile
        found = {**self.settled, **self.sets}
        own = {key: value for key, value in found.items() if nearest.policies.get(key) != value}
        return {"profile": nearest.name, "policies": own}

    @property
    def undecided(self) -> list[str]:
        """The policies that cannot be declared: the profile is wrong, and no single value is left."""
        profile = self.family.spec.profile(self.pasteable["profile"])
        return [key for key in self.differences(profile) if len(self.left(key)) != 1]

    @property
    def exit_code(self) -> int:
        """1 if values are mixed or declared wrongly, 3 if none was inferred or it is flaky, else 0."""
        if self.mixed or self.contradicted:
            return 1
        return 0 if self.settled and not self.ledger.times else 3


def to_find_out(family: Family) -> list[Policy]:
    """The policies that have one value each."""
    return [one for one in family.spec.policies.values() if one.kind == "one of"]


def left(family: Family, key: str, against: Mapping[Value, Any]) -> list[str]:
    """The values of a policy without evidence against them."""
    return [value for value in family.spec.policy(key).values if (key, value) not in against]


def settled(family: Family, against: Mapping[Value, Any]) -> dict[str, str]:
    """The policies with one value left."""
    remaining = {one.key: left(family, one.key, against) for one in to_find_out(family)}
    return {key: values[0] for key, values in remaining.items() if len(values) == 1}


def _plain(profile: Profile) -> dict[str, str]:
    return {key: value for key, value in profile.policies.items() if isinstance(value, str)}
