"""The agent holds: no schedule that Hypothesis finds breaks a clause; one that does is raised, made short."""

from adapter import Adapter

from runlock.conformance.hosted import Hosted
from runlock.conformance.suite import conformance_test


def test_the_agent_holds() -> None:
    """Whatever lands first, each clause that the handshake makes testable is kept."""
    conformance_test(lambda: Hosted(Adapter), examples=50)
