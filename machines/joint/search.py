"""Every reachable joint state, level by level, and the shortest way to any of them.

A state is the number of its control and a packed number for its calls.  Interchangeable calls are counted
once: the packed number holds their states in ascending order, so that two states that differ only in the
names of calls are one.  That is sound because the calls start alike, every move treats them alike, and
every rule speaks of some call or of none.  Without symmetry it holds them in the order of their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import factorial, prod
from typing import Final, NamedTuple

from runlock.machines.joint.model import Call, Change, Changed, Control, Move, System, Test

__all__ = ["Bounds", "Edge", "Guarded", "Parts", "Search", "State", "Step", "Stopped"]

BITS: Final = 12
"""The width of the field of a call, far more than the states that a call has here."""

FIELD: Final = (1 << BITS) - 1


class State(NamedTuple):
    """A joint state: the numbers of its control and of its calls."""

    control: int
    calls: int


class Edge(NamedTuple):
    """What one move does to one state of a call: the control and the state of the call that it leads to."""

    to: int
    call: int
    move: Move
    changed: Changed


class Step(NamedTuple):
    """One step of a way: the move, the call that it moved, and the joint state that it led to."""

    move: Move
    call: int | None
    rows: tuple[str, ...]
    control: Control
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """When to stop early: after a number of states, or as soon as `is_late` returns true."""

    states: int | None = None
    is_late: Callable[[], bool] = lambda: False


class Stopped(NamedTuple):
    """Why a search ended early."""

    why: str


class _Rest(dict[int, int]):
    """The calls of a state without one of them: by the state that this one gets, the calls again."""

    __slots__ = ("others", "place")

    def __init__(self, others: tuple[int, ...], place: int | None) -> None:
        super().__init__()
        self.others, self.place = others, place

    def __missing__(self, call: int) -> int:
        at = self.place
        calls = sorted((*self.others, call)) if at is None else (*self.others[:at], call, *self.others[at:])
        packed = self[call] = pack(calls)
        return packed


def pack(calls: Iterable[int]) -> int:
    """The number that stands for the calls of a state."""
    packed = 0
    for call in calls:
        packed = packed << BITS | call
    return packed


class Parts(NamedTuple):
    """A state's calls taken apart: each different call with the rest, and which ones there are, as bits."""

    each: tuple[tuple[int, _Rest], ...]
    bits: int


@dataclass(slots=True)
class Guarded:
    """A move that not every state of its control has."""

    move: Move
    to: int
    edges: dict[int, Edge] = field(default_factory=dict)
    some: int = 0
    none: int = 0
    movers: int = 0

    def is_open(self, bits: int) -> bool:
        """Whether a state with these calls has it."""
        return not bits & self.none and (self.move.some is None or bool(bits & self.some))

    def applies(self, bits: int) -> bool:
        """Whether a state with these calls has it, and one of them moves by it if one has to."""
        return self.is_open(bits) and (self.move.one is None or bool(bits & self.movers))


@dataclass(slots=True)
class _Compiled:
    """The moves of one control, for every state of a call that was met with it."""

    free: dict[int, tuple[Edge, ...]] = field(default_factory=dict)
    pairs: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    guarded: list[Guarded] = field(default_factory=list)
    moves: list[tuple[Move, int]] = field(default_factory=list)


