"""Weaker handshakes: what a reference offers, with some features left out.

A feature is one word of a list, one `true`, one step of a number, or a stronger value of `control`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from runlock.conformance.family.family import Family, family_named
from runlock.conformance.protocol import Handshake

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


def profiles_of(family: Family) -> list[str]:
    """The profiles that a reference has."""
    return [one.name for one in family.spec.profiles.values() if one.policies]


def offer_of(family: Family, profile: str) -> Offer:
    """What the reference offers under a profile."""
    return {key: value for key, value in _sent(family.name, profile).items() if key not in IDENTITY}


@cache
def _sent(family: str, profile: str) -> Mapping[str, Any]:
    handshake = family_named(family).made.reference(profile, {})().handshake
    sent: Mapping[str, Any] = handshake.model_dump(mode="json", by_alias=True)
    return sent


def handshake_with(family: Family, profile: str, offer: Offer) -> Handshake | None:
    """The handshake of the reference that offers this; None if it is none."""
    try:
        return family.vocabulary.handshake.model_validate({**_sent(family.name, profile), **offer})
    except ValidationError:
        return None


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
