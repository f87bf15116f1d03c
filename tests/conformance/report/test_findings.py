"""Findings of a matrix: one for each fault of a library, whatever it breaks and wherever it shows."""

import json
from dataclasses import replace

import pytest
from places import ROOT

from runlock.conformance.campaign.programs import programs_of
from runlock.conformance.campaign.runtime import Known
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.cli.main import main
from runlock.conformance.report.findings import counted, findings
from runlock.conformance.report.matrix import with_findings
from runlock.conformance.report.upstream import about, text_of, texts
from runlock.conformance.trace.moves import Move, race
from runlock.conformance.trace.situation import situation
from runlock.spec.model import SEVERITIES

STANDALONE = ROOT / "docs/standalone"
COMMITTED = json.loads((ROOT / "docs/matrix.json").read_text("utf-8"))
BASE = runtimes()[0]
HEAD = ["scenario s", " tool write ask", ""]
APPROVED = ['start r1 "write"', "release model turn c1:write", "decide d1 resume c1"]
AGAIN = [*APPROVED, "release tool:c1 ok", "decide d2 resume c1"]
CANCELLED = ['start r1 "write"', "release model turn c1:write", "cancel"]


def runtime(name, *seen, library="lib"):
    """A configuration of a library, with what is known of its violations."""
    return replace(BASE, name=name, library=library, seen=tuple(Known(*one) for one in seen))


def column(name, *violated):
    """A column of a matrix: clauses with their witnesses and causes."""
    found = [
        {
            "clause": clause,
            "because": "it broke",
            "witness": [*HEAD, *steps],
            **({"cause": cause} if cause else {}),
        }
        for clause, steps, cause in violated
    ]
    return {"name": name, "verdict": "broken", "family": "lifecycle", "violations": found}


def found_in(known, *columns):
    """The findings by the program, or by the class of their witnesses."""
    found = findings({"runtimes": columns}, known)
    return {one.name.program or one.name.situation: one for one in found}


def test_one_program_is_one_finding():
    """Two clauses in two configurations of one library, shown by one program."""
    known = [
        runtime(name, ("RUN-20", "again", "a.py"), ("ONCE-1", "again", "a.py")) for name in ("one", "two")
    ]
    columns = [column(one.name, ("RUN-20", AGAIN, ""), ("ONCE-1", AGAIN, "")) for one in known]

    (finding,) = found_in(known, *columns).values()
    assert (finding.clauses, finding.configurations) == (["RUN-20", "ONCE-1"], ["one", "two"])
    assert finding.severity == "runs without consent"


def test_one_program_of_two_libraries_is_two_findings():
    """Each of them has to be told."""
    known = [runtime(name, ("ONCE-1", "again", "a.py"), library=name) for name in ("one", "two")]

    assert len(findings({"runtimes": [column(one.name, ("ONCE-1", AGAIN, "")) for one in known]}, known)) == 2


@pytest.mark.parametrize(
    ("clause", "steps", "joins"),
    [
        ("CANCEL-3", [*CANCELLED, "cancel"], True),  # it has the cancel
        ("ONCE-1", [*CANCELLED, "cancel"], True),  # so has this one, which is worse
        ("CANCEL-3", [*APPROVED, "decide d2 resume c1"], False),  # no cancel
    ],
)
def test_a_consequence_has_what_its_cause_needs(clause, steps, joins):
    """An execution without a cancel is no consequence of a cancel that was not obeyed."""
    known = [runtime("one", ("CANCEL-2", "ends otherwise", "a.py"))]
    different = ["start r2 hello", *steps[1:]] if not joins else steps
    found = found_in(known, column("one", ("CANCEL-2", CANCELLED, ""), (clause, different, "CANCEL-2")))

    assert {*found["a.py"].clauses} == ({"CANCEL-2", clause} if joins else {"CANCEL-2"})
    assert len(found) == (1 if joins else 2)


def test_what_no_program_shows_comes_last_and_is_counted_apart():
    """There, the adapter is suspected first."""
    known = [runtime("one", ("STREAM-1", "late", "a.py"))]
    report = {"runtimes": [column("one", ("GATE-2", APPROVED, ""), ("STREAM-1", CANCELLED, ""))]}

    assert [one.severity for one in findings(report, known)] == ["cosmetic", "runs without consent"]
    numbers = counted(report, known)
    assert (numbers.violations, numbers.unshown, numbers.documented) == (1, 1, 0)


