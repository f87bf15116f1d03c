"""One scenario on one runtime: what is sent, what is recorded, who is blamed, and how it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from lifecycle_messages import HANDSHAKE, SCENARIO, handshake
from sessions import JUDGES_NOTHING, Answers, new_session

from runlock.conformance.driving.session import DRAIN_LIMIT
from runlock.conformance.errors import AdapterError, Restless, SutDied
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.family.invariant import Invariant, broken
from runlock.conformance.protocol import (
    DID_NOT_SETTLE,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    SUT_CRASHED,
    UNSUPPORTED,
    ProtocolError,
)
from runlock.conformance.trace.moves import Move

START = Move("run.start", {"run": "r1", "input": "hello"})
SETTLE = Move("settle", {})
CRASH = Move("crash", {})
LOOK = Move("inspect", {})
ANSWER = Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "text": "done"}})
RUNNING = {"kind": "run.status", "run": "r1", "from": None, "to": "Running"}
ASKED = {"kind": "message", "run": "r1", "message": {"role": "user", "text": "hello"}}
GATE = {"kind": "gate.open", "run": "r1", "gate": "g7", "on": "model", "step": 1}
STORED = {"kind": "checkpoint", "run": "r1", "trigger": "UserMessage", "state": {"messages": []}}
STARTED = {"observations": [RUNNING, ASKED, STORED, GATE]}


def test_a_scenario_is_opened_whole() -> None:
    """The runtime receives every field of it, and the folder in which it may store bytes."""
    runtime = Answers()
    session = new_session(runtime, data="/some/folder")

    assert runtime.requests == [("scenario.open", {**SCENARIO.in_full, "data": "/some/folder"})]
    assert session.trace.records == [{"handshake": HANDSHAKE.as_sent}, {"scenario": SCENARIO.as_sent}]


def test_what_is_sent_and_what_is_shown_is_recorded() -> None:
    """A stimulus, the observations it led to, and the end of the answer, in this order."""
    session = new_session(Answers(run__start=[STARTED]))

    assert session.send(START)
    assert [next(iter(record)) for record in session.trace.records[2:]] == [
        "stimulus", *["observation"] * 4, "report",
    ]  # fmt: skip
    assert session.sent == session.attempted == [START]
    assert session.state.run.claimed == "Running"


def test_a_gate_is_named_by_what_waits_there() -> None:
    """A move says `model`; the runtime is sent the id that it gave the gate."""
    runtime = Answers(run__start=[STARTED])
    session = new_session(runtime)
    session.play([START, ANSWER])

    (released,) = runtime.sent("gate.release")
    assert (released["gate"], released["outcome"]["tool_calls"]) == ("g7", [])


@pytest.mark.parametrize(
    "move",
    [
        ANSWER,
        LOOK,
        Move("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume"}]}),
    ],
    ids=lambda move: move.method,
)
def test_a_move_without_an_occasion_is_left_out(move: Move) -> None:
    """Before a run there is no gate to release, nothing to look at, and nothing to decide."""
    runtime = Answers()
    session = new_session(runtime)

    assert not session.send(move)
    assert (session.sent, runtime.verbs) == ([], ["scenario.open"])


def test_playing_stops_at_a_violation() -> None:
    """What comes after the first thing that is wrong is not sent any more."""
    strict = replace(
        JUDGES_NOTHING, invariants=(Invariant("RUN-1", lambda *_: iter([broken("no")]), GateOpened),)
    )
    session = new_session(Answers(run__start=[STARTED]), family=strict)
    session.play([START, SETTLE, SETTLE])

    assert session.violation is not None
    assert session.sent == [START]


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        (SUT_CRASHED, SutDied, "The runtime crashed at run.start: no."),
        (DID_NOT_SETTLE, Restless, "The runtime did not settle at run.start: no."),
        (UNSUPPORTED, AdapterError, "does not support run.start, which its handshake offers: no."),
        (INTERNAL_ERROR, AdapterError, "The adapter answered run.start with error -32603: no."),
    ],
)
def test_an_error_blames_the_right_party(code: int, kind: type[Exception], says: str) -> None:
    """A crash is the runtime's, an answer that there is none is the adapter's; the move is known."""
    session = new_session(Answers(run__start=[ProtocolError(code, "no.")]))
    with pytest.raises(kind) as caught:
        session.send(START)

    assert type(caught.value) is kind
    assert says in str(caught.value)
    assert session.attempted == [START]


def test_an_answer_that_does_not_fit_is_the_adapters_fault() -> None:
    """It is named, and no clause is blamed."""
    session = new_session(Answers(run__start=[{"observations": [{"kind": "run.status", "run": 3}]}]))
    with pytest.raises(AdapterError, match=r"The answer to run\.start does not fit the protocol"):
        session.send(START)

    assert session.violation is None


def test_a_quiescent_runtime_moves_for_a_stimulus_alone() -> None:
    """One that says that it settles exactly shows nothing when it is asked for nothing."""
    settles = [{}, {"observations": [ASKED]}]
    session = new_session(Answers(run__start=[STARTED], settle=settles))
    session.play([START, SETTLE])
    with pytest.raises(AdapterError, match="moves for a stimulus alone"):
        session.send(SETTLE)


# --- looking and crashing -----------------------------------------------------------------------


def test_a_look_is_an_observation() -> None:
    """What `inspect` shows is recorded and judged like anything else."""
    shown = {"status": "Running", "reason": None, "calls": {}}
    session = new_session(Answers(run__start=[STARTED], inspect=[shown]))
    session.play([START, LOOK])

    (seen,) = [one for one in session.trace.of("observation") if one["kind"] == "inspect"]
    assert (seen["run"], seen["status"]) == ("r1", "Running")


@pytest.mark.parametrize("code", [UNSUPPORTED, METHOD_NOT_FOUND])
def test_a_runtime_that_cannot_be_looked_at_is_not_blamed(code: int) -> None:
    """The move is left out, and nothing of it is recorded."""
    session = new_session(Answers(run__start=[STARTED], inspect=[ProtocolError(code, "no")]))
    session.send(START)
    before = [*session.trace.records]

    assert not session.send(LOOK)
    assert session.trace.records == before


def test_a_crash_recovers_what_was_durable() -> None:
    """The run comes back from the newest checkpoint that was stored."""
    runtime = Answers(run__start=[STARTED])
    session = new_session(runtime)
    session.play([START, CRASH])

    assert runtime.verbs[-2:] == ["crash", "recover"]
    assert runtime.sent("recover") == [{"run": "r1", "store": STORED["state"]}]
    assert "crash" in next(record for record in session.trace.records if "crash" in record)


@pytest.mark.parametrize(
    ("ways", "wanted", "by"),
    [
        (["soft"], "soft", "soft"),
        (["soft"], "kill", "soft"),
        (["soft", "kill"], "kill", "kill"),
        (["kill"], "soft", "kill"),
    ],
)
def test_a_runtime_is_crashed_in_a_way_that_it_offers(ways: list[str], wanted: str, by: str) -> None:
    """The way that was asked for if it is offered, else another one; a kill starts a new process."""
    first, second = Answers(run__start=[STARTED]), Answers()
    said = handshake(control={**HANDSHAKE.as_sent["control"], "crash": ways})
    session = new_session(first, said, revive=lambda: second)
    session.play([START, Move("crash", {"by": wanted})])

    reopened = ["scenario.open", "recover"]
    assert (first.verbs[2:], second.verbs) == ((["crash", "recover"], []) if by == "soft" else ([], reopened))
    assert session.sent[-1] == (CRASH if by == "soft" else Move("crash", {"by": "kill"}))


def test_a_kill_needs_a_process_that_can_be_started_anew() -> None:
    """Without one, a runtime that offers nothing but a kill is not crashed."""
    said = handshake(control={**HANDSHAKE.as_sent["control"], "crash": ["kill"]})
    session = new_session(Answers(run__start=[STARTED]), said)
    session.send(START)

    assert not session.send(CRASH)


# --- ending -------------------------------------------------------------------------------------


def reference() -> Any:
    """The reference runtime in process."""
    return FAMILY.host(FAMILY.made.reference("awaken-8", {}))


def test_a_drain_gives_a_run_all_that_it_waits_for() -> None:
    """Gates are released and calls approved, until the run is Done."""
    sut = reference()
    said = FAMILY.made.reference("awaken-8", {})().handshake
    session = new_session(sut, said, family=FAMILY)
    calls = [{"id": "c1", "name": "write", "args": {"k": "c1"}}]
    session.play(
        [START, Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": calls}})]
    )
    assert not session.state.run.is_done
    session.drain()
    session.close()

    assert session.state.run.is_done and session.violation is None
    assert [move.method for move in session.sent[2:]] == ["decide", "gate.release", "gate.release"]


def test_a_drain_ends_where_nothing_can_be_given() -> None:
    """A run that waits for nothing that the kit can give is left as it is."""
    runtime = Answers(run__start=[{"observations": [RUNNING, ASKED]}])
    session = new_session(runtime, handshake(control={"settle": "observed"}))
    session.send(START)
    session.drain()

    assert runtime.verbs == ["scenario.open", "run.start"]


def test_a_drain_gives_up_on_a_run_that_never_ends() -> None:
    """A bound keeps a runtime that is never quiescent from holding the campaign."""
    busy = [{"quiescent": False}] * 100
    session = new_session(Answers(run__start=[{**STARTED, "quiescent": False}], settle=busy))
    session.send(START)
    session.drain()

    assert len(session.sent) == 1 + DRAIN_LIMIT


def test_what_is_left_behind_is_the_last_record() -> None:
    """Closing a scenario tells what the runtime still holds."""
    leak = {"task": "a task"}
    session = new_session(Answers(scenario__close=[{"leaks": [leak]}]))
    session.close()

    assert session.trace.records[-1] == {"end": {"leaks": [leak]}}
