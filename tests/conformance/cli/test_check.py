"""`runlock check`: what it finds, what it says, what it leaves in the folder, and how it ends."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import jsonschema
import pytest
from command_line import Ran, checked, run, run_child
from played_once import PlayedOnce

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.protocol import SPEC_REVISION
from runlock.spec.model import Revision

pytestmark = pytest.mark.usefixtures("folder")

FEW = ("--examples", 90)
Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def broken(folder: Path, played_once: PlayedOnce) -> Ran:
    """The check of a runtime that executes rejected calls, with its results in the folder."""
    ran = checked(played_once, "ExecutesRejected")
    copytree(ran.folder, folder, dirs_exist_ok=True)
    return ran


@pytest.mark.long
def test_a_runtime_that_breaks_nothing_is_held(played_once: PlayedOnce) -> None:
    """Nothing broken and everything testable exercised is exit 0."""
    ran = checked(played_once, "Tiny", 150)

    assert (ran.code, ran.out.partition("\n")[0]) == (
        0,
        "held: py:cli_fakes:Tiny is tiny 1.0, profile core",
    )


@pytest.mark.long
def test_a_violation_is_told_to_a_person(played_once: PlayedOnce) -> None:
    """Headline, because, clause, other symptoms, timeline, witness, what to look at, how to see it again."""
    ran = checked(played_once, "ExecutesRejected")

    block = ran.out.partition("GATE-2 broken by")[2]
    labels = [line.split()[0] for line in block.splitlines() if line[:2] == "  " and line[2:3].strip()]
    assert ran.code == 1
    assert block.startswith(" tiny 1.0: a rejected call is not executed\n")
    assert labels[:7] == ["because", "severity", "clause", "also", "timeline", "scenario", "witness"]


def test_the_replay_line_reproduces_the_violation(capsys: Capsys, broken: Ran) -> None:
    """What the report says to run, run as it stands, breaks the same clause."""
    ran = broken
    line = next(line for line in ran.out.splitlines() if line.startswith("  replay"))
    words = line.split()[2:]

    again = run(capsys, *words)
    assert (words[0], again.code) == ("replay", 1)
    assert "GATE-2 broken by tiny 1.0" in again.out
    assert "the recording breaks GATE-2 too" in again.out


@pytest.mark.long
def test_every_result_is_kept_in_the_folder(capsys: Capsys, folder: Path) -> None:
    """A trace for each violation, and the whole result as JSON, whatever was printed."""
    ran = run(capsys, "check", "py:cli_fakes:ExecutesRejected", *FEW, "-o", "kept/here", "--json")

    jsonschema.validate(ran.json, SCHEMA)
    kept = json.loads((folder / "kept/here/result.json").read_text())
    named = {f"{one['clause']}.jsonl" for one in kept["violations"]}
    assert {path.name for path in (folder / "kept/here").iterdir()} == {*named, "result.json"}
    assert kept["violations"][0]["trace"] == "kept/here/GATE-2.jsonl"
    assert kept == ran.json


SCHEMA = {
    "type": "object",
    "required": [
        "schema", "flaky", "incidents", "target", "family", "implementation", "profile", "policies", "spec",
        "verdict", "exit_code", "baseline", "budget", "partial", "schedules", "stimuli", "clauses",
        "violations", "questions", "coverage", "tours", "search", "troubles", "warnings", "exceptions",
        "unjudged_policies",
    ],
    "additionalProperties": False,
    "properties": {
        "schema": {"const": 1},
        "flaky": {"type": "string"},
        "incidents": {
            "type": "array",
            "items": {"required": ["kind", "what", "times", "recovered", "lasting", "trace"]},
        },
        "target": {"type": "string"},
        "family": {"const": "lifecycle"},
        "implementation": {"type": "object", "required": ["name", "version"]},
        "profile": {"type": "string"},
        "policies": {"type": "object"},
        "spec": {"const": SPEC_REVISION},
        "verdict": {"enum": ["held", "broken", "undecided"]},
        "exit_code": {"enum": [0, 1, 3]},
        "baseline": {"type": ["object", "null"]},
        "budget": {"type": "object"},
        "partial": {"type": ["string", "null"]},
        "schedules": {"type": "integer"},
        "stimuli": {"type": "integer"},
        "clauses": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "level", "verdict", "why", "exercised", "thin", "offered"],
                "properties": {
                    "verdict": {"enum": ["held", "broken", "untested", "not-applicable", "error"]},
                    "level": {"enum": ["MUST", "SHOULD", "MAY"]},
                    "exercised": {"type": "integer"},
                },
            },
        },
        "violations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["clause", "because", "steps", "witness", "timeline", "trace"],
                "properties": {
                    "steps": {"type": "integer"},
                    "witness": {"type": "array", "items": {"required": ["method", "params"]}},
                    "trace": {"type": "string"},
                },
            },
        },
        "questions": {
            "type": "array",
            "items": {
                "required": ["question", "policy", "values", "clause", "because", "steps", "witness", "trace"]
            },
        },
        "coverage": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["chart", "why", "derived", "unseen", "arrows", "pairs", "refusals"],
                "additionalProperties": False,
                "properties": {
                    "chart": {"type": "string"},
                    "why": {"type": "string"},
                    "derived": {"type": "boolean"},
                    "unseen": {"type": "integer"},
                    "arrows": {
                        "type": "array",
                        "items": {"required": ["clause", "from", "event", "to", "taken"]},
                    },
                    "pairs": {"type": "array", "items": {"required": ["first", "then", "taken"]}},
                    "refusals": {"type": "array", "items": {"required": ["state", "stimulus", "sent"]}},
                },
            },
        },
        "tours": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["chart", "goal", "played", "reached"],
                "additionalProperties": False,
                "properties": {
                    "chart": {"type": "string"},
                    "goal": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
                    "played": {"type": "integer", "minimum": 1},
                    "reached": {"type": "integer"},
                },
            },
        },
        "search": {
            "type": ["object", "null"],
            "required": [
                "depth", "races", "levels", "is_asked", "left", "exhausted", "exhaustive", "bounds",
                "reduction",
            ],
        },
        "troubles": {"type": "array", "items": {"required": ["blame", "what", "trace"]}},
        "warnings": {"type": "array", "items": {"type": "string"}},
        "exceptions": {"type": "array", "items": {"required": ["error", "verb", "times", "trace"]}},
        "unjudged_policies": {"type": "array", "items": {"type": "string"}},
    },
}  # fmt: skip


@pytest.mark.long
def test_a_machine_reads_one_json_object(capsys: Capsys) -> None:
    """With --json standard output is one object of the documented shape, and standard error is silent."""
    ran = run(capsys, "check", "py:cli_fakes:Tiny", *FEW, "--json")

    jsonschema.validate(ran.json, SCHEMA)
    assert (ran.json["exit_code"], ran.err) == (ran.code, "")


@pytest.mark.processes
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_runtime_prints_is_no_result(folder, jobs):
    """A runtime that writes to standard output does not reach the kit's, in process or in a worker."""
    ran = run_child("check", "py:cli_fakes:Prints", "--examples", 5, "--json", "--jobs", jobs, cwd=folder)

    assert ran.json["schedules"] > 0
    assert "{printed from Python}" in ran.err
    assert "{written to the descriptor}" in ran.err


