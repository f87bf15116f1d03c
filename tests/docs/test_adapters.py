"""docs/adapters.md keeps its word: every block in it is run, and does what the text around it says."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from command_line import run
from places import ROOT

from runlock.conformance import adapters
from runlock.conformance.transport.virtual_loop import VirtualLoop

TEXT = (ROOT / "docs" / "adapters.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
KITS = Path(adapters.__file__).parent


def blocks(language):
    """The blocks in a language, in their order."""
    return [text for name, text in BLOCKS if name == language]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The reader's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    for name in ("echo", "adapter", "waiting", "every"):
        sys.modules.pop(name, None)


def checked(capsys, target, budget=("--examples", 60)):
    """A short check; its headline, and what of it went wrong."""
    ran = run(capsys, "check", target, *budget, "--json")
    return ran.json["violations"], ran.json["troubles"], ran.json["verdict"]


def test_every_block_is_run_here():
    """A block that is added to the page is added to a test."""
    assert [name for name, _ in BLOCKS] == [
        "sh", "sh", "python", "python", "python", "python", "js", "json", "json",
    ]  # fmt: skip


@pytest.mark.long
def test_the_commands_are_those_of_the_kit(capsys, folder):
    """What is typed there works as it stands, in an empty folder each time."""
    for block in blocks("sh"):
        for line in block.splitlines():
            assert line.startswith("runlock ")
            words = shlex.split(line)[1:]
            if words[0] == "check":
                words += ["--examples", "20", "--only", "RUN-23"]
            assert run(capsys, *words).code == 0
            if words[0] == "new-adapter" and words[2] == "python":
                shutil.copy("my-adapter/adapter.py", folder)
            shutil.rmtree("my-adapter", ignore_errors=True)


@pytest.mark.long
def test_the_python_adapter_holds(capsys, folder):
    """The first adapter of the page, under the name that the page gives it, and its unit test."""
    adapter, unit_test, *_ = blocks("python")
    (folder / "echo.py").write_text(adapter)
    broken, troubles, _ = checked(capsys, "py:echo:Adapter")
    exec(compile(unit_test, "the unit test of the page", "exec"), {})

    assert (broken, troubles) == ([], [])


@pytest.mark.long
def test_the_blocking_adapter_holds(capsys, folder):
    """The agent that blocks, under the name that the page gives it."""
    (folder / "waiting.py").write_text(blocks("python")[2])

    assert checked(capsys, "py:waiting:Adapter") == ([], [], "held")


def test_the_clock_of_the_page_is_that_of_the_loop():
    """It stands still until the kit advances it, and then says how far."""
    found = {}
    exec(compile(blocks("python")[3], "the clock of the page", "exec"), found)
    loop = VirtualLoop()

    async def read():
        return found["now"]()

    before = loop.run_until_complete(read())
    loop.advance(90_000)

    assert loop.run_until_complete(read()) - before == timedelta(seconds=90)


@pytest.mark.long
def test_the_adapter_with_every_method_holds(capsys, folder):
    """The program of most examples of the reference is held, in the check that a reader would run."""
    (folder / "every.py").write_text((ROOT / "docs" / "examples" / "every_method.py").read_text("utf-8"))

    assert checked(capsys, "py:every:Adapter", ("--quick",)) == ([], [], "held")


@pytest.mark.long
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('origin=self.status.get("run")', 'origin="Running"', "goes from Running to Running, and no status"),
        (
            'self.host.refuse(f"call {decision.call} does not wait", decision.id)',
            "pass",
            "does not wait, and",
        ),
        ("asyncio.get_running_loop().time()", "__import__('time').monotonic()", "never looked at it"),
    ],
)
def test_a_mistake_in_this_adapter_is_recognized(capsys, folder, right, wrong, said):
    """The report says that it looks like the adapter, and why."""
    source = (ROOT / "docs" / "examples" / "every_method.py").read_text("utf-8")
    (folder / "every.py").write_text(source.replace(right, wrong))
    found, _, _ = checked(capsys, "py:every:Adapter")

    assert right in source
    assert any(one["adapter"].startswith("this looks like the adapter") for one in found)
    assert any(said in one["adapter"] for one in found)


@pytest.mark.kits
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no `node` on the PATH")
def test_the_javascript_adapter_holds(capsys, folder):
    """The second adapter of the page, next to the one file that it needs."""
    shutil.copy(KITS / "node" / "runlock.mjs", folder)
    (folder / "asking.mjs").write_text(blocks("js")[0])
    broken, troubles, _ = checked(capsys, "cmd:node asking.mjs")

    assert (broken, troubles) == ([], [])


@pytest.mark.kits
@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no `cargo` on the PATH")
def test_the_conversation_is_that_of_the_rust_adapter(folder):
    """The requests of the page are answered as the page says."""
    shutil.copytree(KITS / "rust", folder / "rust")
    words = ["cargo", "build", "--offline", "--quiet"]
    subprocess.run(words, cwd=folder / "rust", check=True)
    requests, answer = blocks("json")
    adapter = folder / "rust" / "target" / "debug" / "adapter"
    ran = subprocess.run([str(adapter)], input=requests, capture_output=True, text=True, check=True)

    assert json.loads(ran.stdout.splitlines()[-1]) == json.loads(answer)
