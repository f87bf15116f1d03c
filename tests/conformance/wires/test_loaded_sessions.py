"""A session goes on when another process has loaded it, with all that was said and answered in it."""

import pytest
from acp_agents import DYING, GOING_ON, RIGHT, WRONG
from acp_agents_v2 import REPLAYING
from played_scripts import reasons
from served_agents import serving

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import run_shard
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.trace.moves import Move
from runlock.conformance.wires.acp import Acp
from runlock.conformance.wires.acp_client import Session
from runlock.conformance.wires.acp_wire import AcpWire
from runlock.conformance.wires.address import address_of

TOOLS = [{"name": "write", "permission": "ask"}, {"name": "read", "permission": "allow"}]
WRONG_ONE = "forgets-what-it-loads"
PROTOCOLS = ("", "2")
"""The usual version of the protocol, and the draft of the next one."""


@pytest.fixture(scope="module")
def agents():
    """Right ones, and wrong ones."""
    more = {WRONG_ONE: WRONG[WRONG_ONE][0], "dying": DYING, "going-on": GOING_ON, "replaying": REPLAYING}
    with serving({**RIGHT, **more}) as found:
        yield found


def start(run, **more):
    """A prompt."""
    return Move("run.start", {"run": run, "input": f"hello {run}", **more})


def turn(*calls, text=""):
    """What the model answers."""
    asked = [{"id": call, "name": name} for call, name in calls]
    outcome = {"kind": "turn", "text": text, "tool_calls": asked}
    return Move("gate.release", {"gate": "model", "outcome": outcome})


def decide(run, action, call):
    """The answer to a permission."""
    return Move("decide", {"run": run, "decisions": [{"id": f"d-{call}", "call": call, "action": action}]})


def result(call):
    """A tool answers."""
    return Move("gate.release", {"gate": f"tool:{call}", "outcome": {"kind": "ok", "content": "it is done"}})


ROUND = [turn(("c1", "write")), decide("r1", "resume", "c1"), result("c1"), turn(text="well")]
LOADED = start("r2", resent="loaded")
SCHEDULES = {
    "after a round": [start("r1"), *ROUND, LOADED, turn(("c2", "write"))],
    "after a rejection": [
        start("r1"),
        turn(("c1", "write")),
        decide("r1", "cancel", "c1"),
        turn(text="well"),
        LOADED,
    ],
    "after a cancel": [start("r1"), turn(("c1", "write")), Move("cancel", {"run": "r1"}), LOADED],
    "twice": [start("r1"), *ROUND, LOADED, turn(text="again"), start("r3", resent="loaded")],
    "then an answer to what is over": [
        start("r1"),
        *ROUND,
        LOADED,
        turn(("c2", "write")),
        decide("r2", "resume", "c1"),
        decide("r2", "cancel", "c2"),
    ],
}
LEFT = Move("cancel", {"run": "r2"})
BACK = [start("r3"), turn(text="here you are")]
LEAVING = {
    "in a request to the model": [start("r1"), *ROUND, LOADED, LEFT, *BACK],
    "at a permission": [start("r1"), *ROUND, LOADED, turn(("c2", "write")), LEFT, *BACK],
    "in a tool": [start("r1"), *ROUND, LOADED, turn(("c2", "read")), LEFT, *BACK],
    "between two rounds": [start("r1"), *ROUND, LOADED, turn(("c2", "read")), result("c2"), LEFT, *BACK],
}  # fmt: skip


def played(agents, name, moves, **settings):
    """What a judge says of an agent after these moves, and the moves that it was sent."""
    bench, sent = agents.bench(name, **settings), []
    scenario = Scenario.model_validate({"scenario": "s", "tools": TOOLS})

    def schedule(session):
        session.play(moves)
        sent.extend(session.sent)
        session.wind_up()
        session.close()

    tally = Tally()
    bench.play(scenario, schedule, tally)
    bench.close()
    assert tally.troubles == []
    return tally, sent


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("what", SCHEDULES)
def test_a_right_agent_goes_on(agents, what, protocol):
    """Its model is shown what was said, and what was answered, and no answer meets another call."""
    tally, sent = played(agents, "right", SCHEDULES[what], protocol=protocol)

    assert reasons(tally) == {}
    assert LOADED in sent
    assert agents.wire("right", protocol=protocol).other.is_alive


def test_a_client_that_loads_again_closes_the_pipe_and_comes_back(agents):
    """Another process has the session then; the one before has ended."""
    wire, before = agents.wire("right"), []
    wire.load, load = noting(wire, before), wire.load
    try:
        tally, _ = played(agents, "right", SCHEDULES["twice"])
    finally:
        wire.load = load

    assert reasons(tally) == {}
    assert len(before) == 2 and before[0] is not before[1]
    assert not wire._there


