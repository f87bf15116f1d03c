"""Covering arrays of strength two: few combinations in which every two values of two features meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from covertable import make, sorters


def pairwise(features: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of a covering array, by the name of the feature; the same rows for the same features.

    A feature with one value is constant.  There are no rows unless two features have a choice.
    """
    choices = {name: range(len(values)) for name, values in features.items() if len(values) > 1}
    rows = make({name: [*some] for name, some in choices.items()}, sorter=sorters.hash) if choices else []
    constant = {name: values[0] for name, values in features.items() if len(values) == 1}
    made = [{**constant, **{name: features[name][at] for name, at in row.items()}} for row in rows]
    return made if len(choices) > 1 else []
