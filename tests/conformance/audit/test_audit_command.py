"""`runlock audit`: what it says, its exit codes, and the reports that are made of its result."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from audited import written
from command_line import run
from places import DATA
from recorded_threads import threads

Capsys = pytest.CaptureFixture[str]
WRONG = DATA / "wrong_traces" / "a-permission-asked-twice-after-one-phase.jsonl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command runs in a folder with recordings of last week and of this one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    written(tmp_path / "before" / "a.jsonl", threads(3))
    written(tmp_path / "after" / "a.jsonl", threads(5, faulty=(1, 4)))
    return tmp_path


def test_right_recordings_are_held(capsys: Capsys) -> None:
    """The verdict, what was read, and what the format shows."""
    ran = run(capsys, "audit", "before")
    first, second = ran.out.splitlines()[:2]

    assert (ran.code, first) == (0, "held: 3 threads, 81 records")
    assert second.startswith("  3 threads of recorded 1.0, format runlock: statuses not shown, decisions")
    assert "0 broken" in ran.out.splitlines()[-1]


def test_broken_clauses_name_their_threads(capsys: Capsys) -> None:
    """How many threads, and a counterexample with its thread."""
    ran = run(capsys, "audit", "after/*.jsonl", "-o", "out")

    assert (ran.code, ran.out.splitlines()[0]) == (1, "broken: 5 threads, 135 records")
    assert "(in 2 of 5" in ran.out
    assert "  threads   after/a.jsonl#2" in ran.out
    assert {path.name for path in Path("out").iterdir()} == {"PAIR-4.jsonl", "result.json"}


def test_json_is_one_object(capsys: Capsys) -> None:
    """The object of `check`, with the threads of each clause, the grades and the unknown records."""
    ran = run(capsys, "audit", "after", "--json", "-o", "out")
    clauses = {one["id"]: one for one in ran.json["clauses"]}
    (violation,) = ran.json["violations"]

    assert (ran.code, ran.json["verdict"], ran.json["audit"]["threads"]) == (1, "broken", 5)
    assert (clauses["PAIR-4"]["observed"], clauses["PAIR-4"]["threads_broken"]) == ("broken", 2)
    assert (clauses["PAIR-1"]["observed"], clauses["CALL-1"]["observed"]) == ("held", "not observable")
    assert [one["thread"] for one in violation["examples"]] == ["after/a.jsonl#2", "after/a.jsonl#5"]
    assert ran.json["audit"]["sources"][0]["grade"]["results"] == "shown"
    assert json.loads(Path("out/result.json").read_text()) == ran.json


def test_an_unreadable_input_is_undecided(capsys: Capsys, folder: Path) -> None:
    """It is an error among right recordings as well; what broke is broken all the same."""
    (folder / "before" / "empty.jsonl").write_text("")
    (folder / "after" / "odd.jsonl").write_text('{"odd": 1}\n')

    assert run(capsys, "audit", "before").code == 3
    assert "empty.jsonl: nothing of it could be read" in run(capsys, "audit", "before").out
    assert run(capsys, "audit", "after").code == 1


def test_wrong_usage(capsys: Capsys) -> None:
    """A path, a format or a cluster that does not exist."""
    for words in (["missing"], ["before", "--format", "otel"], ["before", "--on", "spark"]):
        ran = run(capsys, "audit", *words)
        assert (ran.code, ran.out) == (2, "")
    assert "known: runlock" in run(capsys, "audit", "before", "--format", "zzz").err


def test_clauses_can_be_selected(capsys: Capsys) -> None:
    """`--only` and `--skip` mean what they mean for `check`."""
    only = run(capsys, "audit", "after", "--only", "PAIR-*", "--json").json
    skipped = run(capsys, "audit", "after", "--skip", "PAIR-4", "--json")

    assert {one["id"].partition("-")[0] for one in only["clauses"]} == {"PAIR"}
    assert (skipped.code, skipped.json["violations"]) == (0, [])


def test_two_audits_are_compared(capsys: Capsys) -> None:
    """`diff` says what became worse since last week."""
    run(capsys, "audit", "before", "-o", "week-1")
    run(capsys, "audit", "after", "-o", "week-2")
    ran = run(capsys, "diff", "week-1", "week-2")

    assert (ran.code, ran.out.splitlines()[0]) == (
        1,
        "something broke between recorded 1.0 and recorded 1.0: 1 broke",
    )
    assert "PAIR-4 broke" in ran.out


def test_reports_are_made_of_an_audit(capsys: Capsys) -> None:
    """JUnit, Markdown, HTML and SARIF."""
    run(capsys, "audit", "after", "-o", "out")
    made = {
        form: run(capsys, "report", "out", "--format", form).out
        for form in ("junit", "markdown", "html", "sarif")
    }
    (found,) = json.loads(made["sarif"])["runs"][0]["results"]

    assert fromstring(made["junit"])[0].get("failures") == "1"
    assert "5 threads, 40 stimuli" in made["markdown"]
    assert "PAIR-4" in made["html"]
    assert (found["ruleId"], found["level"]) == ("PAIR-4", "error")
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "out/PAIR-4.jsonl"


@pytest.mark.long
def test_each_family_has_its_result(capsys: Capsys, folder: Path) -> None:
    """Recordings of two families have a result each; the one with more threads comes first."""
    claims = {
        "implementation": {"name": "sdk", "version": "1.0"},
        "family": "tool-runner",
        "profile": "tool-runner-core",
        "gates": ["yield", "model", "tool"],
    }
    written(folder / "after" / "b.jsonl", [{"handshake": claims}, {"scenario": {"scenario": "empty"}}])
    ran = run(capsys, "audit", "after", "--json", "-o", "out")

    assert ran.json["family"] == "lifecycle"
    assert [one["family"] for one in ran.json["families"]] == ["tool-runner"]
    assert json.loads(Path("out/tool-runner/result.json").read_text())["family"] == "tool-runner"
