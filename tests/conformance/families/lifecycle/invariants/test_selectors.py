"""What is asked about an observation: nothing that its name leaves out would have said a word."""

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.invariants.selectors import NEWEST, name_of, newest_of
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.judging.judge import Asked
from runlock.spec.model import load_spec

PROFILES = [name for name, profile in load_spec("lifecycle").profiles.items() if profile.policies]


class Outspoken(Asked):
    """Asks as its maker does, and notes who else had something to say about an observation."""

    def __init__(self, judge):
        self.asked, self.state, self.spoke = judge.asked, judge.state, []

    def at_rest(self, state):
        """Let everybody speak, those too that are not asked."""
        self._listen(None, "", "")
        return self.asked.at_rest(state)

    def about(self, state, seen):
        """Let everybody speak, those too that are not asked."""
        self._listen(type(seen), name_of(seen), newest_of(state, seen), seen)
        return self.asked.about(state, seen)

    def _listen(self, kind, name, newest, *seen):
        where = name, newest, self.state.features
        left_out = (one for one in INVARIANTS if one.seeing is kind and not one.is_asked(*where))
        self.spoke += [one.title for one in left_out if list(one.run(self.state, *seen))]


def listened(bench, scenario, schedule):
    """Who spoke without being asked in one schedule."""
    spoke = []

    def heard(session):
        outspoken = session.judge.asked = Outspoken(session.judge)
        schedule(session)
        spoke.extend(outspoken.spoke)

    bench.judged(scenario, heard, Tally())
    return spoke


@pytest.mark.parametrize("profile", PROFILES)
def test_who_is_not_asked_has_nothing_to_say(profile):
    """A check that names what it judges says nothing of anything else, in scripts and on walks."""
    bench = Bench(lambda: Hosted(factory(profile)))
    for script in corpus(FAMILY)[::12]:
        if not applicable(FAMILY, script, bench.handshake):
            assert listened(bench, script.scenario, play(script)) == []
    for index in range(3):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        assert listened(bench, scenario, lambda session: walk(session, Seeded(3, index))) == []  # noqa: B023


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
