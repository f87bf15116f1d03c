"""The agent holds: no schedule that Hypothesis finds breaks a clause; one that does is raised, made short."""

from adapter import Adapter

from runlock.conformance.driving.strategies.hypothesis_machine import conformance_test
from runlock.conformance.families.lifecycle.host.hosted import Hosted


def test_the_agent_holds() -> None:
    """Whatever lands first, each clause that the handshake makes testable is kept."""
    conformance_test(lambda: Hosted(Adapter), examples=50)
