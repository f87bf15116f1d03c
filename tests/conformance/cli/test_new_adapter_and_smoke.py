"""`runlock new-adapter` and `runlock smoke`: an adapter from its first minute on, and what it lacks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run
from places import DOUBLES, MISBEHAVING

from runlock.conformance import adapters
from runlock.conformance.cli.commands.new_adapter import KITS, write
from runlock.conformance.errors import UsageError

pytestmark = pytest.mark.usefixtures("folder")

RUNLOCK = Path(sys.executable).with_name("runlock")


def smoked(capsys, *words):
    """What `smoke --json` says of a runtime with a fault."""
    target = " ".join(["cmd:" + sys.executable, str(MISBEHAVING), *words])
    scale = 0.3 if "hangs" in words else 6
    ran = run(capsys, "smoke", target, "--timeout-scale", scale, "--json")
    return ran.code, ran.json


# --- new-adapter ----------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", KITS)
def test_a_kit_is_written_whole(capsys, folder, lang):
    """Each file of the language is there, byte for byte, and the next command is said."""
    ran = run(capsys, "new-adapter", "--lang", lang, "deep/acme")
    kit = Path(adapters.__file__).parent / lang

    assert ran.code == 0
    assert "Next:  cd deep/acme && " in ran.out
    for name in KITS[lang].files:
        assert f"wrote deep/acme/{name}" in ran.out
        assert (folder / "deep" / "acme" / name).read_text() == (kit / name).read_text()


def test_what_was_written_is_told_to_a_machine(capsys):
    """The next command is one line for a shell."""
    told = run(capsys, "new-adapter", "--lang", "rust", "acme", "--json").json

    assert told["next"] == "cd acme && cargo build --offline && runlock check cmd:target/debug/adapter"
    assert told["files"][0] == "acme/Cargo.toml"


@pytest.mark.parametrize("lang", KITS)
def test_nothing_is_overwritten(folder, lang):
    """A file that is there stays as it is, and none is put next to it."""
    *_, last = KITS[lang].files
    (folder / last).parent.mkdir(exist_ok=True)
    (folder / last).write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        write(folder, lang)

    assert (folder / last).read_text() == "mine"
    assert [path for path in folder.rglob("*") if path.is_file()] == [folder / last]


@pytest.mark.kits
@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("python", [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_adapter.py"]),
        ("node", ["node", "--test"]),
        ("rust", ["cargo", "test", "--offline", "--quiet"]),
    ],
)
def test_what_was_written_passes_its_own_test(folder, lang, words):
    """The test that comes with an adapter runs it against the kit, and it holds."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no `{words[0]}` on the PATH")
    write(folder / lang, lang)
    environment = {**os.environ, "RUNLOCK": str(RUNLOCK), "CARGO_TARGET_DIR": str(folder / "target")}
    ran = subprocess.run(
        words, cwd=folder / lang, env=environment, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr


# --- smoke ----------------------------------------------------------------------------------------


def test_a_right_adapter_works(capsys):
    """Each verb that is offered works, each other says what it takes, and the costs are counted."""
    ran = run(capsys, "smoke", "reference:awaken-9")

    assert (ran.code, ran.out.splitlines()[0]) == (
        0,
        "works: reference:awaken-9 is runlock-reference 1.0, profile awaken-9",
    )
    assert not [line for line in ran.out.splitlines() if "not reached" in line]
    assert ran.out.endswith("Next: runlock check reference:awaken-9\n")


@pytest.mark.long
def test_a_python_adapter_is_smoked_apart(capsys, folder, monkeypatch):
    """A runtime that ends its process ends no command, and its verb is the one that is blamed."""
    monkeypatch.syspath_prepend(str(DOUBLES))
    told = run(capsys, "smoke", "py:cli_fakes:EndsItsProcess", "--timeout-scale", 6, "--json")
    verbs = {one["what"]: one for one in told.json["verbs"]}

    assert told.code == 3
    assert (verbs["gate.release"]["state"], verbs["gate.release"]["blame"]) == ("does not work", "SUT")
    assert "ended with exit code 7 instead of answering gate.release" in verbs["gate.release"]["why"]
    assert verbs["settle"]["state"] == "works"


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("words", "what", "state", "says"),
    [
        (("does_not_support_it", "cancel"), "cancel", "does not work", "Leave it out of the handshake"),
        pytest.param(
            ("hangs", "decide"), "decide", "does not work", "did not answer decide within 3 s",
            marks=pytest.mark.processes,
        ),
        (("mistypes_a_field", "run.start"), "run.start", "does not work", "step of a gate.open is \"one\""),
        (("mistypes_a_field", "run.start"), "decide", "not reached", "run.start does not work"),
        (("ends_with_exit_code_0", "scenario.open"), "inspect", "not reached", "scenario.open does not work"),
        (("ends_with_exit_code_0", "shutdown"), "shutdown", "does not work", "ended with exit code 0"),
        (("names_nobody", "initialize"), "initialize", "does not work", "implementation is missing"),
        (("floods_standard_error", "gate.release"), "run.input", "not offered", "does not take run.input"),
    ],
)  # fmt: skip
def test_a_fault_is_told_at_its_verb(capsys, words, what, state, says):
    """What does not work is said with its sentence, and what lies after it was not reached."""
    _, told = smoked(capsys, *words)
    (verb,) = [one for one in told["verbs"] if one["what"] == what]

    assert verb["state"] == state
    assert says in verb["why"]


@pytest.mark.long
def test_what_does_not_work_decides_the_exit_code(capsys):
    """3 where something offered does not work, 1 where a clause is broken on the way."""
    assert smoked(capsys, "says_much", "gate.release")[0] == 3
    code, told = smoked(capsys, "claims_a_gate_and_never_opens_it", "initialize")

    assert code == 1
    assert [one["clause"] for one in told["broken"]] == ["GATE-3"]
    assert {one["what"]: one["state"] for one in told["gates"]}["permission"] != "works"


def test_each_weakness_is_counted(capsys):
    """What a handshake leaves out is named with the clauses that it costs, the dearest first."""
    _, told = smoked(capsys, "floods_standard_error", "run.start")
    costs = {one["why"]: one["clauses"] for one in told["untested"]}

    assert told["exit_code"] == 0
    assert costs["it cannot be crashed"] == ["ONCE-2", "RECOVER-1", "RECOVER-2", "RECOVER-3", "RECOVER-4"]
    assert [one["count"] for one in told["untested"]] == sorted(map(len, costs.values()), reverse=True)


@pytest.mark.long
def test_a_handshake_that_cannot_be_judged_is_where_it_ends(capsys):
    """Without a handshake the fault comes first, then who is to blame; the exit code says undecided."""
    ran = run(capsys, "smoke", "py:cli_fakes:UnknownProfile")

    assert ran.code == 3
    assert ran.out.startswith("initialize does not work: The handshake cannot be judged: 'awaken-7'")
    assert "\ndoes not work: py:cli_fakes:UnknownProfile\n" in ran.out
    assert "(blame the adapter)" in " ".join(ran.out.split())
