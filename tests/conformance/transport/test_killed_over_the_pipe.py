"""A runtime with a store of its own, killed by the kit before and after everything that it stores.

The calm life, in this process, tells at which turn of which stimulus each checkpoint becomes durable.  Then
a process behind the pipe comes to the turn before it, and to that turn itself, and is killed there with its
group; the next one recovers from the bytes that are left, and the judge sees it all to the end of the run.
"""

import sys

import pytest
from places import FAULTY
from played_scripts import reasons

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.families.lifecycle.reference import durable
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move
from runlock.conformance.transport.stdio import Pipe

WRONGLY = FAULTY / "stores_wrongly.py"
TURNS_MAX = 100
KILL = Move(CRASH_AND_RECOVER, {"by": "kill"})
SCENARIO = Scenario(
    scenario="killed", tools=[ToolSpec(name="read"), ToolSpec(name="write", permission="ask")]
)


def asked(*calls):
    """The model asks for calls, each of the tool that it names."""
    tools = [{"id": call, "name": name, "args": {"k": call}} for call, name in calls]
    return Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": tools}})


def answered(call):
    """A tool answers."""
    return Move("gate.release", {"gate": f"tool:{call}", "outcome": {"kind": "ok", "content": f"<{call}>"}})


MOVES = (
    Move("run.start", {"run": "r1", "input": "hello"}),
    asked(("c1", "read"), ("c2", "write")),
    answered("c1"),
    Move("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c2", "action": "resume"}]}),
    answered("c2"),
    Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "text": "done"}}),
)


def boundaries(profile):
    """Where checkpoints become durable: a stimulus by its number, and a turn of it from 1."""
    bench = Bench(lambda: Hosted(durable(profile)))
    session, found = bench.session(SCENARIO), []
    for number, move in enumerate(MOVES):
        for turn in range(TURNS_MAX):
            before = len(list(_stored(session)))
            session.send(Move(move.method, move.params, 0) if turn == 0 else Move("settle", {}, 1))
            found += [(number, turn)] * (len(list(_stored(session))) > before)
            if turn and session.state.quiescent:
                break
    bench.close()
    return found


def _stored(session):
    return (seen for seen in session.trace.of("observation") if seen["kind"] == "checkpoint")


def killed_at(bench, number, turns):
    """One scenario with a kill after this many turns of a stimulus; the session, at the end of its run."""
    session = bench.session(SCENARIO)
    session.play(MOVES[:number])
    session.send(Move(MOVES[number].method, MOVES[number].params, turns))
    is_killed = session.send(KILL)
    session.drain()
    session.close()
    return session, is_killed


def swept(open_sut, profile):
    """All deaths of a profile; how many there were, what was broken by which, and what was exercised."""
    bench, tally, kills = Bench(open_sut), Tally(), 0
    try:
        for number, turn in boundaries(profile):
            for turns in (turn - 1, turn):
                session, is_killed = killed_at(bench, number, turns)
                bench.enter(session, tally)
                kills += is_killed
                assert session.violation or session.state.run.is_done
    finally:
        bench.close()
    return kills, reasons(tally), tally.exercised


def served(profile):
    """Makes pipes to the reference with its own store, as the command line serves it."""
    words = [sys.executable, "-m", "runlock.conformance.cli", "serve", f"reference:{profile}"]
    return lambda: Pipe([*words, "--store", "own"], timeout_scale=6)


@pytest.mark.processes
@pytest.mark.parametrize("profile", ["tirea", "awaken-9"])
def test_a_kill_at_any_boundary_of_the_store_breaks_nothing(profile):
    """Before and after each checkpoint the process dies, comes back and ends its run; nothing is broken."""
    kills, broken, exercised = swept(served(profile), profile)

    assert broken == {}
    assert kills >= 2 * len(boundaries(profile)) - 2  # before the first one there is nothing to come back to
    assert {"RECOVER-1", "RECOVER-2", "ONCE-2"} <= exercised.keys()


@pytest.mark.long
@pytest.mark.parametrize(
    ("how", "clause", "says"),
    [
        ("RunsAgainWhatIsOver", "ONCE-2", "call c1 is Succeeded in the checkpoint, yet it was executed"),
        ("StoresLate", "RECOVER-1", "the checkpoint says that the run is Waiting, yet it starts as Created"),
    ],
)
def test_a_wrong_recovery_shows_at_some_boundary(how, clause, says):
    """Who runs again what was over, and who stores later than it says, is found out by a kill."""
    wrong = [sys.executable, str(WRONGLY), how, "awaken-9"]
    _, broken, _ = swept(lambda: Pipe(wrong, timeout_scale=6), "awaken-9")

    assert says in broken[clause]
