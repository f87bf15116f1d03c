"""One legal answer is bounded: what shows too much ends in a sentence, within seconds."""

from __future__ import annotations

import pytest

from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.errors import AdapterError
from runlock.conformance.protocol.answers import OBSERVATIONS_OF_A_SCENARIO_MAX, refuse_flood


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("FloodsMore", "The answer to run.start holds 40,002 observations; 5,000 are the most."),
        pytest.param("FloodsBeyondMeasure", "holds 200,002 observations", marks=pytest.mark.long),
        ("OpensGates", "With the answer to run.start, 3,001 gates were opened; 500 are the most"),
    ],
)
def test_a_flood_ends_the_campaign_with_its_size(name: str, words: str) -> None:
    """Three schedules in a row could not be judged; no clause is blamed."""
    result = campaign(Order(f"py:flooding_fakes:{name}", Sampled(0)))

    assert (result.verdict, result.witnesses) == ("undecided", [])
    assert result.partial == "it gave up after 3 schedules that could not be judged"
    assert words in result.troubles[0].what


def test_a_scenario_is_bounded_as_well() -> None:
    """Many answers of a legal size are too many together."""
    answer = {"observations": [{"kind": "note"}] * 4_000}
    before = 0
    for _ in range(OBSERVATIONS_OF_A_SCENARIO_MAX // 4_000):
        before = refuse_flood("settle", answer, before)
    with pytest.raises(AdapterError, match="the scenario shows 24,000 observations; 20,000 are the most"):
        refuse_flood("settle", answer, before)


def test_what_is_no_list_is_not_counted() -> None:
    """The protocol says what is wrong with it."""
    assert refuse_flood("settle", {"observations": {"kind": "note"}}, 3) == 3
