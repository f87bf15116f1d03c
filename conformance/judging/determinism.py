"""The same words in the same order, twice: what a runtime does within a step must not depend on chance.

Compared is what the outside meets: the gates that are open and the ways in which segments end.  In which
order a runtime tells of them within one answer is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from runlock.conformance.trace.trace import Trace


def difference(first: Trace, second: Trace) -> str:
    """A sentence on the first answer in which two traces of one schedule differ, or nothing."""
    for number, (once, again) in enumerate(zip_longest(_answers(first), _answers(second)), start=1):
        if once != again:
            led = f"stimulus {number} led to {_listed(once)} when it was sent first"
            return f"{led}, yet to {_listed(again)} when everything was sent again"
    return ""


def _answers(trace: Trace) -> Iterator[list[str]]:
    """What each stimulus led to, in an order of its own."""
    shown: list[str] = []
    for record in trace.records:
        if "observation" in record:
            shown += _meets(record["observation"])
        elif "report" in record:
            yield sorted(shown)
            shown = []


def _meets(seen: dict[str, Any]) -> list[str]:
    if seen["kind"] == "gate.open":
        return [f"a {seen['on']} gate" + (f" for call {seen['call']}" if seen.get("call") else "")]
    if seen["kind"] == "run.finished":
        return [f"the end {seen['reason']['code']}"]
    return []


def _listed(answer: list[str] | None) -> str:
    return " and ".join(answer) if answer else "nothing"
