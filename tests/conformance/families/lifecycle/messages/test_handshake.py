"""What a handshake says twice need be said once."""

from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.protocol import Party

WHO = Party(name="runtime", version="1")


def test_grants_are_the_scopes_of_the_policy():
    """A runtime that lists what an approval may last for has declared the policy."""
    assert Handshake(implementation=WHO, grants=["once", "run"]).policies == {"grant.scopes": ["once", "run"]}
    assert Handshake(implementation=WHO, policies={"grant.scopes": ["session"]}).grants == ["session"]


def test_both_may_be_said():
    """A runtime may take a scope, and declare that its approvals do not last that long."""
    said = Handshake(implementation=WHO, grants=["run"], policies={"grant.scopes": ["once"]})

    assert (said.grants, said.policies) == (["run"], {"grant.scopes": ["once"]})


def test_a_runtime_without_grants_says_nothing():
    """Nothing is added to a handshake that does not speak of them."""
    said = Handshake(implementation=WHO)

    assert (said.grants, said.policies) == ([], {})
