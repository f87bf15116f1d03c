"""What a runtime under test can do to the kit, and what is said of it: one row a fault.

Each row is a right runtime with one fault, in `faulty_adapters/misbehaving.py`; the verb at which it shows;
who is to blame; and the words in which its author reads of it.  Whatever it does, it is ended, nothing of it
is left behind, and the kit goes on.  Runtimes in process that end or keep their process are in
`test_cli_workers.py`; single lines that are no answer, in `test_stdio.py`.
"""

import asyncio
import contextlib
import os
import shlex
import stat
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from command_line import run
from places import MISBEHAVING

from runlock.conformance.campaign.verdicts import verdicts
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import run_shard
from runlock.conformance.driving.strategies.scripted import corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import RunlockError
from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.protocol import Party
from runlock.conformance.trace.moves import Move
from runlock.conformance.transport.stdio import Pipe

SCRIPTS = {script.name: script for script in corpus(FAMILY)}
REACHED_BY = {
    "decide": "reject",
    "cancel": "cancel-while-waiting",
    "clock.advance": "time-passes-while-waiting",
    "deliver": "cancel-races-a-result",
    "run.input": "input-while-waiting",
    "watch": "watchers-come-and-go",
    "unwatch": "watchers-come-and-go",
    "crash": "crash-in-a-round",
    "recover": "crash-in-a-round",
}
"""The script that comes to a verb, where any script does not."""

HANGS = 0.05  # of the protocol's time limits, for what never answers
PATIENT = 6.0


class Row(NamedTuple):
    """A fault, the verb at which it shows, who is blamed, and in which words."""

    fault: str
    at: str
    blame: str
    says: str
    scale: float = PATIENT


NOBODY = ""

