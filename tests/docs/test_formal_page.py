"""The page about the conformance relation names the clauses that only charts check."""

from __future__ import annotations

import re

from places import ROOT

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.spec.model import load_spec

PAGE = ROOT / "docs" / "concepts" / "ioco.md"


def named(text: str) -> set[str]:
    """The clauses that a text names, by themselves or as a range."""
    found = set(re.findall(r"[A-Z]+-\d+", text))
    for area, first, last in re.findall(r"([A-Z]+)-(\d+) to [A-Z]+-(\d+)", text):
        found |= {f"{area}-{number}" for number in range(int(first), int(last) + 1)}
    return found & load_spec("lifecycle").clauses.keys()


def test_the_clauses_that_charts_check_alone_are_listed() -> None:
    """A clause that gets an invariant of its own leaves the list, and one that loses it joins the list."""
    listed = PAGE.read_text("utf-8").partition("## Charts and invariants")[2]
    untestable = {one.id for one in load_spec("lifecycle").clauses.values() if one.untestable}

    assert named(listed) == FAMILY.checked - {check.clause for check in INVARIANTS} - untestable
