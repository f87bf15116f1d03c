"""Charts that are wrong on purpose: each is refused when its class is made, with the sentence that helps."""

import re

import pytest
from places import GOLDEN as GOLDEN_FILES
from statemachine import Event, State
from statemachine.states import States

from runlock.machines.chart import (
    Chart,
    ChartError,
    ChartFactory,
    clause,
)
from runlock.machines.lifecycle.charts.run import Run
from runlock.machines.table import compile_chart

GOLDEN = GOLDEN_FILES / "lint.txt"


def make(body, bases=(Chart,)):
    return ChartFactory("Wrong", bases, {"subject": "life", "closed": "X-9", **body})


def ends(first=None, last=None):
    return first or State(initial=True), last or State(final=True)


def right():
    a, b = ends()
    return {"A": a, "B": b, "go": clause("X-1", a.to(b), "go")}


def changed(**changes):
    return {**right(), **changes}


def with_arrow(name="go", clause_id="X-1", phrase="go", first=None, last=None, **keywords):
    a, b = ends(first, last)
    return {"A": a, "B": b, name: clause(clause_id, a.to(b, **keywords), phrase)}


def bare():
    a, b = ends()
    return {"A": a, "B": b, "go": a.to(b)}


def eventless():
    body = right()
    body["A"].to(body["B"])
    return body


def nested():
    class Inside(State.Compound):
        Deep = State(initial=True)

    return changed(C=Inside)


def prefixed():
    a, b = ends()
    dotted = Event(clause("X-2", a.to(b), "done"), id="go.done")
    return {"A": a, "B": b, "go": clause("X-1", a.to(b), "go"), "done": dotted}


def starred():
    a, b = ends()
    return {"A": a, "B": b, "every": Event(clause("X-1", a.to(b), "every"), id="*")}


def from_any():
    a, b = ends()
    return {"A": a, "B": b, "go": clause("X-1", b.from_.any(), "go")}


def three(second, target, **keywords):
    """Two arrows of one event out of A, the second one as given."""
    a, b = ends()
    c = State(final=True)
    arrows = clause("X-1", a.to(b, **keywords), "one") | clause(second, a.to(c), target)
    return {"A": a, "B": b, "C": c, "go": arrows}


def one_id_for_two():
    a, b = ends()
    return {"A": a, "B": b, "go": clause("X-1", a.to(b), "go"), "stop": clause("X-1", a.to(b), "stop")}


def exit_from_the_end():
    body = right()
    return {**body, "back": clause("X-2", body["B"].to(body["A"]), "back")}


def island():
    body, c = right(), State()
    return {**body, "C": c, "leave": clause("X-2", c.to(body["B"]), "leave")}


def trap():
    body, c = right(), State()
    return {**body, "C": c, "fall": clause("X-2", body["A"].to(c), "fall")}


def shared_state():
    body = right()
    return {**body, "C": body["B"]}


def targetless():
    a, b = ends()
    arrows = clause("X-1", a.to(b), "go") | clause("X-2", a.to(None, cond="idle"), "stay")
    return {"A": a, "B": b, "go": arrows}


