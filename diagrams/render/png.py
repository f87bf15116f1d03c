"""The charts of a result, with how often each arrow was taken painted on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT
from runlock.diagrams.charts.dot import Wish, dot, page_of
from runlock.diagrams.charts.picture import pictures


def painted(result: Mapping[str, Any], link: Callable[[str], str] = page_of) -> Iterator[tuple[str, str]]:
    """The name and the DOT source of each chart that a result of `runlock check` covers."""
    known = pictures(result.get("family", DEFAULT))
    for chart in result["coverage"]:
        name = chart["chart"]
        if name not in known:
            raise UsageError(f"It covers {name}, which is no chart.", "`runlock list charts` has the names.")
        counts = {arrow["clause"]: int(arrow["taken"]) for arrow in chart["arrows"]}
        yield name, dot(known[name], Wish(link, counts))
