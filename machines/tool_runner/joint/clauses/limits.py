"""What is said of the limit of iterations."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.tool_runner.joint.clauses.rules import Terms, at, sends


def limits(terms: Terms) -> Iterator[Rule]:
    """The rules of the limit."""
    yield NeverStep(
        "STOP-1",
        "a request was sent beyond the limit",
        lambda c, call, to, after: c.left == 0,
        lambda c, call, to, after: sends(c, to),
    )
    if terms.limit:
        yield Never(
            "STOP-2",
            "the limit ended the run before it was used up",
            lambda control: control.runner == "Limited" and control.left != 0,
        )
        yield from _counts(terms)
    else:
        yield from _zero(terms)
    if terms.says("stop.tools", "preempted"):
        yield Never(
            "STOP-5",
            "calls of the last turn that the limit allows ran",
            lambda control: control.runner == "Handling" and control.left == 0,
        )
    else:
        yield NeverStep(
            "STOP-5",
            "the run ended before the calls of the last turn that the limit allows",
            lambda c, call, to, after: to.runner == "Limited",
            lambda c, call, to, after: c.runner == "Updated" and c.left == 0,
        )
    yield NeverStep(
        "STOP-6",
        "the limit was set back",
        lambda c, call, to, after: to.left > c.left,
        lambda c, call, to, after: c.left >= 0 and to != c,
    )


def _counts(terms: Terms) -> Iterator[Rule]:
    counts_requests = terms.says("limit.counts", "requests")
    yield NeverStep(
        "STOP-3",
        "a request was not counted, or was, against what is declared",
        lambda c, call, to, after: (to.left < c.left) is not counts_requests,
        lambda c, call, to, after: sends(c, to) and c.left > 0,
    )
    yield NeverStep(
        "STOP-3",
        "a turn was not counted, or was, against what is declared",
        lambda c, call, to, after: (to.left < c.left) is counts_requests,
        lambda c, call, to, after: c.stop == "" and to.stop != "" and c.left > 0,
    )


def _zero(terms: Terms) -> Iterator[Rule]:
    if terms.says("limit.zero", "no_request"):
        yield Never("STOP-4", "the limit was 0, and a request was sent", at("Asked"))
    else:
        yield Never("STOP-4", "a limit of 0 ended the run", at("Limited"))
