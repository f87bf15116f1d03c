"""Two traces of one schedule: what the outside meets must be the same, in any order."""

from __future__ import annotations

from typing import Any

import pytest

from runlock.conformance.judging.determinism import difference
from runlock.conformance.trace.trace import Trace

REPORT = {"report": {"quiescent": True, "refused": []}}


def gate(on: str, call: str | None = None, gate: str = "g") -> dict[str, Any]:
    """A gate opens."""
    return {"observation": {"kind": "gate.open", "gate": gate, "on": on, "call": call}}


def end(code: str) -> dict[str, Any]:
    """A segment ends."""
    return {"observation": {"kind": "run.finished", "reason": {"code": code}}}


STATUS = {"observation": {"kind": "run.status", "to": "Running"}}


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ([gate("model"), REPORT], [gate("model"), REPORT], ""),
        ([gate("model", gate="g1"), REPORT], [gate("model", gate="a7"), REPORT], ""),
        ([gate("tool", "c1"), end("Error"), REPORT], [end("Error"), gate("tool", "c1"), REPORT], ""),
        ([STATUS, gate("model"), REPORT], [gate("model"), STATUS, STATUS, REPORT], ""),
        ([], [], ""),
        (
            [gate("model"), REPORT],
            [end("Error"), REPORT],
            "stimulus 1 led to a model gate when it was sent first, yet to the end Error when everything was "
            "sent again",
        ),
        (
            [gate("model"), REPORT, gate("tool", "c1"), gate("tool", "c2"), REPORT],
            [gate("model"), REPORT, gate("tool", "c1"), REPORT],
            "stimulus 2 led to a tool gate for call c1 and a tool gate for call c2 when it was sent first, "
            "yet to a tool gate for call c1 when everything was sent again",
        ),
        (
            [gate("tool", "c1"), REPORT],
            [gate("tool", "c1"), gate("tool", "c1"), REPORT],
            "stimulus 1 led to a tool gate for call c1 when it was sent first, "
            "yet to a tool gate for call c1 and a tool gate for call c1 when everything was sent again",
        ),
    ],
    ids=[
        "the same", "other ids", "another order", "other statuses", "nothing", "another end", "one gate less",
        "a gate twice",
    ],
)  # fmt: skip
def test_the_first_difference_is_a_sentence(
    first: list[dict[str, Any]], second: list[dict[str, Any]], says: str
) -> None:
    """Gates and the ways in which segments end are compared, answer by answer; ids and order are not."""
    assert difference(Trace(first), Trace(second)) == says
