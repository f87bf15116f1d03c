"""One string names a runtime under test; the error for a bad name says what it lacks."""

import stat
import sys
from pathlib import Path

import pytest

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import AdapterError, RunlockError, UsageError
from runlock.conformance.transport.in_process import InProcess
from runlock.conformance.transport.stdio import Pipe

VERBS = """
class Verbs:
    made = 0

    def __init__(self):
        Verbs.made += 1
        self.number = Verbs.made

    def initialize(self, params): return {"protocol": self.number}
    def scenario_open(self, params): return {}
    def scenario_close(self, params): return {}
    def run_start(self, params): return {}
    def gate_release(self, params): return {}
    def settle(self, params): return {}

    @classmethod
    def build(cls): return cls()

adapter = Verbs()  # number 1
def wants(host, port=1): return Verbs()
def fails(): raise OSError("no licence")
def leaves(): raise SystemExit(2)
async def later(): return Verbs()
def nothing(): return None
def verbs_in_part():
    class Partial:
        def settle(self, params): return {}
    return Partial()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with adapters of every kind; it is the current one, and its modules are forgotten later."""
    files = {
        "acme_adapter.py": VERBS,
        "needs_more.py": "import a_module_that_nobody_has",
        "raises.py": "x = 1\nraise KeyError('ACME_TOKEN')",
        "exits.py": "import sys\nsys.exit('usage: exits')",
        "queue.py": VERBS,
        "this/__init__.py": VERBS,
        "misspelt.py": "def adapter(:\n    pass",
        "trace.jsonl": "",
        "adapter.sh": "#!/bin/sh\n",
        "package/__init__.py": "",
        "package/inner.py": VERBS,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "run_adapter").write_text("#!/bin/sh\n")
    (tmp_path / "run_adapter").chmod(stat.S_IRWXU)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(tmp_path)])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {Path(file).parts[0].removesuffix(".py") for file in files}:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("py:acme_adapter:Verbs", "py"),
        ("py:acme_adapter:Verbs.build", "py"),
        ("py:package.inner:Verbs", "py"),
        ("cmd:./run_adapter --flag 'two words'", "cmd"),
        (f"cmd:{sys.executable} adapter.py", "cmd"),
        ("trace:trace.jsonl", "trace"),
        ("reference", "reference"),
        ("reference:tirea", "reference"),
    ],
)
def test_a_target_keeps_the_name_it_was_given(name, kind):
    """The text before the colon names each of the four kinds."""
    target = resolve(name)

    assert (target.name, target.kind) == (name, kind)


def test_each_opening_is_a_new_object():
    """Nothing of an earlier runtime is left in a later one, and a life after a kill is a new one too."""
    target = resolve("py:acme_adapter:Verbs")
    first, second = target.open(), target.open()
    numbers = [sut.request("initialize", {})["protocol"] for sut in (first, second)]
    first.kill()

    assert isinstance(first, InProcess)
    assert [*numbers, first.request("initialize", {})["protocol"]] == [2, 3, 4]


def test_a_hosted_adapter_is_hosted(folder):
    """An object with `handshake` and `open` is put after the kit's host."""
    from runlock.conformance.families.lifecycle.host.hosted import Hosted

    (folder / "hosted_adapter.py").write_text(
        "from runlock.conformance.adapter import Handshake, Party\n"
        "class Hosted:\n"
        "    handshake = Handshake(implementation=Party(name='a', version='1'))\n"
        "    async def open(self, host, scenario): ...\n"
    )
    sut = resolve("py:hosted_adapter:Hosted").open()
    sys.modules.pop("hosted_adapter")

    assert isinstance(sut, Hosted)


def test_the_reference_opens():
    """The kit's own runtime is a target like any other."""
    sut = resolve("reference").open()
    answer = sut.request("initialize", {"kit": {"name": "runlock", "version": "0"}})
    sut.close()

    assert answer["profile"] == "awaken-8"


def test_a_command_is_split_as_a_shell_splits_it():
    """Quotes group words, and no shell is started."""
    sut = resolve("cmd:./run_adapter --flag 'two words' $HOME", timeout_scale=2.0).open()

    assert isinstance(sut, Pipe)
    assert sut.argv == ("./run_adapter", "--flag", "two words", "$HOME")


def test_a_trace_has_a_path_and_cannot_be_driven(folder):
    """A recorded trace is judged, not driven."""
    target = resolve("trace:trace.jsonl")

    assert target.path == Path("trace.jsonl")
    with pytest.raises(UsageError, match=r"is a recorded trace, and not a runtime. `runlock check trace:"):
        target.open()


