"""Two orders of two stimuli: one stands for both where a runtime answers them alike, and nowhere else."""

import pytest
from command_line import run

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.commutation import commute, is_second
from runlock.conformance.driving.strategies.exhaustive import PLAYED, REORDERED, Level
from runlock.conformance.driving.strategies.move_enumeration import EnabledMove, Scope
from runlock.conformance.driving.strategies.shortest_first import Point, length
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.trace.moves import Move

ALONE = Scenario(scenario="alone", tools=[ToolSpec(name="asks", permission="ask")])
START = Move("run.start", {"run": "r1", "input": "hello r1"})
ASKED = {"id": "c1", "name": "asks", "args": {"k": "c1", "v": 1}}
TURN = {"kind": "turn", "text": "", "tool_calls": [ASKED], "usage": {"input": 3, "output": 5}}
ASKS = Move("gate.release", {"gate": "model", "outcome": TURN})
WAITS = Move("clock.advance", {"ms": 1_000})
CANCELS = Move("cancel", {"run": "r1"})
HANDFUL = [mutant for mutant in MUTANTS if mutant.name in ("ForgetsFalse", "AsksOnWhenDone")]


def bench_of(make):
    """A runtime with one tool, which asks."""
    laid = Bench(lambda: Hosted(make))
    laid.scenarios = [ALONE]
    return laid


def searched(laid, scope, depth):
    """Every schedule of up to this many stimuli that begins with a turn that asks for the tool."""
    point, total = Point(ALONE, (EnabledMove(START, {"r": 1}), EnabledMove(ASKS, {"r": 1, "c": 1}))), Tally()
    for stimuli in range(3, depth + 1):
        level = Level(laid, stimuli, 0, scope)
        level.descend(point, laid.judged(ALONE, lambda session: _sent(session, point), Tally()))
        total.add(level.tally)
    assert not total.troubles
    return total


def _sent(session, point):
    session.play(point.moves)
    session.close()


def test_what_does_not_touch_is_alike_in_both_orders():
    """Time that passes while the model is asked changes nothing of its turn, whichever comes first."""
    laid = bench_of(factory("awaken-8"))

    assert commute(laid, ALONE, [START, ASKS, WAITS], Scope(), Tally())
    assert commute(laid, ALONE, [START, WAITS, ASKS], Scope(), Tally())


def test_what_is_answered_otherwise_is_not_alike():
    """A cancel before a turn leaves no turn to come, and after it finds a call that waits."""
    laid = bench_of(factory("awaken-8"))

    assert not commute(laid, ALONE, [START, ASKS, CANCELS], Scope(), Tally())


def test_what_is_not_on_the_menu_stands_for_nothing():
    """A schedule that the search does not try cannot be the one that is gone on from."""
    laid = bench_of(factory("awaken-8"))
    waits = Move("clock.advance", {"ms": 1})

    assert not commute(laid, ALONE, [START, ASKS, waits], Scope(), Tally())


def test_of_two_orders_one_is_the_second():
    """Of two stimuli exactly one order is gone on from; a race and the start of a run have no other."""
    assert is_second([START, ASKS, WAITS]) is not is_second([START, WAITS, ASKS])
    assert not is_second([START, ASKS]) and not is_second([ASKS, START])
    assert not is_second([ASKS, ASKS])
    assert not is_second([ASKS, Move("clock.advance", {"ms": 1_000}, turns=1)])


@pytest.mark.long
def test_what_is_left_out_is_counted():
    """What follows the other order is not played, and the report can say of how many schedules."""
    laid = bench_of(factory("awaken-8"))
    one, both = (searched(laid, Scope(uneven=0, one_order=is_one), 4) for is_one in (True, False))

    assert one.searched[4, PLAYED] < both.searched[4, PLAYED]
    assert one.searched[4, REORDERED] > 0 == both.searched[4, REORDERED]
    assert one.searched[3, PLAYED] == both.searched[3, PLAYED]


def breaks_the_same(mutant, depth):
    """Whether each clause breaks at the same length with both orders and with one."""
    laid = bench_of(mutant)
    one, both = (
        {
            clause: length(found.moves)
            for clause, found in searched(laid, Scope(uneven=0, one_order=is_one), depth).found.items()
        }
        for is_one in (True, False)
    )
    return one == both


@pytest.mark.long
@pytest.mark.parametrize("mutant", HANDFUL, ids=lambda mutant: mutant.name)
def test_one_order_finds_what_both_do(mutant):
    """Leaving out the other order loses no violation."""
    assert breaks_the_same(mutant, 4)


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS[::48], ids=lambda mutant: mutant.name)
def test_one_order_finds_what_both_do_in_a_sample_of_mutants(mutant):
    """The same for one mutant in 48."""
    assert breaks_the_same(mutant, 4)


def test_a_search_says_that_it_tried_one_order(capsys, tmp_path, monkeypatch):
    """The claim that both orders were tried is not made where they were not."""
    monkeypatch.chdir(tmp_path)
    words = ("check", "py:cli_fakes:Tiny", "--exhaustive", "--depth", 2)
    one, both = (run(capsys, *words, *more) for more in (("--one-order",), ()))

    assert "not left out: the two orders" in both.out
    assert "not left out: the two orders" not in one.out
    assert run(capsys, *words, "--one-order", "--json").json["search"]["one_order"] is True
