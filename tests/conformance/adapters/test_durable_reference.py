"""The reference with a store of its own, killed behind the pipe: it comes back with what is in the file."""

import shlex
import sqlite3
import sys

import pytest
from played_scripts import walks_on

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import STORE_FILE, durable
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.transport.stdio import Pipe

SERVE = [sys.executable, "-m", "runlock.conformance.cli", "serve"]
HELLO = {"protocol": {"min": 1, "max": 1}, "kit": {"name": "t", "version": "1"}, "spec": {"revision": "1.0"}}
OPEN = {"scenario": "s", "tools": [{"name": "write", "permission": "ask"}, {"name": "read"}]}
ASKS = {"kind": "turn", "text": "", "tool_calls": [{"id": "c1", "name": "write", "args": {"k": "c1"}}]}
SAYS = {"kind": "turn", "text": "done", "tool_calls": []}


class Line:
    """A pipe to the served reference, which can be killed and started anew on the same folder."""

    def __init__(self, data, profile="awaken-8"):
        self.pipe = Pipe([*SERVE, f"reference:{profile}", "--store", "own"], timeout_scale=6)
        self.data = str(data)
        self.shake()

    def shake(self):
        """Handshake, and open the scenario."""
        self.handshake = self.pipe.request("initialize", HELLO)
        self.pipe.request("scenario.open", {**OPEN, "data": self.data})

    def __call__(self, method, **params):
        """One stimulus; what was seen, and what was refused."""
        answer = self.pipe.request(method, params)
        return answer.get("observations", []), answer.get("refused", [])

    def kill(self):
        """The process is gone, and another one stands in its place."""
        self.pipe.kill()
        self.shake()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pipe.close()


def of(kind, seen):
    """The observations of a kind."""
    return [one for one in seen if one["kind"] == kind]


def wait_for_a_decision(line):
    """Start a run, and let the model ask for a call that has to be approved."""
    line("run.start", run="r1", input="hello")
    return line("gate.release", gate="g1", outcome=ASKS)


@pytest.mark.long
def test_a_killed_process_comes_back_from_its_file(tmp_path):
    """It says what it is, waits where it waited, takes the decision, and ends; twice killed on the way."""
    with Line(tmp_path) as line:
        assert line.handshake["control"]["store"] == "own"
        assert line.handshake["control"]["crash"] == ["soft", "kill"]
        wait_for_a_decision(line)
        line.kill()
        seen, refused = line("recover", run="r1")
        assert not refused
        assert [one["to"] for one in of("run.status", seen)] == ["Waiting"]
        assert [(one["call"], one["to"]) for one in of("call.status", seen)] == [("c1", "Suspended")]

        line.kill()
        line("recover", run="r1")
        approval = {"id": "d1", "call": "c1", "action": "resume"}
        (entered,) = of("gate.open", line("decide", run="r1", decisions=[approval])[0])
        assert entered["on"] == "tool"
        (asked,) = of("gate.open", line("gate.release", gate=entered["gate"], outcome={"kind": "ok"})[0])
        seen, _ = line("gate.release", gate=asked["gate"], outcome=SAYS)
        assert of("run.finished", seen)[0]["reason"]["code"] == "NaturalEnd"


@pytest.mark.long
def test_a_run_of_which_nothing_was_durable_never_was(tmp_path):
    """Its recovery is refused, and the thread goes on after the run before it."""
    with Line(tmp_path) as line:
        line("run.start", run="r1", input="first")
        line("gate.release", gate="g1", outcome=SAYS)
        line("run.start", run="r2", input="second")
        line.kill()
        seen, refused = line("recover", run="r2")
        assert (seen, refused) == ([], [{"stimulus": 0, "why": "nothing of run r2 was durable"}])

        (asked,) = of("gate.open", line("run.start", run="r3", input="third")[0])
        assert [message["text"] for message in asked["messages"]] == ["first", "done", "third"]


@pytest.mark.long
def test_a_run_that_is_not_over_is_recovered_and_not_started_over(tmp_path):
    """A process that comes back to an open run refuses to begin another one on the thread."""
    with Line(tmp_path) as line:
        wait_for_a_decision(line)
        line.kill()
        seen, refused = line("run.start", run="r2", input="again")

        assert (seen, refused) == ([], [{"stimulus": 0, "why": "the run before it is not over"}])


@pytest.mark.long
def test_a_store_that_cannot_be_read_is_refused_and_left_as_it_is(tmp_path):
    """The refusal names the file and the place; the bytes are those that were there."""
    with Line(tmp_path) as line:
        wait_for_a_decision(line)
    file = tmp_path / STORE_FILE
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE checkpoint SET state = replace(state, '\"c1\": {', '\"c7\": {')")
    connection.close()
    before = file.read_bytes()

    sut = Hosted(durable())
    sut.request("initialize", HELLO)
    with pytest.raises(ProtocolError) as refusal:
        sut.request("scenario.open", {**OPEN, "data": str(tmp_path)})
    sut.close()
    assert f"{file}, run r1 on thread main: a turn of the model names call c1" in str(refusal.value)
    assert file.read_bytes() == before


@pytest.mark.sampled(2)
@pytest.mark.parametrize("profile", ["tirea", "awaken-9"])
def test_walks_with_soft_crashes_break_nothing(profile):
    """Held to every clause that can be judged, the reference is right with its own store as well."""
    bench = Bench(lambda: Hosted(durable(profile)))
    total = walks_on(bench, range(30), 5, Tally())
    bench.close()
    assert (total.found, total.troubles) == ({}, [])


def test_a_life_that_was_given_up_in_this_process_loses_its_store(tmp_path):
    """In process nothing is killed for good: the next life takes the file over all the same."""
    for _ in range(2):
        sut = Hosted(durable())
        assert sut.request("scenario.open", {**OPEN, "data": str(tmp_path)}) == {}
        sut.kill()


def test_only_the_reference_is_told_where_its_store_is():
    """Of any other runtime its own handshake says that."""
    with pytest.raises(UsageError, match="is not the reference"):
        resolve(f"cmd:{shlex.quote(sys.executable)}", own_store=True)
