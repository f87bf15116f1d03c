"""What the command line says when it cannot do what it was asked: one sentence, what would have been right.

golden/errors.txt has the sentences; `pytest --rewrite` writes them anew.  Read them aloud.
"""

import errno
import re
import sys

import pytest
from command_line import run
from places import DOUBLES
from places import GOLDEN as GOLDEN_FILES

from runlock.conformance.cli import main as cli
from runlock.spec.model import SpecError

GOLDEN = GOLDEN_FILES / "errors.txt"

FILES = {
    "lacks.py": "raise KeyError('ACME_TOKEN')\n",
    "needs.py": "import a_module_that_nobody_has\n",
    "empty.jsonl": "",
    "words.jsonl": "not json\n",
    "stranger.jsonl": '{"weather": {}}\n',
    "halves.jsonl": '{"stimulus": {"method": "cancel"}}\n',
    "unscened.jsonl": '{"handshake": {"implementation": {"name": "a", "version": "1"}}}\n',
    "misfit.jsonl": '{"handshake": {"implementation": {"name": "a"}}}\n{"scenario": {"scenario": "s"}}\n',
    "alien.jsonl": (
        '{"handshake": {"implementation": {"name": "a", "version": "1"}, "profile": "awaken"}}\n'
        '{"scenario": {"scenario": "s"}}\n'
    ),
    "twice.jsonl": '{"scenario": {"scenario": "s"}}\n{"scenario": {"scenario": "t"}}\n',
    "plain.txt": "a file\n",
    "known.toml": "",
    "taken/test_adapter.py": "mine\n",
}

