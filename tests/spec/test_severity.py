"""The severity of a clause: one of a closed list, stated by each clause, the worst first."""

import pytest

from runlock.conformance.family.family import families
from runlock.spec.model import SEVERITIES


def test_the_list_is_closed_and_begins_with_the_worst():
    """What ran without consent leads; what a watcher sees wrongly comes last."""
    assert SEVERITIES == (
        "runs without consent",
        "runs twice",
        "wrong call or wrong arguments",
        "result lost or invented",
        "thread dead",
        "status wrong",
        "cosmetic",
    )


@pytest.mark.parametrize("family", families(), ids=lambda one: one.name)
def test_what_is_never_to_run_is_the_worst(family):
    """A rejected call that runs leads a result that stands twice in a history."""
    clauses = family.spec.clauses
    answered, doubled = clauses["RUNNER-15" if family.name == "tool-runner" else "GATE-2"], clauses["PAIR-3"]

    assert (answered.severity, doubled.severity) == ("runs without consent", "thread dead")
    assert answered.gravity == 0 < doubled.gravity