TABLE = (
    # It shakes hands.
    Row("ends_with_exit_code_3_and_a_word", "initialize", "SUT",
        "ended with exit code 3 instead of answering initialize. "
        "On standard error: “no configuration file”."),
    Row("hangs", "initialize", "SUT", "did not answer initialize within 0.75 s", HANGS),
    Row("writes_garbage", "initialize", "adapter",
        "wrote “\\x1b[2J\\x00 what?” instead of an answer to initialize, which is no JSON"),
    Row("speaks_version_2", "initialize", "adapter", "The adapter speaks protocol 2. This kit speaks 1."),
    Row("names_nobody", "initialize", "adapter",
        "The handshake does not fit the protocol: implementation is missing."),
    Row("turns_the_handshake_down", "initialize", "adapter",
        "turned the handshake down with error -32602: “the stars are wrong”. It should answer `initialize`"),
    Row("claims_a_profile_that_nobody_knows", "initialize", "adapter",
        "The handshake cannot be judged: 'awaken-7' names no profile; did you mean 'awaken-9'?"),
    Row("claims_a_policy_that_nobody_knows", "initialize", "adapter", "round.colour"),
    # It writes lines.
    Row("prints_to_standard_output", "run.start", "adapter",
        "wrote “got run.start” instead of an answer to run.start"),
    Row("writes_garbage", "gate.release", "adapter", "nothing else."),
    Row("writes_half_a_line_and_ends", "gate.release", "SUT",
        "ended with exit code 0 instead of answering gate.release; it had written half a line, “{"),
    Row("writes_half_a_line_and_hangs", "gate.release", "SUT",
        "did not answer gate.release within 0.5 s; it had written half a line", HANGS),
    Row("writes_a_line_of_a_hundred_megabytes", "gate.release", "adapter",
        "wrote a line of more than 4 MiB, which begins “xxx"),
    Row("answers_the_next_request_first", "gate.release", "adapter", "which carries the id “"),
    Row("answers_the_last_request_again", "gate.release", "adapter", "a second time"),
    Row("answers_twice", "gate.release", "adapter", "a second time"),
    Row("asks_the_kit", "gate.release", "adapter", "a request of its own"),
    Row("writes_latin_1", "gate.release", "adapter", "is not UTF-8 (byte 0xe9 at position"),
    Row("nests_a_hundred_thousand_lists", "gate.release", "adapter",
        "which is nested deeper than 200 levels"),
    Row("answers_with_a_number_that_is_none", "gate.release", "adapter", "NaN is no JSON number"),
    Row("answers_with_a_list", "gate.release", "adapter", "holds a result that is no object"),
    Row("floods_standard_error", "gate.release", NOBODY, ""),
    # It hangs.
    *(Row("hangs", verb, "SUT", f"did not answer {verb} within 0.5 s.", HANGS)
      for verb in ("scenario.open", "run.start", "gate.release", "settle", "decide", "cancel", "run.input",
                   "clock.advance", "deliver", "watch", "unwatch", "crash", "recover", "scenario.close")),
    Row("hangs", "shutdown", NOBODY, "", HANGS),
    Row("stops_itself", "gate.release", "SUT", "did not answer gate.release within 0.5 s.", HANGS),
    Row("reads_no_more_and_ignores_signals", "gate.release", "SUT",
        "did not answer gate.release within", HANGS),
    # It ends.
    Row("ends_with_exit_code_0", "gate.release", "SUT",
        "ended with exit code 0 instead of answering gate.release."),
    Row("ends_with_exit_code_0", "scenario.close", "SUT",
        "ended with exit code 0 instead of answering scenario.close."),
    Row("dies_of_a_segmentation_fault", "gate.release", "SUT",
        "was killed by SIGSEGV instead of answering gate.release."),
    Row("closes_standard_output", "gate.release", "adapter",
        "closed its standard output instead of answering gate.release, and ran on."),
    Row("leaves_a_child_on_the_pipe", "gate.release", "SUT",
        "ended with exit code 0 instead of answering gate.release."),
    Row("leaves_a_daemon", "run.start", NOBODY, ""),
    # It answers with an error.
    Row("does_not_support_it", "decide", "adapter",
        "The adapter does not support decide, which its handshake offers: not today. Leave it out"),
    Row("says_that_the_kit_is_wrong", "gate.release", "adapter",
        "The adapter answered gate.release with error -32002: that may not come now."),
    Row("says_that_it_crashed", "gate.release", "SUT", "The runtime crashed at gate.release: KeyError: 'c1'"),
    Row("says_that_it_did_not_settle", "gate.release", "SUT",
        "The runtime did not settle at gate.release: 10,000 turns were not enough."),
    Row("says_much", "gate.release", "adapter", "error -32603: \\x1b[31mxxx"),
    # It shows what does not fit.
    Row("shows_no_list", "run.start", "adapter",
        "The answer to run.start does not fit the protocol: "
        "observations is {\"kind\": \"phase\"}. It should be a list."),
    Row("leaves_a_field_out", "run.start", "adapter",
        "observations.1.gate of a gate.open is missing. "
        "conformance/protocol/json_schema/run.start.answer.json says what it holds."),
    Row("mistypes_a_field", "run.start", "adapter",
        "observations.1.step of a gate.open is \"one\". It should be a whole number."),
    Row("invents_a_status", "run.start", "adapter",
        "observations.0.to of a run.status is \"Runing\". "
        "It should be 'Created', 'Running', 'Waiting' or 'Done'."),
    Row("stores_a_state_of_its_own", "run.start", "adapter",
        "observations.2.state.messages.0 of a checkpoint is \"hello\". It should be an object."),
    Row("opens_a_gate_twice", "run.start", "adapter", "opens gate “gate-1” a second time. Within one life"),
    Row("opens_a_gate_that_it_does_not_name", "run.start", "adapter",
        "opens a gate on “teapot”, which the handshake does not name."),
    Row("gives_up_a_gate_that_is_not_open", "run.start", "adapter",
        "gives up gate “g77”, which is not open."),
    Row("moves_though_it_was_quiescent", "settle", "adapter",
        "was said to be quiescent, and then showed “phase” without a stimulus."),
    Row("has_gate_ids_of_control_characters_and_markup", "initialize", NOBODY, ""),
    Row("shows_what_nobody_listed", "run.start", NOBODY, ""),
)  # fmt: skip


