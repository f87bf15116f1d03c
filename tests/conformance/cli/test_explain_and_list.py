"""`runlock explain`, `list`, `serve` and `--version`: what there is to know without a campaign."""

import io
import json
import subprocess
import sys
from importlib.metadata import version

import pytest
from command_line import child, run, run_child

from runlock.conformance.campaign import matrix
from runlock.conformance.cli.commands import check, infer
from runlock.conformance.driving.strategies.scripted import corpus
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.variants import VARIANTS
from runlock.conformance.family.family import families
from runlock.conformance.report import examples
from runlock.conformance.report.clause_sheet import checks_of, found_in
from runlock.conformance.report.console import Page
from runlock.conformance.selftest.witnesses import mutants_of, witnessed
from runlock.machines.catalogue import tables
from runlock.spec.model import load_spec

EXPLAINED = (
    "CALL-8", "STREAM-20", "DERIVE-5", "PHASE-3", "decision.cancel_path", "E-6", "gate", "Barrier",
    "ForgetsFalse",
)  # fmt: skip


def sheets_of(name):
    """The sheets of everything with that name, in the first of the families that know it."""
    return [make() for make in next(iter(found_in(name, families()).values()))]


def sheet_of(name):
    """The only sheet of that name."""
    (found,) = sheets_of(name)
    return found


def sheet(name, width):
    """What is said of a thing, on a page of that width."""
    return written(sheet_of(name), width)


def written(made, width):
    """A page of that width."""
    page = io.StringIO()
    made.write(Page(page, width))
    return page.getvalue()


@pytest.mark.long
@pytest.mark.parametrize("width", [80, 120])
def test_a_thing_is_explained_with_all_that_bears_on_it(width, equals_golden):
    """Words, sources, policies, checks, charts, a legal and an illegal trace, mutants: one page each."""
    equals_golden(f"explain-{width}.txt", "\n".join(sheet(name, width) for name in EXPLAINED))


shares = pytest.mark.parametrize(
    "every", [64, pytest.param(8, marks=pytest.mark.long)], ids=["a few", "a share"]
)
"""The examples on a page are played; of the pages one in 64, or one in 8, is written.

The site has the examples of every clause, and the witness of every mutant is played in test_mutants.py.
"""


@pytest.mark.nightly
@pytest.mark.long
@shares
def test_every_clause_can_be_explained(every: int) -> None:
    """Each clause has a page, no line of it wider than the page.

    A clause that some mutant breaks shows how it looks broken, and almost always how it looks kept.
    """
    sheets = [sheet_of(clause) for clause in list(load_spec("lifecycle").clauses)[6::every]]
    judged = {mutant.clause for mutant in witnessed(FAMILY)}
    facts = {one.name: one.facts for one in sheets if one.name in judged}

    assert [one.name for one in sheets if not written(one, 80).startswith(f"{one.name} ")] == []
    assert [line for one in sheets for line in written(one, 80).splitlines() if not fits(line, 80)] == []
    assert [clause for clause, said in facts.items() if said["illegal"] is None] == []
    assert len([clause for clause, said in facts.items() if said["legal"] is None]) <= len(facts) // 20


def fits(line, width):
    """Whether a line is no wider than its page, and ends in no blank."""
    return len(line) <= width and line == line.rstrip()


@pytest.mark.long
@shares
def test_every_other_thing_can_be_explained(every: int) -> None:
    """Policies, profiles, errata, words, charts and mutants have pages too; of one name may be two."""
    spec = load_spec("lifecycle")
    names = [*spec.policies, *spec.profiles, *spec.errata, *spec.glossary]
    names += [table.name for table in tables("lifecycle")] + [mutant.name for mutant in MUTANTS[::every]]

    assert [name for name in names if {found.name for found in sheets_of(name)} != {name}] == []
    assert [found.kind for found in sheets_of("state")] == ["policy", "word"]
    assert [found.kind for found in sheets_of("RUN")] == ["word", "chart"]


def test_where_no_script_leads_the_witness_of_a_mutant_does(monkeypatch):
    """On the reference, the schedule that gives a mutant away shows what is right in its place."""
    monkeypatch.setattr(examples, "_scene", lambda name, profile, script: None)
    legal = sheet_of("STOP-7").facts["legal"]

    assert (legal["source"], legal["target"]) == ("the witness of DoesNotReadTheText", "reference:awaken-8")
    assert legal["because"] is None