@pytest.mark.parametrize("name", ["mutant:AsksOnWhenDone", "variant:silent", "variant:lifecycle/core"])
def test_what_the_kit_made_on_purpose_can_be_named(name):
    """A mutant or a variant is a target by its name, and is the reference to all appearances."""
    sut = resolve(name).open()
    answer = sut.request("initialize", {"kit": {"name": "runlock", "version": "0"}})
    sut.close()

    assert answer["implementation"]["name"] == "runlock-reference"


NO_TARGET = {
    "": (UsageError, "`` names no target.", "A target is `reference`, `reference:PROFILE`, `refer"),
    "referense": (UsageError, "`referense` names no target.", "Did you mean `reference`?"),
    "reference:tirea,drain": (
        UsageError,
        "`drain` settles no policy.",
        "`reference:tirea,run.created=no`",
    ),
    "reference:core,": (UsageError, "Nothing follows the comma.", "`reference:awaken-8,run.created=no`"),
    "reference:tirea,tool.raise=x": (UsageError, "names no policy; did you mean 'tool.raises'?", ""),
    "reference:tirea,tool.raises=end": (
        UsageError,
        "tool.raises has no value 'end'; did you",
        "",
    ),
    "reference:tirea,reasons=Error+Don": (
        UsageError,
        "reasons has no value 'Don'; known: Nat",
        "",
    ),
    "refrence:core": (UsageError, "names no target.", "Did you mean `reference:core`?"),
    "python:acme_adapter:Verbs": (UsageError, "names no target.", "Did you mean `py:acme_adapter:Verbs`?"),
    "trase:trace.jsonl": (UsageError, "names no target.", "Did you mean `trace:trace.jsonl`?"),
    "acme_adapter:Verbs": (UsageError, "names no target.", "Did you mean `py:acme_adapter:Verbs`?"),
    "trace.jsonl": (UsageError, "names no target.", "Did you mean `trace:trace.jsonl`?"),
    "./run_adapter --flag": (UsageError, "names no target.", "Did you mean `cmd:./run_adapter --flag`?"),
    "cmd": (UsageError, "`cmd` names no target.", "Something follows the colon. A target is"),
    "reference:": (UsageError, "", ""),
    "reference:awaken-99": (UsageError, "awaken-99", ""),
    "mutant:AsksOnWhenDown": (
        UsageError,
        "There is no mutant `AsksOnWhenDown`.",
        "Did you mean `mutant:AsksOnWhenDone`?",
    ),
    "variant:core": (
        UsageError,
        "Several families have a variant `core`.",
        "Say `variant:lifecycle/core` or `variant:tool-runner/core`.",
    ),
    "variant:core/silent": (
        UsageError,
        "There is no variant `core/silent`.",
        "Did you mean `variant:silent`?",
    ),
    "mutant:": (UsageError, "There is no mutant ``.", "`runlock list mutants` shows them all."),
    "variant:silend": (UsageError, "There is no variant `silend`.", "Did you mean `variant:silent`?"),
    "py:": (UsageError, "`py:` names no module.", "Write `py:package.module:factory`."),
    "py:acme_adapter": (
        UsageError,
        "`py:acme_adapter` names no factory.",
        "Write `py:acme_adapter:factory`.",
    ),
    "py:acme_adapter:": (UsageError, "names no factory.", "Write `py:acme_adapter:factory`."),
    "py:acme_adaptor:Verbs": (UsageError, "There is no module acme_adaptor.", "Did you mean `acme_adapter`?"),
    "py:package.outer:Verbs": (UsageError, "There is no module package.outer.", "lies in the current folder"),
    "py:queue:Verbs": (UsageError, "`queue` is a module of Python, and queue.py in", "Rename it"),
    "py:this:Verbs": (UsageError, "`this` is a module of Python, and this/__init__.py in", "Rename it"),
    "py:zzz:Verbs": (UsageError, "There is no module zzz.", "It is installed next to the kit, or lies in"),
    "py:acme_adapter.py:Verbs": (UsageError, "There is no module acme_adapter.py.", ""),
    "py:./package/inner.py:Verbs": (
        UsageError,
        "is not a dotted name",
        "Did you mean `py:package.inner:factory`?",
    ),
    "py:a-b:Verbs": (UsageError, "a-b is not a dotted name", "Write `py:package.module:factory`."),
    "py:needs_more:Verbs": (
        AdapterError,
        "The module needs_more raised ModuleNotFoundError: “No module named 'a_module_that_nobody_has'” "
        "(needs_more.py:1) while it was imported.",
        "what it needs is installed next to the kit",
    ),
    "py:raises:Verbs": (AdapterError, "raised KeyError: “'ACME_TOKEN'” (raises.py:2) while", "only defines"),
    "py:exits:Verbs": (AdapterError, "raised SystemExit: “usage: exits” (exits.py:2) while", "only defines"),
    "py:misspelt:Verbs": (AdapterError, "raised SyntaxError: “", "only defines"),
    "py:acme_adapter:Verb": (UsageError, "The module acme_adapter has no Verb.", "Did you mean `Verbs`?"),
    "py:acme_adapter:zzz": (UsageError, "has no zzz.", "Define `def zzz():` there; it gives the adapter."),
    "py:acme_adapter:Verbs.biuld": (UsageError, "The type Verbs has no biuld.", "Did you mean `build`?"),
    "py:acme_adapter:adapter": (
        UsageError,
        "an object of type Verbs, which cannot be called.",
        "Name a class",
    ),
    "py:acme_adapter:wants": (UsageError, "demands arguments: host.", "A factory is called with none."),
    "cmd:": (UsageError, "`cmd:` names no command.", "Write `cmd:./adapter --flag`."),
    "cmd:./run_adapter 'a": (UsageError, "opens a quote, or ends in a backslash, that nothing", "as a shell"),
    "cmd:./run_adaptor": (UsageError, "There is no file `./run_adaptor`.", "Did you mean `./run_adapter`?"),
    "cmd:./zzz": (UsageError, "There is no file `./zzz`.", "Paths start from"),
    "cmd:./adapter.sh": (UsageError, "`./adapter.sh` is not executable.", "Run `chmod +x ./adapter.sh`,"),
    "cmd:./package": (UsageError, "`./package` is a folder.", "A command is an executable file."),
    "cmd:run_adapter -v": (
        UsageError,
        "only a file of that name here.",
        "Did you mean `cmd:./run_adapter -v`?",
    ),
    "cmd:no-such-command": (UsageError, "There is no command `no-such-command`.", "found on the PATH"),
    "trace:": (UsageError, "`trace:` names no file.", "Write `trace:file.jsonl`."),
    "trace:trase.jsonl": (UsageError, "There is no file `trase.jsonl`.", "Did you mean `trace.jsonl`?"),
    "trace:package": (UsageError, "`package` is a folder.", "A trace is one file of JSON Lines."),
}