@pytest.mark.parametrize(
    ("more", "against", "violations"),
    [
        ({}, "the specification alone", 1),
        ({"promise": "https://p.example"}, "its own documentation or an API's rule", 1),
        ({"documented": "https://d.example"}, "documented", 0),
    ],
)
def test_what_is_documented_is_no_violation(more, against, violations):
    """There, its documentation and the specification disagree, and the page is named."""
    known = [replace(runtime("one"), seen=(Known("GATE-2", "runs", "a.py", **more),))]
    report = {"runtimes": [column("one", ("GATE-2", APPROVED, ""))]}

    (finding,) = findings(report, known)
    assert (finding.against, finding.pages) == (against, list(more.values()))
    assert counted(report, known).violations == violations


def test_the_committed_matrix_has_its_findings():
    """They follow from the violations in it and from what is known of them."""
    left = {key: value for key, value in COMMITTED.items() if key not in ("findings", "counts")}

    assert with_findings(left, runtimes()) == COMMITTED


def test_the_findings_that_a_program_shows_come_by_severity():
    """What ran without consent leads."""
    shown = [SEVERITIES.index(one["severity"]) for one in COMMITTED["findings"] if one["program"]]

    assert shown == sorted(shown)


def test_a_situation_is_what_happened_besides_answers():
    """How often and to which call makes no difference; the parts of a race count."""
    decide = Move("decide", {"decisions": [{"id": "d1", "call": "c1", "action": "resume"}]})
    turn = Move("gate.release", {"gate": "model", "outcome": {"kind": "turn"}})
    failed = Move("gate.release", {"gate": "tool:c1", "outcome": {"kind": "raise"}})

    moves = [Move("run.start", {"input": "x"}), turn, decide, race([decide, Move("cancel", {})]), failed]
    assert situation(moves) == {"decide resume", "cancel", "tool raise"}
    assert situation(moves[:2]) == frozenset()


# --- texts for the maintainers --------------------------------------------------------------------


@pytest.mark.parametrize("program", programs_of(runtimes()))
def test_each_program_says_what_a_report_needs(program):
    """The bug, what was expected and whom it hurts, each in a sentence."""
    said = about(text_of(program, STANDALONE))

    assert all(said)
    assert "expected:" not in said.bug


def test_a_program_that_says_nothing_is_refused():
    """A report without an expectation is none."""
    with pytest.raises(LookupError, match="does not say what it is about"):
        about('"""A program."""\nprint(1)\n')


def test_a_text_has_what_an_issue_needs():
    """Title, version, expected, actual, why, the program as it is, and earlier reports."""
    written = dict(texts(COMMITTED, runtimes(), "strands", STANDALONE))
    (text,) = [text for name, text in written.items() if name.endswith("strands_cancel_after_the_end.md")]

    title, *parts = text.split("\n\n")
    assert title.startswith("# ")
    assert [part.partition("**: ")[0] for part in parts[:4]] == [
        "**Version", "**Expected", "**Actual", "**Why it matters",
    ]  # fmt: skip
    assert "strands-agents==1.62.0" in parts[0]
    assert text_of("show_strands.py cancel_after_the_end", STANDALONE).rstrip() in text
    assert "- <https://github.com/strands-agents/harness-sdk/issues/2156> (open)" in text


def test_what_is_documented_is_not_reported():
    """The page of the library says that it is meant."""
    names = [name for name, _ in texts(COMMITTED, runtimes(), "agno", STANDALONE)]

    assert names
    assert not any("cancel_before_the_tools" in name for name in names)


def test_the_command_writes_a_text_for_each_finding(tmp_path, monkeypatch, capsys):
    """By the name of a library or of a configuration; another name is refused with the nearest one."""
    monkeypatch.chdir(ROOT)
    assert main(["matrix", "--report", "anthropic", "-o", str(tmp_path)]) == 0
    assert len([*(tmp_path / "reports/anthropic").iterdir()]) == 6

    assert main(["matrix", "--report", "antropic", "-o", str(tmp_path)]) == 2
    assert "Did you mean `anthropic`?" in capsys.readouterr().err
