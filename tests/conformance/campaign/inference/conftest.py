"""What the tests of inference share."""

import pytest

from runlock.conformance.campaign.inference import search
from runlock.conformance.campaign.worker import as_found


@pytest.fixture
def unshrunk(monkeypatch):
    """The evidence as it was found; to shorten it takes as long as to find it."""
    monkeypatch.setattr(search, "made_short", lambda workforce, found: [as_found(one) for one in found])
