"""The chart coverage for a person: counts for each chart, and the names of what was never exercised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from runlock.conformance.campaign.result import Result, Toured
from runlock.conformance.family.coverage import ChartCoverage
from runlock.conformance.report.console import NO_BREAK, Page

NAMES_MAX: Final = 6
"""Maximum names of a kind; `--verbose` shows them all."""


def section(result: Result, page: Page, *, is_verbose: bool) -> None:
    """Write a line for each chart, with what is missing under it, and then the tours."""
    width = max(len(chart.chart) for chart in result.coverage)
    page.columns(f"{'chart':<{width}}  ", "taken of what can be seen", "dim")
    for chart in result.coverage:
        page.columns(f"{chart.chart:<{width}}  ", _summary(chart))
        for what, names in _lacking(chart).items():
            if names:
                page.columns(f"{'':<{width}}    ", f"{what}: {_some(names, is_verbose)}", "yellow")
    if result.tours:
        page.columns(f"{'tours':<{width}}  ", _tours(result.tours, is_verbose))


def _summary(chart: ChartCoverage) -> str:
    if chart.why:
        return f"nothing: {chart.why}"
    parts = [
        _share(chart.arrows, "transitions"),
        _share(chart.pairs, "pairs of transitions"),
        _share(chart.refusals, "refused stimuli sent"),
    ]
    unseen = f"{chart.unseen} more do not show from outside" if chart.unseen else ""
    derived = "derived from its gates" if chart.derived else ""
    return "; ".join(part for part in (", ".join(filter(None, parts)), unseen, derived) if part)


def _share(counts: Mapping[Any, int], what: str) -> str:
    return f"{sum(1 for count in counts.values() if count)} of {len(counts)} {what}" if counts else ""


def _lacking(chart: ChartCoverage) -> dict[str, list[str]]:
    """What was never exercised, by name."""
    arrows = [
        f"{row.clause} {row.source} to {row.target}" for row, taken in chart.arrows.items() if not taken
    ]
    pairs = [
        f"{first.clause} then {then.clause}"
        for (first, then), taken in chart.pairs.items()
        if not taken and chart.arrows[first] and chart.arrows[then]
    ]
    refusals = [f"{stimulus} when {state}" for (state, stimulus), sent in chart.refusals.items() if not sent]
    return {"transitions never taken": arrows, "nor in a row": pairs, "never sent": refusals}


def _tours(tours: list[Toured], is_verbose: bool) -> str:
    missed = [" then ".join(tour.goal) for tour in tours if not tour.reached]
    reached = f"{len(tours) - len(missed)} of {len(tours)} goals reached"
    return f"{reached}; not on this runtime: {_some(missed, is_verbose)}" if missed else reached


def _some(names: Iterable[str], is_verbose: bool) -> str:
    whole = list(_unbroken(names))
    shown = whole if is_verbose else whole[:NAMES_MAX]
    more = f" and {len(whole) - len(shown)} more" if len(whole) > len(shown) else ""
    return f"{', '.join(shown)}{more}"


def _unbroken(names: Iterable[str]) -> Iterator[str]:
    yield from (name.replace(" ", NO_BREAK) for name in names)
