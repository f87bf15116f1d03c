"""What runs the units of a campaign, whichever way: its limits, the queue of units, and this process."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from runlock.conformance.campaign.containment import contained, end_if_forked
from runlock.conformance.campaign.interrupts import INTERRUPTED, Limits, polite_interrupt
from runlock.conformance.campaign.order import Order, Plan
from runlock.conformance.campaign.stages import Unit
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.campaign.worker import as_found, bench_of, shortened
from runlock.conformance.driving.bench import ERRORS_MAX
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import RunlockError

HANGS_MAX: Final = 2
"""Schedules that blocked their process, after which a campaign gives up: each of them takes long."""
STOP_SECONDS: Final = 5.0
"""How long a worker may take to stop between two schedules, before its task is abandoned."""

Advanced = Callable[[int], None]
"""Called with the number of schedules that were run so far."""

Finished = Callable[[Mapping[Unit, Played]], None]
"""Called with the units that are done, now and then."""

Muted = frozenset[str]
"""Clauses that broke before, and mixed policies: the schedules go on without them."""


class Workforce(Protocol):
    """Runs the units: in this process, in several worker processes, or on a cluster."""

    @property
    def ledger(self) -> Ledger:
        """The incidents that no tally holds: while workers started, and while witnesses were shrunk."""
        ...

    def facts(self) -> Facts:
        """The handshake of the runtime."""
        ...

    def play(
        self,
        units: Sequence[Unit],
        limits: Limits,
        advanced: Advanced,
        muted: Muted = frozenset(),
        finished: Finished = lambda _: None,
    ) -> dict[Unit, Played]:
        """Run units until a limit is reached or a unit fails permanently."""
        ...

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        """Shrink witnesses, as far as the runtime still answers."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


def given_up_at(units: Sequence[Unit], played: Mapping[Unit, Played], *, first: bool = False) -> Unit | None:
    """The first unit, in their order, with too many consecutive schedules that could not be judged.

    With `first`, a unit with a violation ends the campaign too.
    """
    in_a_row = 0
    for unit in units:
        one = played.get(unit)
        if first and one is not None and one.tally.found:
            return unit
        if one is None:
            in_a_row = 0
            continue
        in_a_row = len(one.tally.troubles) + (0 if one.tally.schedules else in_a_row)
        if one.is_hopeless or in_a_row >= ERRORS_MAX:
            return unit
    return None


class InProcessRunner:
    """This process runs all units, one after the other."""

    def __init__(self, order: Order[Plan]) -> None:
        self._limits = Limits()
        self._advanced: Advanced = lambda _: None
        self._before = 0
        self._first = order.first
        self._process = os.getpid()
        with contained():
            self.bench = bench_of(order, self._between)

    def _between(self, played: int) -> bool:
        end_if_forked(self._process)
        self._advanced(self._before + played)
        return not self._limits.is_over

    @property
    def ledger(self) -> Ledger:
        return self.bench.ledger

    def facts(self) -> Facts:
        return self.bench.facts

    def play(
        self,
        units: Sequence[Unit],
        limits: Limits,
        advanced: Advanced,
        muted: Muted = frozenset(),
        finished: Finished = lambda _: None,
    ) -> dict[Unit, Played]:
        self._limits, self._advanced, self._before = limits, advanced, 0
        self.bench.mute(muted)
        results: dict[Unit, Played] = {}
        with contained(), polite_interrupt(limits, ends_a_hang=True):
            for unit in units:
                if limits.is_over:
                    break
                results[unit] = self._played(unit, limits)
                self._before += self.bench.played
                finished(results)
                if given_up_at(units, results, first=self._first) is not None:
                    break
        return results

    def _played(self, unit: Unit, limits: Limits) -> Played:
        try:
            return self.bench.unit(unit, self.bench.muted)
        except KeyboardInterrupt:
            limits.cut_off = INTERRUPTED
            with suppress(RunlockError):
                self._after_interrupt(limits)
            return Played(self.bench.tally, is_whole=False)

    def _after_interrupt(self, limits: Limits) -> None:
        """The runtime was stopped in the middle of a schedule."""
        if limits.is_terminated:
            self.bench.sut.kill()
        else:
            self.bench.restart()

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        with contained():
            is_over = self._limits.is_terminated
            return [as_found(one) if is_over else shortened(self.bench, one) for one in found]

    def close(self) -> None:
        with contained():
            self.bench.close()


@contextmanager
def cut_short(limits: Limits) -> Iterator[None]:
    """Note why the work ended early: an interrupt, or a lost worker that could not be replaced."""
    try:
        yield
    except KeyboardInterrupt:
        limits.cut_off = INTERRUPTED
    except RunlockError as error:
        limits.cut_off = f"a worker that was lost could not be replaced: {error}"


@dataclass(slots=True)
class WorkQueue:
    """The units that are still to be run, and the schedules that ended their process."""

    units: Sequence[Unit]
    queue: deque[Unit]
    muted: Muted = frozenset()
    first: bool = False
    results: dict[Unit, Played] = field(default_factory=dict)
    losses: Counter[tuple[Unit, int]] = field(default_factory=Counter)
    losses_said: dict[tuple[Unit, int], str] = field(default_factory=dict)  # until their units are done
    left_out: dict[Unit, dict[int, Trouble]] = field(default_factory=dict)
    hangs: int = 0
    last: Unit | None = None  # where the campaign ends, as far as is known

    def done(self, unit: Unit, played: Played) -> list[str]:
        """Record a result, and return which schedules ended their process once and then went right.

        Units after the point where the campaign gave up are dropped.
        """
        self.results[unit] = played
        last = given_up_at(self.units, self.results, first=self.first)
        if last is not None:
            self.last = last
            self.queue = deque(other for other in self.queue if other < last)
            self.results = {other: one for other, one in self.results.items() if other <= last}
        lasting = self.left_out.get(unit, {})
        once = [key for key in self.losses if key[0] == unit and key[1] not in lasting]
        return [self.losses_said.pop(key) for key in once if key in self.losses_said]

    def is_wanted(self, unit: Unit) -> bool:
        """Whether the campaign has not ended before this unit."""
        return self.last is None or unit <= self.last

    def lost(self, unit: Unit, schedule: int, trouble: Trouble, *, is_hung: bool = False) -> bool:
        """Retry a unit, and return whether its schedule is left out: it blocked its process, or ended it
        twice."""
        self.losses[unit, schedule] += 1
        self.hangs += is_hung
        self.losses_said[unit, schedule] = trouble.what
        is_left_out = is_hung or self.losses[unit, schedule] > 1
        if is_left_out:
            self.left_out.setdefault(unit, {})[schedule] = trouble
        if self.hangs >= HANGS_MAX:
            troubles = [*self.left_out.get(unit, {}).values()]
            self.done(unit, Played(Tally(troubles=troubles), is_whole=False, is_hopeless=True))
        else:
            self.queue.appendleft(unit)
        return is_left_out

    @property
    def schedules(self) -> int:
        """The number of schedules that were run and recorded."""
        return sum(played.tally.schedules for played in self.results.values())
