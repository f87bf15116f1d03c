"""Charts that are wrong on purpose: each is refused when its class is made, with the sentence that helps."""

import re

import pytest
from statemachine import Event, State
from statemachine.states import States

from interlock.machines.chart import Chart, ChartError, ChartFactory, clause
from interlock.machines.charts.run import Run
from interlock.machines.table import compile_chart


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


# Each wrong chart, and the sentence it is refused with.
WRONG = {
    "an arrow without a clause": (bare, "the arrow A -> B (go) has no clause: nothing moves that no sentence of the spec allows."),
    "a reserved event": (lambda: with_arrow("prepare"), "prepare is a name that python-statemachine keeps for itself"),
    "a reserved state": (lambda: changed(send=State()), "send is a name that python-statemachine keeps for itself"),
    "a twin of an event": (lambda: with_arrow("error_go"), "the event error_go would also declare error.go"),
    "an event for all": (starred, "the event * matches every event there is."),
    "a dotted prefix": (prefixed, "an arrow of go would also be taken on go.done, of which it is a dotted prefix."),
    "equal names": (lambda: with_arrow(last=State("A", final=True)), "A and B share a name or a value"),
    "equal values": (lambda: with_arrow(first=State(initial=True, value=1), last=State(final=True, value=1)), "A and B share a name or a value"),
    "one state twice": (shared_state, "B and C share a name or a value"),
    "an arrow out of a final state": (exit_from_the_end, "the arrow B -> A (back) leaves a final state: final is for ever."),
    "an unreachable state": (island, "nothing leads to C: a state never entered says nothing."),
    "a trap": (trap, "no path leads from C to a final state: whoever enters stays for ever."),
    "no initial state": (lambda: with_arrow(first=State()), "it starts in no state: a chart starts in one."),
    "two initial states": (lambda: changed(C=State(initial=True)), "it starts in A and C: a chart starts in one."),
    "an eventless arrow": (eventless, "the arrow A -> B has no event: it would be taken at once"),
    "a method": (lambda: changed(on_enter_A=lambda self: None), "it holds on_enter_A: a chart is states and arrows"),
    "a flag": (lambda: changed(allow_event_without_transition=True), "it holds allow_event_without_transition: a chart is states"),
    "a bag of states": (lambda: changed(more=States()), "it holds more: a chart is states and arrows"),
    "code on an arrow": (lambda: with_arrow(on="ring"), "the arrow A -> B (go) runs code: a chart moves and does no more."),
    "code on a state": (lambda: with_arrow(first=State(initial=True, enter="ring")), "A runs code on entry or exit"),
    "a guard that is a function": (lambda: with_arrow(cond=lambda: True), "the arrow A -> B (go) is guarded by more than the name of a fact"),
    "a guard that is an expression": (lambda: with_arrow(cond="ready and able"), "the arrow A -> B (go) is guarded by more than the name of a fact"),
    "a guard named like a state": (lambda: with_arrow(cond="A"), "the arrow A -> B (go) is guarded by A, which is a name of the chart itself"),
    "a nested state": (nested, "C holds states: a chart compiles to one flat table."),
    "an arrow without a target": (targetless, "the arrow A -> elsewhere (go) does not have one target"),
    "one id on two meanings": (one_id_for_two, "X-1 stands on arrows that say different things"),
    "an arrow that is never taken": (lambda: three("X-2", "other"), "the arrow A -> C (go) is never taken"),
    "an arrow from anywhere": (from_any, "an arrow of go starts or ends at a state that the chart does not declare"),
    "a state that nothing closes": (lambda: changed(closed={"A": "X-9"}), "no clause says what may leave B"),
    "a closed state that is none": (lambda: changed(closed={"A": "X-9", "B": "X-9", "C": "X-9"}), "closed speaks of C, which is no state of the chart."),
    "a clause that opens and closes": (lambda: changed(closed="X-1"), "X-1 both allows an arrow and closes a state."),
    "no subject": (lambda: changed(subject=""), "it does not say what it is the life of"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "sentence"), list(WRONG.values()), ids=list(WRONG))
def test_a_wrong_chart_is_refused_with_a_sentence_that_helps(body, sentence):
    """What is wrong with a chart is said when its class is made: what, why, and what to write instead."""
    with pytest.raises(ChartError, match=re.escape(f"The chart Wrong is refused, because {sentence}")):
        make(body())


def test_the_chart_that_the_wrong_ones_are_made_from_is_right():
    """Each wrong chart is wrong for its own reason alone."""
    table = compile_chart(make(right()))

    assert [row.clause for row in table.rows] == ["X-1"]


def test_a_guarded_arrow_may_come_before_a_bare_one():
    """A choice is drawn as one event with the guarded arrow first."""
    table = compile_chart(make(three("X-2", "other", cond="lucky")))

    assert [row.guards for row in table.rows] == [("lucky",), ()]


def test_a_chart_is_not_extended():
    """A chart that extends another one would change it, so it is refused, and the other one stays as it was."""
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
