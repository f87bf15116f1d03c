"""A folder of another person: its files are no code, its links are not followed, its names are only names."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import IMPORTED, run
from damaged_files import TEXT, spoil
from places import DATA

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.report.result_folder import failures_of_last_run

Capsys = pytest.CaptureFixture[str]
SHADOWS = ("socket", "json", "random", "typing", "queue")
SHADOW = "import pathlib\npathlib.Path(__file__).with_suffix('.ran').touch()\nraise SystemExit(9)\n"
COMMANDS = (
    ("check", "reference", "--examples", "0"),
    ("check", "py:acme:Tiny", "--examples", "0"),
    ("audit", "threads.jsonl"),
)
RIGHT = next(iter(sorted((DATA / "right_traces").glob("*.jsonl"))))
FOUND = {
    "schema": 1, "target": "reference", "implementation": {}, "profile": "core", "policies": {},
    "spec": "1.0", "verdict": "broken", "exit_code": 1, "budget": {}, "partial": None,
    "schedules": 1, "stimuli": 1,
    "clauses": [
        {
            "id": "RUN-1", "level": "OUGHT", "verdict": "broken", "why": "it broke", "exercised": 1,
            "thin": False, "offered": True,
        }
    ],
    "violations": [
        {
            "clause": "RUN-1", "because": "it broke", "steps": 1, "trace": "RUN-1.jsonl",
            "witness": [{"method": "run.start", "params": {"run": "r1", "input": ""}}],
        }
    ],
    "coverage": [], "troubles": [],
}  # fmt: skip
"""A result of a later kit, which knows one more level."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty but for recorded threads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "threads.jsonl").write_bytes(TEXT)
    return tmp_path


# --- files with the names of modules --------------------------------------------------------------