def test_a_legal_example_is_cut_where_it_shows_its_clause():
    """The last step of the timeline is the one that matters; what comes later is left out."""
    legal = sheet_of("DERIVE-2").facts["legal"]

    assert (legal["source"], legal["target"]) == ("partial-resume", "reference:awaken-8")
    assert [row["run"] for row in legal["timeline"]] == ["Running", "Running", "Waiting"]


def test_a_schedule_that_reveals_a_mutant_is_preferred_to_a_script_about_something_else():
    """One schedule then shows the clause kept, and broken."""
    legal = sheet_of("CALL-21").facts["legal"]

    assert legal["source"] == "the witness of BeginsANewLife"


@pytest.mark.long
def test_a_page_says_who_judges_a_clause():
    """A sentence of an invariant, the chart, or why no one does."""
    assert sheet_of("GATE-2").facts["checks"][0] == "a rejected call never executes (asked at each gate.open)"
    assert "the chart ToolCall, arrow by arrow" in sheet_of("CALL-18").facts["checks"][-1]
    assert sheet_of("NEST-2").facts["checks"][0].endswith("(asked at each observation)")
    assert sheet_of("ROUND-71").facts["checks"][0].startswith("none: it cannot be tested from outside, for")


def test_a_policy_that_another_rules_out_is_not_called_open():
    """Where runs are parked nothing is replayed at a start, so that no one has to say what happens then."""
    assert "awaken-8           nothing, since waiting is parked\n" in sheet("replay.start", 80)
    assert "awaken-8           open\n" in sheet("cancel.inflight", 80)
    assert "replay.start" not in sheet("awaken-8", 80)


def test_a_page_for_a_machine(capsys):
    """With --json everything on the page is one object, the arrows of the clause marked."""
    told = run(capsys, "explain", "call-8", "--json").json
    (said,) = told["found"]

    assert (told["schema"], said["kind"], said["name"], said["level"]) == (1, "clause", "CALL-8", "MUST")
    assert [line["on"] for line in said["charts"][0]["lines"] if line["marked"]] == ["cancel"]
    assert said["legal"]["timeline"][-1]["calls"] == {"c1": "Cancelled", "c2": "Succeeded"}
    assert said["illegal"]["because"] and said["illegal"]["target"] == f"mutant:{said['illegal']['source']}"
    assert said["mutants"][0]["name"] in {mutant.name for mutant in mutants_of(FAMILY, "CALL-8")}


def test_a_mutant_that_two_families_have_is_named_with_its_family(capsys):
    """The target of an example can be given to `runlock check` as it is printed."""
    (said,) = run(capsys, "explain", "RUN-36", "--json").json["found"]

    assert said["illegal"]["target"] == "mutant:lifecycle/LeavesATask"


# --- lists --------------------------------------------------------------------------------------


def names_of(kind):
    """What a list has to name, in its order."""
    spec = load_spec("lifecycle")
    own = {
        "mutants": [mutant.name for mutant in MUTANTS],
        "variants": [variant.name for variant in VARIANTS],
        "scenarios": [script.name for script in corpus(FAMILY)],
        "charts": [table.name for table in tables("lifecycle")],
        "words": list(spec.glossary),
        "targets": [f"reference:{one.name}" for one in spec.profiles.values() if one.policies],
    }
    return own[kind] if kind in own else list(getattr(spec, kind))


@pytest.mark.parametrize(
    "kind",
    [
        "clauses", "profiles", "policies", "errata", "targets", "mutants", "variants", "scenarios", "charts",
        "words",
    ],
)  # fmt: skip
def test_every_list_names_what_it_holds(capsys, kind):
    """Each list has an entry for each of its parts, for a person and for a machine."""
    names = names_of(kind)
    page, told = run(capsys, "list", kind), run(capsys, "list", kind, "--json").json
    starts = [line for line in page.out.splitlines()[1:] if line[:1].strip()]

    assert (page.code, set(told)) == (0, {"schema", "family", kind})
    assert [next(iter(entry.values())) for entry in told[kind]][: len(names)] == names
    assert all(line.startswith(name) for line, name in zip(starts, names, strict=False))
    assert len(starts) >= len(names)


def test_the_lists_are_listed(capsys):
    """Without a name, the lists themselves are shown."""
    lines = run(capsys, "list").out.splitlines()

    assert [line.split()[1] for line in lines if line.startswith("list")] == [
        "clauses", "profiles", "policies", "errata", "targets", "mutants", "variants", "scenarios", "charts",
        "words",
    ]  # fmt: skip


