"""The projection of a run's status as a chart: one region for each call, and one that follows them all."""

import itertools
from collections import deque

import pytest
from places import TRANSCRIBED
from statemachine.exceptions import TransitionNotAllowed

from runlock.machines.chart import arrow_of
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.charts.derived_run import derived_run
from runlock.machines.lifecycle.run_status import ROUND_COMPLETE, derive_run_status
from runlock.machines.table import compile_chart, react

CALL = compile_chart(ToolCall)


def ways():
    """A shortest way from New to each status of a call, as events."""
    found, frontier = {CALL.initial: ()}, deque([CALL.initial])
    while frontier:
        here = frontier.popleft()
        for row in CALL.rows:
            if row.source == here and row.target not in found:
                found[row.target] = (*found[here], row.event)
                frontier.append(row.target)
    return found


WAYS = ways()


class Blames:
    """Listens to an executed chart, and keeps the clause of each arrow that it took."""

    def __init__(self):
        self.clauses = []

    def after_transition(self, transition):
        if (arrow := arrow_of(transition)) is not None:
            self.clauses.append(arrow.clause)


def calls_of(chart, count):
    return [chart.call(number) for number in range(1, count + 1)]


def follows(chart, count):
    """Whether the chart's run is what the function makes of the chart's calls."""
    return chart.status() == derive_run_status(calls_of(chart, count))


def drive(chart, count, statuses):
    """Take each call to its status, one after the other; the run is followed at every move."""
    for number, status in enumerate(statuses, start=1):
        for event in WAYS[status]:
            chart.send(f"c{number}_{event}")

            assert follows(chart, count)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_chart_derives_what_the_function_derives(count):
    """For every combination of statuses of up to three calls, and at every move, the two say the same."""
    for statuses in itertools.product(CALL.states, repeat=count):
        chart = derived_run(count)()

        assert follows(chart, count)

        drive(chart, count, statuses)

        assert calls_of(chart, count) == list(statuses)


@pytest.mark.parametrize("statuses", list(itertools.product(CALL.states, repeat=2)), ids=" ".join)
def test_every_move_of_a_call_is_followed(statuses):
    """From every pair of statuses, each event moves its call as a call moves, and no other call."""
    for number, event in itertools.product((1, 2), CALL.events):
        chart = derived_run(2)()
        drive(chart, 2, statuses)
        answer = react(CALL, statuses[number - 1], event)
        expected = list(statuses)
        if hasattr(answer, "row"):
            expected[number - 1] = answer.row.target
            chart.send(f"c{number}_{event}")
        else:
            with pytest.raises(TransitionNotAllowed):
                chart.send(f"c{number}_{event}")

        assert calls_of(chart, 2) == expected
        assert follows(chart, 2)


def test_a_move_of_a_region_is_blamed_on_the_clause_of_the_call():
    """The regions are made of the rows of a call, clause by clause, and the run answers for itself."""
    blames = Blames()
    chart = derived_run(2)(listeners=[blames])
    for event in ("c1_suspend", "c2_start", "c2_succeed", "c1_resume", "c1_succeed"):
        chart.send(event)

    assert blames.clauses == [
        "CALL-2", "CALL-1", "CALL-4", "DERIVE-2", "CALL-7", "DERIVE-1", "CALL-11", "DERIVE-7",
    ]  # fmt: skip


def rows(name):
    lines = (TRANSCRIBED / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[2:] for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("name", ["timeline", "timeline_concurrent"])
def test_the_chart_runs_through_the_timelines(name):
    """Row by row it is where the source says, but for a new call's name (E-6) and a round's end (E-2)."""
    chart = derived_run(3)()
    for *calls, run in rows(name):
        expected = [{"Created": "New"}.get(call, call) for call in calls]
        if calls_of(chart, 3) != expected:
            advance(chart, expected)

        assert calls_of(chart, 3) == expected
        assert chart.status() == {"Done": ROUND_COMPLETE}.get(run, run)


def advance(chart, expected):
    """Move each call that the next row shows elsewhere; a first row may be two moves away."""
    for number, target in enumerate(expected, start=1):
        here = chart.call(number)
        if here != target:
            arrow = CALL.arrow(here, target)
            chart.send(f"c{number}_{arrow[0].event}")


def test_a_round_of_no_calls_has_no_chart():
    """Nothing is owed and nothing moves: the function alone has an answer for it."""
    with pytest.raises(ValueError, match="a round without calls has nothing to follow"):
        derived_run(0)

    assert derive_run_status([]) == ROUND_COMPLETE
