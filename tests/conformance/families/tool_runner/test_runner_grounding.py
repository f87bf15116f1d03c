"""What the kit may send to a tool runner, and which clauses its handshake leaves without an occasion."""

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.grounding import admit
from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.reference import reference
from runlock.conformance.judging.applicability import unmet
from runlock.conformance.trace.moves import Move

CALL = {"id": "c1", "name": "t0", "args": {"k": "c1"}}
TURN = {"role": "assistant", "text": "", "tool_calls": [CALL]}
NOTE = {"role": "user", "text": "a note"}
RESULT = {"role": "tool", "call": "c1", "status": "ok", "text": "done"}


def push(*messages):
    """A push as a part of a race."""
    return {"method": "runner.push", "params": {"messages": list(messages)}}


@pytest.fixture
def yielded():
    """A session whose user has a turn with a call."""
    bench = Bench(lambda: HostedRunner(reference()))
    session = bench.session(bench.scenarios[0])
    session.play(
        [
            Move("run.start", {"run": "r1", "input": "hello"}),
            Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": [CALL]}}),
        ]
    )
    yield session
    session.close()
    bench.close()


def test_a_race_pushes_no_turn_twice(yielded):
    """The second push of a turn is left out of the race, and the rest of it stays."""
    race = Move("deliver", {"stimuli": [push(TURN), push(TURN, RESULT), push(NOTE)]})

    admitted = admit(race, yielded.state)

    assert admitted == Move("deliver", {"stimuli": [push(TURN), push(NOTE)]})


def test_a_turn_that_stands_is_not_pushed_again(yielded):
    """A push that would repeat a turn of the state is not sent; a note may be pushed any number of times."""
    again = Move("runner.push", {"messages": [TURN]})
    assert admit(again, yielded.state) == again

    yielded.play([again])

    assert admit(again, yielded.state) is None
    assert admit(Move("runner.push", {"messages": [NOTE]}), yielded.state) is not None


def test_one_of_several_capabilities_is_enough():
    """A need that lists capabilities is met by any of them, and names each that is missing."""
    shown = reference()().handshake.observes
    whole = reference()().handshake.model_copy(
        update={"observes": [one for one in shown if one != "run.status"]}
    )
    need = "either observes run.finished | observes run.status"

    assert unmet(FAMILY, need, whole) == ""
    assert unmet(FAMILY, need, whole.model_copy(update={"observes": ["message"]})) == (
        "the runtime does not show run.finished, and the runtime does not show run.status"
    )
