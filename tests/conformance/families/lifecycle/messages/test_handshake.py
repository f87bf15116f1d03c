"""What a handshake says twice need be said once, and what it leaves out is as usual."""

import pytest

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.judging.applicability import standings
from runlock.conformance.protocol import Party

WHO = Party(name="runtime", version="1")


def test_grants_are_the_scopes_of_the_policy():
    """A runtime that lists what an approval may last for has declared the policy."""
    assert Handshake(implementation=WHO, grants=["once", "run"]).policies == {"grant.scopes": ["once", "run"]}
    assert Handshake(implementation=WHO, policies={"grant.scopes": ["session"]}).grants == ["session"]


@pytest.mark.parametrize("clause", ["PAIR-6", "PAIR-7"])
def test_a_status_that_no_result_has_is_not_asked_for(clause):
    """An API of a model may have none; a runtime that does not say so has it."""
    silent, usual = Handshake(implementation=WHO, history=[]), Handshake(implementation=WHO)
    policies = FAMILY.spec.policies_of("core", {})
    found = {
        one.history[:1] == ["status"]: standings(FAMILY, one, policies)[clause] for one in (silent, usual)
    }

    assert found[True].is_judged
    assert found[False].why == "what its model is shown has no status of a result"


def test_both_may_be_said():
    """A runtime may take a scope, and declare that its approvals do not last that long."""
    said = Handshake(implementation=WHO, grants=["run"], policies={"grant.scopes": ["once"]})

    assert (said.grants, said.policies) == (["run"], {"grant.scopes": ["once"]})


def test_a_runtime_without_grants_says_nothing():
    """Nothing is added to a handshake that does not speak of them."""
    said = Handshake(implementation=WHO)

    assert (said.grants, said.policies) == ([], {})