def test_a_clause_is_listed_with_what_stands_after_it(capsys):
    """How many checks look at a clause, and how many mutants show that they see."""
    clauses = {entry["id"]: entry for entry in run(capsys, "list", "clauses", "--json").json["clauses"]}

    assert {clause for clause, entry in clauses.items() if entry["checks"]} == FAMILY.checked
    assert {clause: entry["since"] for clause, entry in clauses.items()} == {
        clause.id: clause.since for clause in load_spec("lifecycle").clauses.values()
    }
    assert {clause: entry["mutants"] for clause, entry in clauses.items() if entry["mutants"]} == {
        clause: len(mutants_of(FAMILY, clause)) for clause in {mutant.clause for mutant in MUTANTS}
    }


@pytest.mark.long
def test_what_is_checked_is_explained_by_what():
    """Of a clause that a run may find broken, no message says that nothing checks it yet."""
    silent = {
        clause.id
        for clause in load_spec("lifecycle").clauses.values()
        if checks_of(FAMILY, clause) == ["none yet"]
    }

    assert silent & FAMILY.checked == set()


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("clauses", "--area", "gate"), lambda entry: entry["id"].startswith("GATE-")),
        (("clauses", "--level", "SHOULD"), lambda entry: entry["level"] == "SHOULD"),
        (("clauses", "--profile", "tirea", "--area", "STORE"), lambda entry: "tirea" in entry["profile"]),
        (("mutants", "--area", "ONCE"), lambda entry: entry["clause"].startswith("ONCE-")),
        (("mutants", "--profile", "tirea"), lambda entry: entry["profile"] == "tirea"),
        (("variants", "--profile", "tirea"), lambda entry: entry["profile"] == "tirea"),
        (("clauses", "--profile", "ag-ui-1.1"), lambda entry: entry["core"]),
        (("scenarios", "--area", "ONCE"), lambda entry: any("ONCE-" in one for one in entry["clauses"])),
        (("charts", "--area", "CALL"), lambda entry: entry["name"] in ("ToolCall", "DerivedRun")),
    ],
)
def test_a_list_is_filtered(capsys, words, kept):
    """A filter keeps what it names, and nothing else."""
    kind = words[0]
    every, some = (
        run(capsys, "list", kind, "--json").json[kind],
        run(capsys, "list", *words, "--json").json[kind],
    )

    assert 0 < len(some) < len(every)
    assert all(map(kept, some))


# --- the rest -----------------------------------------------------------------------------------


def test_the_version_is_the_distributions(capsys):
    """`--version` says what is installed."""
    assert run(capsys, "--version").out == f"runlock {version('runlock')}\n"


@pytest.mark.long
def test_a_reader_that_leaves_is_no_error():
    """A pipe whose reader has seen enough ends quietly, with the code that it would have had."""
    with child("list", "clauses") as process:
        process.stdout.close()
        err = process.stderr.read()

    assert (process.returncode, err) == (0, "")


@pytest.mark.long
def test_a_runtime_is_served_over_the_pipe():
    """`serve` answers the protocol on standard output, and nothing else is there."""
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"kit": {"name": "k", "version": "0"}}},
        {"jsonrpc": "2.0", "id": 2, "method": "shutdown", "params": {}},
    ]
    with child("serve", "reference", stdin=subprocess.PIPE) as process:
        out, _ = process.communicate("".join(json.dumps(request) + "\n" for request in requests))
    answers = [json.loads(line) for line in out.splitlines()]

    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["implementation"]["name"] == "runlock-reference"


@pytest.mark.long
def test_what_is_served_can_be_checked(tmp_path):
    """A runtime in process behaves over the pipe as it does without."""
    target = f"cmd:{sys.executable} -m runlock.conformance.cli serve py:cli_fakes:ExecutesRejected"
    ran = run_child(
        "check", target, "--examples", 60, "--only", "GATE-2", "--jobs", 1, "--json", cwd=tmp_path
    )

    assert [violation["clause"] for violation in ran.json["violations"]] == ["GATE-2"]


@pytest.mark.parametrize(
    ("command", "examples"),
    [
        ("check", check.EXAMPLES),
        ("diff", check.EXAMPLES),
        ("infer", infer.EXAMPLES),
        ("matrix", matrix.EXAMPLES),
    ],
)
def test_help_says_how_many_schedules_there_are(capsys, command, examples):
    """The default number of calls is printed."""
    said = " ".join(run(capsys, command, "--help").out.split())

    assert f"; {examples}." in said
