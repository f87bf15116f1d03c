"""The baseline: a known violation does not fail a run, and an entry that is not true any more does."""

import json
from dataclasses import replace
from datetime import date
from xml.etree import ElementTree

import pytest
from command_line import run
from sample_result import FILES, RESULT

from runlock.conformance.campaign.baseline import (
    Baseline,
    Expected,
    as_toml,
    compared,
    read_baseline,
)
from runlock.conformance.report.result_json import as_json

BECAUSE = "decision d1 names call c1, yet call c2 moved"
REASON = "the queue is keyed by position until 3.0"
ENTRY = f"""
[[expected]]
clause = "DECIDE-5"
because = "{BECAUSE}"
reason = "{REASON}"
"""
REJECTED = ENTRY.replace("DECIDE-5", "GATE-2").replace(BECAUSE, "yet it was executed")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a baseline in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known.toml").write_text(ENTRY)
    return tmp_path


def against(today=None, result=RESULT, **entry):
    """The result compared with a baseline of one entry."""
    whole = {"clause": "DECIDE-5", "because": BECAUSE, "reason": "known", **entry}
    return compared(Baseline("known.toml", [Expected(**whole)]), result, today)


@pytest.mark.parametrize(
    "fragment",
    [BECAUSE, "yet call c2 moved", "decision d7 names call c3, yet call c1 moved"],
    ids=["whole", "part", "other ids"],
)
def test_a_violation_that_is_known_is_expected(fragment):
    """A part of the sentence will do, and the numbers of ids do not matter."""
    found = against(because=fragment)

    assert (found.expected, found.is_broken, found.unseen) == ({"DECIDE-5": "known"}, False, {})


@pytest.mark.parametrize(
    ("entry", "today", "said"),
    [
        (
            {"clause": "CALL-1"},
            None,
            "known.toml expects CALL-1 to break, and it held, exercised 212 times: take the entry out.",
        ),
        (
            {"clause": "RUN-11"},
            None,
            "known.toml expects RUN-11 to break, and it does not apply, for the policy run.created is no: "
            "take the entry out.",
        ),
        (
            {"clause": "DECIDE-555"},
            None,
            "known.toml expects DECIDE-555 to break, and the spec has no such clause: did you mean DECIDE-5?",
        ),
        (
            {"because": "it was late"},
            None,
            "known.toml expects DECIDE-5 to break because “it was late”, and it broke because "
            f"“{BECAUSE}”: mend what is new.",
        ),
        (
            {"expires": date(2026, 1, 31)},
            date(2026, 2, 1),
            "known.toml expected DECIDE-5 to break until 2026-01-31, and it is 2026-02-01: mend it, or give "
            "it a later date with its reason.",
        ),
    ],
    ids=["passes", "does not apply", "unknown", "another reason", "expired"],
)
def test_an_entry_that_is_not_true_any_more_fails_the_run(entry, today, said):
    """Each way of being stale has its sentence."""
    found = against(today, replace(RESULT, partial=""), **entry)

    assert (list(found.stale.values()), found.is_broken) == ([said], True)


def test_an_entry_holds_on_the_day_on_which_it_expires():
    """The date is its last day."""
    assert not against(date(2026, 1, 31), expires=date(2026, 1, 31)).stale


@pytest.mark.parametrize(
    ("clause", "partial", "why"),
    [
        ("CALL-24", "", "nothing exercised it"),
        ("CALL-1", "its time was over", "the result is partial (its time was over)"),
    ],
)
def test_nobody_can_say_of_what_was_not_exercised(clause, partial, why):
    """An entry is not called stale by a run that was cut off, or did not reach it."""
    found = against(result=replace(RESULT, partial=partial, witnesses=[]), clause=clause)

    assert (found.stale, found.is_broken) == ({}, False)
    assert found.unseen == {clause: f"known.toml expects {clause} to break, and {why}: play more schedules."}


def test_what_was_not_asked_for_is_left_alone():
    """`--only` makes no entry stale."""
    assert against(result=replace(RESULT, clauses=[], witnesses=[]), clause="GATE-2").stale == {}


def test_a_violation_without_an_entry_is_a_surprise():
    """What is new fails the run."""
    found = compared(Baseline("known.toml", []), RESULT, None)

    assert (found.surprises, found.is_broken) == (["DECIDE-5"], True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[expected", "known.toml is no TOML: "),
        (f"a = {'[' * 3000}{']' * 3000}", "known.toml is nested deeper than 200 levels. "),
        ("[[expcted]]", "known.toml is no baseline. It is a list of [[expected]]."),
        ("expected = 3", "known.toml is no baseline. It is a list of [[expected]]."),
        ("expected = [3]", "known.toml, entry 1: it is 3. An entry is a table under [[expected]]."),
        (ENTRY.replace(REASON, " "), "known.toml, DECIDE-5: there is no reason. "),
        (ENTRY.replace("reason", "reson"), "known.toml, DECIDE-5: there is no reason. "),
        (ENTRY + "until = 3", "known.toml, DECIDE-5: there is no key until. An entry has clause, because, "),
        (ENTRY + 'expires = "soon"', 'known.toml, DECIDE-5: expires is "soon". A date is written without qu'),
        (ENTRY.replace("because", "#"), "known.toml, DECIDE-5: it lacks because. An entry has a clause, "),
        (ENTRY + ENTRY, "known.toml expects DECIDE-5 twice. One entry a clause: name the words that all"),
    ],
)  # fmt: skip
def test_a_baseline_that_cannot_be_read_is_wrong_usage(capsys, folder, text, said):
    """One sentence names the file and the entry, before anything is played."""
    (folder / "known.toml").write_text(text)
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "--baseline", "known.toml")

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"runlock: {said}")


