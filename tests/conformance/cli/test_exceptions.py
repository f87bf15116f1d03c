"""An exception of an adapter is the first thing that each front end shows, and none of them is green."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import cli_fakes
import pytest
from command_line import run

from runlock.conformance.campaign.order import Order, Sampled
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.strategies.hypothesis_machine import ClauseBroken, conformance_test
from runlock.conformance.errors import RunlockError
from runlock.conformance.protocol.unknown_keys import unknown_keys
from runlock.conformance.pytest_plugin.suite import outcomes_of

ADAPTER = """
import asyncio
from cli_fakes import Tiny
from runlock.conformance.adapter import Handshake, OfferedOutcomes, Party, Segment

class Sound(Tiny):
    pass

class Faulty(Tiny):
    @property
    def handshake(self):
        outcomes = OfferedOutcomes(model=["turn", "fault"], tool=["ok"])
        return super().handshake.model_copy(update={"outcomes": outcomes})

class InOpen(Sound):
    async def open(self, host, scenario):
        raise RuntimeError("it cannot be opened")  # InOpen

class InStart(Sound):
    async def start(self, text):
        raise RuntimeError("it cannot start")  # InStart

class InTool(Sound):
    async def execute(self, call):
        await self.host.tool(call.id, call.name, call.arguments)  # InTool

class InBackground(Sound):
    async def start(self, text):
        self.task = asyncio.create_task(self.fail())
        return await super().start(text)

    async def fail(self):
        raise KeyError("lost")  # InBackground

class WrongLiteral(Sound):
    async def start(self, text):
        return Segment("Finished")  # WrongLiteral

class ReturnsNothing(Sound):
    async def start(self, text):
        await self.host.infer([{"role": "user", "text": text}])

class NotAsync(Sound):
    def start(self, text):
        return Segment("NaturalEnd")

class NoOpen(Sound):
    open = None

class NoStart(Sound):
    start = None

class NoHandshake:
    async def open(self, host, scenario): ...
    async def start(self, text): ...

class WrongWord(Sound):
    @property
    def handshake(self):
        return Handshake(implementation=Party(name="x", version="0"), gates=["modell"])  # WrongWord

class UnknownKey(Sound):
    @property
    def handshake(self):
        return Handshake(implementation=Party(name="x", version="0"), gate=["model"])  # UnknownKey

class Verbs:
    def initialize(self, params):
        return {"implementation": {"name": "x", "version": "0"}, "profile": "core", "polices": {}}

    def scenario_open(self, params): return {}
    def scenario_close(self, params): return {"leaks": []}
    def run_start(self, params): return {}
    def gate_release(self, params): return {}
    def settle(self, params): return {}
"""

RAISED = {
    "InOpen": "RuntimeError: “it cannot be opened”",
    "InStart": "RuntimeError: “it cannot start”",
    "InTool": "AttributeError: “'ToolCall' object has no attribute 'arguments'”",
    "InBackground": "KeyError: “'lost'”",
    "WrongLiteral": "code of Reason is \"Finished\"; it should be 'NaturalEnd', ",
}
WRONG = {
    "ReturnsNothing": "The adapter's start returned None; it should return a Segment.",
    "NotAsync": "the adapter's start is no coroutine function; write it with `async def`",
    "NoOpen": "The adapter NoOpen has no method open. Each adapter has open, start.",
    "NoStart": "The adapter NoStart has no method start. Each adapter has open, start.",
    "NoHandshake": "The adapter NoHandshake has no handshake.",
    "WrongWord": "gates.0 of Handshake is \"modell\"; it should be 'model', ",
    "UnknownKey": "Handshake has no key gate; did you mean gates?",
    "Verbs": "Handshake has no key polices; did you mean policies?",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the adapters, which is the current one."""
    (tmp_path / "raising.py").write_text(ADAPTER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "raising", raising=False)
    return tmp_path