@pytest.mark.long
def test_jobs_change_nothing(capsys: Capsys) -> None:
    """Verdicts, counts and witnesses are those of one process, whatever the number of workers.

    `steps` counts the stimuli of each witness.
    """
    words = ("check", "py:cli_fakes:ExecutesRejectedTwice", "--examples", 60, "--json")
    alone = run(capsys, *words, "--jobs", 1).json
    shutil.rmtree("runlock-results")  # or its failures are replayed first
    shared = run(capsys, *words, "--jobs", 2).json

    assert alone == shared
    assert alone["violations"]
    assert all(len(one["witness"]) == one["steps"] for one in alone["violations"])


@pytest.mark.long
def test_a_seed_is_all_the_chance_there_is(capsys):
    """The same seed gives the same result, another one other schedules."""
    words = ("check", "py:cli_fakes:Tiny", "--examples", 40, "--json")
    first, again, other = (run(capsys, *words, "--seed", seed).json for seed in (3, 3, 4))

    assert first == again
    assert first["stimuli"] != other["stimuli"]


def test_an_empty_run_shows_nothing(capsys):
    """No schedule, no verdict."""
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "--budget", 0)

    assert ran.code == 3
    assert "no schedule was played, and an empty run shows nothing" in ran.out
    assert "partial: its time was over" in ran.out


