"""The scripts of the message loop pass on its reference."""

from functools import cache

import pytest
from played_scripts import reasons

from runlock.conformance.driving.bench import Bench, Tally
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.families.message_loop.family import FAMILY

SCRIPTS = {script.name: script for script in corpus(FAMILY)}


@cache
def bench() -> Bench:
    """The reference of the profile of the source."""
    make = FAMILY.made.reference(FAMILY.default_profile, {})
    return Bench(lambda: FAMILY.host(make))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_right_on_the_reference(name: str) -> None:
    """No clause is violated, and at least one move is performed."""
    script, tally = SCRIPTS[name], Tally()
    assert applicable(FAMILY, script, bench().handshake) == ""
    bench().play(script.scenario, play(script), tally)

    assert reasons(tally) == {}
    assert tally.troubles == []
    assert tally.stimuli > 1
