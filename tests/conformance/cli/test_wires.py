"""`check`, `smoke` and `serve` for a runtime behind a wire, as they are typed."""

import shlex
import sys

import pytest
from command_line import run

URL = "http://127.0.0.1:{port}/agent"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder for the results."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def launched(target):
    """The options that have the kit start a runtime of its own behind AG-UI."""
    words = [
        sys.executable,
        "-m",
        "runlock.conformance.cli",
        "serve",
        target,
        "--wire",
        "ag-ui",
        "--port",
        "{port}",
    ]
    return ["--launch", shlex.join(words)]


@pytest.mark.nightly
@pytest.mark.long
def test_the_reference_holds(capsys):
    """A right application, by one command."""
    kept = ["--declare", '{"decision.kept": "no"}']  # else a question has its schedule shrunk
    ran = run(capsys, "check", URL, *launched("reference"), *kept, "--quick")

    assert ran.out.startswith("held:")
    assert ran.code == 0


@pytest.mark.long
def test_a_wrong_one_is_broken(capsys):
    """By the clause that it breaks in process."""
    ran = run(capsys, "check", URL, *launched("mutant:RunsTheRejected"), "--examples", 0, "-x", "--jobs", 1)

    assert "GATE-2 broken by the agent at http://127.0.0.1:{port}/agent" in ran.out
    assert ran.code == 1


@pytest.mark.nightly
@pytest.mark.long
def test_a_smoke_test_says_what_it_learned(capsys):
    """How calls wait, how they are answered, and what a client that goes away does."""
    ran = run(capsys, "smoke", URL, *launched("reference"))

    assert "A call that waits is an interrupt of its own." in ran.out
    assert "A run ends when its client goes away." in ran.out
    assert "A thread survives a restart." in ran.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["check", "reference", "--wire", "ag-ui"], "`--wire` is of a runtime behind a wire"),
        (["check", "http://127.0.0.1:1/agent", "--wire", "acq"], "There is no wire `acq`"),
        (
            ["check", "http://127.0.0.1:1/agent", "--launch", "true", "--jobs", 2],
            "One application that the kit kills serves one process",
        ),
        (["check", "http://127.0.0.1:1/agent", "--approve", "yes"], "`approve` is no JSON"),
        (["smoke", "http://127.0.0.1:1", "--ends", "x"], "`ends` is no port"),
        (["serve", "cmd:true", "--wire", "ag-ui"], "cannot be served behind a wire"),
        (["serve", "reference", "--wire", "agui"], "There is no wire `agui`; did you mean 'ag-ui'?"),
    ],
)
def test_a_slip_is_answered(capsys, words, says):
    """In one sentence."""
    ran = run(capsys, *words)

    assert says in ran.err
    assert ran.code == 2


@pytest.mark.long
def test_no_server_is_said_at_once(capsys):
    """Before anything is played."""
    ran = run(capsys, "check", "http://127.0.0.1:1/agent", "--ends", "18901")

    assert "Nothing answers at http://127.0.0.1:1/agent." in ran.out + ran.err
    assert ran.code == 3