class Search:
    """One search: `run` it, and then ask."""

    def __init__(self, system: System, *, symmetry: bool = True) -> None:
        self.system, self.symmetry = system, symmetry
        self.controls: list[Control] = []
        self.calls: list[Call] = []
        self.levels: list[dict[int, set[int]]] = []
        self.reached: dict[int, set[int]] = {}
        self.stopped: Stopped | None = None
        self.transitions = 0
        self._control_ids: dict[Control, int] = {}
        self._call_ids: dict[Call, int] = {}
        self._compiled: dict[int, _Compiled] = {}
        self._parts: dict[int, Parts] = {}
        self._rests: dict[tuple[tuple[int, ...], int | None], _Rest] = {}
        self._spread: dict[Change, dict[int, int]] = {}

    # -- the search

    def run(self, bounds: Bounds | None = None) -> Search:
        """Explore until nothing is new, or until a bound is met."""
        control, call = self.system.start()
        first = pack([self._call_id(call)] * self.system.calls)
        level = {self._control_id(control): {first}}
        self.reached = {number: set(states) for number, states in level.items()}
        while level and self.stopped is None:
            self.levels.append(level)
            level = self._fresh(self._after(level, bounds or Bounds()))
            for number, states in level.items():
                self.reached.setdefault(number, set()).update(states)
            if level and bounds is not None and bounds.states is not None and self.states > bounds.states:
                self.stopped = Stopped(f"it came to more than {bounds.states:,} states")
        if level:
            self.levels.append(level)
        return self

    def _after(self, level: dict[int, set[int]], bounds: Bounds) -> dict[int, set[int]]:
        out: dict[int, set[int]] = {}
        for number, states in level.items():
            if bounds.is_late():
                self.stopped = Stopped("its time was over")
                break
            compiled = self._known(number)
            self._take_free(compiled, states, out)
            for guarded in compiled.guarded:
                self._take(guarded, states, out)
        return out

    def _take_free(self, compiled: _Compiled, states: set[int], out: dict[int, set[int]]) -> None:
        pairs, parts, taken = compiled.pairs, self._parts, 0
        for _, to in compiled.moves:
            out.setdefault(to, set())
        for calls in states:
            for call, rest in (parts.get(calls) or self._take_apart(calls)).each:
                after = pairs.get(call)
                if after is None:
                    after = self._add_call(compiled, call)
                taken += len(after)
                for to, changed in after:
                    out[to].add(rest[changed])
        self.transitions += taken

    def _take(self, guarded: Guarded, states: set[int], out: dict[int, set[int]]) -> None:
        parts, is_open = self._parts, guarded.is_open
        states_of_it = [calls for calls in states if is_open(parts[calls].bits)]
        landings = self._landings(guarded, states_of_it)
        self.transitions += len(landings)
        out[guarded.to].update(landings)

    def _landings(self, guarded: Guarded, states: list[int]) -> list[int]:
        """Where a guarded move leads from states that have it, each as often as some call can make it."""
        edges, each = guarded.edges, guarded.move.each
        if guarded.move.one is not None:
            taken = (part for calls in states for part in self._parts[calls].each)
            return [rest[edges[call].call] for call, rest in taken if call in edges]
        if each is None:
            return states
        known = self._spread.setdefault(each, {})
        return [known.get(calls) or self.changed_all(each, calls) for calls in states]

    def _fresh(self, out: dict[int, set[int]]) -> dict[int, set[int]]:
        fresh = {n: states - self.reached[n] if n in self.reached else states for n, states in out.items()}
        return {number: states for number, states in sorted(fresh.items()) if states}

    # -- numbers for controls and calls

    def _control_id(self, control: Control) -> int:
        number = self._control_ids.setdefault(control, len(self.controls))
        if number == len(self.controls):
            self.controls.append(control)
        return number

    def _call_id(self, call: Call) -> int:
        number = self._call_ids.setdefault(call, len(self.calls))
        if number == len(self.calls):
            assert number <= FIELD
            self.calls.append(call)
        return number

    def unpack(self, calls: int) -> tuple[int, ...]:
        """The numbers of the calls of a state, in its order."""
        shifts = range(BITS * (self.system.calls - 1), -1, -BITS)
        return tuple(calls >> shift & FIELD for shift in shifts)

    def _take_apart(self, calls: int) -> Parts:
        numbers = self.unpack(calls)
        places = {c: i for i, c in enumerate(numbers)}.values() if self.symmetry else range(len(numbers))
        each = [(numbers[at], self._rest(numbers[:at] + numbers[at + 1 :], at)) for at in places]
        bits = 0
        for number in numbers:
            bits |= 1 << number
        parts = self._parts[calls] = Parts(tuple(each), bits)
        return parts

    def _rest(self, others: tuple[int, ...], at: int) -> _Rest:
        key = (others, None if self.symmetry else at)
        if key not in self._rests:
            self._rests[key] = _Rest(*key)
        return self._rests[key]

    def parts(self, calls: int) -> Parts:
        """The calls of a state, taken apart."""
        return self._parts.get(calls) or self._take_apart(calls)

    def changed_all(self, each: Change, calls: int) -> int:
        """What a change of every call makes of those of a state."""
        known = self._spread.setdefault(each, {})
        if calls not in known:
            after = [
                self._call_id(self._whole(each, self.calls[number]).call) for number in self.unpack(calls)
            ]
            known[calls] = pack(sorted(after) if self.symmetry else after)
        return known[calls]

    @staticmethod
    def _whole(each: Change, call: Call) -> Changed:
        return each(call) or Changed(call)

    # -- the moves of a control

    def _known(self, number: int) -> _Compiled:
        """The moves of a control."""
        compiled = self._compiled.get(number)
        if compiled is None:
            compiled = self._compiled[number] = _Compiled()
            for move in self.system.moves(self.controls[number]):
                compiled.moves.append((move, self._control_id(move.to)))
            compiled.guarded = [Guarded(move, to) for move, to in compiled.moves if _is_guarded(move)]
        return compiled

    def _add_call(self, compiled: _Compiled, number: int) -> tuple[tuple[int, int], ...]:
        """What the moves of a control make of a state of a call that was not met with it before."""
        call = self.calls[number]
        free = [self._edge(move, to, call) for move, to in compiled.moves if not _is_guarded(move)]
        compiled.free[number] = tuple(edge for edge in free if edge is not None)
        compiled.pairs[number] = tuple((edge.to, edge.call) for edge in compiled.free[number])
        for guarded in compiled.guarded:
            edge = self._edge(guarded.move, guarded.to, call)
            if edge is not None:
                guarded.edges[number] = edge
                guarded.movers |= 1 << number
            guarded.some |= _holds(guarded.move.some, call) << number
            guarded.none |= _holds(guarded.move.none, call) << number
        return compiled.pairs[number]

    def _edge(self, move: Move, to: int, call: Call) -> Edge | None:
        changed = move.one(call) if move.one is not None else None
        return changed and Edge(to, self._call_id(changed.call), move, changed)

    # -- what was found

    @property
    def states(self) -> int:
        """How many states were reached."""
        return sum(map(len, self.reached.values()))

    @property
    def unreduced(self) -> int:
        """How many states these stand for, with every call under its own name: the orbits, added up."""
        return sum(self.orbit(calls) for states in self.reached.values() for calls in states)

    def orbit(self, calls: int) -> int:
        """How many states differ from this one only in the names of calls."""
        if not self.symmetry:
            return 1
        alike = Counter(self.unpack(calls)).values()
        return factorial(self.system.calls) // prod(map(factorial, alike))

    def everything(self) -> Iterator[State]:
        """Every state, the nearest first."""
        for level in self.levels:
            yield from (State(number, calls) for number, states in level.items() for calls in states)

    def owed(self) -> int:
        """The states of a call that keep a state from being over, as bits; all where the control decides."""
        test = self.system.owed
        return sum(1 << n for n, call in enumerate(self.calls) if test(call)) if test is not None else -1

    def present(self) -> dict[int, int]:
        """For each control, the states of calls that were there with it, as bits."""
        found: dict[int, int] = {}
        for number, states in self.reached.items():
            for calls in states:
                found[number] = found.get(number, 0) | self.parts(calls).bits
        return found

    def met(self, control: int) -> Iterable[int]:
        """The states of a call that were met with a control."""
        return self._known(control).free

    def guarded(self, control: int) -> list[Guarded]:
        """The moves of a control that ask something of the calls."""
        return self._known(control).guarded

    def free(self, control: int, call: int) -> tuple[Edge, ...]:
        """The moves of a control for a call in some state, independent of the other calls."""
        compiled = self._known(control)
        if call not in compiled.free:
            self._add_call(compiled, call)
        return compiled.free[call]

    def after(self, state: State) -> Iterator[tuple[Move, int | None, State]]:
        """Every move of a state: with the call that it moves, if one, and where it leads."""
        parts = self.parts(state.calls)
        for call, rest in parts.each:
            for edge in self.free(state.control, call):
                yield edge.move, call, State(edge.to, rest[edge.call])
        for guarded in self.guarded(state.control):
            if guarded.is_open(parts.bits):
                yield from self._after_guarded(guarded, state, parts)

    def _after_guarded(
        self, guarded: Guarded, state: State, parts: Parts
    ) -> Iterator[tuple[Move, int | None, State]]:
        move = guarded.move
        if move.one is None:
            calls = state.calls if move.each is None else self.changed_all(move.each, state.calls)
            yield move, None, State(guarded.to, calls)
            return
        for call, rest in parts.each:
            if call in guarded.edges:
                yield move, call, State(guarded.to, rest[guarded.edges[call].call])

    # -- the shortest way

    def level_of(self, state: State) -> int:
        """How many moves a state is away from the first one."""
        return next(n for n, level in enumerate(self.levels) if state.calls in level.get(state.control, ()))

    def way(self, state: State, last: tuple[Move, int | None] | None = None) -> list[Step]:
        """A shortest way to a state, and one move more if `last` says which."""
        chain, here = [], state
        for level in range(self.level_of(state) - 1, -1, -1):
            before, move, call = self._before(here, level)
            chain.append((move, call))
            here = before
        return list(self._told([*reversed(chain), *([last] if last is not None else [])]))

    def _before(self, state: State, level: int) -> tuple[State, Move, int | None]:
        for number, states in self.levels[level].items():
            if any(move_to == state.control for _, move_to in self._known(number).moves):
                for calls in sorted(states):
                    before = State(number, calls)
                    for move, call, after in self.after(before):
                        if after == state:
                            return before, move, call
        raise AssertionError("a state of a level has none before it")

    def _told(self, chain: Iterable[tuple[Move, int | None]]) -> Iterator[Step]:
        """The way with names: the first call in the state that moves is the one that moves."""
        _, first = self.system.start()
        calls = [first] * self.system.calls
        for move, number in chain:
            at, rows = None, [row.clause for row in move.rows]
            if number is not None and move.one is not None:
                at = calls.index(self.calls[number])
                changed = move.one(calls[at])
                assert changed is not None
                calls[at] = changed.call
                rows += [row.clause for row in changed.rows]
            elif move.each is not None:
                changes = [self._whole(move.each, call) for call in calls]
                calls = [changed.call for changed in changes]
                rows += [row.clause for changed in changes for row in changed.rows]
            yield Step(move, at, tuple(dict.fromkeys(rows)), move.to, tuple(calls))


def _is_guarded(move: Move) -> bool:
    return move.one is None or move.some is not None or move.none is not None


def _holds(test: Test | None, call: Call) -> bool:
    return test is not None and test(call)
