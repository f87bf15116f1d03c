"""Several threads of this process, for one application that is waited for most of the time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock

from runlock.conformance.campaign.interrupts import Limits, polite_interrupt
from runlock.conformance.campaign.order import Order, Plan
from runlock.conformance.campaign.stages import DRAWN, Unit
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.campaign.worker import as_found, bench_of, shortened
from runlock.conformance.campaign.workforce import Advanced, Finished, Muted, WorkQueue
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.tally import Found


class ThreadWorkers:
    """Each thread has a bench of its own, whose schedules have threads of the application of their own."""

    def __init__(self, order: Order[Plan], jobs: int) -> None:
        self._limits = Limits()
        self._advanced: Advanced = lambda _: None
        self._first = order.first
        self._lock = Lock()
        self._drawing = Lock()  # Hypothesis draws for one at a time
        self._done = [0] * jobs  # schedules of the units that are over, by thread
        self.benches = [bench_of(order, partial(self._between, at)) for at in range(jobs)]

    def _between(self, at: int, played: int) -> bool:
        with self._lock:
            self._advanced(sum(self._done) + played)
        return not self._limits.is_over

    @property
    def ledger(self) -> Ledger:
        found = Ledger()
        for bench in self.benches:
            found.add(bench.ledger.taken())
        return found

    def facts(self) -> Facts:
        return self.benches[0].facts

    def play(
        self,
        units: Sequence[Unit],
        limits: Limits,
        advanced: Advanced,
        muted: Muted = frozenset(),
        finished: Finished = lambda _: None,
    ) -> dict[Unit, Played]:
        self._limits, self._advanced, self._done = limits, advanced, [0] * len(self.benches)
        work = WorkQueue(units, deque(units), muted, self._first)
        for bench in self.benches:
            bench.mute(muted)
        with polite_interrupt(limits), ThreadPoolExecutor(len(self.benches)) as threads:
            list(threads.map(partial(self._work, work, finished), range(len(self.benches))))
        return work.results

    def _work(self, work: WorkQueue, finished: Finished, at: int) -> None:
        """Run units until there are no more."""
        while (unit := self._next(work)) is not None:
            played = self._played(unit, at)
            with self._lock:
                work.done(unit, played)
                self._done[at] += self.benches[at].played
                finished(work.results)

    def _next(self, work: WorkQueue) -> Unit | None:
        with self._lock:
            return work.queue.popleft() if work.queue and not self._limits.is_over else None

    def _played(self, unit: Unit, at: int) -> Played:
        bench = self.benches[at]
        if bench.stages[unit[0]].name != DRAWN:
            return bench.unit(unit, bench.muted)
        with self._drawing:
            return bench.unit(unit, bench.muted)

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        is_over = self._limits.is_terminated
        return [as_found(one) if is_over else shortened(self.benches[0], one) for one in found]

    def close(self) -> None:
        for bench in self.benches:
            bench.close()
