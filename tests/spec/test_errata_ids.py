"""An erratum has one id over all families, so that a reference by id alone has one meaning."""

from collections import Counter

from runlock.conformance.family.family import families


def test_no_two_errata_share_an_id() -> None:
    """Each family numbers on from the others."""
    told = Counter(id for family in families() for id in family.spec.errata)
    assert {id: count for id, count in told.items() if count > 1} == {}


def test_the_families_are_told_apart() -> None:
    """The test above compares more than one list."""
    assert sum(1 for family in families() if family.spec.errata) > 1
