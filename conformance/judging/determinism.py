"""The same words in the same order, twice: what a runtime does within a step must not depend on chance.

Compared is what the outside meets: the gates that are open and the ways in which segments end.  In which
order a runtime tells of them within one answer is not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

from runlock.conformance.text import difference_of
from runlock.conformance.trace.trace import Trace

EXCEPTION: Final = "adapter.error"
CONSTANT: Final = "An adapter leaves out what is new in each run, such as a time stamp or a random id."


def difference(first: Trace, second: Trace) -> str:
    """A sentence on the first answer in which two traces of one schedule differ, or nothing."""
    for number, once, again in _differences(first, second):
        led = f"stimulus {number} led to {_listed(once)} when it was sent first"
        return f"{led}, yet to {_listed(again)} when everything was sent again"
    return ""


def differs_at(first: Trace, second: Trace) -> int:
    """The number of the first stimulus to which two traces of one schedule differ in their answers, or 0."""
    return next((number for number, _, _ in _differences(first, second)), 0)


def _differences(first: Trace, second: Trace) -> Iterator[tuple[int, list[str] | None, list[str] | None]]:
    for number, (once, again) in enumerate(zip_longest(_answers(first), _answers(second)), start=1):
        if once != again:
            yield number, once, again


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


# --- answers as a whole ---------------------------------------------------------------------------

GateName = Callable[[Mapping[str, Any]], str]


def another_answer(first: Trace, second: Trace, gate_name: GateName) -> str:
    """A sentence on the first answer in which two traces of one schedule, or of its beginning, differ at all.

    Gates go by what waits at them, since a runtime chooses their ids.  Neither the order within an answer, or
    within the events that an observation lists, nor the words of a refusal or an exception are compared.
    """
    pairs = zip(_whole_answers(first, gate_name), _whole_answers(second, gate_name), strict=False)
    for number, (once, again) in enumerate(pairs, start=1):
        if what := _changed(once, again):
            return f"To stimulus {number} of a schedule that was sent again, {what}. {CONSTANT}"
    return ""


def _whole_answers(trace: Trace, gate_name: GateName) -> Iterator[list[dict[str, Any]]]:
    names: dict[str, str] = {}
    shown: list[dict[str, Any]] = []
    for record in trace.records:
        if "observation" in record:
            seen = record["observation"]
            if seen.get("kind") == "gate.open":
                names[seen["gate"]] = gate_name(seen)
            if isinstance(seen.get("events"), list):
                seen = {**seen, "events": sorted(seen["events"], key=_written)}
            if seen.get("kind") != EXCEPTION:
                shown.append({**seen, "gate": names.get(seen["gate"])} if "gate" in seen else seen)
        elif "report" in record:
            yield sorted(shown, key=_written)
            shown = []


def _changed(once: list[dict[str, Any]], again: list[dict[str, Any]]) -> str:
    """What differs between two answers: an observation of another number, or a field of one."""
    kinds = Counter(one["kind"] for one in once), Counter(one["kind"] for one in again)
    for kind in kinds[0] | kinds[1]:
        if kinds[0][kind] != kinds[1][kind]:
            return f"it showed {kind} {kinds[0][kind]} times before, and {kinds[1][kind]} times now"
    changed = ((one, other) for one, other in zip(once, again, strict=True) if one != other)
    return next((f"in {one['kind']} {difference_of(one, other)}" for one, other in changed), "")


def _written(seen: Any) -> str:
    return json.dumps(seen, sort_keys=True, default=str)
