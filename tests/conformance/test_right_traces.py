"""What runtimes that share nothing with the kit did by right: their traces, none of which is objected to.

Each file is named after the freedom that was taken in it.
"""

from pathlib import Path

import pytest

from interlock.conformance.audit import audit

TRACES = sorted((Path(__file__).parent / "right_traces").glob("*.jsonl"))

# The clause that each of them is about: it spoke of what was done, and held.
ABOUT = {
    "a-decision-that-a-cancel-overtakes": "RUN-31",
    "a-held-back-call-behind-the-wait": "RUN-31",
    "a-resume-gate-shown-by-a-waiting-loop": "RUN-32",
    "done-before-its-commit-from-waiting": "RUN-31",
}


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_nothing_is_objected_to(path):
    """A trace of a right runtime breaks nothing, and something of it was judged."""
    result = audit(path, path.stem)
    verdicts = {one.id: one.verdict for one in result.clauses}

    assert {one.clause: one.because for one in result.witnesses} == {}
    assert "held" in verdicts.values()
    assert verdicts.get(ABOUT.get(path.stem), "held") == "held"


def test_there_are_traces():
    """A folder that is empty shows nothing."""
    assert len(TRACES) >= len(ABOUT)
