"""A family that another distribution ships goes through the commands: shared code needs no word of one."""

import json
from pathlib import Path

import pytest
from command_line import run
from made_up_family import ENTRY

from runlock.conformance.family import family as known


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    """The family is found as an installed one is, by its entry point."""
    monkeypatch.setattr(known, "entry_points", lambda group: [ENTRY])
    known.family_named.cache_clear()
    monkeypatch.chdir(tmp_path)
    yield
    known.family_named.cache_clear()


@pytest.mark.long
def test_a_right_runtime_holds(capsys):
    """Its clause is judged, and held."""
    ran = run(capsys, "check", "py:made_up_family:Echo", "--examples", "40", "--json")

    assert (ran.code, ran.json["family"], ran.json["verdict"]) == (0, "made-up", "held")
    assert [(one["id"], one["verdict"]) for one in ran.json["clauses"]] == [("ECHO-1", "held")]


@pytest.mark.parametrize("target", ["py:made_up_family:Shouts", "mutant:Shouts"])
def test_a_wrong_runtime_is_explained_in_its_own_words(capsys, target):
    """The report has the family's sentence, its words for moves, and a plain timeline."""
    ran = run(capsys, "check", target, "--examples", "40")

    assert ran.code == 1
    assert "ECHO-1 broken by Shouts 1: a text is shown as it was said" in ran.out
    assert "made_up_family/clauses/echo.toml" in ran.out
    assert "say word0, WORD0" in ran.out
    assert "1  say word0" in ran.out


def test_a_stored_result_becomes_every_report(capsys):
    """Each format has the title of the clause, and a replay shows it again."""
    run(capsys, "check", "mutant:Shouts", "--examples", "40")
    for form in ("junit", "markdown", "html"):
        written = run(capsys, "report", "runlock-results", "--format", form).out
        assert "a text is shown as it was said" in written
    stored = json.loads(Path("runlock-results/result.json").read_text("utf-8"))
    (trace,) = [one["trace"] for one in stored["violations"]]

    again = run(capsys, "replay", trace, "mutant:Shouts")

    assert again.code == 1
    assert "ECHO-1 broken" in again.out


def test_its_names_are_explained_and_listed(capsys):
    """A name is found in whichever family has it; lists are of the family that is asked for."""
    clause, mutant = run(capsys, "explain", "ECHO-1"), run(capsys, "explain", "Shouts")
    listed = run(capsys, "list", "clauses", "--family", "made-up")

    assert (clause.code, mutant.code, listed.code) == (0, 0, 0)
    assert "a text is shown as it was said (asked at each said)" in clause.out
    assert "ECHO-1" in listed.out
    assert "this is the family made-up; --family names another: lifecycle" in listed.out
    assert "made-up" in run(capsys, "list", "words").out.splitlines()[-1]


def test_a_name_of_two_families_is_said_to_be_one(capsys):
    """The profile core is of both; one line says so."""
    assert "runlock explain core --family made-up" in run(capsys, "explain", "core").out


def test_it_has_no_joint_model(capsys):
    """The refusal names the families that have one."""
    ran = run(capsys, "explore", "quiet")

    assert ran.code == 2
    named = "lifecycle, message-loop and tool-runner have one."
    assert f"The family made-up has no joint model to explore; {named}" in ran.err


def test_its_mutants_are_killed(capsys):
    """The self-test hunts the mutants of the family that is named."""
    ran = run(capsys, "selftest", "--family", "made-up", "--jobs", "1", "--shortest", "0", "--json")

    assert (ran.code, ran.json["mutants"], ran.json["killed"]) == (0, 1, 1)
