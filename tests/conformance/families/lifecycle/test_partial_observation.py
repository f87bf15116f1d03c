"""The reference of which only a part is seen: what it hides, or does not declare, is not held against it."""

from collections.abc import Sequence

import pytest
from observation_filter import HIDEABLE, KINDS, Veiled
from played_scripts import reasons, scripts_on, walks_on

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.transport.sut import SutFactory
from runlock.spec.model import load_spec

PROFILES = [name for name, profile in load_spec("lifecycle").profiles.items() if profile.policies]
VEILS = 8
EVERY, WALKS = 16, 6


@pytest.mark.sampled(24)
@pytest.mark.parametrize("veil", range(VEILS))
@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_not_seen_is_not_objected_to(profile: str, veil: int) -> None:
    """Scripts and walks of which a part is hidden break nothing, and rule no policy out."""
    not_objected_to(lambda: Veiled(Hosted(factory(profile)), Seeded(veil)), veil)


@pytest.mark.sampled(24)
@pytest.mark.parametrize(
    "shown", [(), *((kind,) for kind in KINDS)], ids=lambda one: "".join(one) or "nothing"
)
@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_shown_alone_is_not_objected_to(profile: str, shown: Sequence[str]) -> None:
    """A runtime that shows gates and one kind of observation, or gates alone, breaks nothing either."""
    seed = len("".join(shown)) % VEILS
    not_objected_to(lambda: Veiled(Hosted(factory(profile)), Seeded(seed), shown), seed)


def not_objected_to(open_sut: SutFactory, seed: int) -> None:
    """Play one script in EVERY, and random walks."""
    bench = Bench(open_sut)
    tally = walks_on(bench, range(WALKS), seed, scripts_on(bench, corpus(FAMILY)[seed::EVERY]))
    tally.settle(bench.undeclared)

    assert reasons(tally) == {}
    assert [str(trouble) for trouble in tally.troubles] == []
    assert tally.schedules > WALKS


def test_each_kind_is_hidden_by_a_veil_and_left_by_another():
    """The veils of these tests are not all alike."""
    hidden = [Veiled(Hosted(factory("tirea")), Seeded(veil)).hidden for veil in range(VEILS)]

    assert all(any(kind in one for one in hidden) for kind in HIDEABLE)
    assert all(any(kind not in one for one in hidden) for kind in HIDEABLE)
