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
