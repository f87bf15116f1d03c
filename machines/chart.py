"""The base of every chart: strict, without code, a clause on every arrow, linted when its class is created.

A chart is a page of states and arrows.  It defines only which transitions exist; the clauses of the
specification define their meaning.  A chart that breaks one of the rules below cannot be imported: the class
statement raises `ChartError`, which says what is wrong, why, and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from statemachine import Event, State, StateChart
from statemachine.callbacks import CallbackGroup, SpecReference
from statemachine.factory import StateMachineMetaclass
from statemachine.state import HistoryState
from statemachine.states import States
from statemachine.transition import Transition
from statemachine.transition_list import TransitionList
from statemachine.utils import humanize_id

__all__ = ["Arrow", "Chart", "ChartError", "arrow_of", "clause"]

CLAUSE_ID: Final = re.compile(r"[A-Z]+-[1-9][0-9]*")
TWINNED: Final = ("error_", "done_state_", "done_invoke_")
KEPT: Final = frozenset({
    "closed", "drawn", "subject",
    "current_state", "final_states", "history_values", "id", "initial_state", "model", "name", "prepare",
    "start_configuration_values", "start_value", "state_field", "states", "states_map",
})  # fmt: skip
RESERVED: Final = KEPT | frozenset(dir(StateChart)) | frozenset(dir(StateMachineMetaclass))


class ChartError(Exception):
    """A chart breaks one of the rules for charts."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """The annotation of an arrow by `clause`: the clause that allows it, and a phrase that says when."""

    clause: str
    phrase: str


_ARROWS: WeakKeyDictionary[Transition, Arrow] = WeakKeyDictionary()


def clause(clause_id: str, transitions: TransitionList, phrase: str) -> TransitionList:
    """Annotate arrows with a clause of the specification, and the phrase that pictures show next to them."""
    if not CLAUSE_ID.fullmatch(clause_id):
        raise ChartError(
            f"{clause_id!r} names no clause: an id is an area and a number, so that the spec can be "
            f"searched for it. Write it like CALL-4."
        )
    if not phrase.strip():
        raise ChartError(
            f"{clause_id} has no phrase: a picture of the chart would show a bare arrow. "
            f"Say in a few words when the arrow is taken."
        )
    for transition in transitions:
        if transition in _ARROWS:
            raise ChartError(
                f"One arrow is under {_ARROWS[transition].clause} and {clause_id}: a move has one reason. "
                f"Draw two arrows, or keep one of the clauses."
            )
        _ARROWS[transition] = Arrow(clause_id, phrase)
    return transitions


def arrow_of(transition: Transition) -> Arrow | None:
    """Return the clause and the phrase of an arrow, or None without an annotation."""
    return _ARROWS.get(transition)


@dataclass(frozen=True)
class _Draft:
    """A chart's class body, before the library has processed it."""

    bases: tuple[type, ...]
    body: Mapping[str, Any]
    states: Mapping[str, State]
    events: Mapping[str, list[Transition]]

    @classmethod
    def of(cls, bases: tuple[type, ...], body: Mapping[str, Any]) -> _Draft:
        states = {name: part for name, part in body.items() if isinstance(part, State)}
        return cls(bases, body, states, dict(_events_of(body)))

    @property
    def arrows(self) -> Iterator[tuple[str, Transition]]:
        """Every arrow with its event; the event of an arrow that no attribute names is empty."""
        named = [(event, arrow) for event, arrows in self.events.items() for arrow in arrows]
        seen = {id(arrow) for _, arrow in named}
        yield from named
        for state in self.states.values():
            yield from (("", arrow) for arrow in state.transitions if id(arrow) not in seen)

    def name_of(self, state: State | None) -> str:
        return next((name for name, own in self.states.items() if own is state), "elsewhere")

    def draw(self, event: str, arrow: Transition) -> str:
        ends = f"{self.name_of(arrow.source)} -> {self.name_of(arrow.target)}"
        return f"the arrow {ends} ({event})" if event else f"the arrow {ends}"

    def closed(self) -> Mapping[str, str]:
        return closed_by(self.body.get("closed", {}), self.states)

    def reached(self, start: Iterable[str], *, backwards: bool = False) -> set[str]:
        reached, frontier = set[str](), list(start)
        ends = [(self.name_of(arrow.source), self.name_of(arrow.target)) for _, arrow in self.arrows]
        while frontier:
            here = frontier.pop()
            if here in reached:
                continue
            reached.add(here)
            frontier += [a if backwards else b for a, b in ends if (b if backwards else a) == here]
        return reached


def closed_by(declared: Mapping[str, str] | str, states: Iterable[str]) -> dict[str, str]:
    """Expand a `closed` that names one clause for all states."""
    return dict.fromkeys(states, declared) if isinstance(declared, str) else dict(declared)


def _events_of(body: Mapping[str, Any]) -> Iterator[tuple[str, list[Transition]]]:
    for name, part in body.items():
        if isinstance(part, TransitionList):
            yield name, list(part)
        elif isinstance(part, Event):
            yield (part.id if part._has_real_id else name), list(part._transitions or ())


