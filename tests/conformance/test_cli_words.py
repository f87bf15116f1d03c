"""`interlock explain`, `list`, `serve` and `--version`: what there is to know without a campaign."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from the_line import child, run, run_child

from interlock.spec.model import load_spec

GOLDEN = Path(__file__).parent.parent / "golden" / "explain.txt"


def test_a_clause_is_explained_with_all_that_bears_on_it(capsys, rewrites):
    """Sentence, intent, sources, policies, needs, checks, arrow and what to look at."""
    said = "\n".join(
        run(capsys, "explain", clause).out for clause in ("CALL-18", "DERIVE-5", "RUN-12", "PHASE-3")
    )
    if rewrites:
        GOLDEN.write_text(said)

    assert said == GOLDEN.read_text()


@pytest.mark.parametrize("clause", list(load_spec().clauses))
def test_every_clause_can_be_explained(capsys, clause):
    """No clause makes its explanation fall over, in whatever case it is written."""
    ran = run(capsys, "explain", clause.lower())

    assert ran.code == 0
    assert ran.out.startswith(f"{clause} ")


@pytest.mark.parametrize("kind", ["clauses", "profiles", "policies", "errata", "targets"])
def test_every_list_names_what_it_holds(capsys, kind):
    """Each list has a line for each of its parts."""
    spec = load_spec()
    names = (
        [f"reference:{name}" for name in spec.profiles] if kind == "targets" else list(getattr(spec, kind))
    )
    listed = [line.split()[0] for line in run(capsys, "list", kind).out.splitlines() if line[:1].strip()]

    assert listed[: len(names)] == names


def test_the_lists_are_listed(capsys):
    """Without a name, the lists themselves are shown."""
    ran = run(capsys, "list")

    assert [line.split()[1] for line in ran.out.splitlines() if line.startswith("list")] == [
        "clauses", "profiles", "policies", "errata", "targets",
    ]  # fmt: skip


def test_the_version_is_the_distributions(capsys):
    """`--version` says what is installed."""
    assert run(capsys, "--version").out == f"interlock {version('interlock')}\n"


def test_a_reader_that_leaves_is_no_error():
    """A pipe whose reader has seen enough ends quietly, with the code that it would have had."""
    with child("list", "clauses") as process:
        process.stdout.close()
        err = process.stderr.read()

    assert (process.returncode, err) == (0, "")


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
    assert answers[0]["result"]["implementation"]["name"] == "interlock-reference"


def test_what_is_served_can_be_checked(tmp_path):
    """A runtime in process behaves over the pipe as it does without."""
    target = f"cmd:{sys.executable} -m interlock.conformance.cli serve py:toys_of_the_line:ExecutesRejected"
    ran = run_child(
        "check", target, "--examples", 60, "--only", "GATE-2", "--jobs", 1, "--json", cwd=tmp_path
    )

    assert [violation["clause"] for violation in ran.json["violations"]] == ["GATE-2"]
