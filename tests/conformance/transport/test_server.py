"""Any runtime put behind the pipe answers there as it does in process."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest
from places import FAULTY
from served import serve

from runlock.conformance.errors import AdapterError, SutDied, TimedOut
from runlock.conformance.families.lifecycle.messages import METHODS
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.transport.in_process import InProcess
from runlock.conformance.transport.stdio import Pipe

RIGHT = [sys.executable, str(FAULTY / "right.py")]

CONVERSATION = [
    ("initialize", {"protocol": {"min": 1, "max": 1}, "kit": {"name": "runlock", "version": "0"}}),
    ("scenario.open", {"scenario": "s-1", "tools": [{"name": "t0"}]}),
    ("run.start", {"run": "r1", "input": "hello — ünïcode 🙂"}),
    ("gate.release", {"gate": "g1", "outcome": {"kind": "ok"}}),
    ("inspect", {"run": "r1"}),
    ("settle", {}),
    ("scenario.close", {}),
    ("shutdown", {}),
]


class Scripted:
    """A `Sut` that answers, or raises, what it was given."""

    def __init__(self, answer):
        self.answer = answer
        self.is_closed = False

    def request(self, method, params):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def kill(self):
        """Nothing is held."""

    def close(self):
        self.is_closed = True


def said(sut, *lines):
    """What a served runtime answers to these lines."""
    raw = b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines)
    answers = io.BytesIO()
    serve(sut, io.BytesIO(raw), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def request(method="settle", params=None, own_id=1):
    """A request as one line."""
    return json.dumps({"jsonrpc": "2.0", "id": own_id, "method": method, "params": params or {}})


def told(sut, method, params):
    """The answer, or the error that it is."""
    try:
        return sut.request(method, params)
    except ProtocolError as error:
        return (error.code, error.message, error.data)


@pytest.fixture
def right(monkeypatch):
    """The control adapter's class, in this process."""
    monkeypatch.syspath_prepend(str(FAULTY))
    from right import Right

    return Right


def test_a_served_runtime_answers_as_in_process(right):
    """The pipe adds nothing and loses nothing, though the runtime prints to standard output."""
    inside, outside = InProcess(right()), Pipe(RIGHT)
    try:
        for method, params in CONVERSATION:
            assert told(outside, method, params) == told(inside, method, params)
    finally:
        outside.close()


def test_what_the_runtime_prints_goes_to_standard_error():
    """Standard output belongs to the protocol, for Python's prints and for those below it."""
    lines = [request(method, params, own_id) for own_id, (method, params) in enumerate(CONVERSATION[:2])]
    ran = subprocess.run(RIGHT, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)

    assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == [0, 1]
    assert {"a word on standard output", "a word from below Python"} <= set(ran.stderr.splitlines())


def test_sigterm_ends_it_cleanly():
    """A polite signal is obeyed: exit code 0, and nothing on standard error."""
    with subprocess.Popen(
        RIGHT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(request("settle").encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)

        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_a_reader_that_is_gone_ends_it_cleanly():
    """Nothing is printed once the reader has left."""
    with subprocess.Popen(
        RIGHT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        process.stdin.write(request("settle").encode() + b"\n")
        process.stdin.flush()

        assert process.wait(30) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("lines", [[], [request("shutdown"), request()]], ids=["end of input", "shutdown"])
def test_the_end_closes_the_runtime(lines):
    """The end of the input, and an answered `shutdown`, end the loop and close the runtime."""
    sut = Scripted({})

    assert len(said(sut, *lines)) == min(len(lines), 1)
    assert sut.is_closed


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("{", -32700, "the line “{\\n” is no JSON"),
        (b"\xff\n", -32700, "is not UTF-8 (byte 0xff at position 0)"),
        ("[" * 100_000, -32700, "is nested deeper than 200 levels"),
        ("x" * 5 * 1024 * 1024, -32700, "the line is longer than 4 MiB"),
        ("7", -32600, "the line holds no object; a request is `{"),
        ("[]", -32600, "the line holds a batch, but the kit sends one request after the other"),
        ('{"id": 1, "method": "settle"}', -32600, 'the request lacks `"jsonrpc": "2.0"`'),
        ('{"jsonrpc": "2.0", "id": 1}', -32600, "the request names no method"),
        ('{"jsonrpc": "2.0", "method": "settle"}', -32600, "the request has no id"),
        (request("run.stop"), -32601, "there is no method “run.stop”; there are initialize, scenario.open"),
        (
            request("run.start", {"input": "hello"}),
            -32602,
            "the parameters of run.start do not fit: run is missing",
        ),
        (request("run.start", {"run": 7, "input": ""}), -32602, "run is “7”; input should be a valid string"),
        (request("decide", {"run": "r1", "decisions": [{}]}), -32602, "decisions.0.id is missing"),
        (request("settle", [1]), -32602, "the parameters of settle do not fit: params is “[1]”"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str | bytes) else "",
)
def test_a_line_that_is_no_request_is_answered_with_a_sentence(line, code, words):
    """What came in, what is wrong with it; and the next line is read as if nothing had been."""
    refusal, answer = said(Scripted({}), line, request(own_id="next"))

    assert refusal["error"]["code"] == code
    assert words in refusal["error"]["message"]
    assert (answer["id"], answer["result"]) == ("next", {})


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ProtocolError(-32003, "no gate g1 is open", {"open": ["g2"]}), -32003),
        (SutDied("It ended with exit code 3."), -32005),
        (AdapterError("It raised KeyError."), -32603),
        (TimedOut("It did not answer."), -32603),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_of_the_runtime_is_an_answer(error, code):
    """Protocol errors pass as they are; what broke behind the pipe is reported in its own sentence."""
    (answer,) = said(Scripted(error), request())

    assert answer["error"]["code"] == code
    assert answer["error"]["message"] == str(error)


def test_data_that_is_no_json_is_left_out():
    """An error's sentence arrives, even if its data cannot."""
    (answer,) = said(Scripted(ProtocolError(-32005, "it crashed", {1, 2})), request())

    assert answer["error"] == {"code": -32005, "message": "it crashed", "data": None}


@pytest.mark.parametrize(
    ("answer", "words"),
    [({"v": {1}}, "the answer is no JSON"), ({"v": "x" * 5 * 1024 * 1024}, "and a line holds at most 4 MiB")],
    ids=["no JSON", "too long"],
)
def test_an_answer_that_is_no_line_is_an_error(answer, words):
    """What cannot be sent is reported instead of sent."""
    (line,) = said(Scripted(answer), request())

    assert line["error"]["code"] == -32603
    assert words in line["error"]["message"]


def test_parameters_may_be_left_out():
    """JSON-RPC lets a request without parameters say nothing of them."""
    (answer,) = said(Scripted({}), '{"jsonrpc": "2.0", "id": 1, "method": "settle"}')

    assert answer["result"] == {}


def test_every_method_of_the_protocol_is_known():
    """No verb of the protocol is answered as one that does not exist."""
    lines = [
        request(method, {"unknown": 1}, own_id)
        for own_id, method in enumerate(METHODS)
        if method != "shutdown"
    ]

    assert -32601 not in [answer.get("error", {}).get("code") for answer in said(Scripted({}), *lines)]


def test_the_streams_of_the_process_are_given_back(capfd):
    """After serving on the process's own standard output, it is the caller's again."""
    with open(1, "wb", closefd=False) as standard_output:
        serve(Scripted({}), io.BytesIO(request().encode()), standard_output)
    os.write(1, b"mine\n")

    answer, mine = capfd.readouterr().out.splitlines()
    assert (json.loads(answer)["id"], mine) == (1, "mine")
