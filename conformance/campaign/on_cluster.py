"""Plays the units of a campaign as tasks on a Ray cluster.

Each Ray worker keeps one worker process for the runtime, as `--jobs` does, so that a runtime which ends or
blocks its process costs a schedule and not a Ray worker.  A task whose Ray worker is lost runs again.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple

from runlock.conformance.campaign.interrupts import Limits, polite_interrupt
from runlock.conformance.campaign.order import Order, Plan
from runlock.conformance.campaign.stages import Unit
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.campaign.worker import as_found
from runlock.conformance.campaign.worker_pool import WorkerPool
from runlock.conformance.campaign.worker_process import GLANCE_SECONDS, GRACE_SECONDS
from runlock.conformance.campaign.workforce import (
    STOP_SECONDS,
    Advanced,
    Finished,
    Muted,
    WorkQueue,
    cut_short,
)
from runlock.conformance.cluster import REMOTE, Cluster, TaskLost
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.tally import Found
from runlock.conformance.errors import RunlockError

NEEDED: Final = "Each machine of the cluster needs this version of the kit, and the target in the same place."


class Place(NamedTuple):
    """What a task on the same machine shares with this process; nothing on another machine."""

    folder: str | None = None
    path: tuple[str, ...] = ()


class ClusterWorkers:
    """Tasks on a cluster; at most a few of them are under way for each of its processors."""

    def __init__(self, order: Order[Plan], address: str, jobs: int | None) -> None:
        self._order, self._limits = order, Limits()
        self._is_remote = address.startswith(REMOTE)
        self._cluster = Cluster(address, jobs)
        self._folder = tempfile.TemporaryDirectory(prefix="runlock-", ignore_cleanup_errors=True)
        here = Place() if self._is_remote else Place(self._folder.name, tuple(sys.path))
        self._sent = pickle.dumps((order, here))
        self._busy: dict[Any, Unit] = {}
        self.ledger = Ledger()

    def facts(self) -> Facts:
        try:
            facts: Facts = self._cluster.result(self._cluster.start(facts_of, self._sent))
        except RunlockError as error:
            if self._is_remote:
                raise type(error)(str(error), NEEDED) from error
            raise
        return facts

    def play(
        self,
        units: Sequence[Unit],
        limits: Limits,
        advanced: Advanced,
        muted: Muted = frozenset(),
        finished: Finished = lambda _: None,
    ) -> dict[Unit, Played]:
        share = WorkQueue(units, deque(units), muted, self._order.first)
        self._limits = limits
        with polite_interrupt(limits):
            with cut_short(limits):
                self._play(share, limits, advanced, finished)
            self._stop(share)
        return share.results

    def _play(self, share: WorkQueue, limits: Limits, advanced: Advanced, finished: Finished) -> None:
        """Play until nothing is left, or a limit is reached; units that are dropped are not waited for."""
        while not limits.is_over and (share.queue or any(map(share.is_wanted, self._busy.values()))):
            while share.queue and len(self._busy) < self._cluster.ahead:
                unit = share.queue.popleft()
                self._busy[self._cluster.start(play_unit, self._sent, unit, share.muted)] = unit
            self._take(share, limits)
            finished(share.results)
            advanced(share.schedules)

    def _take(self, share: WorkQueue, limits: Limits) -> None:
        for task in self._cluster.wait(list(self._busy), GLANCE_SECONDS):
            unit = self._busy.pop(task)
            played, cut_off, ledger = self._cluster.result(task)
            self.ledger.add(ledger)
            limits.cut_off = limits.cut_off or cut_off
            if played is not None:
                share.done(unit, played)

    def _stop(self, share: WorkQueue) -> None:
        """Interrupt what is under way; it gives what it has so far, unless it had not begun."""
        self._cluster.cancel(list(self._busy))
        patience = Limits.of(STOP_SECONDS + GRACE_SECONDS)  # a worker waits most of it for its runtime
        with suppress(KeyboardInterrupt):
            while self._busy and not patience.is_over:
                with suppress(TaskLost):
                    self._take(share, Limits())
        self._busy.clear()

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        if self._limits.is_terminated:
            return [as_found(one) for one in found]
        tasks = [self._cluster.start(witness_of, self._sent, one) for one in found]
        return [self._short(one, task) for one, task in zip(found, tasks, strict=True)]

    def _short(self, found: Found, task: Any) -> Witness:
        try:
            witness, ledger = self._cluster.result(task)
        except TaskLost:
            return as_found(found)
        self.ledger.add(ledger)
        short: Witness = witness
        return short

    def close(self) -> None:
        self._cluster.close()
        self._folder.cleanup()


# --- in a task ----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _pool(sent: bytes) -> WorkerPool:
    """The worker process of this Ray worker, which ends with it and leaves its folder."""
    order, place = pickle.loads(sent)
    sys.path[:] = place.path or sys.path
    pool = WorkerPool(order, 1, place.folder)
    try:
        pool.facts()
    except BaseException:
        pool.close()
        raise
    return pool


def facts_of(sent: bytes) -> Facts:
    """The handshake of the runtime."""
    return _pool(sent).facts()


def play_unit(sent: bytes, unit: Unit, muted: Muted) -> tuple[Played | None, str, Ledger]:
    """The result of a unit, why it was cut off, and incidents; no result if there was no time for any."""
    limits, pool = Limits(), _pool(sent)
    played = pool.play([unit], limits, lambda _: None, muted)
    return played.get(unit), limits.cut_off, pool.ledger.taken()


def witness_of(sent: bytes, found: Found) -> tuple[Witness, Ledger]:
    """The shrunk witness of a violation, and the incidents while it was shrunk."""
    pool = _pool(sent)
    return pool.shorten([found])[0], pool.ledger.taken()