def _inheritance(draft: _Draft) -> Iterator[str]:
    for base in draft.bases:
        if getattr(base, "states", None):
            yield (
                f"it extends {base.__name__}: a chart shares its states with its subclasses, so that "
                f"an arrow added here would be added there too. Write a chart of its own."
            )


def _foreign_arrows(draft: _Draft) -> Iterator[str]:
    own = {id(state) for state in draft.states.values()}
    for event, arrow in draft.arrows:
        if {id(arrow.source), *map(id, arrow.targets)} - own:
            yield (
                f"an arrow of {event or 'no event'} starts or ends at a state that the chart does not "
                f"declare: it would change another chart, or lose its clause. Name both ends in this chart."
            )


def _code(draft: _Draft) -> Iterator[str]:
    for name, part in draft.body.items():
        is_known = isinstance(part, State | TransitionList | Event) or name in ("closed", "subject")
        if isinstance(part, States) or not (is_known or _is_dunder(name)):
            yield (
                f"it holds {name}: a chart is states and arrows, so that it can be read, drawn and compiled. "
                f"Put code into whatever drives the chart, and list states one by one."
            )
    for event, arrow in draft.arrows:
        if any(spec.group != CallbackGroup.COND for spec in arrow._specs):
            where = draft.draw(event, arrow)
            yield f"{where} runs code: a chart moves and does no more. Listen from outside."
    for name, state in draft.states.items():
        if list(state._specs):
            yield f"{name} runs code on entry or exit: a chart moves and does no more. Listen from outside."


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _guards(draft: _Draft) -> Iterator[str]:
    for event, arrow in draft.arrows:
        for spec in arrow.cond:
            if spec.reference is not SpecReference.NAME or not str(spec.func).isidentifier():
                yield (
                    f"{draft.draw(event, arrow)} is guarded by more than the name of a fact: guards are "
                    f'enumerated, not run. Write cond="a_fact", and let the driver know the fact.'
                )
            elif spec.func in RESERVED or spec.func in draft.body:
                yield (
                    f"{draft.draw(event, arrow)} is guarded by {spec.func}, which is a name of the chart "
                    f"itself and would be read from there. Give the fact a name of its own."
                )


def _nesting(draft: _Draft) -> Iterator[str]:
    for name, state in draft.states.items():
        if state.states or state.history or isinstance(state, HistoryState):
            yield (
                f"{name} holds states: a chart compiles to one flat table. Write a chart for what is inside, "
                f"and join the two in machines/lifecycle/run_status.py."
            )


def _reserved_names(draft: _Draft) -> Iterator[str]:
    for name in (*draft.states, *draft.events):
        if name in RESERVED:
            yield (
                f"{name} is a name that python-statemachine keeps for itself, and the chart would break far "
                f"from here. Call it something else."
            )


def _twins(draft: _Draft) -> Iterator[str]:
    for event in draft.events:
        if event.startswith(TWINNED):
            yield (
                f"the event {event} would also declare {event.replace('_', '.')}: one arrow, two events. "
                f"Choose a name that does not begin with {', '.join(TWINNED)}."
            )
        if "*" in event:
            yield f"the event {event} matches every event there is. Name the events that it stands for."


def _prefixes(draft: _Draft) -> Iterator[str]:
    for first, second in combinations(draft.events, 2):
        short, long = sorted((first, second), key=len)
        if long.split(".")[: len(short.split("."))] == short.split("."):
            yield (
                f"an arrow of {short} would also be taken on {long}, of which it is a dotted prefix. "
                f"Choose names of which neither begins the other."
            )


def _equal_states(draft: _Draft) -> Iterator[str]:
    for (first, one), (second, other) in combinations(draft.states.items(), 2):
        shares_name = (one.name or humanize_id(first)) == (other.name or humanize_id(second))
        shares_value = one.value is not None and one.value == other.value
        if one is other or shares_name or shares_value:
            yield (
                f"{first} and {second} share a name or a value, and one of them would be lost without a "
                f"word. Tell them apart by name and by value."
            )


def _eventless(draft: _Draft) -> Iterator[str]:
    for event, arrow in draft.arrows:
        if not event:
            yield (
                f"{draft.draw(event, arrow)} has no event: it would be taken at once, and a cycle "
                f"of such arrows never ends. Bind it to the event that makes it happen."
            )


def _ends(draft: _Draft) -> Iterator[str]:
    for event, arrow in draft.arrows:
        if len(arrow.targets) != 1 or arrow.internal:
            yield f"{draft.draw(event, arrow)} does not have one target: a row of a table leads to one state."


def _clauses(draft: _Draft) -> Iterator[str]:
    for event, arrow in draft.arrows:
        if arrow not in _ARROWS:
            yield (
                f"{draft.draw(event, arrow)} has no clause: nothing moves that no sentence of the "
                f'spec allows. Wrap it: clause("AREA-1", A.to(B), "when it happens").'
            )


