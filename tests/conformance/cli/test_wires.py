"""`check`, `smoke` and `serve` for a runtime behind a wire, as they are typed."""

import shlex
import subprocess
import sys

import pytest
from command_line import run

pytestmark = pytest.mark.usefixtures("folder")

URL = "http://127.0.0.1:{port}/agent"


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
        (
            ["check", "http://127.0.0.1:{prot}/agent"],
            "`{prot}` in `http://127.0.0.1:{prot}/agent` stands for",
        ),
        (["smoke", "http://127.0.0.1:99999/agent"], "`http://127.0.0.1:99999/agent` is no URL of an agent"),
        (
            ["check", "http://127.0.0.1:1/agent", "--declare", '{"decision.kpt": "no"}'],
            "`declare`: 'decision.kpt' names no policy; did you mean 'decision.kept'?",
        ),
        (
            ["check", "acp:agent", "--declare", '{"decision.kept": "nope"}'],
            "`declare`: policy decision.kept has no value 'nope'",
        ),
        (["serve", "reference", "--ask", "pay"], "`--ask` has no effect without `--wire`"),
        (["serve", "reference", "--port", 9000], "`--port` has no effect without `--wire`"),
        (["serve", "reference", "--wire", "ag-ui", "--store", "own"], "`--store` has no effect with `--wire"),
        (["serve", "reference", "--wire", "acp", "--port", 9000], "`--port` has no effect with `--wire acp`"),
        (
            ["serve", "reference", "--wire", "ag-ui", "--ask", "read"],
            "The tool read is in `ask` and in `free`",
        ),
        (["serve-ends", "--ask", "pay", "--free", "pay"], "The tool pay is in `ask` and in `free`"),
        (["serve", "http://127.0.0.1:1/agent"], "has a process of its own. Check it as it is"),
        (["serve", "cmd:true"], "`cmd:true` has a process of its own"),
        (["serve", "cmd:true", "--wire", "ag-ui"], "cannot be served behind a wire"),
        (["serve", "reference", "--wire", "agui"], "There is no wire `agui`; did you mean 'ag-ui'?"),
    ],
)
def test_a_slip_is_answered(capsys, words, says):
    """In one sentence."""
    ran = run(capsys, *words)

    assert says in ran.err
    assert ran.code == 2


def test_an_agent_without_a_client_says_who_starts_it():
    """Its standard input is no pipe, as of a shell with `</dev/null`."""
    ran = subprocess.run(
        [sys.executable, "-m", "runlock.conformance.cli", "serve", "reference", "--wire", "acp"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.stderr.startswith("runlock: An agent speaks over its standard input and output")
    assert "`runlock check 'acp:runlock serve reference --wire acp'`" in ran.stderr
    assert ran.returncode == 2


def test_a_command_that_is_not_there_is_one_sentence(capsys):
    """There is no adapter that could be mended."""
    ran = run(capsys, "smoke", "acp:no-such-agent")

    assert ran.out.split("\n")[0] == (
        "does not work: There is no command `no-such-agent`. `acp:` names what starts the application."
    )
    assert ran.code == 3


@pytest.mark.long
def test_no_server_is_said_at_once(capsys):
    """Before anything is played."""
    ran = run(capsys, "check", "http://127.0.0.1:1/agent", "--ends", "18901")

    assert "Nothing answers at http://127.0.0.1:1/agent." in ran.out + ran.err
    assert ran.code == 3
