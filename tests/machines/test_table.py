"""A compiled chart: every cell answers, a refusal reads well, and what is compiled is what is executed."""

import itertools
import pickle
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import pytest
from places import GOLDEN as GOLDEN_FILES
from statemachine import State
from statemachine.exceptions import TransitionNotAllowed

from runlock.machines.chart import Chart, arrow_of, clause
from runlock.machines.lifecycle.charts.ag_ui_stream import AgUiStream
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.charts.concurrent_round import Barrier, ConcurrentTask, Dispatcher
from runlock.machines.lifecycle.charts.event_sink import ReconnectableEventSink
from runlock.machines.lifecycle.charts.resume_tool_call import ResumeToolCall
from runlock.machines.lifecycle.charts.run import Run, RunWithCreated
from runlock.machines.lifecycle.charts.run_flow import RunFlow
from runlock.machines.lifecycle.charts.step import StepEndsAfterTools, StepEndsBeforeTools, StepWithToolGate
from runlock.machines.lifecycle.charts.tool_call import ToolCallPhases
from runlock.machines.lifecycle.charts.tool_execution import ThreeStages, TwoPhases
from runlock.machines.lifecycle.charts.wait_loop import WaitForResumeOrCancel
from runlock.machines.table import (
    Cursor,
    IllegalTransition,
    Moved,
    Refused,
    Table,
    compile_chart,
    react,
)

GOLDEN = GOLDEN_FILES / "refusals.txt"


class Door(Chart):
    """A chart with guards of every kind; those of the lifecycle have few, and simple ones."""

    subject = "door"

    Shut = State(initial=True)
    Ajar = State()
    Open = State()
    Gone = State(final=True)

    push = (
        clause("DOOR-1", Shut.to(Open, cond="unlocked", unless="heavy"), "it gives way")
        | clause("DOOR-2", Shut.to(Ajar, cond="unlocked"), "it gives way a little")
        | clause("DOOR-3", Ajar.to(Open), "it was no longer held")
    )
    pull = clause("DOOR-4", Open.to(Shut), "it falls shut")
    remove = clause("DOOR-5", Open.to(Gone, cond=["unlocked", "off_its_hinges"]), "it is carried away")

    closed = "DOOR-9"


CHARTS = [
    Run, RunWithCreated, ToolCall, ResumeToolCall, ToolCallPhases, RunFlow,
    StepEndsBeforeTools, StepEndsAfterTools, StepWithToolGate, TwoPhases, ThreeStages,
    WaitForResumeOrCancel, ConcurrentTask, Dispatcher, Barrier, ReconnectableEventSink,
    AgUiStream,
]  # fmt: skip


class Fired:
    """Listens to an executed chart, and keeps the clause of the arrow that it took last."""

    clause = ""

    def after_transition(self, transition):
        self.clause = arrow_of(transition).clause


class Facts:
    """The model of an executed chart: what holds, by name."""

    def __init__(self, held, names):
        self.state = None
        for name in names:
            setattr(self, name, name in held)


def guards_of(table):
    return sorted({guard.removeprefix("not ") for row in table.rows for guard in row.guards})


def execute(chart, state, event, held, names):
    """Run the chart itself from one state on one event: the state after it, and the clause that fired."""
    fired = Fired()
    machine = chart(Facts(held, names), start_value=state, listeners=[fired])
    try:
        machine.send(event)
    except TransitionNotAllowed:
        return state, None
    return next(iter(machine.configuration)).id, fired.clause


def compiled(table, state, event, held):
    match react(table, state, event, held):
        case Moved(row):
            return row.target, row.clause
        case Refused():
            return state, None


@pytest.mark.parametrize("chart", [*CHARTS, Door])
def test_what_is_compiled_is_what_is_executed(chart):
    """Over every reachable state, every event and every set of facts, table and chart do the same."""
    table = compile_chart(chart)
    names = guards_of(table)
    subsets = [set(held) for n in range(len(names) + 1) for held in itertools.combinations(names, n)]
    seen, frontier = {table.initial}, deque([table.initial])
    while frontier:
        state = frontier.popleft()
        for event, held in itertools.product(table.events, subsets):
            executed = execute(chart, state, event, held, names)

            assert executed == compiled(table, state, event, held), (state, event, held)

            if executed[0] not in seen:
                seen.add(executed[0])
                frontier.append(executed[0])

    assert seen == set(table.states)


def cells(table: Table) -> Iterator[tuple[str, str]]:
    """Every state of a chart with every event, and states and events that it does not have."""
    states = (*table.states, "Frozen", "")
    return itertools.product(states, (*table.events, "frobnicate", "", "send", "name", "Running", "*"))


