"""Bookmarks: what is judged once for many schedules shows what each would have shown that is judged alone."""

import gc
import sys
from collections.abc import Callable
from dataclasses import fields
from itertools import cycle
from types import ModuleType
from typing import NamedTuple

import policy_fakes
import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies import exhaustive as levels
from runlock.conformance.driving.strategies.commutation import commute
from runlock.conformance.driving.strategies.exhaustive import play_level
from runlock.conformance.driving.strategies.move_enumeration import Scope
from runlock.conformance.driving.strategies.shortest_first import search
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import SutDied
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.reference import durable, factory
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.calls import (
    CallVolatile,
    Decided,
    ObservedCall,
    ObservedGate,
)
from runlock.conformance.families.lifecycle.state.knowledge import StateVolatile
from runlock.conformance.families.lifecycle.state.records import Run, RunVolatile
from runlock.conformance.families.lifecycle.state.watchers import Audience
from runlock.conformance.family.chart_monitor import Follower
from runlock.conformance.family.coverage import Trails
from runlock.conformance.judging.judge import Judge
from runlock.conformance.protocol import SUT_CRASHED, ProtocolError
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move
from runlock.conformance.transport.stdio import Pipe
from runlock.machines.table import Cursor

BY_NAME = {mutant.name: mutant for mutant in MUTANTS}
CHANGING = (
    ObservedState, StateVolatile, Audience, ObservedCall, CallVolatile, Cursor, Decided, Follower,
    ObservedGate, Judge, Run, RunVolatile, Trails,
)  # fmt: skip
RIGHT = {
    **{profile: factory(profile) for profile in ("tirea", "tirea-stream", "awaken-8", "awaken-9")},
    "awaken-concurrent": factory("awaken-concurrent"),
    "policies left open": policy_fakes.awaken_8,
}
FLAT, RACING, ONE_ORDER = Scope(uneven=0), Scope(), Scope(uneven=0, one_order=True)
BARE = Scenario(scenario="bare")
ALONE = Scenario(scenario="alone", tools=[ToolSpec(name="asks", permission="ask")])
MIXED = Scenario(
    scenario="mixed",
    tools=[
        ToolSpec(name="asks", permission="ask"),
        ToolSpec(name="runs"),
        ToolSpec(name="gated", permission="gate"),
    ],
)


def asked(*calls):
    """The model asks for calls, each of the tool that it names."""
    tools = [{"id": call, "name": name, "args": {"k": call}} for call, name in calls]
    return Move("gate.release", {"gate": "model", "outcome": {"kind": "turn", "tool_calls": tools}})