@pytest.mark.parametrize("name", list(NO_TARGET))
def test_what_names_no_target_is_told_what_would(name):
    """One sentence says what is wrong with the string, one what would have been right."""
    kind, what, right = NO_TARGET[name]
    with pytest.raises(RunlockError) as caught:
        resolve(name)

    assert kind is type(caught.value)
    assert what in caught.value.what
    assert right in caught.value.right


@pytest.mark.parametrize(
    ("factory", "what"),
    [
        ("fails", "The factory `py:acme_adapter:fails` raised OSError: “no licence” (acme_adapter.py:21)."),
        ("leaves", "raised SystemExit: “2” (acme_adapter.py:22)."),
        ("later", "The factory `py:acme_adapter:later` is a coroutine function."),
        ("nothing", "gave an object of type NoneType, which is no adapter."),
        (
            "verbs_in_part",
            "verbs_in_part.<locals>.Partial has no method initialize, scenario_open,",
        ),
    ],
)
def test_a_factory_that_gives_no_adapter_is_explained(factory, what):
    """What the factory does is seen when the target is opened, and it is the adapter's fault."""
    target = resolve(f"py:acme_adapter:{factory}")
    with pytest.raises(AdapterError) as caught:
        target.open()

    assert what in caught.value.what


def test_a_later_life_may_fail_too():
    """The factory's failure in a second life is reported as in the first."""
    sut = resolve("py:acme_adapter:Verbs").open()
    sut.kill()
    sys.modules["acme_adapter"].Verbs.__init__ = None

    with pytest.raises(AdapterError, match="The factory `py:acme_adapter:Verbs` raised TypeError"):
        sut.request("initialize", {})


def test_a_profile_that_settles_nothing_has_no_reference():
    """The universal core alone does not say how a runtime behaves; one that keeps it has to choose."""
    with pytest.raises(
        UsageError, match=r"^The profile core settles no policy, .* The reference keeps awaken-8, "
    ):
        resolve("reference:core")