TOYS = "py:cli_fakes"
COMMANDS = (
    "chek reference",
    "check",
    "check reference --exmples 3",
    "check reference --jobs two",
    "check reference --jobs 0",
    "check reference --examples -1",
    "check reference --budget soon",
    "check reference --seed",
    "check reference reference",
    "check reference --depth 2",
    "check reference --races 1",
    "check reference --exhaustive --depth 0",
    "check reference --exhaustive --depth 100",
    "check reference --exhaustive --depth deep",
    "check reference --exhaustive --races -1",
    "check reference --exhaustive --examples 20",
    "check reference --exhaustiv",
    "check trace:misfit.jsonl --exhaustive",
    "check reference --only CAL-*",
    "check reference --only nothing-like-it",
    "check reference --spec 0.9",
    "check reference -o plain.txt",
    "check reference -o plain.txt/deeper",
    "check refrence",
    "check reference:awaken-7",
    "check py:toys_of_the_lin:Tiny",
    f"check {TOYS}:Tinny",
    "check py:lacks:make",
    "check py:needs:make",
    f"check {TOYS}:raises",
    f"check {TOYS}:gives_nothing",
    f"check {TOYS}:WithoutStart",
    f"check {TOYS}:UnknownProfile",
    f"check {TOYS}:UnknownPolicy",
    f"check {TOYS}:UnknownValue",
    f"check {TOYS}:UnknownGate",
    f"check {TOYS}:UnknownStimulus",
    f"check {TOYS}:MisspeltObservation",
    "check cmd:./no-such-adapter",
    "check trace:empty.jsonl",
    "check trace:unscened.jsonl",
    "check trace:misfit.jsonl",
    "check trace:alien.jsonl",
    "check reference --in-process --jobs 2",
    "check reference --skip GAET-*",
    "check reference --quick --examples 5",
    "check trace:empty.jsonl --on ray",
    "check reference --on spark",
    "check reference --today 2027-01-31",
    "check reference --baseline known.toml --today soon",
    "check reference --baseline gone.toml",
    "check reference --wire ag-ui",
    "check http://127.0.0.1:1/agent --wire acq",
    "check http://127.0.0.1:1/agent --launch true --jobs 2",
    "check http://127.0.0.1:1/agent --approve yes",
    "check http://127.0.0.1:{prot}/agent",
    'check http://127.0.0.1:1/agent --declare {"decision.kpt":"no"}',
    'check acp:agent --declare {"decision.kept":"nope"}',
    "check reference --one-order",
    "replay missing.jsonl reference",
    "replay empty.jsonl reference",
    "replay words.jsonl reference",
    "replay stranger.jsonl reference",
    "replay halves.jsonl reference",
    "replay twice.jsonl reference",
    "replay unscened.jsonl trace:empty.jsonl",
    "replay alien.jsonl trace:empty.jsonl",
    "replay empty.jsonl",
    "replay empty.jsonl reference --stop",
    "diff nowhere",
    "diff nowhere reference",
    "diff reference refrence",
    "diff plain.txt reference",
    "baseline",
    "baseline wriet",
    "baseline write",
    "baseline write nowhere",
    "report",
    "report .",
    "report . --format junt",
    "report . --format weather",
    "report . --format junit",
    "report nowhere --format html",
    "report plain.txt --format html",
    "explain CALL-99",
    "explain weather",
    "explain",
    "explain CALL-88",
    "explain decision.windw",
    "explain awaken8",
    "explain resumetoolcal",
    "explain zzzzq",
    "list clauze",
    "list weather",
    "list clausses",
    "list things",
    "list clauses --area CAL",
    "list clauses --level WISH",
    "list clauses --profile nope",
    "list errata --area CALL",
    "list mutants --level MUST",
    "list --area CALL",
    "serve refrence",
    "serve trace:empty.jsonl",
    "serve reference --store ours",
    "serve reference --ask pay",
    "serve reference --port 9000",
    "serve reference --wire ag-ui --store own",
    "serve reference --wire acp --port 9000",
    "serve reference --wire ag-ui --ask read",
    "serve http://127.0.0.1:1/agent",
    "serve cmd:true",
    "serve cmd:true --wire ag-ui",
    "serve reference --wire agui",
    "smoke refrence",
    "smoke trace:empty.jsonl",
    "smoke",
    "smoke http://127.0.0.1:1 --ends x",
    "smoke http://127.0.0.1:99999/agent",
    "new-adapter somewhere",
    "new-adapter --lang pyton somewhere",
    "new-adapter --lang js somewhere",
    "new-adapter --lang cobol somewhere",
    "new-adapter --lang rust plain.txt",
    "new-adapter --lang python taken",
    "infer trace:some.jsonl",
    "infer refrence",
    "infer reference --examples -1",
    "infer reference --exmples 1",
    "infer reference --jobs 0",
    "infer reference:tirea -o /dev/null/here",
    "infer trace:words.jsonl",
    "explore awaken9",
    "explore zzz",
    "explore --calls 0",
    "explore --calls two",
    "explore --resuspensions -1",
    "explore --crashes -1",
    "explore --cancels 2",
    "explore --max-states 0",
    "explore --budget 0",
    "explore --policy end.live",
    "explore --policy end.live=lef",
    "explore --policy nd.live=left",
    "explore --policy phases=nine",
    "explore --policy round.executor=sequential",
    "explore calls --crashes 1",
    "explore calls --policy end.live=left",
    "explore --calls 1 --dot /no/such/folder.dot",
    "explore core --dot large.dot",
    "explore message-loop --crashes 1",
    "explore message-loop --resuspensions 1",
    "explore message-loop --bound limit=1",
    "explore message-loop --bound interactors=two",
    "explore message-loop --policy told=apart",
    "explore message-loop --policy prompt.line=queue",
    "explore --family nobody",
    "explore awaken-8 --family tool-runner",
    "explore tool-runner --crashes 1",
    "explore tool-runner --resuspensions 1",
    "explore tool-runner --bound retries=1",
    "explore tool-runner --bound limit=two",
    "explore awaken-8 --bound limit=1",
    "explore tool-runner --policy runner.history=whole",
    "selftest --only NOBODY-*",
    "serve-ends --ask pay --free pay",
    "audit missing",
    "audit words.jsonl --format otel",
    "audit words.jsonl --format zzz",
    "audit words.jsonl --on spark",
    "--vershion",
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with files of every kind, where nothing but the folder itself differs from run to run."""
    (tmp_path / "taken").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("lacks", "needs"):
        sys.modules.pop(name, None)


@pytest.mark.long
def test_wrong_words_are_answered_with_the_right_ones(capsys, folder, equals_golden):
    """Each wrong command ends in one sentence on standard error, none on standard output, and its code."""
    equals_golden(GOLDEN, "".join(_told(capsys, command, folder) for command in COMMANDS))
    assert not (folder / "large.dot").exists()


def _told(capsys, command, folder):
    ran = run(capsys, *command.split())
    assert ran.out == ""
    said = ran.err.replace(str(folder), "HERE").replace(str(DOUBLES), "FAKES")
    said = re.sub(r"(cli_fakes\.py):\d+", r"\1:LINE", said)
    return f"$ runlock {command}\n{said}{ran.code}\n\n"


def test_no_sentence_is_a_traceback():
    """What a person reads names no class of the kit and says nothing of an invalid or unexpected thing."""
    text = GOLDEN.read_text()

    assert not [word for word in ("Traceback", "nvalid", "nexpected", "went wrong") if word in text]


def test_no_words_at_all_show_the_help(capsys):
    """Without a command there is help, and the exit code of wrong usage."""
    ran = run(capsys)

    assert (ran.code, ran.out) == (2, "")
    assert "Usage: runlock" in ran.err


def test_a_folder_is_refused_before_anything_runs(capsys):
    """Half a minute of schedules is not played for a result that cannot be kept."""
    ran = run(capsys, "check", "py:cli_fakes:Tiny", "-o", "plain.txt")

    assert ran.code == 2
    assert "playing" not in ran.err


def _breaks(error):
    def command(_target, _store):
        raise error

    return command


@pytest.fixture
def serving(monkeypatch):
    """Put something in the place of a command."""
    from runlock.conformance.cli.commands import serve

    return lambda error: monkeypatch.setattr(serve, "run", _breaks(error))


def test_a_bug_of_the_kit_is_said_to_be_one(capsys, serving):
    """An exception that no one foresaw names its place, asks to be reported, and is no traceback."""
    serving(ZeroDivisionError("by\x1bnothing"))
    ran = run(capsys, "serve", "reference")

    assert (ran.code, ran.err.count("\n")) == (70, 1)
    assert f"This is a bug of the kit, at {__file__}:" in ran.err
    assert "ZeroDivisionError: by\\x1bnothing. Please report it" in ran.err


def test_a_bug_has_its_traceback_on_demand(capsys, serving, monkeypatch):
    """RUNLOCK_TRACEBACK=1 shows the whole way to a bug."""
    monkeypatch.setenv("RUNLOCK_TRACEBACK", "1")
    serving(ZeroDivisionError("by nothing"))

    assert "Traceback (most recent call last)" in run(capsys, "serve", "reference").err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 3, "Interrupted before the first verdict."),
        (SpecError("call.toml: is no TOML"), 70, "The spec in this kit is inconsistent"),
        (BrokenPipeError(errno.EPIPE, "gone"), 0, ""),
    ],
    ids=["interrupt", "spec", "pipe"],
)
def test_every_other_end_has_its_code(capsys, serving, error, code, words):
    """An interrupt, a broken spec and a reader that has left each end in their own way."""
    serving(error)
    ran = run(capsys, "serve", "reference")

    assert ran.code == code
    assert words in ran.err


def test_the_entry_point_is_main():
    """The installed command is this function."""
    assert cli.main(["--version"]) == 0
