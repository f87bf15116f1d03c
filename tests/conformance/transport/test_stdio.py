"""The pipe: a conversation with a process that does what it should, and with many that do not.

Every faulty adapter is a program of a few lines in `faulty_adapters/`; what is pinned is the sentence
that its author reads.
"""

import contextlib
import gc
import os
import shlex
import stat
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from places import FAULTY

from runlock.conformance.errors import (
    AdapterError,
    RunlockError,
    SutDied,
    TimedOut,
)
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.transport.stdio import Pipe

HELLO = {"protocol": {"min": 1, "max": 1}, "kit": {"name": "runlock", "version": "0"}}


@pytest.fixture
def pipe():
    """Makes pipes to faulty adapters, and sees that no process of theirs is left when the test ends."""
    pipes, groups = [], []

    class Watched(Pipe):
        def start(self):
            super().start()
            groups.append(self.pid)

    def to(script, *arguments, scale=1.0):
        made = Watched([sys.executable, str(FAULTY / f"{script}.py"), *arguments], timeout_scale=scale)
        made.start()
        pipes.append(made)
        return made

    yield to
    for made in pipes:
        made.close()
    assert [group for group in groups if not is_empty(group)] == []


def is_empty(group, limit_seconds=5.0):
    """Whether nothing lives in a process group; a killed process may take a moment to be gone."""
    deadline = time.monotonic() + limit_seconds
    while lives := living(group):
        if time.monotonic() > deadline:
            return False
        threading.Event().wait(0.01)
    return not lives