@pytest.mark.parametrize("where", LEAVING)
def test_a_client_that_closes_the_pipe_inside_a_prompt_comes_back(agents, where):
    """The process ends with its prompt; the next one goes on in another process, and no call runs again."""
    wire, left = agents.wire("right"), []
    wire.hang_up, hang_up = leaving(wire, left), wire.hang_up
    try:
        tally, sent = played(agents, "right", LEAVING[where])
    finally:
        wire.hang_up = hang_up

    assert {clause: found.violation.reason for clause, found in tally.found.items()} == {}
    assert sent[-len(BACK) :] == BACK
    assert len(left) == 1 and wire.other is not left[0]


def test_an_agent_that_dies_with_its_pipe_is_blamed(agents):
    """The model is not shown any more what the user said last."""
    tally, _ = played(agents, "dying", LEAVING["in a tool"])

    assert "hello r2" in tally.found["AGAIN-2"].violation.reason


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("where", LEAVING)
def test_a_session_that_is_closed_cancels_its_prompt(agents, where, protocol, monkeypatch):
    """Where the agent can close it: at a permission, the client closes the pipe all the same."""
    closed = []
    close = Session.close
    monkeypatch.setattr(Session, "close", lambda session, **more: closed.append(close(session, **more)))
    tally, sent = played(agents, "closes", LEAVING[where], protocol=protocol)

    assert {clause: found.violation.reason for clause, found in tally.found.items()} == {}
    assert sent[-len(BACK) :] == BACK
    assert bool(closed) == (where != "at a permission")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_agent_that_goes_on_when_it_is_closed_is_blamed(agents, protocol):
    """Its prompt is not cancelled."""
    moves = [*LEAVING["in a tool"][: -len(BACK)], result("c2")]
    tally, _ = played(agents, "going-on", moves, protocol=protocol)

    assert tally.found.keys() & {"CANCEL-1", "CANCEL-2", "PROMPT-2"}


def leaving(wire, found):
    """Notes the process whose pipe is closed."""
    hang_up = wire.hang_up

    async def left(session):
        found.append(session.agent)
        await hang_up(session)

    return left


def noting(wire, found):
    """Notes the process that has a session after each load."""
    load = wire.load

    async def noted(session):
        await load(session)
        found.append(session.agent)

    return noted


def test_an_agent_that_forgets_is_blamed(agents):
    """The next prompt is shown without the one before."""
    tally, _ = played(agents, WRONG_ONE, SCHEDULES["after a round"])

    assert WRONG[WRONG_ONE][1] in tally.found
    assert "hello r1" in tally.found[WRONG[WRONG_ONE][1]].violation.reason


def test_an_agent_that_replays_what_it_was_not_asked_for_is_blamed(agents):
    """Version 2 has sessions resumed with a replay or without; a right agent does what it is asked for."""
    tally, _ = played(agents, "replaying", SCHEDULES["after a round"], protocol="2")
    assert tally.found.keys() == {"PROMPT-17"}
    assert "user_message_chunk, agent_message_chunk" in tally.found["PROMPT-17"].violation.reason

    right, _ = played(agents, "right", SCHEDULES["twice"], protocol="2")
    assert right.exercised["PROMPT-17"] == 1


def test_an_agent_that_loads_no_sessions_is_asked_for_none(agents):
    """It says so in its greeting."""
    assert not Acp(agents.wire("no-load")).handshake.inputs.loaded
    assert Acp(agents.wire("right")).handshake.inputs.loaded


@pytest.mark.long
@pytest.mark.parametrize("name", ["right", WRONG_ONE])
def test_it_is_generated(agents, name):
    """In random schedules, in which a right agent holds."""
    bench, loads = agents.bench(name), []
    enter = bench.enter

    def noted(session, tally):
        loads.extend(move for move in session.sent if move.params.get("resent") == "loaded")
        enter(session, tally)

    bench.enter = noted
    tally = run_shard(bench, 0, 40, 1)
    bench.close()

    assert loads
    assert {one: found.violation.reason for one, found in tally.found.items() if name == "right"} == {}
    assert (WRONG[WRONG_ONE][1] in tally.found) == (name == WRONG_ONE)


@pytest.mark.long
def test_a_process_of_an_agent_loads_what_another_one_stored():
    """Both in one folder, started by the kit; the second one is started again when its pipe was closed."""
    wire = AcpWire(address_of("acp:python -m runlock.conformance.cli serve reference --wire acp"))
    try:
        tally, sent = played(Commands(wire), "", SCHEDULES["twice"])
        assert wire.other.process.process.pid != wire.agent.process.process.pid
        assert wire.other.process.folder == wire.agent.process.folder
    finally:
        wire.close()

    assert reasons(tally) == {}
    assert [move.params.get("resent") for move in sent if move.method == "run.start"] == [
        None,
        "loaded",
        "loaded",
    ]
    assert wire.other.process.process.wait(5) is not None


class Commands:
    """An agent that is a process."""

    def __init__(self, wire):
        self.wire = wire

    def bench(self, name, **settings):
        """What plays schedules on it."""
        return Bench(lambda: Hosted(lambda: Acp(self.wire)))