def check(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and the output of `check`."""
    ran = run(capsys, "check", f"py:raising:{name}", "--examples", 4, "--jobs", 1)
    return ran.code, ran.out or ran.err.partition("\n")[2] or ran.err


def smoke(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and the output of `smoke`."""
    ran = run(capsys, "smoke", f"py:raising:{name}")
    return ran.code, ran.out


def plugin(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """What the tests of a suite read, with the exit code of `check` that belongs to it."""
    found = outcomes_of(Order(f"py:raising:{name}", Sampled(4)), Path("suite"))
    is_broken = any(one.verdict == "broken" for one in found.clauses.values())
    return 1 if is_broken else 3 if found.nothing or found.undecided else 0, found.nothing or found.undecided


def api(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exception of `conformance_test`, with the exit code of `check` that belongs to it."""
    try:
        conformance_test(lambda: resolve(f"py:raising:{name}").open(), examples=30)
    except ClauseBroken as broken:
        return 1, str(broken)
    except RunlockError as error:
        return error.exit_code, str(error)
    return 0, ""


FRONT_ENDS: dict[str, Callable[[str, pytest.CaptureFixture[str]], tuple[int, str]]] = {
    "check": check, "smoke": smoke, "pytest": plugin, "api": api,
}  # fmt: skip


def begins_with_the_exception(name: str, text: str) -> bool:
    """Whether a text begins with the exception of this adapter, its file and its line."""
    line = next(at for at, one in enumerate(ADAPTER.splitlines(), 1) if one.endswith(f"# {name}"))
    start = " ".join(text.split())[:480]
    return RAISED[name] in start and f"raising.py:{line})" in start


@pytest.mark.long
@pytest.mark.sampled(3, nightly=9)
@pytest.mark.parametrize("name", ["InStart", "InOpen", "InTool"])
def test_an_exception_is_shown_first_everywhere(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each front end begins with the exception, its file and its line, and gives the same verdict."""
    codes = {}
    for front_end, ask in FRONT_ENDS.items():
        codes[front_end], text = ask(name, capsys)
        assert begins_with_the_exception(name, text), (front_end, text[:600])

    assert len(set(codes.values())) == 1, codes
    assert 0 not in codes.values()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["InBackground", "WrongLiteral"])
def test_an_exception_of_a_task_or_a_literal_is_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A task that nothing awaits, and a reason that does not exist, are mistakes too."""
    code, text = check(name, capsys)
    assert begins_with_the_exception(name, text), text[:600]
    assert code != 0


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_shape_is_told_what_is_right(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What an adapter lacks or misspells is one sentence, and no front end decides anything."""
    asked = FRONT_ENDS if name in ("NoStart", "UnknownKey") else {"check": check, "api": api}
    for front_end, ask in asked.items():
        code, text = ask(name, capsys)
        assert code == 3, (front_end, code, text)
        assert WRONG[name] in " ".join(text.split())[:800], (front_end, text)


@pytest.mark.long
def test_what_the_outside_world_raises_is_no_exception_of_the_adapter(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """A fault that a runtime passes on, as it is or in an exception of its own, ends the run in Error."""
    wrapped = (
        "\nclass Wraps(Faulty):\n    async def start(self, text):\n        try:\n"
        "            return await super().start(text)\n        except Exception as error:\n"
        "            raise RuntimeError('failed') from error\n"
    )
    (folder / "raising.py").write_text(ADAPTER + wrapped)
    for name in ("Faulty", "Wraps"):
        assert "exception:" not in check(name, capsys)[1]


@pytest.mark.long
def test_a_slip_in_a_handler_of_a_fault_is_shown(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """A fault is no excuse for an attribute that does not exist."""
    slip = (
        "\nclass Slips(Faulty):\n    async def start(self, text):\n        try:\n"
        "            return await super().start(text)\n        except Exception:\n"
        "            self.no_such_thing()\n"
    )
    (folder / "raising.py").write_text(ADAPTER + slip)
    assert check("Slips", capsys)[1].startswith("exception: the adapter or the runtime raised AttributeError")


@pytest.mark.long
def test_an_unknown_key_on_the_wire_is_a_warning(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Another version of the protocol may have the key, so the target is judged all the same."""
    doubles = str(Path(cli_fakes.__file__).parent)
    served = (
        f"import sys; sys.path.append({doubles!r})\n"
        "from runlock.conformance.campaign import targets\n"
        "from runlock.conformance.cli.commands import serve\n"
        "targets.unknown_keys = lambda model, raw: []\n"
        "raise SystemExit(serve.run('py:raising:Verbs', 'kit'))\n"
    )
    (folder / "served.py").write_text(served)
    ran = run(capsys, "smoke", f"cmd:{sys.executable} served.py")
    assert "warning: Handshake has no key polices; did you mean policies?" in " ".join(ran.out.split())
    assert "initialize works" in " ".join(ran.out.split())


def test_an_unknown_key_is_found_at_any_depth() -> None:
    """A key of a part is named with its path; a known one under its name on the wire is none."""
    from runlock.conformance.adapter import Handshake

    raw = {"control": {"stor": "kit"}, "outcomes": {"store.put": ["ok"], "tol": []}, "policies": {"x": 1}}
    assert unknown_keys(Handshake, raw) == [
        "Handshake has no key control.stor; did you mean store?",
        "Handshake has no key outcomes.tol; did you mean tool?",
    ]
    assert re.match("Handshake has no key zzz; the keys are ", unknown_keys(Handshake, {"zzz": 1})[0])