def living(group):
    """The processes of a group that are more than an unburied exit code."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            state, _, its_group = entry.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                found.append(entry.parent.name)
    return found


def diagnosis(sut, kind, *, method="settle"):
    """The error, of just this kind, that a request ends in; its process is gone by then."""
    with pytest.raises(AdapterError) as caught:
        sut.request(method, {})

    assert kind is type(caught.value)
    assert sut.pid is None
    return caught.value


def test_a_request_is_answered(pipe):
    """The result of the answer comes back as it is, unknown fields and all."""
    sut = pipe("right")

    answered = sut.request("initialize", HELLO)

    assert answered == {"protocol": 1, "implementation": {"name": "right", "version": "1"}}


def test_an_error_is_a_protocol_error(pipe):
    """An answer that is an error is raised with its code, sentence and data, and the process lives on."""
    sut = pipe("right")

    with pytest.raises(ProtocolError, match="no gate g1 is open") as caught:
        sut.request("gate.release", {"gate": "g1", "outcome": {"kind": "ok"}})

    assert (caught.value.code, caught.value.data) == (-32003, {"open": []})
    assert sut.request("settle", {})["observations"] == []
    assert sut.lives == 1


def test_an_error_without_an_id_answers_the_open_request(pipe):
    """JSON-RPC answers with a null id what could not be read."""
    sut = pipe("writes_lines", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}')

    with pytest.raises(ProtocolError, match=r"what\?"):
        sut.request("settle", {})


def test_a_process_starts_at_the_first_request(tmp_path):
    """Until something is asked, nothing runs."""
    sut = Pipe(["./missing"], cwd=tmp_path)

    assert (sut.pid, sut.lives) == (None, 0)


def test_a_killed_process_starts_anew(pipe):
    """After a kill the next request meets a new life, which knows nothing of the old one."""
    sut = pipe("right")
    sut.request("run.start", {"run": "r1", "input": "hello"})
    sut.kill()

    assert sut.pid is None
    assert sut.request("settle", {})["runs"] == []
    assert sut.lives == 2


def test_kill_and_close_are_harmless_twice(pipe):
    """Ending what has ended does nothing."""
    sut = pipe("right")
    for end in (sut.kill, sut.close, sut.kill, sut.close):
        end()

    assert sut.pid is None


def test_who_answered_shutdown_may_leave(pipe, tmp_path, monkeypatch):
    """A process that answered `shutdown` gets a moment to end by itself."""
    monkeypatch.setattr("runlock.conformance.transport.child_process.LEAVE_LIMIT_SECONDS", 30)
    sut = pipe("leaves_slowly", str(tmp_path / "note"))
    sut.request("shutdown", {})
    sut.close()

    assert (tmp_path / "note").read_text() == "put away"


@pytest.mark.long
def test_a_forgotten_process_is_ended(pipe):
    """A pipe that no one closed takes its process with it; the fixture sees to the check."""
    sut = Pipe([sys.executable, str(FAULTY / "hangs.py")])
    sut.start()
    group = sut.pid
    del sut
    gc.collect()

    assert is_empty(group)


def test_the_folder_and_the_environment_are_given(tmp_path):
    """A child runs where, and with the variables that, its owner says."""
    program = (
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    seen = {'cwd': os.getcwd(), 'word': os.environ.get('WORD')}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(line)['id'], 'result': seen}), flush=True)"
    )
    sut = Pipe([sys.executable, "-c", program], cwd=tmp_path, env={"WORD": "hello"})
    seen = sut.request("settle", {})
    sut.close()

    assert {"cwd": str(tmp_path.resolve()), "word": "hello"} == seen


LINES = {
    "garbage": (
        ["ready to serve"],
        "wrote “ready to serve” instead of an answer to settle, which is no JSON (Expecting value at",
        "Standard output carries one JSON-RPC 2.0 object a line, and nothing else.",
    ),
    "control characters": (["\x1b[31mred\x07"], "wrote “\\x1b[31mred\\x07” instead", "nothing else"),
    "long garbage": (["x" * 400], f"wrote “{'x' * 100}…” instead", "nothing else"),
    "empty line": ([""], "wrote an empty line instead of an answer to settle.", "nothing else"),
    "printed before the answer": (
        ["loading", '{"jsonrpc":"2.0","id":{id},"result":{}}'],
        "wrote “loading” instead of an answer to settle",
        "nothing else",
    ),
    "number": (["7"], "which is no JSON object", "nothing else"),
    "wrong id": (
        ['{"jsonrpc":"2.0","id":99,"result":{}}'],
        "which carries the id “99”, but request 1 was asked",
        "Each request is answered once",
    ),
    "id as text": (
        ['{"jsonrpc":"2.0","id":"{id}","result":{}}'],
        "which carries the id “'1'”, but",
        "answered once",
    ),
    "no id": (
        ['{"jsonrpc":"2.0","result":{}}'],
        "which carries the id “None”, but request 1",
        "answered once",
    ),
    "no version": (['{"id":{id},"result":{}}'], 'which lacks `"jsonrpc": "2.0"`', "answered once"),
    "notification": (
        ['{"jsonrpc":"2.0","method":"event","params":{}}'],
        "which is a notification of its own",
        "There are no unsolicited messages: all that happened comes inside the next answer.",
    ),
    "request": (
        ['{"jsonrpc":"2.0","id":1,"method":"ask"}'],
        "which is a request of its own",
        "no unsolicited",
    ),
    "result is a list": (['{"jsonrpc":"2.0","id":{id},"result":[]}'], "holds a result that is no object", ""),
    "neither": (['{"jsonrpc":"2.0","id":{id}}'], "holds neither a result nor an error", ""),
    "both": (
        ['{"jsonrpc":"2.0","id":{id},"result":{},"error":{"code":1,"message":"m"}}'],
        "holds both a result and an error",
        "",
    ),
    "error without code": (
        ['{"jsonrpc":"2.0","id":{id},"error":"bad"}'],
        "holds an error without a whole-number `code` and a `message`",
        "",
    ),
    "not a number": (
        ['{"jsonrpc":"2.0","id":{id},"result":{"v":NaN}}'],
        "which is no JSON (NaN is no JSON number)",
        "",
    ),
    "too large a number": (['{"jsonrpc":"2.0","id":{id},"result":{"v":1e999}}'], "1e999 is too large", ""),
    "half a surrogate pair": (
        ['{"jsonrpc":"2.0","id":{id},"result":{"v":"\\ud800"}}'],
        "which holds half a surrogate pair, which is no text",
        "",
    ),
}


@pytest.mark.parametrize(("lines", "what", "right"), list(LINES.values()), ids=list(LINES))
def test_a_line_that_is_no_answer_is_quoted_and_explained(pipe, lines, what, right):
    """The sentence quotes the line, says what is wrong with it and what would have been right."""
    error = diagnosis(pipe("writes_lines", *lines), AdapterError)

    assert what in error.what
    assert right in error.right
    assert "On standard error: “about to answer”." in error.what
    assert error.blame == "adapter"


def test_a_second_answer_is_found_at_once_or_at_the_next_request(pipe):
    """Two answers to one request are an error, whenever the second one arrives."""
    twice = '{"jsonrpc":"2.0","id":{id},"result":{}}'
    sut = pipe("writes_lines", twice, twice)

    with pytest.raises(AdapterError, match="answers request 1 a second time"):
        for _ in range(2):
            sut.request("settle", {})


def test_an_old_answer_is_not_taken_for_a_new_one(pipe):
    """An answer that carries the id of an earlier request answers that one a second time."""
    sut = pipe("answers_twice_later")
    sut.request("initialize", HELLO)

    assert "instead of an answer to settle, which answers request 1 a second time" in str(
        diagnosis(sut, AdapterError)
    )


def test_bytes_that_are_no_utf8_are_shown_escaped(pipe):
    """Another encoding is named with the byte that gave it away."""
    error = diagnosis(pipe("writes_no_utf8"), AdapterError)

    assert "caf\\xe9" in error.what
    assert "which is not UTF-8 (byte 0xe9 at position" in error.what


def test_a_line_ends_within_four_mebibytes(pipe):
    """A line that is too long is given up before all of it is read."""
    error = diagnosis(pipe("writes_five_mebibytes"), AdapterError)

    assert 'wrote a line of more than 4 MiB, which begins “{"jsonrpc": "2.0"' in error.what
    assert error.right == "A line holds at most 4 MiB."


def test_deep_json_is_an_error_and_no_traceback(pipe):
    """Nesting that would exhaust the stack of anyone who reads it is refused."""
    error = diagnosis(pipe("writes_deep_json"), AdapterError)

    assert "which is nested deeper than 200 levels" in error.what


def test_deep_json_is_refused_before_python_gives_up(pipe):
    """The limit is a number of the protocol's side, not whatever the reader's stack has left."""
    nested = "[" * 300 + "]" * 300
    error = diagnosis(
        pipe("writes_lines", f'{{"jsonrpc":"2.0","id":{{id}},"result":{{"v":{nested}}}}}'), AdapterError
    )

    assert "which is nested deeper than 200 levels" in error.what


def test_wide_json_is_no_deep_json(pipe):
    """Many brackets side by side are no nesting."""
    wide = "[" + ",".join(["[]"] * 1000) + "]"
    sut = pipe("writes_lines", f'{{"jsonrpc":"2.0","id":{{id}},"result":{{"v":{wide}}}}}')

    assert len(sut.request("settle", {})["v"]) == 1000


def test_half_a_line_and_the_end(pipe):
    """A process that ends in the middle of a line has died, and the half is quoted."""
    sut = pipe("writes_half_a_line")
    sut.request("initialize", HELLO)
    error = diagnosis(sut, SutDied)

    assert "ended with exit code 0 instead of answering settle; it had written half a line, “{" in error.what


@pytest.mark.processes
def test_half_a_line_and_silence(pipe):
    """A process that stops in the middle of a line is out of time, and the half is quoted."""
    sut = pipe("writes_half_a_line_and_hangs", scale=0.2)
    sut.request("initialize", HELLO)
    error = diagnosis(sut, TimedOut)

    assert "did not answer settle within 2 s; it had written half a line, “{" in error.what


def test_an_end_before_the_handshake(pipe):
    """A process that ends before it answered is reported with its exit code and its last words."""
    error = diagnosis(pipe("ends_before_the_handshake"), SutDied, method="initialize")

    assert "ended with exit code 3 instead of answering initialize." in error.what
    assert "On standard error: “no configuration file”." in error.what
    assert "It runs until its input ends or it is killed" in error.right
    assert error.blame == "SUT"


LAST_WORDS = {
    "no error is named": (["listening", "", "going down"], "going down"),
    "Python": (["Traceback (most recent call last):", '  File "a.py"', "KeyError: 'k'"], "KeyError: 'k'"),
    "Node": (
        ["  throw new TypeError('odd: t');", "  ^", "", "TypeError: odd: t", "    at f", "}", "Node.js v20"],
        "TypeError: odd: t",
    ),
    "Java": (
        ["Exception in thread \"main\" java.io.IOException: gone", "\tat A.main(A.java:3)", "\t... 3 more"],
        "Exception in thread \"main\" java.io.IOException: gone",
    ),
    "Go": (["panic: out of range", "", "goroutine 1 [running]:", "exit status 2"], "panic: out of range"),
    "Rust": (
        ["thread 'main' panicked at src/main.rs:2:5:", "out of range", "note: run with `RUST_BACKTRACE=1`"],
        "thread 'main' panicked at src/main.rs:2:5:",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "told"), list(LAST_WORDS.values()), ids=list(LAST_WORDS))
def test_what_is_quoted_of_standard_error_names_the_cause(pipe, lines, told):
    """The report of a runtime that ends quotes the error that it named, without what its language adds."""
    error = diagnosis(pipe("ends_before_the_handshake", *lines), SutDied, method="initialize")

    assert error.what.endswith(f"On standard error: “{told}”.")


def test_an_end_between_two_requests(pipe):
    """A process that ended after its answer is found dead by the next request."""
    sut = pipe("ends_between_requests")
    sut.request("initialize", HELLO)

    assert "ended with exit code 0 instead of answering settle." in diagnosis(sut, SutDied).what


def test_death_by_a_signal_names_the_signal(pipe):
    """A crash of the process is reported by the name of its signal."""
    error = diagnosis(pipe("dies_by_signal"), SutDied)

    assert "was killed by SIGSEGV instead of answering settle." in error.what
    assert "“oh no”" in error.what


def test_silence_ends_at_the_time_limit(pipe):
    """A process that never answers is killed, whatever signals it ignores."""
    error = diagnosis(pipe("hangs", scale=0.02), TimedOut)

    assert "did not answer settle within 0.2 s." in error.what
    assert "--timeout-scale" in error.right
    assert error.blame == "SUT"


def test_the_handshake_has_a_longer_limit(pipe):
    """The answer to `initialize` may take three times as long as any other."""
    error = diagnosis(pipe("hangs", scale=0.01), TimedOut, method="initialize")

    assert "did not answer initialize within 0.15 s." in error.what


@pytest.mark.processes
def test_a_hanging_process_takes_its_children_along(pipe):
    """The whole process group ends at the time limit; the fixture sees that nothing is left."""
    assert "did not answer settle" in diagnosis(pipe("hangs_with_a_child", scale=0.1), TimedOut).what


def test_a_child_that_holds_the_pipe_hides_no_death(pipe):
    """The end of the process counts, though a child of its own keeps standard output open."""
    error = diagnosis(pipe("leaves_a_child_on_the_pipe"), SutDied)

    assert "ended with exit code 0 instead of answering settle." in error.what


@pytest.mark.long
def test_a_closed_output_is_seen(pipe):
    """A process that closes standard output can answer nothing, though it runs on."""
    error = diagnosis(pipe("closes_its_output"), AdapterError)

    assert "closed its standard output instead of answering settle, and ran on." in error.what


def test_a_flood_on_standard_error_blocks_nobody(pipe):
    """Standard error is free: however much comes there, requests are answered and memory is bounded."""
    sut = pipe("floods_stderr")
    tracemalloc.start()
    for _ in range(2):
        sut.request("settle", {})
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak_bytes < 2 * 1024 * 1024


def test_a_process_that_reads_nothing_blocks_nobody(pipe):
    """A request that the process does not take in ends at the time limit too."""
    sut = pipe("hangs", scale=0.02)

    with pytest.raises(TimedOut):
        sut.request("recover", {"run": "r1", "store": "x" * 1024 * 1024})


def test_a_large_request_arrives(pipe):
    """A request larger than the pipe's buffer is written in parts."""
    sut = pipe("right")

    assert "observations" in sut.request("settle", {"text": "x" * 3 * 1024 * 1024})


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"v": "x" * 5 * 1024 * 1024}, "A line holds at most 4 MiB."),
        ({"v": {1, 2}}, "The parameters of settle are no JSON"),
        ({"v": float("nan")}, "The parameters of settle are no JSON"),
    ],
    ids=["too long", "no JSON", "no number"],
)
def test_a_request_that_is_no_line_is_the_kits_fault(pipe, params, what):
    """What the kit cannot send is blamed on the kit."""
    with pytest.raises(RunlockError, match=what) as caught:
        pipe("right").request("settle", params)

    assert caught.value.blame == "kit"


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("./missing", "No such file or directory"),
        ("./notes.txt", "Permission denied"),
        ("./broken", "Exec format"),
    ],
)
def test_a_command_that_cannot_start(tmp_path, monkeypatch, command, what):
    """What keeps a command from starting is reported in the system's words."""
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "broken").write_bytes(b"\x00\x01")
    (tmp_path / "broken").chmod(stat.S_IRWXU)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(AdapterError, match=f"`{command}` could not be started: {what}"):
        Pipe([command]).request("initialize", HELLO)


def test_an_interrupted_conversation_ends_the_process(pipe, monkeypatch):
    """An answer on its way must not be taken for the next one's, so nothing of the conversation stays."""
    sut = pipe("right")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sut, "_result", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sut.request("settle", {})

    assert sut.pid is None


def test_the_name_can_be_pasted_into_a_shell():
    """A pipe is named in sentences as its command would be typed."""
    argv = ["./adapter", "two words"]

    assert argv == shlex.split(Pipe(argv).name)


def test_no_descriptor_is_left_open(pipe):
    """Many lives leave as many descriptors open as none."""
    sut = pipe("right")
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        sut.start()
        sut.kill()

    assert before >= len(os.listdir("/dev/fd"))
