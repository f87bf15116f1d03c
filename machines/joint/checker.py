"""Checks every rule at every state of a search, and finds the shortest path to each violation.

A rule about states is checked in each state.  A rule about steps is checked for each kind of step: a control,
a state of one call in it, and the result of the move for both.  From every state a run must be able to reach
its end in a cooperative environment, and the runtime must not stop unless the environment owes it something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

from runlock.machines.joint.model import Call, Change, Move
from runlock.machines.joint.rules import Due, Never, NeverStep, Rule, Subjects
from runlock.machines.joint.search import (
    Guarded,
    Parts,
    Search,
    State,
    Step,
)
from runlock.machines.table import Row, Table

__all__ = ["Finding", "Judged", "judge"]


class Finding(NamedTuple):
    """Something wrong: the clause, what was seen, in how many states or steps, and the shortest way there."""

    clause: str
    because: str
    times: int
    way: list[Step]
    is_missing: bool = False  # the step after the way is not there


@dataclass(slots=True)
class Judged:
    """What a search was found to be."""

    findings: list[Finding]
    checked: dict[str, int] = field(default_factory=dict)  # by clause: how many states or steps were asked
    dead: int = 0
    hopeless: int = 0
    over: int = 0
    never_taken: list[tuple[Table, Row]] = field(default_factory=list)

    def asked(self, clause: str, times: int) -> None:
        """Count the states or kinds of step in which a rule of the clause was checked."""
        self.checked[clause] = self.checked.get(clause, 0) + times

    @property
    def unasked(self) -> list[str]:
        """The clauses that have a rule here, and nothing in these bounds that it is about."""
        return [clause for clause, times in self.checked.items() if not times]


class _Kind(NamedTuple):
    """A kind of step: a move from a control, of a call in some state, or of none."""

    control: int
    move: Move
    before: int | None
    after: Call | None
    rows: tuple[Row, ...]
    guard: Callable[[int], bool]


def judge(search: Search, rules: Iterable[Rule], tables: Sequence[Table], subjects: Subjects) -> Judged:
    """Check every rule at every state of a search that has been run."""
    judged = Judged([])
    asked = tuple(rules)
    kinds = list(_kinds(search))
    judged.checked = {rule.clause: 0 for rule in asked}
    states = [rule for rule in asked if isinstance(rule, Never)]
    _States(search, states, judged).ask()
    moved = _by_stands(search, kinds, subjects)
    for rule in asked:
        if isinstance(rule, NeverStep):
            _ask_steps(search, rule, kinds, judged)
        elif isinstance(rule, Due):
            _ask_due(search, rule, moved, subjects, judged)
    if search.stopped is None:
        _ask_hope(search, subjects.stuck, judged)
    judged.never_taken = list(_never_taken(tables, kinds))
    judged.findings.sort(key=lambda found: _rank(found, subjects.stuck))
    return judged


def _rank(found: Finding, stuck: str) -> tuple[bool, bool, int, str]:
    """First the steps that are not there, which all else may come of; last that a run is stuck."""
    return not found.is_missing, found.clause == stuck, len(found.way), found.clause


# --- states -------------------------------------------------------------------------------------


class _Mask(NamedTuple):
    rule: Never
    some: tuple[int, ...]
    none: int

    def is_hit(self, bits: int) -> bool:
        return not bits & self.none and all(bits & mask for mask in self.some)


class _Here(NamedTuple):
    """What is asked of the states of one control."""

    clauses: tuple[str, ...]
    suspect: int  # no rule that is always asked is broken where no call is in one of these
    always: list[_Mask]
    resting: list[_Mask]
    rest: _Rest
    is_over: bool


class _States:
    """The rules about states, asked of each state in one pass, the nearest first."""

    def __init__(self, search: Search, rules: Sequence[Never], judged: Judged) -> None:
        self.search, self.judged = search, judged
        self.masks = [
            _Mask(rule, tuple(map(self._mask, rule.some)), self._mask(rule.none) if rule.none else 0)
            for rule in rules
        ]
        self.hits: dict[int, tuple[Never, int, State]] = {}
        self.here: dict[int, _Here] = {}
        self.owed = search.owed()

    def _mask(self, test: Callable[[Call], bool]) -> int:
        return sum(1 << number for number, call in enumerate(self.search.calls) if test(call))

    def ask(self) -> None:
        """Ask them, and say what was found."""
        for level in self.search.levels:
            for number, states in level.items():
                self._ask_control(number, states)
        for rule, times, state in self.hits.values():
            way = self.search.way(state)
            self.judged.findings.append(Finding(rule.clause, rule.because, times, way))

    def _ask_control(self, number: int, states: set[int]) -> None:
        here = self.here.get(number)
        if here is None:
            here = self.here[number] = self._of(number)
        for clause in here.clauses:
            self.judged.asked(clause, len(states))
        parts, owed, rest = self.search.parts, self.owed, here.rest
        for calls in states:
            bits = parts(calls).bits
            if bits & here.suspect:
                self._ask_state(number, calls, bits, here.always)
            if here.is_over or not bits & owed:
                self.judged.over += 1
            elif rest.is_at_rest(bits):
                self._ask_rest(number, calls, bits, here.resting, rest)

    def _of(self, number: int) -> _Here:
        """What is to be asked of the states of a control."""
        control = self.search.controls[number]
        about = [mask for mask in self.masks if mask.rule.where(control)]
        always = [mask for mask in about if not mask.rule.at_rest]
        is_over = self.search.system.is_over(control)
        bare = [m.rule for m in self.masks if not (is_over or m.rule.some or m.rule.none or m in about)]
        return _Here(
            tuple(rule.clause for rule in [*(mask.rule for mask in about), *bare]),
            reduce(or_, (mask.some[0] if mask.some else -1 for mask in always), 0),
            always,
            [mask for mask in about if mask.rule.at_rest],
            _Rest.of(self.search, number),
            is_over,
        )

    def _ask_state(self, number: int, calls: int, bits: int, masks: list[_Mask]) -> None:
        for mask in masks:
            if mask.is_hit(bits):
                self._hit(mask.rule, State(number, calls))

    def _ask_rest(self, number: int, calls: int, bits: int, resting: list[_Mask], rest: _Rest) -> None:
        self._ask_state(number, calls, bits, resting)
        self.judged.dead += rest.is_dead(bits)

    def _hit(self, rule: Never, state: State) -> None:
        _, times, first = self.hits.get(id(rule), (rule, 0, state))
        self.hits[id(rule)] = (rule, times + 1, first)


class _Rest(NamedTuple):
    """Which calls, and which guarded moves, keep the states of a control from being at rest, or dead."""

    runtime: int
    runtime_guards: tuple[Callable[[int], bool], ...]
    world: int
    world_guards: tuple[Callable[[int], bool], ...]

    @classmethod
    def of(cls, search: Search, control: int) -> _Rest:
        free = {"runtime": 0, "world": 0, "trouble": 0}
        for number in search.met(control):
            for edge in search.free(control, number):
                free[edge.move.who] |= 1 << number
        guards: dict[str, list[Callable[[int], bool]]] = {"runtime": [], "world": [], "trouble": []}
        for guarded in search.guarded(control):
            guards[guarded.move.who].append(guarded.applies)
        return cls(free["runtime"], tuple(guards["runtime"]), free["world"], tuple(guards["world"]))

    def is_at_rest(self, bits: int) -> bool:
        """Whether the runtime has nothing to do."""
        return not bits & self.runtime and not any(guard(bits) for guard in self.runtime_guards)

    def is_dead(self, bits: int) -> bool:
        """Whether a cooperative environment has nothing to do when the runtime has nothing to do."""
        return not bits & self.world and not any(guard(bits) for guard in self.world_guards)


# --- steps --------------------------------------------------------------------------------------


def _kinds(search: Search) -> Iterator[_Kind]:
    """Every kind of step that was taken."""
    present = search.present()
    for control, bits in sorted(present.items()):
        for number in _bits(bits):
            for edge in search.free(control, number):
                yield _Kind(control, edge.move, number, edge.changed.call, edge.changed.rows, _any)
        for guarded in search.guarded(control):
            open_bits = 0
            for calls in search.reached[control]:
                here = search.parts(calls).bits
                if here | open_bits != open_bits and guarded.applies(here):
                    open_bits |= here
            if open_bits:
                yield from _whole(search, control, guarded.move, open_bits, guarded.applies)


def _any(bits: int) -> bool:
    return True


def _whole(
    search: Search, control: int, move: Move, bits: int, guard: Callable[[int], bool]
) -> Iterator[_Kind]:
    change: Change | None = move.one or move.each
    for number in _bits(bits):
        call = search.calls[number]
        changed = change(call) if change is not None else None
        if changed is not None:
            yield _Kind(control, move, number, changed.call, changed.rows, guard)
        elif move.one is None:
            yield _Kind(control, move, number, call, (), guard)


def _bits(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def _ask_steps(search: Search, rule: NeverStep, kinds: Sequence[_Kind], judged: Judged) -> None:
    broken, asked = [], 0
    for kind in kinds:
        before, after = search.calls[kind.before or 0], kind.after
        assert kind.before is not None and after is not None
        step = (search.controls[kind.control], before, kind.move.to, after)
        if rule.asked(*step):
            asked += 1
            if rule.when(*step):
                broken.append(kind)
    judged.asked(rule.clause, asked)
    if broken:
        state, kind = _nearest(search, broken)
        way = search.way(state, (kind.move, kind.before))
        judged.findings.append(Finding(rule.clause, rule.because, len(broken), way))


def _nearest(search: Search, kinds: Sequence[_Kind]) -> tuple[State, _Kind]:
    by_control: dict[int, list[_Kind]] = {}
    for kind in kinds:
        by_control.setdefault(kind.control, []).append(kind)
    for state in search.everything():
        bits = search.parts(state.calls).bits
        for kind in by_control.get(state.control, ()):
            if kind.before is not None and bits >> kind.before & 1 and kind.guard(bits):
                return state, kind
    raise AssertionError("a step that was taken is taken nowhere")


Stands = tuple[str, str, str]
"""A subject, where it stood, and where it stands after a step."""


def _by_stands(search: Search, kinds: Iterable[_Kind], subjects: Subjects) -> dict[Stands, list[_Kind]]:
    """The kinds of step that move something, by what they move from where to where."""
    found: dict[Stands, list[_Kind]] = {}
    for kind in kinds:
        control, call = search.controls[kind.control], search.calls[kind.before or 0]
        if not subjects.is_jump(control, kind.move.to):
            before, after = subjects.stands(control, call), subjects.stands(kind.move.to, kind.after or call)
            for subject, source, target in zip(subjects.names, before, after, strict=True):
                if source != target:
                    found.setdefault((subject, source, target), []).append(kind)
    return found


def _ask_due(
    search: Search,
    rule: Due,
    moved: Mapping[Stands, Sequence[_Kind]],
    subjects: Subjects,
    judged: Judged,
) -> None:
    """Whether the step was taken anywhere; if it was not, the way to where it first was due."""
    kinds = moved.get((rule.subject, rule.source, rule.target), ())
    taken = sum(rule.when(search.controls[kind.control], search.calls[kind.before or 0]) for kind in kinds)
    judged.asked(rule.clause, taken)
    if taken or search.stopped is not None:
        return
    due = next((state for state in search.everything() if _is_due(search, rule, subjects, state)), None)
    if due is not None:
        judged.asked(rule.clause, 1)
        because = (
            f"nothing moves the {rule.subject} from {rule.source or 'nowhere'} to "
            f"{rule.target or 'its end'}, here or anywhere else"
        )
        judged.findings.append(Finding(rule.clause, because, 1, search.way(due), True))


def _is_due(search: Search, rule: Due, subjects: Subjects, state: State) -> bool:
    control, at = search.controls[state.control], subjects.names.index(rule.subject)
    calls = (search.calls[number] for number in search.unpack(state.calls))
    return any(
        subjects.stands(control, call)[at] == rule.source and rule.due(control, call) for call in calls
    )


def _never_taken(tables: Sequence[Table], kinds: Sequence[_Kind]) -> Iterator[tuple[Table, Row]]:
    taken = {id(row) for kind in kinds for row in (*kind.move.rows, *kind.rows)}
    return ((table, row) for table in tables for row in table.rows if id(row) not in taken)


# --- hope ---------------------------------------------------------------------------------------


def _ask_hope(search: Search, stuck: str, judged: Judged) -> None:
    """The states that cannot reach Done without a cancel, a rejection, a failure or a crash."""
    hope = _Hope(search)
    while hope.sweep():
        pass
    judged.hopeless = sum(len(states) for _, states in hope.waiting)
    if judged.hopeless:
        nearest = next(State(n, calls) for n, states in reversed(hope.waiting) for calls in states)
        because = "from here the run cannot come to Done, whatever is answered and decided"
        judged.findings.append(Finding(stuck, because, judged.hopeless, search.way(nearest)))


class _Hope:
    """The states from which Done is known to be reachable, and those of which it is not known yet."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.hopeful: dict[int, set[int]] = {number: set() for number in range(len(search.controls))}
        self.moves: dict[int, tuple[Steps, list[_Whole]]] = {}
        self.waiting: list[tuple[int, Collection[int]]] = []
        for level in reversed(search.levels):
            for number, states in level.items():
                over = self._over(number, states)
                self.hopeful[number].update(over)
                self.waiting.append((number, states - over))

    def _over(self, number: int, states: set[int]) -> set[int]:
        if self.search.system.is_over(self.search.controls[number]):
            return states
        owed = self.search.owed()
        return {calls for calls in states if not self.search.parts(calls).bits & owed} if owed > 0 else set()

    def sweep(self) -> bool:
        """Examine every remaining state, the farthest first; returns whether one was resolved."""
        before = sum(map(len, self.hopeful.values()))
        left: list[tuple[int, Collection[int]]] = []
        for number, states in self.waiting:
            if still := self._without_hope(number, states):
                left.append((number, still))
        self.waiting = left
        return sum(map(len, self.hopeful.values())) > before

    def _without_hope(self, number: int, states: Collection[int]) -> list[int]:
        if number not in self.moves:
            self.moves[number] = self._moves(number)
        steps, wholes = self.moves[number]
        own, left, parts = self.hopeful[number], [], self.search.parts
        for calls in states:
            if _leads_on(parts(calls), steps) or any(whole.leads_on(calls) for whole in wholes):
                own.add(calls)
            else:
                left.append(calls)
        return left

    def _moves(self, number: int) -> tuple[Steps, list[_Whole]]:
        """The cooperative moves of a control, with the hopeful states that they lead to."""
        steps = {
            call: tuple(
                (edge.call, self.hopeful[edge.to])
                for edge in self.search.free(number, call)
                if edge.move.who != "trouble"
            )
            for call in self.search.met(number)
        }
        guarded = (one for one in self.search.guarded(number) if one.move.who != "trouble")
        return steps, [_Whole(self.search, one, self.hopeful[one.to]) for one in guarded]


Steps = dict[int, tuple[tuple[int, set[int]], ...]]


def _leads_on(parts: Parts, steps: Steps) -> bool:
    for call, rest in parts.each:
        for to, good in steps[call]:
            if rest[to] in good:
                return True
    return False


class _Whole(NamedTuple):
    """A guarded move, and what is hopeful where it leads."""

    search: Search
    guarded: Guarded
    good: set[int]

    def leads_on(self, calls: int) -> bool:
        parts = self.search.parts(calls)
        if not self.guarded.is_open(parts.bits):
            return False
        move, edges = self.guarded.move, self.guarded.edges
        if move.one is not None:
            return any(rest[edges[call].call] in self.good for call, rest in parts.each if call in edges)
        return (calls if move.each is None else self.search.changed_all(move.each, calls)) in self.good
