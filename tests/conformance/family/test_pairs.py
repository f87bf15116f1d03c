"""Covering arrays: every two values of two features meet."""

from itertools import combinations, product

from runlock.conformance.family.pairs import pairwise


def test_every_two_values_meet() -> None:
    """In some row; a feature with one value is constant, and one feature alone gives no row."""
    features = {"a": [0, 1, 2], "b": ["x", "y"], "c": [None, [1]], "d": ["only"]}
    rows = pairwise(features)

    for one, other in combinations("abc", 2):
        assert {(str(row[one]), str(row[other])) for row in rows} == {
            (str(left), str(right)) for left, right in product(features[one], features[other])
        }
    assert {row["d"] for row in rows} == {"only"}
    assert len(rows) < 3 * 2 * 2
    assert pairwise({"a": [0, 1], "d": ["only"]}) == []