# Each wrong chart by what is wrong with it; golden/lint.txt has the sentences.
WRONG = {
    "an arrow without a clause": bare,
    "a reserved event": lambda: with_arrow("prepare"),
    "a reserved state": lambda: changed(send=State()),
    "a twin of an event": lambda: with_arrow("error_go"),
    "an event for all": starred,
    "a dotted prefix": prefixed,
    "equal names": lambda: with_arrow(last=State("A", final=True)),
    "equal values": lambda: with_arrow(first=State(initial=True, value=1), last=State(final=True, value=1)),
    "one state twice": shared_state,
    "an arrow out of a final state": exit_from_the_end,
    "an unreachable state": island,
    "a trap": trap,
    "no initial state": lambda: with_arrow(first=State()),
    "two initial states": lambda: changed(C=State(initial=True)),
    "an eventless arrow": eventless,
    "a method": lambda: changed(on_enter_A=lambda self: None),
    "a flag": lambda: changed(allow_event_without_transition=True),
    "a bag of states": lambda: changed(more=States()),
    "code on an arrow": lambda: with_arrow(on="ring"),
    "code on a state": lambda: with_arrow(first=State(initial=True, enter="ring")),
    "a guard that is a function": lambda: with_arrow(cond=lambda: True),
    "a guard that is an expression": lambda: with_arrow(cond="ready and able"),
    "a guard named like a state": lambda: with_arrow(cond="A"),
    "a nested state": nested,
    "an arrow without a target": targetless,
    "one id on two meanings": one_id_for_two,
    "an arrow that is never taken": lambda: three("X-2", "other"),
    "an arrow from anywhere": from_any,
    "a state that nothing closes": lambda: changed(closed={"A": "X-9"}),
    "a closed state that is none": lambda: changed(closed={"A": "X-9", "B": "X-9", "C": "X-9"}),
    "a clause that opens and closes": lambda: changed(closed="X-1"),
    "no subject": lambda: changed(subject=""),
}


def refusal(what):
    with pytest.raises(ChartError) as raised:
        make(WRONG[what]())
    return str(raised.value)


@pytest.mark.parametrize("what", list(WRONG))
def test_a_wrong_chart_is_refused_with_a_sentence_that_helps(what):
    """What is wrong with a chart is said when its class is made: what, why, and what to write instead."""
    assert f"{what}: {refusal(what)}" in GOLDEN.read_text(encoding="utf-8").splitlines()


def test_every_approved_sentence_has_a_chart_that_earns_it():
    """A rule that no chart breaks any more is not kept among the sentences."""
    assert [line.split(":")[0] for line in GOLDEN.read_text(encoding="utf-8").splitlines()] == list(WRONG)


def test_the_chart_that_the_wrong_ones_are_made_from_is_right():
    """Each wrong chart is wrong for its own reason alone."""
    table = compile_chart(make(right()))

    assert [row.clause for row in table.rows] == ["X-1"]


def test_a_guarded_arrow_may_come_before_a_bare_one():
    """A choice is drawn as one event with the guarded arrow first."""
    table = compile_chart(make(three("X-2", "other", cond="lucky")))

    assert [row.guards for row in table.rows] == [("lucky",), ()]


def test_a_chart_is_not_extended():
    """A chart that extends another one would change it, so it is refused, and the other one stays."""
    before = [len(state.transitions) for state in Run.states]
    with pytest.raises(ChartError, match="because it extends Run: a chart shares its states"):
        make({"again": clause("X-1", Run.Waiting.to(Run.Waiting), "again")}, bases=(Run,))

    assert [len(state.transitions) for state in Run.states] == before


def test_an_arrow_on_the_state_of_another_chart_is_taken_back():
    """A chart that is refused leaves no arrow behind on the states of another one."""
    before = [len(state.transitions) for state in Run.states]
    with pytest.raises(ChartError, match="an arrow of again starts or ends at a state"):
        make(changed(again=clause("X-2", Run.Waiting.to(Run.Waiting), "again")))

    assert [len(state.transitions) for state in Run.states] == before


@pytest.mark.parametrize(
    ("clause_id", "phrase", "sentence"),
    [
        ("call four", "go", "'call four' names no clause: an id is an area and a number"),
        ("X-01", "go", "'X-01' names no clause: an id is an area and a number"),
        ("X-1", " ", "X-1 has no phrase: a picture of the chart would show a bare arrow."),
    ],
)
def test_a_clause_has_an_id_and_a_phrase(clause_id, phrase, sentence):
    """An arrow can be searched for in the spec and read in a picture."""
    with pytest.raises(ChartError, match=re.escape(sentence)):
        with_arrow(clause_id=clause_id, phrase=phrase)


def test_an_arrow_has_one_clause():
    """A move that two clauses allow would be blamed on neither."""
    a, b = ends()
    with pytest.raises(ChartError, match="One arrow is under X-1 and X-2: a move has one reason"):
        clause("X-2", clause("X-1", a.to(b), "go"), "go")