def check(capsys, toy, *more):
    """A short campaign that reaches what the toy does wrong."""
    few = ("--examples", 20, "--only", "GATE-2")
    return run(capsys, "check", f"py:cli_fakes:{toy}", *few, "--baseline", "known.toml", *more)


@pytest.mark.long
def test_a_known_violation_does_not_fail_a_check(capsys, folder):
    """The run ends in 0, says what it expected and why, and so do the reports of it."""
    (folder / "known.toml").write_text(REJECTED + "expires = 2027-01-31\n")
    ran = check(capsys, "ExecutesRejected", "--today", "2026-12-31")
    stored = json.loads((folder / "runlock-results/result.json").read_text())
    suite = ElementTree.fromstring(run(capsys, "report", "runlock-results", "--format", "junit").out)[0]
    badge = json.loads(run(capsys, "report", "runlock-results", "--format", "badge").out)

    assert ran.code == 0
    assert f"  GATE-2 is expected: {REASON}\n" in ran.out
    assert ran.out.endswith("held: 1 violation expected by known.toml, as of 2026-12-31\n")
    assert (stored["verdict"], stored["exit_code"], stored["baseline"]["today"]) == (
        "broken",
        0,
        "2026-12-31",
    )
    assert suite.get("failures") == "0"
    assert badge["message"].endswith("held, 1 expected to break")


def test_a_stale_entry_fails_a_check(capsys, folder):
    """A runtime that was mended fails until its entry is taken out, also in the reports."""
    (folder / "known.toml").write_text(REJECTED)
    ran = check(capsys, "Tiny")
    suite = ElementTree.fromstring(run(capsys, "report", "runlock-results", "--format", "junit").out)[0]

    assert ran.code == 1
    assert "known.toml expects GATE-2 to break, and it held, exercised" in " ".join(ran.out.split())
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["GATE-2"]


@pytest.mark.long
def test_the_clock_is_asked_only_where_it_matters_and_said_so(capsys, folder):
    """An entry that expires long ago or never, without `--today`."""
    (folder / "known.toml").write_text(REJECTED + "expires = 2020-01-31\n")
    ran = check(capsys, "ExecutesRejected")
    (folder / "known.toml").write_text(REJECTED)
    undated = check(capsys, "ExecutesRejected")

    assert (ran.code, undated.code) == (1, 0)
    assert "by the clock of this machine" in ran.out
    assert undated.out.endswith("held: 1 violation expected by known.toml\n")


def test_what_is_written_waits_for_its_reasons(capsys, folder):
    """A baseline that was written does not load until each entry has a reason; then it does."""
    (folder / "result.json").write_text(json.dumps(as_json(RESULT, FILES, 1)))
    assert run(capsys, "baseline", "write", ".", "-o", "new.toml").code == 0
    refused = run(capsys, "check", "reference", "--baseline", "new.toml")
    text = (folder / "new.toml").read_text()
    (folder / "new.toml").write_text(text.replace('reason = ""', 'reason = "known"'))

    assert (refused.code, "new.toml, DECIDE-5: there is no reason" in refused.err) == (2, True)
    assert not compared(read_baseline(folder / "new.toml"), RESULT, None).is_broken


def test_reasons_are_not_written_over(capsys, folder):
    """A file that is there already is left as it is."""
    (folder / "result.json").write_text(json.dumps(as_json(RESULT, FILES, 1)))
    ran = run(capsys, "baseline", "write", ".", "-o", "known.toml")

    assert (ran.code, (folder / "known.toml").read_text()) == (2, ENTRY)
    assert "known.toml already exists, and may contain reasons." in ran.err


def test_any_words_can_be_written(folder):
    """Quotes, backslashes and what cannot be seen come back as they are read."""
    because = 'a "b" \\ \x1b \x7f \U0001f642 \ud800'
    (folder / "new.toml").write_text(as_toml([("GATE-2", because)]).replace('""', '"x"'), encoding="utf-8")
    broken = replace(RESULT.witnesses[0], clause="GATE-2", reason=because)

    (entry,) = read_baseline(folder / "new.toml").entries
    assert entry.because == 'a "b" \\ \\x1b \\x7f \U0001f642 \\ud800'
    clauses = [replace(RESULT.clauses[6], id="GATE-2")]
    assert against(result=replace(RESULT, witnesses=[broken], clauses=clauses), **entry.model_dump()).expected