def faults(table: Table, state: str, event: str) -> Iterator[str]:
    """What is wrong with the answer of one cell."""
    answer = react(table, state, event)
    if any((row.source, row.event) == (state, event) for row in table.rows):
        if not isinstance(answer, Moved):
            yield "the chart has this transition, yet refuses it"
    elif not isinstance(answer, Refused):
        yield "the chart does not have this transition, yet takes it"
    else:
        if not str(answer).startswith((f"a {table.subject} ", f"an {table.subject} ")):
            yield f"the refusal does not begin with its subject: {answer}"
        if (answer.clause is None) != (state not in table.states):
            yield f"the clause of the refusal is {answer.clause}"
        if answer.clause is not None and not str(answer).endswith(f"({answer.clause})"):
            yield f"the refusal does not end with its clause: {answer}"


@pytest.mark.parametrize("chart", CHARTS)
def test_every_cell_has_an_answer_and_a_sentence(chart: type[Chart]) -> None:
    """No state and no event, known or not, makes a chart or its refusal fall over."""
    table = compile_chart(chart)
    wrong = {cell: found for cell in cells(table) if (found := list(faults(table, *cell)))}

    assert wrong == {}


def test_a_wrong_cell_is_found() -> None:
    """A transition that is refused, and a refusal without its clause, are faults."""
    calls, door = compile_chart(ToolCall), compile_chart(Door)

    assert list(faults(door, "Shut", "push")) == ["the chart has this transition, yet refuses it"]
    assert list(faults(replace(calls, closed={}), "Failed", "start")) == ["the clause of the refusal is None"]
    assert list(faults(calls, "Failed", "start")) == []


def refusals():
    for chart in (Run, RunWithCreated, ToolCall):
        table = compile_chart(chart)
        for state, event in itertools.product((*table.states, "Frozen"), (*table.events, "frobnicate")):
            answer = react(table, state, event)
            if isinstance(answer, Refused):
                yield f"{table.name}: {answer}"


def test_refusals_read_as_they_were_approved():
    """The wording of every refusal of runs and calls is pinned."""
    assert "\n".join(refusals()) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_a_refusal_by_guards_says_which_facts_were_missing():
    """An event that is taken under some facts alone is refused with those facts."""
    refused = react(compile_chart(Door), "Shut", "push", {"heavy"})

    assert (
        str(refused) == "a door in Shut takes push only when unlocked and not heavy or when unlocked (DOOR-9)"
    )


def test_facts_may_be_a_set_or_a_mapping():
    """A fact that a mapping calls false, or leaves out, does not hold."""
    table = compile_chart(Door)

    assert react(table, "Shut", "push", {"unlocked": True, "heavy": False}).row.clause == "DOOR-1"
    assert react(table, "Shut", "push", {"unlocked": True, "heavy": True}).row.clause == "DOOR-2"
    assert isinstance(react(table, "Shut", "push", {"unlocked": False}), Refused)


def test_a_table_answers_by_its_ends():
    """Rows between two states, and the states one move away, are found whatever the event."""
    table = compile_chart(Run)

    assert {row.clause for row in table.arrow("Waiting", "Done")} == {"RUN-9", "RUN-10", "RUN-18"}
    assert table.arrow("Done", "Running") == ()
    assert table.targets("Waiting") == {"Running", "Done"}
    assert table.targets("Done") == frozenset()


def test_a_cursor_moves_by_rows_and_tells_of_each():
    """A life goes through its chart one row at a time."""
    moves = []
    cursor = Cursor(compile_chart(ToolCall), moves.append)
    for event in ("suspend", "resume", "start", "succeed"):
        assert not cursor.is_final
        cursor.send(event)

    assert [row.clause for row in moves] == ["CALL-2", "CALL-7", "CALL-9", "CALL-4"]
    assert (cursor.state, cursor.is_final) == ("Succeeded", True)


def test_a_cursor_that_is_refused_stays_and_says_why():
    """An illegal move changes nothing, tells no one, and raises the refusal of the chart."""
    moves = []
    cursor = Cursor(compile_chart(ToolCall), moves.append, state="Suspended")
    with pytest.raises(IllegalTransition) as raised:
        cursor.send("start")

    assert str(raised.value) == str(cursor.would("start")) == str(raised.value.refused)
    assert (cursor.state, moves) == ("Suspended", [])


def test_a_cursor_starts_in_no_state_that_its_chart_lacks():
    """A life that is recovered starts where its chart can be."""
    with pytest.raises(ValueError, match="a run is never in Frozen, only in Running, Waiting or Done"):
        Cursor(compile_chart(Run), state="Frozen")


def test_tables_and_refusals_cross_a_process():
    """What a worker finds, its supervisor can read."""
    table = compile_chart(ToolCall)
    error = IllegalTransition(react(table, "Failed", "start"))

    assert pickle.loads(pickle.dumps(table)) == table
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
