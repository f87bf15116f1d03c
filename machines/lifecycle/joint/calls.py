"""N calls, nothing but the rows of their chart, and a cancel of the run that takes all live ones at once.

A product of N equal parts can be counted much faster than joint charts that wait for each other.  With
symmetry a state is one number with a counter for each state of a call: how many calls are in it.  Without,
a set of states is one number with a bit for each: bit i of it is the state whose calls are the digits of i.
A move of either is one addition, or one shift, for many states at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Final, NamedTuple, Protocol, TypeVar

from runlock.machines.joint.model import Changed, Move
from runlock.machines.lifecycle.charts.call import ToolCall
from runlock.machines.lifecycle.joint.state import BUSY, FINAL, Call, Control
from runlock.machines.table import (
    Moved,
    Row,
    Table,
    compile_chart,
    react,
)

__all__ = ["Calls", "Count", "LocalMove", "count_counted", "count_named"]

AT_WORK: Final = Control("Running", "calls", crashes=0)
CANCELLED: Final = Control("Done", "done", cancel="over", reason="Cancelled", crashes=0)


class LocalMove(NamedTuple):
    """One row between two states of a call, by their numbers."""

    row: Row
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Count:
    """What was counted: states and transitions, levels, and states by what their calls make of the run."""

    states: int
    transitions: int
    levels: int
    busy: int
    waiting: int
    over: int
    cancelled: int
    stopped: str | None = None


class Calls:
    """The model: a number of calls, each with a maximum number of re-suspensions."""

    family = "lifecycle"

    def __init__(self, calls: int, *, resuspensions: int = 2, table: Table | None = None) -> None:
        self.calls, self.suspensions = calls, resuspensions + 1
        self.table = table or compile_chart(ToolCall)

    # -- as a system like any other, for the rules and the shortest ways

    @staticmethod
    def owed(call: Call) -> bool:
        """A call that is live keeps a state from being over."""
        return call.status not in FINAL

    def start(self) -> tuple[Control, Call]:
        """Every call is as its chart begins."""
        return AT_WORK, Call(self.table.initial)

    def is_over(self, control: Control) -> bool:
        """Whether the run was cancelled: no call moves after that."""
        return control == CANCELLED

    def moves(self, control: Control) -> Iterator[Move]:
        """Every row of the chart, and the cancel."""
        if control == AT_WORK:
            for event in self.table.events:
                yield Move(f"takes {event}", control, "world", one=self._sending(event))
            yield Move("the run is cancelled", CANCELLED, "trouble", each=self.cancel, some=self.owed)

    def _sending(self, event: str) -> Callable[[Call], Changed | None]:
        return lambda call: self._send(call, event)

    def _send(self, call: Call, event: str) -> Changed | None:
        moved = react(self.table, call.status, event)
        if not isinstance(moved, Moved):
            return None
        waits = call.waits + (moved.state == "Suspended")
        is_within = waits <= self.suspensions
        return Changed(Call(moved.state, waits), (moved.row,)) if is_within else None

    def cancel(self, call: Call) -> Changed | None:
        """The run is cancelled over the call."""
        return self._send(call, "cancel") if self.owed(call) else None

    # -- a single call

    @cached_property
    def local(self) -> tuple[Call, ...]:
        """Every state that one call can be in, the live ones first."""
        _, first = self.start()
        found, frontier = {first: None}, [first]
        while frontier:
            here = frontier.pop()
            for event in self.table.events:
                changed = self._send(here, event)
                if changed is not None and changed.call not in found:
                    found[changed.call] = None
                    frontier.append(changed.call)
        return tuple(sorted(found, key=lambda call: (not self.owed(call), call.waits, call.status)))

    @cached_property
    def local_moves(self) -> tuple[LocalMove, ...]:
        """Every move that one call can make."""
        number = {call: n for n, call in enumerate(self.local)}
        sent = [
            (n, self._send(call, event)) for n, call in enumerate(self.local) for event in self.table.events
        ]
        return tuple(LocalMove(one.rows[0], n, number[one.call]) for n, one in sent if one is not None)

    @cached_property
    def live(self) -> tuple[int, ...]:
        """The numbers of the states in which a call is not over."""
        return tuple(n for n, call in enumerate(self.local) if self.owed(call))

    @cached_property
    def cancels(self) -> dict[int, int]:
        """What a cancel of the run makes of each of them."""
        number = {call: n for n, call in enumerate(self.local)}
        sent = ((n, self.cancel(self.local[n])) for n in self.live)
        return {n: number[changed.call] if changed is not None else n for n, changed in sent}

    def in_status(self, *statuses: str) -> tuple[int, ...]:
        """The numbers of the states that have one of these statuses."""
        return tuple(n for n, call in enumerate(self.local) if call.status in statuses)

    def estimate(self, *, symmetry: bool) -> tuple[int, int]:
        """About how many states there will be at most, and how many transitions."""
        size, moves = len(self.local), len(self.local_moves)
        if symmetry:
            states = comb(size + self.calls - 1, self.calls)
            return states, states * moves * self.calls // (size + self.calls - 1)
        return size**self.calls, self.calls * moves * size ** (self.calls - 1)


IsLate = Callable[[int], bool]
"""Whether to stop, given the number of states counted."""


def never(states: int) -> bool:
    """No bound at all."""
    return False


def count_counted(model: Calls, is_late: IsLate = never) -> Count:
    """Count the states up to the names of the calls."""
    return _count(_Counters(model), is_late)


def count_named(model: Calls, is_late: IsLate = never) -> Count:
    """Count the states with every call under its own name."""
    return _count(_Places(model), is_late)


States = TypeVar("States")


class _Sets(Protocol[States]):
    """A way to hold many states at once: what a move makes of all of them, and what they have in them."""

    model: Calls
    nothing: States
    first: States

    def after(self, states: States) -> Iterator[tuple[States, int]]: ...
    def cancelled(self, states: States) -> tuple[States, int]: ...
    def with_any(self, states: States, digits: tuple[int, ...]) -> States: ...
    def join(self, states: States, more: States) -> States: ...
    def less(self, states: States, those: States) -> States: ...
    def size(self, states: States) -> int: ...


def _count(sets: _Sets[States], is_late: IsLate) -> Count:
    """Level by level until nothing is new; a cancelled run goes nowhere."""
    seen = frontier = sets.first
    cancelled, transitions, levels, is_new = sets.nothing, 0, 0, True
    while is_new and not is_late(sets.size(seen)):
        levels += 1
        fresh, taken = sets.nothing, 0
        for fresh, taken in sets.after(frontier):  # noqa: B007  # the last ones are all of them
            if is_late(sets.size(seen)):
                break
        ended, ends = sets.cancelled(frontier)
        frontier, new_ends = sets.less(fresh, seen), sets.less(ended, cancelled)
        seen, cancelled = sets.join(seen, frontier), sets.join(cancelled, new_ends)
        transitions += taken + ends
        is_new = bool(sets.size(frontier) or sets.size(new_ends))
    stopped = "a bound was met" if is_new else None
    return _counted(sets, seen, cancelled, transitions, levels, stopped=stopped)


def _counted(sets: _Sets[States], seen: States, cancelled: States, *steps: int, stopped: str | None) -> Count:
    busy = sets.with_any(seen, sets.model.in_status(*BUSY))
    waiting = sets.with_any(sets.less(seen, busy), sets.model.in_status("Suspended"))
    states, working, held, ended = map(sets.size, (seen, busy, waiting, cancelled))
    over = states - working - held
    transitions, levels = steps
    return Count(states + ended, transitions, levels, working, held, over, ended, stopped)


def _first(model: Calls) -> int:
    return model.local.index(model.start()[1])


# --- with symmetry: counters --------------------------------------------------------------------


class _Counters:
    """Sets of numbers, each with a counter for every state of a call."""

    def __init__(self, model: Calls) -> None:
        self.model, self.width = model, model.calls.bit_length()
        self.one = (1 << self.width) - 1
        self.nothing = set[int]()
        self.first = {model.calls << self.width * _first(model)}
        self.steps: dict[int, list[int]] = {}
        for move in model.local_moves:
            step = (1 << self.width * move.after) - (1 << self.width * move.before)
            self.steps.setdefault(self._having((move.before,)), []).append(step)
        self.live = self._having(model.live)
        self.ends: dict[int, int] = {}

    def _having(self, digits: tuple[int, ...]) -> int:
        return sum(self.one << self.width * digit for digit in digits)

    def after(self, states: set[int]) -> Iterator[tuple[set[int], int]]:
        """Every state one move on, more with each state of the call that moves."""
        found, taken = set[int](), 0
        for having, steps in self.steps.items():
            here = [state for state in states if state & having]
            taken += len(here) * len(steps)
            for step in steps:
                found.update([state + step for state in here])
            yield found, taken

    def cancelled(self, states: set[int]) -> tuple[set[int], int]:
        """The result of a cancel, looked up by the counters of the live calls."""
        live, known, end = self.live, self.ends, self._end
        ended = [state - part + (known.get(part) or end(part)) for state in states if (part := state & live)]
        return set(ended), len(ended)

    def _end(self, live: int) -> int:
        cancels = self.model.cancels.items()
        counters = ((live >> self.width * digit & self.one, to) for digit, to in cancels)
        self.ends[live] = sum(many << self.width * to for many, to in counters)
        return self.ends[live]

    def with_any(self, states: set[int], digits: tuple[int, ...]) -> set[int]:
        """Those in which some call has one of these states."""
        having = self._having(digits)
        return {state for state in states if state & having}

    def join(self, states: set[int], more: set[int]) -> set[int]:
        """All of both."""
        if states is self.nothing:
            return more
        states |= more
        return states

    def less(self, states: set[int], those: set[int]) -> set[int]:
        """All but those."""
        return states - those

    def size(self, states: set[int]) -> int:
        """How many."""
        return len(states)


# --- without: a bit for each state --------------------------------------------------------------


class _Places:
    """Numbers with a bit for every state, whose digits are the states of the calls."""

    nothing = 0

    def __init__(self, model: Calls) -> None:
        self.model, size = model, len(model.local)
        self.weights: list[int] = [size**place for place in range(model.calls)]
        self.first: int = 1 << sum(_first(model) * weight for weight in self.weights)
        self.having = [{n: self._having(place, n) for n in model.live} for place in range(model.calls)]
        self.steps: dict[int, list[int]] = {}
        for move in model.local_moves:
            self.steps.setdefault(move.before, []).append(move.after - move.before)

    def _having(self, place: int, digit: int) -> int:
        """Every state with a digit at a place: one run of bits, again and again."""
        size, weight = len(self.model.local), self.weights[place]
        bits, length = ((1 << weight) - 1) << digit * weight, weight * size
        for _ in range(self.model.calls - place - 1):
            bits = _repeated(bits, length, size)
            length *= size
        return bits

    def after(self, states: int) -> Iterator[tuple[int, int]]:
        """Every state one move on, more with each call that moves."""
        found = taken = 0
        for weight, having in zip(self.weights, self.having, strict=True):
            for digit, steps in self.steps.items():
                if here := states & having[digit]:
                    taken += here.bit_count() * len(steps)
                    for step in steps:
                        found |= _shifted(here, step * weight)
            yield found, taken

    def cancelled(self, states: int) -> tuple[int, int]:
        """What a cancel leads to: all live calls move at once, so place by place."""
        moved = self.with_any(states, self.model.live)
        taken = moved.bit_count()
        for weight, having in zip(self.weights, self.having, strict=True):
            for digit, to in self.model.cancels.items():
                here = moved & having[digit]
                moved ^= here
                moved |= _shifted(here, (to - digit) * weight)
        return moved, taken

    def with_any(self, states: int, digits: tuple[int, ...]) -> int:
        """Those in which some call has one of these states."""
        found = 0
        for having in self.having:
            for digit in digits:
                found |= states & having[digit]
        return found

    def join(self, states: int, more: int) -> int:
        """All of both."""
        return states | more

    def less(self, states: int, those: int) -> int:
        """All but those."""
        return states & ~those

    def size(self, states: int) -> int:
        """How many."""
        return states.bit_count()


def _repeated(bits: int, length: int, times: int) -> int:
    """The same bits, repeated."""
    found = 0
    for _ in range(times):
        found = found << length | bits
    return found


def _shifted(bits: int, by: int) -> int:
    return bits << by if by >= 0 else bits >> -by
