"""What a runtime behind AG-UI does about what the protocol leaves open is found out by playing it."""

import pytest
from ag_ui_variants import VARIANTS
from played_scripts import played_on

from runlock.conformance.campaign.inference.bench import LearningBench
from runlock.conformance.campaign.order import Inferring, Order
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.wires import opened

USUAL = {"resume": "partial", "input.waiting": "refuse"}
DOES = {
    "usual": {**USUAL, "cancel.inflight": "abort", "cancel.results": "kept"},
    "finishing": USUAL,
    "waits-for-all": {"resume": "collect"},
    "refuses-a-part": {"resume": "all_or_nothing"},
    "superseding": {"input.waiting": "supersede"},
    "going-on": {"input.waiting": "placeholder"},
}
"""What right applications do, each a policy that nothing declares."""


def ruled_out(apps, name, monkeypatch):
    """The values of policies that the scripts rule out."""
    found = apps.wire(name)
    target = str(found.address)
    monkeypatch.setitem(opened._OPEN, target, found)
    bench = LearningBench(Order(target, Inferring(0)), lambda _: True)
    return set(played_on(bench, corpus(FAMILY)).excluded)


@pytest.mark.sampled(1, nightly=6)
@pytest.mark.long
@pytest.mark.parametrize("name", DOES)
def test_what_a_right_application_does_is_found_out(apps, name, monkeypatch):
    """All other values are ruled out, and its own is not."""
    out = ruled_out(apps, name, monkeypatch)

    assert name in VARIANTS
    for policy, value in DOES[name].items():
        values = FAMILY.spec.policy(policy).values
        assert [one for one in values if (policy, one) not in out] == [value]
