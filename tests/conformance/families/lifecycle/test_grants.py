"""What an approval stands for in small agents, and what they are blamed for."""

import granting_agents
import pytest
from played_scripts import played_on, reasons

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import applicable, corpus, script_of
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted

RIGHT = {"OneByOne": (), "Granting": ("GRANT-1", "GRANT-2"), "Revoking": ("GRANT-1", "GRANT-2", "GRANT-4")}
WRONG = {
    "ForAllThatWait": "GRANT-2",
    "ForEver": "GRANT-2",
    "Forgetful": "GRANT-1",
    "Stubborn": "GRANT-4",
}

ASKS_AGAIN = script_of(
    FAMILY,
    "asks-again",
    """
scenario asks-again
  tool pay ask

start r1 pay
release model turn c1:pay
decide d1 resume c1
release tool:c1 ok paid
release model turn c2:pay
""",
)


def played(agent, scripts):
    """What these scripts show of an agent."""
    return played_on(Bench(lambda: Hosted(agent)), scripts)


def about_grants():
    return [one for one in corpus(FAMILY) if one.scenario.scenario.startswith("granted-")]


@pytest.mark.parametrize(("name", "judged"), RIGHT.items())
def test_an_approval_may_stand_for_as_long_as_it_says(name, judged):
    """A right agent breaks nothing, and the clauses of what it declares are exercised."""
    total = played(getattr(granting_agents, name), [*about_grants(), ASKS_AGAIN])

    assert reasons(total) == {}
    assert all(total.exercised[clause] for clause in judged)


@pytest.mark.parametrize(("name", "clause"), WRONG.items())
def test_a_grant_that_covers_something_else_is_blamed_as_one(name, clause):
    """The clause of the fault is the only one that is reported."""
    assert set(played(getattr(granting_agents, name), about_grants()).found) == {clause}


def test_an_approval_that_nobody_said_stands_is_for_its_call():
    """An agent that declares no grants is judged by the clauses of approval."""
    assert set(played(granting_agents.AlwaysUnasked, [ASKS_AGAIN]).found) == {"GATE-1"}


def test_a_script_with_a_grant_is_not_played_where_none_is_declared():
    """Nothing is sent that the handshake does not name."""
    handshake = Bench(lambda: Hosted(granting_agents.OneByOne)).handshake

    whys = {applicable(FAMILY, one, handshake) for one in about_grants()}

    assert "its approvals do not last for the run" in whys
    assert "" not in whys
