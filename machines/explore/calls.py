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
from typing import Final, NamedTuple

from interlock.machines.charts.call import ToolCall
from interlock.machines.explore.terms import BUSY, FINAL, Call, Changed, Control, Move
from interlock.machines.table import Moved, Row, Table, compile_chart, react

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
    """The model: so many calls, each with so many re-suspensions."""

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

    # -- one call by itself

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


# --- with symmetry: counters --------------------------------------------------------------------


def count_counted(model: Calls, is_late: Callable[[int], bool] = lambda states: False) -> Count:
    """Count the states up to the names of the calls."""
    width = model.calls.bit_length()
    mask = [((1 << width) - 1) << width * n for n in range(len(model.local))]
    steps: dict[int, list[int]] = {}
    for move in model.local_moves:
        step = (1 << width * move.after) - (1 << width * move.before)
        steps.setdefault(mask[move.before], []).append(step)
    cancel = _counted_cancel(model, width)
    seen, cancelled, transitions, levels = {model.calls << width * _first(model)}, set[int](), 0, 0
    frontier, was_cancelled = set(seen), False
    while frontier or was_cancelled:
        levels += 1
        if is_late(len(seen)):
            break
        fresh: set[int] = set()
        for held, ways in steps.items():
            here = [state for state in frontier if state & held]
            transitions += len(here) * len(ways)
            for step in ways:
                fresh.update([state + step for state in here])
        ended = cancel(frontier)
        transitions += len(ended)
        was_cancelled = not cancelled.issuperset(ended)
        cancelled.update(ended)
        fresh -= seen
        seen |= fresh
        frontier = fresh
    busy, held = (sum(mask[n] for n in model.in_status(*of)) for of in (BUSY, ("Suspended",)))
    working = [state for state in seen if not state & busy]
    waiting = sum(1 for state in working if state & held)
    stopped = "a bound was met" if frontier else None
    return Count(
        len(seen) + len(cancelled), transitions, levels, len(seen) - len(working), waiting,
        len(working) - waiting, len(cancelled), stopped,
    )  # fmt: skip


def _first(model: Calls) -> int:
    return model.local.index(model.start()[1])


def _counted_cancel(model: Calls, width: int) -> Callable[[set[int]], list[int]]:
    """The cancel of the run, looked up by the counters of the live calls alone."""
    live = (1 << width * len(model.live)) - 1
    moved = [(width * n, 1 << width * to) for n, to in model.cancels.items()]
    one = (1 << width) - 1
    known: dict[int, int] = {}

    def cancelled(counters: int) -> int:
        known[counters] = sum((counters >> at & one) * unit for at, unit in moved)
        return known[counters]

    def cancel(states: set[int]) -> list[int]:
        return [
            state - part + (known.get(part) or cancelled(part)) for state in states if (part := state & live)
        ]

    return cancel


# --- without: a bit for each state --------------------------------------------------------------


def count_named(model: Calls, is_late: Callable[[int], bool] = lambda states: False) -> Count:
    """Count the states with every call under its own name."""
    places = _Places(model)
    seen = frontier = places.first
    cancelled = transitions = levels = 0
    was_cancelled = False
    while frontier or was_cancelled:
        levels += 1
        if is_late(seen.bit_count()):
            break
        fresh, taken = places.after(frontier)
        ended = places.cancelled(frontier)
        transitions += taken + places.with_live(frontier).bit_count()
        was_cancelled = bool(ended & ~cancelled)
        cancelled |= ended
        frontier = fresh & ~seen
        seen |= frontier
    working = places.with_any(seen, model.in_status(*BUSY))
    waiting = places.with_any(seen ^ working, model.in_status("Suspended"))
    states, busy, held, ended_count = (n.bit_count() for n in (seen, working, waiting, cancelled))
    stopped = "a bound was met" if frontier else None
    return Count(
        states + ended_count, transitions, levels, busy, held, states - busy - held, ended_count, stopped
    )


class _Places:
    """The digits of the states: for each call and each state of it, the numbers that have it there."""

    def __init__(self, model: Calls) -> None:
        self.model, size = model, len(model.local)
        self.weights: list[int] = [size**place for place in range(model.calls)]
        self.first = 1 << sum(_first(model) * weight for weight in self.weights)
        self.having = [{n: self._having(place, n) for n in range(size)} for place in range(model.calls)]
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

    def after(self, states: int) -> tuple[int, int]:
        """Every state one move on, and how many moves that is."""
        found = taken = 0
        for weight, having in zip(self.weights, self.having, strict=True):
            for digit, steps in self.steps.items():
                if here := states & having[digit]:
                    taken += here.bit_count() * len(steps)
                    for step in steps:
                        found |= _shifted(here, step * weight)
        return found, taken

    def cancelled(self, states: int) -> int:
        """Every state that a cancel of the run leads to: all live calls at once, place by place."""
        moved = self.with_live(states)
        for weight, having in zip(self.weights, self.having, strict=True):
            for digit, to in self.model.cancels.items():
                here = moved & having[digit]
                moved ^= here
                moved |= _shifted(here, (to - digit) * weight)
        return moved

    def with_live(self, states: int) -> int:
        """Those in which some call is live."""
        return self.with_any(states, self.model.live)

    def with_any(self, states: int, digits: tuple[int, ...]) -> int:
        """Those in which some call has one of these digits."""
        found = 0
        for having in self.having:
            for digit in digits:
                found |= states & having[digit]
        return found


def _repeated(bits: int, length: int, times: int) -> int:
    """The same bits so many times, one behind the other."""
    found = 0
    for _ in range(times):
        found = found << length | bits
    return found


def _shifted(bits: int, by: int) -> int:
    return bits << by if by >= 0 else bits >> -by
