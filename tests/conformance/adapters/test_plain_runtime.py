"""A runtime that shares nothing with the kit, on the other side of a pipe: right, and wrong in three ways."""

from __future__ import annotations

import sys

import pytest
from places import DOUBLES

from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.result import Result
from runlock.conformance.campaign.supervisor import campaign

PLAIN = DOUBLES / "plain_runtime.py"


def checked(*words: str, examples: int) -> Result:
    """A short campaign on the runtime, started with these words."""
    return campaign(Order(" ".join(["cmd:" + sys.executable, str(PLAIN), *words]), Sampled(examples)))


@pytest.mark.long
def test_a_right_runtime_holds() -> None:
    """What was written without the charts, and keeps the words, breaks nothing."""
    result = checked(examples=160)

    assert (result.verdict, result.troubles, result.witnesses) == ("held", [], [])
    assert result.count("held") > 50


@pytest.mark.sampled(1, nightly=3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("mistake", "clause", "says"),
    [
        ("runs-the-rejected", "GATE-2", "was cancelled by decision"),
        ("loses-results", "PAIR-4", "yet the model was not shown that"),
        ("listens-to-any-run", "CALL-7", "nobody decided about call"),
    ],
)
def test_a_wrong_runtime_is_found_out(mistake: str, clause: str, says: str) -> None:
    """One slip in it is found, blamed on its clause, and shown in a few steps."""
    result = checked("--wrong", mistake, examples=20)
    witness = next(witness for witness in result.witnesses if witness.clause == clause)

    assert result.exit_code() == 1
    assert says in witness.reason
    assert witness.steps <= 6