def _started_there(folder: Path, *words: str) -> tuple[int, list[str]]:
    """The exit code of a command in a folder with such files, and which of them ran."""
    (folder / "runlock").mkdir()  # which looks like the package, and is not
    for name in SHADOWS:
        (folder / f"{name}.py").write_text(SHADOW)
    (folder / "acme.py").write_text(f"import {', '.join(SHADOWS)}\nfrom cli_fakes import Tiny\n")
    ran = subprocess.run(
        [sys.executable, "-m", "runlock.conformance.cli", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": IMPORTED, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    )
    return ran.returncode, sorted(path.stem for path in folder.glob("*.ran"))


@pytest.mark.sampled(2, nightly=4)
@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        (COMMANDS[1], "2"),
        pytest.param(COMMANDS[2], "2", marks=pytest.mark.processes),
        *(
            pytest.param(words, jobs, marks=pytest.mark.processes)
            for words, jobs in itertools.product(COMMANDS, ("1", "4"))
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else one[1],
)
def test_a_file_with_the_name_of_a_module_changes_nothing(
    words: tuple[str, ...], jobs: str, folder: Path
) -> None:
    """Neither in the command itself nor in its workers."""
    code, ran = _started_there(folder, *words, "--jobs", jobs)

    assert (code in (0, 3), ran) == (True, [])


@pytest.mark.processes
@pytest.mark.parametrize(
    "words", [("smoke", "py:acme:Tiny"), ("selftest", "--only", "ApprovesRejected*", "--jobs", "2")]
)
def test_other_commands_start_processes_in_the_same_way(words: tuple[str, ...], folder: Path) -> None:
    """The process of a smoke test, and the pool of a selftest."""
    assert _started_there(folder, *words)[1] == []


def test_a_target_is_imported_from_where_it_was_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before an installed module of that name, with the modules next to it, but none instead of Python's."""
    monkeypatch.setattr(sys, "path", [str(folder / "installed"), *sys.path])
    for name in ("installed/acme_here.py", "queue.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("raise OSError('the wrong one')")
    (folder / "acme_next.py").write_text("from cli_fakes import Tiny")
    (folder / "acme_here.py").write_text("import queue\nfrom acme_next import Tiny")
    try:
        assert resolve("py:acme_here:Tiny").kind == "py"
        assert sys.path.index(str(folder)) > sys.path.index(os.path.dirname(os.__file__))
    finally:
        for name in ("acme_here", "acme_next"):
            sys.modules.pop(name, None)


# --- links ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "link"),
    [
        (("report", ".", "--format", "junit", "-o", "out.xml"), "out.xml"),
        (("draw", "Run", "--format", "svg", "-o", "."), "Run.svg"),
        (("baseline", "write", ".", "-o", "known.toml"), "known.toml"),
        (("audit", "threads.jsonl", "-o", "out"), "out"),
        (("draw", "Run", "--format", "svg", "-o", "out"), "out"),
    ],
)
def test_a_link_at_an_output_path_is_not_followed(
    words: tuple[str, ...], link: str, folder: Path, capsys: Capsys
) -> None:
    """The file or folder to which it leads stays as it is, and one sentence says so."""
    (folder / "result.json").write_text(json.dumps(FOUND))
    aim = folder / "mine"
    aim.mkdir() if link == "out" else aim.symlink_to(folder / "nowhere")
    (folder / link).symlink_to(aim)
    ran = run(capsys, *words)

    assert (ran.code, "is a link, which is not followed" in ran.err) == (2, True)
    assert not (folder / "nowhere").exists()
    assert link != "out" or list(aim.iterdir()) == []


def test_a_link_in_the_folder_of_results_is_replaced(folder: Path, capsys: Capsys) -> None:
    """The result takes the place of the link, and nothing is written through it."""
    (folder / "mine").write_text("mine")
    (folder / "out").mkdir()
    for name in ("result.json", f".result.json.{os.getpid()}"):
        (folder / "out" / name).symlink_to(folder / "mine")
    run(capsys, "audit", "threads.jsonl", "-o", "out")

    assert (folder / "mine").read_text() == "mine"
    assert json.loads((folder / "out" / "result.json").read_text())["verdict"] == "held"


# --- what a result says ---------------------------------------------------------------------------


@pytest.mark.parametrize("clause", ["a\0b", "../secret", "/etc/passwd", ["RUN-1"], None])
def test_a_clause_of_a_result_is_no_path(clause: Any, folder: Path) -> None:
    """Only a clause of the spec names the file of its counterexample."""
    (folder / "secret.jsonl").write_bytes(RIGHT.read_bytes())
    (folder / "out").mkdir()
    stored = {**FOUND, "violations": [{"clause": clause}]}
    (folder / "out" / "result.json").write_text(json.dumps(stored))

    assert failures_of_last_run(folder / "out", "reference") == ()


FORMATS = ("junit", "markdown", "badge", "html", "sarif")
DRAWN = ("draw", "result.json", "-o", "drawn")


@pytest.mark.parametrize("wanted", FORMATS)
def test_an_unknown_level_is_reported(wanted: str, folder: Path, capsys: Capsys) -> None:
    """A later kit may have more of them; in SARIF it is a warning."""
    (folder / "result.json").write_text(json.dumps(FOUND))
    ran = run(capsys, "report", ".", "--format", wanted)

    assert ran.code == 0
    if wanted == "sarif":
        (found,) = ran.json["runs"][0]["results"]
        assert found["level"] == "warning"


@pytest.mark.sampled(1, nightly=6)
@pytest.mark.parametrize("begin", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(10, 500, 10))])
def test_no_odd_value_in_a_result_is_a_bug_of_the_kit(begin: int, folder: Path, capsys: Capsys) -> None:
    """Whatever stands in a result, a report is made of it, or one sentence says why not."""
    for seed in range(begin, begin + 10):
        chance = random.Random(seed)
        stored = json.loads(json.dumps(FOUND))
        for _ in range(chance.choice((1, 2, 4))):
            spoil(stored, chance)
        (folder / "result.json").write_text(json.dumps(stored))
        for words in (("report", ".", "--format", chance.choice(FORMATS)), ("diff", ".", "."), DRAWN):
            assert run(capsys, *words).code in (0, 1, 2, 3), f"seed {seed}"