@pytest.mark.long
def test_only_narrows_the_judgement(capsys):
    """What was not asked for is not judged, and not in the report."""
    ran = run(capsys, "check", "py:cli_fakes:ExecutesRejected", *FEW, "--json", "--only", "PAIR-*")

    assert {clause["id"].partition("-")[0] for clause in ran.json["clauses"]} == {"PAIR"}
    assert ran.json["verdict"] == "held"


def test_only_what_cannot_be_tested_is_undecided(capsys):
    """A run in which nothing was exercised has passed nothing."""
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "--examples", 5, "--only", "CALL-1")

    assert ran.code == 3
    assert "nothing that was asked for was exercised" in ran.out


@pytest.mark.long
def test_strict_asks_for_everything_that_applies(capsys: Capsys, played_once: PlayedOnce) -> None:
    """What the handshake does not offer never changes the exit code, unless --strict says so."""
    strict = run(capsys, "check", "py:cli_fakes:Tiny", "--examples", 150, "--strict")

    assert (checked(played_once, "Tiny", 150).code, strict.code) == (0, 3)


@pytest.mark.long
def test_a_hostile_name_stays_a_name(capsys):
    """Text of a runtime is shown character by character: no escape, no markup, no turned writing."""
    ran = run(capsys, "check", "py:cli_fakes:Hostile", *FEW)

    assert "\\x1b[31mevil\\x1b[0m [bold]bold[/bold] \\u202eback\\u202c 1 2\\r3" in ran.out
    assert not set("\x1b\u202e\r") & set(ran.out)


@pytest.mark.usefixtures("broken")
def test_a_recorded_trace_is_judged_and_not_driven(capsys: Capsys) -> None:
    """What a recording shows is judged again; what it does not reach is untested and no fault of it."""
    ran = run(capsys, "check", "trace:runlock-results/GATE-2.jsonl", "--json", "-o", "audit")
    unreached = [
        clause for clause in ran.json["clauses"] if clause["why"] == "the recording does not reach it"
    ]
    first, *others = ran.json["violations"]
    assert (ran.code, first["clause"]) == (1, "GATE-2")
    assert {one["cause"] for one in others} == {"GATE-2"}
    assert unreached
    assert not any(clause["offered"] for clause in unreached)


@pytest.mark.usefixtures("broken")
def test_a_recording_that_breaks_nothing_is_held(capsys: Capsys, folder: Path) -> None:
    """A recorded trace needs to reach no more than it reaches."""
    lines = (folder / "runlock-results/GATE-2.jsonl").read_text().splitlines(keepends=True)
    decided = next(number for number, line in enumerate(lines) if '"decide"' in line and '"stimulus"' in line)
    (folder / "good.jsonl").write_text("".join(lines[:decided]))

    assert run(capsys, "check", "trace:good.jsonl").code == 0


def test_progress_is_one_line_without_a_terminal(capsys):
    """Where standard error is no terminal, one line says what has begun."""
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "--examples", 20)

    assert re.fullmatch(r"playing \d+ schedules on py:cli_fakes:Tiny\n", ran.err)


@pytest.mark.long
def test_a_revision_leaves_younger_clauses_out(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is added to the spec later does not turn a green run red."""
    from runlock.conformance.cli.commands import check

    spec = FAMILY.spec
    clause = spec.clause("GATE-2").model_copy(update={"since": "1.1"})
    younger = replace(spec, clauses={**spec.clauses, "GATE-2": clause})
    younger.__dict__["revisions"] = {**spec.revisions, "1.1": Revision(id="1.1", sentence="One more.")}
    monkeypatch.setattr(check, "family_of", lambda _target: replace(FAMILY, spec=younger))
    words = ("check", "py:cli_fakes:ExecutesRejected", *FEW, "--only", "GATE-2", "--only", "PAIR-*")
    old, new = (run(capsys, *words, "--json", "--spec", revision) for revision in ("1.0", "1.1"))

    assert (old.code, old.json["spec"]) == (0, "1.0")
    assert (new.code, new.json["spec"]) == (1, "1.1")
    assert "GATE-2" not in {one["id"] for one in old.json["clauses"]}


@pytest.mark.long
def test_the_newest_revision_changes_nothing(capsys):
    """With every clause in it, `--spec` narrows nothing."""
    words = ("check", "py:cli_fakes:Tiny", "--examples", 10, "--json")

    assert run(capsys, *words, "--spec", SPEC_REVISION).json == run(capsys, *words).json