class Held(Pipe):
    """A pipe to a program whose whole offspring can be found by a word in its environment.

    It is patient, but at the verb where something hangs: however slow the machine, no other is blamed.
    """

    def __init__(self, words, mark, hangs_at=None, scale=PATIENT):
        super().__init__(words, timeout_scale=scale, env={**os.environ, "FAULT": str(mark)})
        self.hangs_at = hangs_at

    def _limit_seconds(self, method):
        seconds = super()._limit_seconds(method)
        return seconds if method == self.hangs_at else seconds / self._scale * PATIENT


def left_behind(mark, limit_seconds=5.0):
    """The processes that still live of those started with a mark; one that was killed may take a moment."""
    deadline = time.monotonic() + limit_seconds
    while found := list(_living(f"FAULT={mark}".encode())):
        if time.monotonic() > deadline:
            return found
        threading.Event().wait(0.01)
    return []


def _living(word):
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it is someone else's, or ended meanwhile
            if word in file.read_bytes().split(b"\0"):
                yield file.parent.name


def judged(open_sut, script):
    """What became of one script on a runtime: who is blamed, in which words, and which clauses broke."""
    tally = Tally()
    try:
        bench = Bench(open_sut)
    except RunlockError as error:
        return error.blame, str(error), []
    try:
        bench.play(script.scenario, _settling(play(script)), tally)
    finally:
        bench.close()
    trouble = tally.troubles[0] if tally.troubles else None
    return (trouble.blame, trouble.what, []) if trouble else (NOBODY, "", list(tally.found))


def _settling(schedule):
    """The schedule, after one run that is looked at again when it was quiescent."""

    def settling(session):
        session.send(Move("run.start", {"run": "r0", "input": "hello"}))
        session.send(Move("settle", {}))
        session.drain()
        schedule(session)

    return settling


def waits(row: Row) -> bool:
    """Whether its diagnosis comes at the end of a time limit."""
    return row.scale == HANGS


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row.fault} at {row.at}", marks=[pytest.mark.processes] * waits(row))
        for row in TABLE
    ],
)
def test_each_fault_has_its_diagnosis(row: Row, tmp_path: Path) -> None:
    """The right one is blamed, in a sentence on what happened; nothing of the runtime is left behind."""
    words = [sys.executable, str(MISBEHAVING), row.fault, row.at]
    script = SCRIPTS[REACHED_BY.get(row.at, "reject")]
    blame, said, broken = judged(lambda: Held(words, tmp_path, row.at, row.scale), script)

    assert (blame, broken) == (row.blame, [])
    assert row.says in said
    assert said.isprintable()
    assert left_behind(tmp_path) == []


def misbehaving(mark, *words):
    """Makes pipes to the runtime with a fault."""
    return lambda: Held([sys.executable, str(MISBEHAVING), *words], mark)


def test_what_cannot_be_started_is_no_adapter(tmp_path):
    """A file that no system can execute is distinguished from a program that ends."""
    file = tmp_path / "adapter"
    file.write_bytes(b"\x00\x01\x02")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    blame, said, _ = judged(lambda: Held([str(file)], tmp_path), SCRIPTS["reject"])

    assert blame == "adapter"
    assert f"`{shlex.quote(str(file))}` could not be started: Exec format error." in said


def test_a_claim_to_be_deterministic_is_checked(tmp_path):
    """Who settles exactly does the same for the same; who does not has broken a clause."""
    bench, tally = Bench(misbehaving(tmp_path, "does_otherwise_the_second_time")), Tally()
    bench.play_twice(SCRIPTS["natural-end"].scenario, play(SCRIPTS["natural-end"]), tally)
    bench.close()

    assert tally.troubles == []
    assert "when everything was sent again" in tally.found["RUN-29"].violation.reason


