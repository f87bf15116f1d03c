"""What is asked about an observation: nothing that its name leaves out would have said a word."""

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.invariants.selectors import NEWEST
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.family.chooser import Seeded
from runlock.spec.model import load_spec

PROFILES = [name for name, profile in load_spec("lifecycle").profiles.items() if profile.policies]


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS[::8], ids=lambda mutant: mutant.name)
def test_who_is_not_asked_has_nothing_to_say_of_a_mutant(mutant):
    """Nor of what one mutant in eight does."""
    bench = Bench(lambda: Hosted(mutant))
    for index in range(6):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        assert listened(bench, scenario, lambda session: walk(session, Seeded(5, index))) == []  # noqa: B023


def test_every_name_is_one_that_an_observation_can_bear():
    """A check that named something else would never be asked."""
    for check in INVARIANTS:
        names = (*check.at, *check.after)
        assert check.seeing is not None or not names
        shown = repr(check.seeing.model_json_schema()) if names else ""
        free = check.seeing.__name__ in {"GateOpened", "Checkpointed", "Published"} if names else True
        assert free or all(f"'{name}'" in shown for name in names if name), check.title
        assert not check.after or check.seeing in NEWEST, check.title