START = Move("run.start", {"run": "r1", "input": "hello"})
TURN = asked(("c1", "asks"), ("c2", "runs"))
ANSWER = Move("gate.release", {"gate": "tool:c2", "outcome": {"kind": "ok", "content": "<c2>"}})
DECISION = Move("decide", {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume"}]})
WAIT = Move("clock.advance", {"ms": 1_000})
CANCEL = Move("cancel", {"run": "r1"})
CRASH = Move(CRASH_AND_RECOVER, {})
KILL = Move(CRASH_AND_RECOVER, {"by": "kill"})


def moody():
    """Makes the reference, and now and then a runtime that does wrong on the way, or not before the end."""
    wrong = [BY_NAME[name] for name in ("ShowsOnePhaseTwice", "LeavesCallsDangling", "ForgetsFalse")]
    lives = cycle(one for fault in wrong for one in (factory("awaken-8"), fault))
    return lambda: next(lives)()  # noqa: PLW0108  # each life is of the next one


# --- a session that goes on from a bookmark ---------------------------------------------------------


def judged(bench, moves, snapshot=None):
    """The session of these moves, from a bookmark on if there is one."""
    session = bench.session(MIXED)
    session.play(moves, snapshot)
    session.close()
    return session


def told(session):
    """All that is taken from a session."""
    judge = session.judge
    return (
        session.trace.records, session.sent, session.attempted, judge.violation, judge.exercised,
        judge.coverage, judge.open.excluded, session.gates.is_open,
    )  # fmt: skip


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
def test_one_schedule_leaves_the_bookmark_as_it_was(make):
    """A run continued from a snapshot shows what it would show alone, whatever other runs did from it."""
    bench = Bench(lambda: Hosted(make))
    mark = judged(bench, [START, TURN]).snapshot()

    for more in ((ANSWER, DECISION), (CANCEL,), (ANSWER, CRASH, DECISION), (DECISION, ANSWER)):
        moves = [START, TURN, *more]
        assert told(judged(bench, moves, mark)) == told(judged(bench, moves))


def test_what_leads_to_a_bookmark_is_not_judged_again(monkeypatch):
    """The runtime takes each step again, and only what is new of its answers is judged."""
    bench = Bench(lambda: Hosted(factory("awaken-8")))
    mark = judged(bench, [START, TURN]).snapshot()
    answers, answer = [], Judge.answer
    monkeypatch.setattr(Judge, "answer", lambda self, report: answers.append(report) or answer(self, report))
    monkeypatch.setattr(bench, "judge", lambda scenario: pytest.fail("another judge is made"))

    session = judged(bench, [START, TURN, CANCEL], mark)

    assert (session.state.stimuli, len(answers)) == (3, 1)


def test_moves_that_begin_otherwise_are_judged_from_their_beginning():
    """A bookmark is of no use to a schedule that does not come by it."""
    bench = Bench(lambda: Hosted(factory("awaken-8")))
    mark = judged(bench, [START, TURN]).snapshot()

    assert told(judged(bench, [START, CANCEL], mark)) == told(judged(bench, [START, CANCEL]))


def test_there_is_no_bookmark_where_nothing_may_come_after():
    """Nothing goes on after a violation; and what has not begun needs none."""
    bench = Bench(lambda: Hosted(BY_NAME["AsksOnWhenDone"]))
    moves = search(bench, lambda _: True, limit=500, depth_max=3, scenarios=[MIXED]).found.moves

    assert judged(bench, moves).snapshot() is None
    assert judged(bench, []).snapshot() is None


@pytest.mark.parametrize("make", RIGHT.values(), ids=RIGHT)
def test_what_is_shared_holds_nothing_that_changes(make):
    """From what all share no call, gate, run or follower can be reached, so that none changes another's."""
    bench = Bench(lambda: Hosted(make))
    mark = judged(bench, [START, TURN, ANSWER, CRASH, DECISION]).snapshot()

    seen, ahead = set(), [one for one in mark._shared if not isinstance(one, type)]
    while ahead:
        one = ahead.pop()
        assert not isinstance(one, CHANGING)
        if id(one) not in seen and not isinstance(one, (type, ModuleType)) and not callable(one):
            seen.add(id(one))
            ahead += gc.get_referents(one)


@pytest.mark.parametrize("after_it", [False, True], ids=["alone", "after a bookmark"])
def test_what_was_attempted_ends_with_the_move_that_has_no_answer(after_it, monkeypatch):
    """Where a runtime dies of its recovery, the crash is among the moves that are tried once more."""
    bench, moves = Bench(lambda: Hosted(factory("awaken-8"))), [START, TURN, ANSWER, CRASH]
    mark = judged(bench, moves).snapshot() if after_it else None
    session, request = bench.session(MIXED), bench.sut.request

    def dies(method, params):
        if method == "recover":
            raise ProtocolError(SUT_CRASHED, "it died")
        return request(method, params)

    monkeypatch.setattr(bench.sut, "request", dies)
    with pytest.raises(SutDied):
        session.play([*moves, CANCEL], mark)

    assert session.attempted == moves


@pytest.mark.long
def test_a_kill_is_a_step_of_a_bookmark():
    """Over the pipe the process is killed again on the way to the bookmark, and the judge knows of it."""
    words = ["-m", "runlock.conformance.cli", "serve", "reference:awaken-9", "--store", "own"]
    bench = Bench(lambda: Pipe([sys.executable, *words], timeout_scale=6))
    try:
        mark = judged(bench, [START, TURN, KILL]).snapshot()
        moves = [START, TURN, KILL, DECISION]
        resumed, alone = judged(bench, moves, mark), judged(bench, moves)
    finally:
        bench.close()

    assert mark.moves == [START, TURN, KILL]
    assert told(resumed) == told(alone)


@pytest.mark.parametrize("name", ["StartsOver", "ShowsOnePhaseTwice", "LeavesCallsDangling", "WorksUnseen"])
@pytest.mark.parametrize("way", [(DECISION,), (CANCEL,), (ANSWER, CRASH)], ids=["decide", "cancel", "crash"])
def test_the_answers_decide_and_not_the_bookmark(name, way):
    """Another runtime on the same bench is judged by what it says on the way to the bookmark."""
    bench, moves = Bench(lambda: Hosted(factory("awaken-8"))), [START, TURN, *way]
    mark = judged(bench, moves).snapshot()
    bench.sut = Hosted(BY_NAME[name])

    for more in ([ANSWER], [CANCEL], [DECISION, ANSWER]):
        assert told(judged(bench, [*moves, *more], mark)) == told(judged(bench, [*moves, *more]))


# --- searches ---------------------------------------------------------------------------------------


class Part(NamedTuple):
    """One of SHARDS shards of the schedules up to a number of stimuli."""

    make: Callable
    scenario: Scenario
    scope: Scope
    depth: int
    shards: int


def searched(part, monkeypatch, *, has_bookmarks):
    """What a part of the schedules shows, and each of them with all that is taken from it."""
    bench, tally, every = Bench(lambda: Hosted(part.make)), Tally(), []
    bench.scenarios, enter = [part.scenario], bench.enter
    bench.enter = lambda session, tally: every.append(told(session)) or enter(session, tally)
    with monkeypatch.context() as changed:
        changed.setattr(levels, "SHARDS", part.shards)
        if not has_bookmarks:
            changed.setattr(Session, "snapshot", lambda session: None)
        for stimuli in range(1, part.depth + 1):
            tally.add(play_level(bench, stimuli, 0, part.scope))
    return {one.name: getattr(tally, one.name) for one in fields(tally)}, every


SEARCHES = {
    "the reference": Part(factory("tirea"), ALONE, FLAT, 3, 4),
    "the reference in races": Part(factory("awaken-8"), ALONE, RACING, 2, 1),
    "a store of its own": Part(durable("awaken-9"), BARE, FLAT, 3, 9),
    "policies left open": Part(policy_fakes.awaken_8, ALONE, FLAT, 3, 8),
    "a fault that shows at once": Part(BY_NAME["AsksOnWhenDone"], ALONE, FLAT, 3, 4),
    "a fault that shows late": Part(BY_NAME["ForgetsFalse"], ALONE, FLAT, 3, 4),
    "a fault in races": Part(BY_NAME["StartsOver"], ALONE, RACING, 2, 1),
}
DEEP = {
    "the reference": Part(factory("tirea"), BARE, FLAT, 4, 1),
    "the reference in one order": Part(factory("awaken-8"), ALONE, ONE_ORDER, 4, 12),
    "rounds side by side": Part(factory("awaken-concurrent"), MIXED, FLAT, 3, 2),
    "a store of its own": Part(durable("awaken-9"), ALONE, FLAT, 3, 2),
    "policies left open": Part(policy_fakes.awaken_8, ALONE, FLAT, 3, 3),
    "a fault that shows late": Part(BY_NAME["ForgetsFalse"], MIXED, FLAT, 3, 2),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", SEARCHES.values(), ids=SEARCHES)
def test_a_search_shows_the_same_with_bookmarks_and_without(part, monkeypatch):
    """Every tally and every schedule is the same, of right runtimes and of wrong ones."""
    with_them, without = (searched(part, monkeypatch, has_bookmarks=has) for has in (True, False))

    assert with_them == without
    assert with_them[1]


@pytest.mark.sampled(1, nightly=2)
@pytest.mark.long
@pytest.mark.parametrize("part", DEEP.values(), ids=DEEP)
def test_a_deep_search_shows_the_same_with_bookmarks_and_without(part, monkeypatch):
    """The same further down, and where one order stands for both."""
    with_them, without = (searched(part, monkeypatch, has_bookmarks=has) for has in (True, False))

    assert with_them == without
    assert with_them[1]


def test_two_orders_are_compared_from_a_bookmark_on(monkeypatch):
    """What comes before the two is judged once, and they are found alike or not as they were."""
    bench = Bench(lambda: Hosted(factory("awaken-8")))
    mark, answers, answer = judged(bench, [START]).snapshot(), [], Judge.answer
    monkeypatch.setattr(Judge, "answer", lambda self, report: answers.append(report) or answer(self, report))

    def compared(second, snapshot):
        answers.clear()
        alike = commute(bench, MIXED, [START, TURN, second], Scope(), Tally(), snapshot=snapshot)
        return alike, len(answers)

    for second, is_alike in ((WAIT, True), (CANCEL, False)):
        (from_there, spared), (alone, every) = compared(second, mark), compared(second, None)
        assert from_there is alone is is_alike
        assert spared < every


@pytest.mark.long
def test_a_runtime_that_cannot_be_repeated_is_judged_by_what_it_did(monkeypatch):
    """Where an answer is not what it was, the schedule is judged from its beginning, as it was played."""
    with_them, without = (
        searched(Part(moody(), ALONE, FLAT, 3, 3), monkeypatch, has_bookmarks=has) for has in (True, False)
    )

    assert with_them == without
    assert with_them[0]["unrepeated"]