@pytest.mark.long
def test_a_gate_that_never_opens_is_named(tmp_path):
    """Who claims a gate and goes past it breaks the clause of that gate; what rests on it is not passed."""
    bench = Bench(misbehaving(tmp_path, "claims_a_gate_and_never_opens_it", "initialize"))
    tally = run_shard(bench, 0, 12, 0)
    whys = {verdict.why for verdict in verdicts(bench, tally) if verdict.verdict == "untested"}
    bench.close()

    assert list(tally.found) == ["GATE-3"]
    assert "the handshake names a permission gate, and none was ever opened" in whys


def test_a_campaign_goes_on_where_it_can(tmp_path):
    """A runtime that dies of some schedules is started anew for each, and judged by the others."""
    bench = Bench(misbehaving(tmp_path, "ends_with_exit_code_0", "clock.advance"))
    tally = Tally()
    for name in ("time-passes-while-waiting", "reject", "time-passes-while-waiting", "natural-end"):
        bench.play(SCRIPTS[name].scenario, play(SCRIPTS[name]), tally)
    bench.close()

    assert (tally.schedules, [one.blame for one in tally.troubles]) == (2, ["SUT", "SUT"])
    assert left_behind(tmp_path) == []


@pytest.mark.long
def test_what_a_name_holds_moves_no_cursor(capsys, tmp_path, monkeypatch):
    """Control characters and markup of a runtime are shown by their codes, in the report as in errors."""
    monkeypatch.chdir(tmp_path)
    words = shlex.join([sys.executable, str(MISBEHAVING), "has_a_name_of_control_characters_and_markup",
                        "initialize"])  # fmt: skip
    ran = run(capsys, "check", f"cmd:{words}", "--examples", 0, "--only", "RUN-1")

    assert "\\x1b[31m[bold]evil[/bold]\\u202e 1 2, profile core" in " ".join(ran.out.split())
    assert "\x1b" not in ran.out + ran.err


# --- in process -----------------------------------------------------------------------------------


class InTheKit:
    """A hosted runtime; what it does at its start is its fault."""

    handshake = Handshake(implementation=Party(name="in-the-kit", version="1"), stimuli=["run.again"])

    def __init__(self, start):
        self.start = lambda text: start(self, text)

    async def open(self, host, scenario):
        self.host = host


async def _exits(self, text):
    sys.exit(0)


async def _recurses(self, text):
    return await _recurses(self, text)


async def _spins(self, text):
    while True:
        await asyncio.sleep(0)


async def _returns_nothing(self, text):
    return 7


async def _shows_what_does_not_fit(self, text):
    self.host.observe("run.status", to="Runing")
    return Segment("NaturalEnd")


def _is_no_coroutine(self, text):
    return Segment("NaturalEnd")


IN_PROCESS = (
    (_exits, "SUT", "crashed at run.start: The runtime or its adapter crashed: SystemExit: “0” ("),
    (_spins, "SUT", "did not settle at run.start: The runtime was still busy after 10000 turns"),
    (_returns_nothing, "adapter", "The adapter's start returned 7; it should return a Segment."),
    (_shows_what_does_not_fit, "adapter", 'observations.0.to of a run.status is "Runing"'),
    (_is_no_coroutine, "SUT", "is no coroutine function; write it with `async def`"),
)


@pytest.mark.parametrize(
    ("start", "blame", "says"), IN_PROCESS, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_fault_in_process_is_told_as_behind_the_pipe(start, blame, says):
    """An exit, a busy loop and a wrong type in the kit's own process end in the same kind of sentence."""
    assert (blame, True, []) == _told(start, says)


def _told(start, says):
    blame, said, broken = judged(lambda: Hosted(lambda: InTheKit(start)), SCRIPTS["natural-end"])
    return blame, says in said or said, broken


def test_an_exception_of_the_runtime_is_its_own(tmp_path):
    """A runtime in process that recurses without end has ended its run in Error, and is judged by that."""
    assert judged(lambda: Hosted(lambda: InTheKit(_recurses)), SCRIPTS["natural-end"]) == (NOBODY, "", [])
