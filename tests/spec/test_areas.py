"""Each area of clauses says in a few words what it is about."""

import pytest

from runlock.conformance.family.family import families


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_area_says_what_it_is_about(family):
    """The text fits into one line of a report."""
    assert {area: about for area, about in family.spec.areas.items() if not 10 < len(about) < 55} == {}
