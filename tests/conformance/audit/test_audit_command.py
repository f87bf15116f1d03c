"""`runlock audit`: what it says, its exit codes, and the reports that are made of its result."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from audited import written
from command_line import run
from places import DATA
from recorded_events import (
    PERSON,
    REPLY,
    asked,
    asks,
    begins,
    chat_result,
    chat_turn,
    ends,
    results,
    says,
    session,
    snapshot,
    turn,
    typed,
)
from recorded_sessions import WRONG as WRONG_SESSIONS
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
    read, *_, verdict = ran.out.splitlines()[:4]

    assert (ran.code, read) == (0, "read      1 file (runlock 1), 81 records")
    assert verdict == "held: 3 threads, 81 records"
    assert "  3 threads of recorded 1.0, format runlock: statuses not shown, decisions" in ran.out
    assert "0 broken" in ran.out.splitlines()[-1]


def test_broken_clauses_name_their_threads(capsys: Capsys) -> None:
    """How many threads, and a counterexample with its thread."""
    ran = run(capsys, "audit", "after/*.jsonl", "-o", "out")

    assert (ran.code, ran.out.splitlines()[3]) == (1, "broken: 5 threads, 135 records")
    assert "in 2 of 5 threads" in " ".join(ran.out.split())
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


# --- what is wrong, and where -------------------------------------------------------------------


def test_the_report_says_who_with_what_and_where(capsys: Capsys, folder: Path) -> None:
    """The agents, tools and files of a violation, and an example with the lines of its raw records."""
    pytest.importorskip("duckdb")
    written(
        folder / "c.jsonl", session(typed("Find it."), turn("a", "t1"), turn("b"), typed("So?"), turn("c"))
    )
    ran = run(capsys, "audit", "c.jsonl", "--json")
    (found,) = ran.json["violations"]
    (example,) = found["examples"]

    assert (found["tools"], found["files"]) == ({"lookup": 1}, {"c.jsonl": 1})
    assert found["agents"] == {"claude-code": 1}
    assert [(one["file"], one["line"]) for one in example["records"]] == [("c.jsonl", 2), ("c.jsonl", 3)]
    assert '"id": "t1"' in example["records"][0]["text"]
    assert "  example   c.jsonl:2" in run(capsys, "audit", "c.jsonl").out


def test_the_record_at_which_a_clause_breaks_is_shown(capsys: Capsys, folder: Path) -> None:
    """Also where others name the call: it opens and ends, and the snapshot after them lacks its result."""
    pytest.importorskip("duckdb")
    others = {"role": "user", "content": "So?"}
    written(folder / "c.jsonl", [begins(), *asks("k1"), snapshot(asked("k1"), others), *says(), ends()])
    (found,) = run(capsys, "audit", "c.jsonl", "--json").json["violations"]
    lines = [one["line"] for one in found["examples"][0]["records"]]

    assert (found["clause"], lines) == ("PAIR-1", [2, 5, 6])


def test_an_example_of_a_list_is_its_messages(capsys: Capsys, folder: Path) -> None:
    """The turn with the call, and what the model was asked with instead of the result."""
    (folder / "c.json").write_text(json.dumps([PERSON, chat_turn("a"), PERSON, REPLY]))
    (found,) = run(capsys, "audit", "c.json", "--json").json["violations"]
    texts = [json.loads(one["text"]) for one in found["examples"][0]["records"]]

    assert texts == [chat_turn("a"), PERSON]


def test_a_document_over_many_lines_has_lines_too(capsys: Capsys, folder: Path) -> None:
    """Those that name the call."""
    whole = [PERSON, chat_turn("a"), chat_result("b"), REPLY]
    (folder / "c.json").write_text(json.dumps(whole, indent=1))
    lines = (folder / "c.json").read_text().splitlines()
    found = {one["clause"]: one for one in run(capsys, "audit", "c.json", "--json").json["violations"]}
    ((orphan,), *_) = [one["records"][:1] for one in found["PAIR-2"]["examples"]]

    assert '"b"' in lines[orphan["line"] - 1]


@pytest.mark.parametrize("text", ['{"spans": []}', '{"messages": []}', "[]", json.dumps([PERSON, REPLY])])
def test_a_session_without_calls_is_nothing_to_judge(text: str, capsys: Capsys, folder: Path) -> None:
    """It is no error; strictly, nothing was tested."""
    (folder / "c.json").write_text(text)
    ran = run(capsys, "audit", "c.json")

    assert (ran.code, run(capsys, "audit", "c.json", "--strict").code) == (0, 3)
    assert ran.out.splitlines()[2].endswith("nothing to judge in 1 file")
    assert "nothing to judge: " in ran.out


def test_files_of_a_folder_that_hold_no_records_are_passed_by(capsys: Capsys, folder: Path) -> None:
    """Whatever its name, a file is read if it begins as records do."""
    (folder / "before" / "notes.txt").write_text("Nothing here.")
    (folder / "before" / "config").write_text('{"colour": "red"}')
    (folder / "before" / "settings.json").write_text('{"model": "m", "tools": ["lookup"]}')
    (folder / "before" / "a.jsonl").rename(folder / "before" / "a.session")
    ran = run(capsys, "audit", "before")

    assert ran.code == 0
    assert ran.out.splitlines()[:2] == [
        "read      1 file (runlock 1), 81 records",
        "not read  2 files without records (before/config, before/settings.json)",
    ]


def test_the_page_has_a_filter_for_each_field(capsys: Capsys, folder: Path) -> None:
    """Rows are hidden by a rule of style, without a script."""
    written(folder / "after" / "b.jsonl", threads(2, faulty=(0,)))
    run(capsys, "audit", "after", "--html", "page.html")
    page = (folder / "page.html").read_text()

    assert run(capsys, "audit", "after", "--html", "missing/page.html").code == 2
    assert "<script" not in page
    assert page.count('data-file="') == 2
    assert "body:has(#file-0:checked) [data-file]:not([data-file='0']) { display: none; }" in page
    assert "after/b.jsonl" in page


# --- accepted verdicts --------------------------------------------------------------------------


def test_accepted_verdicts_are_compared_with_later_ones(capsys: Capsys, folder: Path) -> None:
    """A file with another verdict, a new one, and one that is gone; what was accepted is no failure."""
    kept = run(capsys, "audit", "--accept", "after")
    again = run(capsys, "audit", "after")
    written(folder / "after" / "a.jsonl", threads(5))
    written(folder / "after" / "b.jsonl", threads(1))
    later = run(capsys, "audit", "after")

    assert (kept.code, again.code, later.code) == (0, 0, 1)
    assert again.out.splitlines()[-1] == "accepted: 0 files of after differ"
    assert later.out.splitlines()[-3:] == [
        "accepted: 2 files of after differ",
        "  a.jsonl: was PAIR-4, held, and is held",
        "  b.jsonl: was not there, and is held",
    ]


def test_accepting_takes_one_folder(capsys: Capsys, folder: Path) -> None:
    """And a file of verdicts that is damaged is wrong usage."""
    assert run(capsys, "audit", "--accept", "after", "before").code == 2
    (folder / "after" / "runlock-accepted.json").write_text("{}")

    assert "holds no accepted verdicts" in run(capsys, "audit", "after").err


# --- the sessions of this machine ---------------------------------------------------------------


def test_the_sessions_of_installed_agents_are_found(
    capsys: Capsys, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a path; what will be read is said first."""
    pytest.importorskip("duckdb")
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    none = run(capsys, "audit")
    claude, codex = folder / ".claude" / "projects" / "w", folder / "moved" / "sessions" / "2026"
    for place in (claude, codex):
        place.mkdir(parents=True)
    written(claude / "s.jsonl", session(typed("Find it."), turn("a", "t1"), results("t1"), turn("b")))
    written(codex / "rollout-1.jsonl", WRONG_SESSIONS["codex, two outputs"][0])
    monkeypatch.setenv("CODEX_HOME", str(folder / "moved"))
    ran = run(capsys, "audit", "--here")

    assert (none.code, ran.code) == (2, 1)
    assert "No coding agent has sessions here" in none.err
    assert ran.err.splitlines()[:2] == [
        f"about to read 1 session of Claude Code, 0.0 MiB, in {folder / '.claude'}",
        f"about to read 1 session of Codex, 0.0 MiB, in {folder / 'moved'}",
    ]
    assert ran.out.startswith("read      2 files (claude-code 1, codex 1)")
    assert run(capsys, "audit", "--here", "before").code == 2
