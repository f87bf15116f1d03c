"""`runlock diff`: what became of each clause from one result to another."""

import io
import json
from dataclasses import replace

import pytest
from command_line import run
from sample_result import FILES, RESULT

from runlock.conformance.campaign.result import ClauseVerdict
from runlock.conformance.report.comparison import Comparison, write
from runlock.conformance.report.console import Page
from runlock.conformance.report.result_json import as_json
from runlock.conformance.report.stored_result import Stored

HELD = ClauseVerdict("DECIDE-5", "MUST", "held", "", 9)
MENDED = replace(RESULT, witnesses=[], clauses=[one for one in RESULT.clauses if one.id != HELD.id] + [HELD])


def stored(result):
    """A result as it is read back."""
    return Stored.model_validate(as_json(result, FILES, 1))


def compared(before, after):
    """Two results side by side."""
    return Comparison(stored(before), stored(after))


def with_clause(clause_id, verdict):
    """The result with another verdict on a clause."""
    clauses = [replace(one, verdict=verdict) if one.id == clause_id else one for one in RESULT.clauses]
    return replace(RESULT, clauses=clauses)


def because(sentence):
    """The result with its violation for another reason."""
    return replace(RESULT, witnesses=[replace(RESULT.witnesses[0], reason=sentence)])


@pytest.mark.parametrize(
    ("before", "after", "kinds", "code"),
    [
        (RESULT, RESULT, {}, 0),
        (MENDED, RESULT, {"DECIDE-5": "broke"}, 1),
        (RESULT, MENDED, {"DECIDE-5": "mended"}, 0),
        (RESULT, because("it was late"), {"DECIDE-5": "broke otherwise"}, 1),
        (RESULT, because("decision d4 names call c4, yet call c9 moved"), {}, 0),
        (RESULT, with_clause("CALL-1", "untested"), {"CALL-1": "lost"}, 3),
        (with_clause("CALL-1", "untested"), RESULT, {"CALL-1": "changed"}, 0),
        (RESULT, replace(RESULT, clauses=RESULT.clauses[1:]), {"CALL-1": "changed"}, 0),
    ],
    ids=["alike", "broke", "mended", "other reason", "other ids", "lost", "won", "not asked"],
)
def test_each_clause_that_is_not_what_it_was_is_told(before, after, kinds, code):
    """The worst decides: what broke, then what no one can say any more."""
    comparison = compared(before, after)

    assert {one.clause: one.kind for one in comparison.changes} == kinds
    assert comparison.exit_code == code


@pytest.mark.parametrize(
    ("before", "after", "which"), [(MENDED, RESULT, "after"), (RESULT, MENDED, "before")]
)
def test_the_shortest_schedule_is_of_the_side_that_breaks(before, after, which):
    """Whichever side it is, its steps are shown with how to play them on both."""
    stream = io.StringIO()
    write(compared(before, replace(after, target="reference")), Page(stream, 100))
    end = stream.getvalue().partition("shortest schedule on which they differ: ")[2]

    assert end.startswith(f"acme-runtime 2.1 ({which}) breaks DECIDE-5\n  because   decision d1 names")
    assert "3  decide c1 resume with false (d1)\n" in end
    assert end.count("runlock replay runlock-results/DECIDE-5.jsonl") == 2


def test_results_that_were_not_played_alike_are_said_to_be():
    """A change may come from another budget, and not from the runtime."""
    stream = io.StringIO()
    write(compared(RESULT, replace(RESULT, budget={"examples": 3}, profile="core")), Page(stream, 100))

    assert "  they were not played alike: other profile, budget\n" in stream.getvalue()


@pytest.mark.long
def test_two_targets_are_checked_alike_and_compared(capsys, tmp_path, monkeypatch):
    """Two runtimes by name; then their stored results, for a machine."""
    monkeypatch.chdir(tmp_path)
    toys = [f"py:cli_fakes:{name}" for name in ("Tiny", "ExecutesRejected")]
    ran = run(capsys, "diff", *toys, "--examples", 10, "--jobs", 1)
    again = run(capsys, "diff", "runlock-results/before", "runlock-results/after", "--json")

    assert (ran.code, ran.out.partition("\n")[0]) == (
        1,
        "something broke between tiny 1.0 and tiny 1.0: 3 broke",
    )
    assert again.code == again.json["exit_code"] == 1
    assert again.json["shortest"] == "GATE-2"
    assert [(one["clause"], one["before"], one["after"]) for one in again.json["changes"]] == [
        ("DECIDE-5", "held", "broken"),
        ("GATE-1", "held", "broken"),
        ("GATE-2", "held", "broken"),
    ]
    assert json.dumps(again.json["changes"][2]["witness"]).count("method") == 3
