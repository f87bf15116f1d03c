"""Weaker handshakes: what a reference offers, with some features left out.

A feature is one word of a list, one `true`, one step of a number, or a stronger value of `control`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from runlock.conformance.driving.bench import Bench
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.protocol import Handshake
from runlock.spec.model import Clause

Offer = dict[str, Any]
"""The fields of a handshake that say what a runtime shows and takes, as they are sent."""

IDENTITY: Final = ("protocol", "implementation", "family", "profile", "policies")
"""The fields of a handshake that offer nothing."""

GATES: Final = ("model", "tool", "yield")
"""Gates that every runtime has that could have them."""

EASY: Final = ("turn", "ok", "allow", "continue", "resume", "approve", "slices", "chat", "once")
"""The outcome of each gate that lets a run go on, the simplest turn, and the smallest grant."""

MAY_LACK_ALL: Final = ("tools", "observes", "events", "hooks", "stimuli", "streams", "state", "edit", "stops")
"""Lists of which even an easy word may be left out."""

WEAKEST: Final[Mapping[str, str]] = {"store": "none", "clock": "real", "step": "none"}
"""The value of `control` without the feature; `settle` stays, since it decides what silence says."""


class Feature(NamedTuple):
    """One thing that a runtime offers: the place of a field in the handshake, and a word of its list."""

    place: tuple[str, ...]
    word: Any = None


@dataclass(frozen=True)
class Reference:
    """The reference of a family under a profile, with another value of some policies."""

    family_name: str
    profile: str
    overrides: tuple[tuple[str, str], ...] = ()

    @property
    def family(self) -> Family:
        """The family of the reference."""
        return family_named(self.family_name)

    def bench(self, offer: Offer) -> Bench:
        """The reference on a bench; it offers no more than this."""
        make = self.family.made.reference(self.profile, dict(self.overrides), offer)
        return Bench(lambda: self.family.host(make))

    @cached_property
    def sent(self) -> Mapping[str, Any]:
        """The whole handshake, as it is sent."""
        handshake = self.family.made.reference(self.profile, dict(self.overrides))().handshake
        sent: Mapping[str, Any] = handshake.model_dump(mode="json", by_alias=True)
        return sent

    @property
    def offer(self) -> Offer:
        """Everything that it offers."""
        return {key: value for key, value in self.sent.items() if key not in IDENTITY}

    def handshake(self, offer: Offer) -> Handshake | None:
        """The handshake with this offer; None if it is none."""
        try:
            return self.family.vocabulary.handshake.model_validate({**self.sent, **offer})
        except ValidationError:
            return None

    @cached_property
    def asked(self) -> frozenset[str]:
        """The clauses that it has to exercise if it offers everything."""
        with closing(self.bench(self.offer)) as bench:
            judged = [one.clause for one in bench.standings.values() if one.is_judged]
        return frozenset(one.id for one in judged if one.level != "MAY")


@cache
def plain_references(family_name: str) -> tuple[Reference, ...]:
    """A reference for each profile."""
    profiles = family_named(family_name).spec.profiles.values()
    return tuple(Reference(family_name, one.name) for one in profiles if one.policies)


def deviations(family_name: str) -> Iterator[Reference]:
    """Each of them with another value of one policy; what it then does need not be right."""
    for reference in plain_references(family_name):
        for policy in family_named(family_name).spec.policies.values():
            own = reference.sent["policies"].get(policy.key)
            for value in policy.values if isinstance(own, str) else ():
                if value != own:
                    yield replace(reference, overrides=((policy.key, value),))


@cache
def references_of(family_name: str) -> tuple[Reference, ...]:
    """A reference for each profile, and one for each value that a clause is about and no profile has."""
    plain = plain_references(family_name)
    found = list(plain)
    for clause in family_named(family_name).spec.clauses.values():
        others = (_with(one, clause) for one in plain if not any(clause.id in known.asked for known in found))
        found += [one for one in others if clause.id in one.asked][:1]
    return tuple(found)


def _with(reference: Reference, clause: Clause) -> Reference:
    """The same reference with the policies that the clause is about."""
    own = reference.sent["policies"]
    changed = {key: among[0] for key, among in clause.applies.items() if own.get(key) not in among}
    single = {key: value for key, value in changed.items() if isinstance(own.get(key), str)}
    return replace(reference, overrides=tuple(single.items()))


def features(offer: Mapping[str, Any], place: tuple[str, ...] = ()) -> Iterator[Feature]:
    """Every feature that can be left out of an offer."""
    for key, value in offer.items():
        here = (*place, key)
        if isinstance(value, dict):
            yield from features(value, here)
        elif isinstance(value, list):
            yield from (Feature(here, word) for word in value if _may_lack(key, word))
        elif isinstance(value, str):
            yield from [Feature(here)] if WEAKEST.get(key, value) != value else []
        elif isinstance(value, bool | int):
            yield from (Feature(here) for _ in range(value))


def _may_lack(key: str, word: Any) -> bool:
    return word is not False and (key in MAY_LACK_ALL or word not in (*GATES, *EASY))


def without(offer: Offer, some: Iterable[Feature]) -> Offer:
    """The offer without some of its features; a runtime without a store shows no checkpoint either."""
    left = deepcopy(offer)
    for (*outer, key), word in some:
        field = left
        for name in outer:
            field = field[name]
        field[key] = _less(key, field[key], word)
    if left["control"]["store"] == "none":
        left["observes"] = [kind for kind in left["observes"] if kind != "checkpoint"]
        left["gates"] = [gate for gate in left["gates"] if gate != "store.put"]
    return left


def _less(key: str, value: Any, word: Any) -> Any:
    if isinstance(value, list):
        return [one for one in value if one != word]
    if isinstance(value, str):
        return WEAKEST[key]
    return value and type(value)(value - 1)


def weakest(offer: Offer, suffices: Callable[[Offer], bool]) -> Offer:
    """The offer without each feature that can be left out while the rest suffices, one after another."""
    for feature in list(features(offer)):
        less = without(offer, [feature])
        if suffices(less):
            offer = less
    return offer