def _one_clause_one_meaning(draft: _Draft) -> Iterator[str]:
    said: dict[str, tuple[str, str]] = {}
    for event, arrow in draft.arrows:
        known = _ARROWS[arrow]
        meaning = (event, known.phrase)
        if said.setdefault(known.clause, meaning) != meaning:
            yield (
                f"{known.clause} stands on arrows that say different things: a violation could not be blamed "
                f"on one of them. Give each arrow an id of its own."
            )


def _choices(draft: _Draft) -> Iterator[str]:
    bare: set[tuple[str, str]] = set()
    for event, arrow in draft.arrows:
        cell = (draft.name_of(arrow.source), event)
        if cell in bare:
            yield (
                f"{draft.draw(event, arrow)} is never taken: an arrow before it leaves the same state on the "
                f"same event without a guard. Split the event, or put the guarded arrow first."
            )
        if not list(arrow.cond):
            bare.add(cell)


def _initial(draft: _Draft) -> Iterator[str]:
    initial = [name for name, state in draft.states.items() if state.initial]
    if len(initial) != 1:
        yield (
            f"it starts in {' and '.join(initial) or 'no state'}: a chart starts in one. "
            f"Mark exactly one state with State(initial=True)."
        )


def _final_exits(draft: _Draft) -> Iterator[str]:
    for event, arrow in draft.arrows:
        if arrow.source.final:
            where = draft.draw(event, arrow)
            yield f"{where} leaves a final state: final is for ever. Drop the arrow, or the mark."


def _unreachable(draft: _Draft) -> Iterator[str]:
    initial = [name for name, state in draft.states.items() if state.initial]
    if lost := [name for name in draft.states if name not in draft.reached(initial)]:
        yield f"nothing leads to {', '.join(lost)}: a state never entered says nothing. Draw its arrow."


def _traps(draft: _Draft) -> Iterator[str]:
    final = [name for name, state in draft.states.items() if state.final]
    if stuck := [name for name in draft.states if name not in draft.reached(final, backwards=True)]:
        yield (
            f"no path leads from {', '.join(stuck)} to a final state: whoever enters stays for ever. "
            f"Draw the way out, or mark the end with State(final=True)."
        )


def _closed(draft: _Draft) -> Iterator[str]:
    closed = draft.closed()
    for name in draft.states:
        if not CLAUSE_ID.fullmatch(closed.get(name, "")):
            yield (
                f"no clause says what may leave {name}: a refusal there could not be blamed on a sentence. "
                f'Add it: closed = {{"{name}": "AREA-1"}}.'
            )
    for name in closed.keys() - draft.states.keys():
        yield f"closed speaks of {name}, which is no state of the chart. Correct the name."
    for shared in sorted(set(closed.values()) & {_ARROWS[arrow].clause for _, arrow in draft.arrows}):
        yield f"{shared} both allows an arrow and closes a state. Give one of them an id of its own."
    if not draft.body.get("subject"):
        yield 'it does not say what it is the life of, which every refusal does. Add it: subject = "call".'


Rule = Callable[[_Draft], Iterator[str]]

# In this order: a rule may rely on earlier ones.
RULES: Final[tuple[Rule, ...]] = (
    _inheritance, _foreign_arrows, _code, _guards, _nesting, _reserved_names, _twins, _prefixes,
    _equal_states, _eventless, _ends, _clauses, _one_clause_one_meaning, _choices,
    _initial, _final_exits, _unreachable, _traps, _closed,
)  # fmt: skip


class ChartFactory(StateMachineMetaclass):
    """Lints a chart before the library, which is more lenient, creates its class."""

    drawn: tuple[tuple[str, Transition], ...]
    """Every arrow with its event, in the order of the page."""

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        draft = _Draft.of(bases, body)
        if any(isinstance(base, ChartFactory) for base in bases):
            _lint(name, draft)
        cls.drawn = tuple(draft.arrows)
        super().__init__(name, bases, body)  # type: ignore[arg-type]


def _lint(name: str, draft: _Draft) -> None:
    for rule in RULES:
        for complaint in rule(draft):
            _take_back(draft)
            raise ChartError(f"The chart {name} is refused, because {complaint}")


def _take_back(draft: _Draft) -> None:
    """Remove the arrows of a rejected chart from states that it shares with other charts."""
    own = {id(state) for state in draft.states.values()}
    for _, arrow in draft.arrows:
        if id(arrow.source) not in own:
            kept = [other for other in arrow.source.transitions if other is not arrow]
            arrow.source.transitions.transitions[:] = kept


class Chart(StateChart[Any], metaclass=ChartFactory):
    """The chart of one subject: `subject` names it, `closed` the clause that says what may leave each
    state."""

    allow_event_without_transition = False
    catch_errors_as_events = False

    subject: ClassVar[str] = ""
    closed: ClassVar[Mapping[str, str] | str] = {}
