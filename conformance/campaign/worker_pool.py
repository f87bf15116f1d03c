"""Several worker processes on this machine, one of which is replaced when it is lost."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.interrupts import Limits, polite_interrupt
from runlock.conformance.campaign.order import Order, Plan
from runlock.conformance.campaign.stages import Unit
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.campaign.worker import STOP, as_found
from runlock.conformance.campaign.worker_process import (
    GRACE_SECONDS,
    Lost,
    WorkerHandle,
    heard,
)
from runlock.conformance.campaign.workforce import (
    STOP_SECONDS,
    Advanced,
    Finished,
    Muted,
    WorkQueue,
    cut_short,
)
from runlock.conformance.driving.connection import STARTS_MAX, refuse_another
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.tally import Found
from runlock.conformance.errors import AnotherHandshake, RunlockError, SutDied, TimedOut
from runlock.conformance.transport import guardian

HANDSHAKE: Final = "its handshake"


class WorkerPool:
    """Several worker processes; one that is lost is replaced."""

    def __init__(self, order: Order[Plan], jobs: int, folder: str | None = None) -> None:
        self._order = order
        self._folder = tempfile.TemporaryDirectory(prefix="runlock-", dir=folder)
        guardian.tidy(self._folder.name)
        self._journals = 0
        self._facts: Facts | None = None
        self.ledger = Ledger()
        self._limits = Limits()
        self._blame = "SUT" if order.target.startswith("py:") else "kit"
        self._others = 0  # workers in a row whose target gave another handshake
        self._workers = [self._hired() for _ in range(jobs)]

    def _hired(self) -> WorkerHandle:
        self._journals += 1
        return WorkerHandle(self._order, Path(self._folder.name, f"journal-{self._journals}.jsonl"))

    def facts(self) -> Facts:
        if self._facts is None:
            for worker in self._workers:
                worker.task = HANDSHAKE
        while self._facts is None:
            for worker, message in heard(self._workers):
                self._met(worker, message)
        return self._facts

    def _met(self, worker: WorkerHandle, message: Any) -> None:
        """Handle a worker's start-up message."""
        if isinstance(message, Lost):
            raise SutDied(f"{message}", "It should answer the handshake and wait.")
        kind, said = message
        if kind == "refused":
            raise said
        worker.task = None
        self._facts = self._facts or said
        try:
            refuse_another(self._facts.handshake, said.handshake)
        except AnotherHandshake as error:
            self.ledger.failed(error)
            self._others += 1
            if self._others == STARTS_MAX:
                raise
            worker.kill()
            self._replaced(worker)
        else:
            self._others = 0

    def _share_out(self, tasks: Callable[[], tuple[Any, tuple[str, Any]] | None]) -> None:
        for worker in self._workers:
            if worker.task is None:
                given = tasks()
                if given is None:
                    return
                worker.task, message = given
                worker.at = 0
                worker.tell(message)

    def _replaced(self, worker: WorkerHandle) -> None:
        hired = self._hired()
        hired.task = HANDSHAKE
        self._workers[self._workers.index(worker)] = hired

    def _busy(self) -> list[WorkerHandle]:
        return [worker for worker in self._workers if worker.task is not None]

    def _answers(self) -> Iterator[tuple[WorkerHandle, Any, Any]]:
        """Each worker that ended its task, the task, and its result or how it was lost."""
        for worker, message in list(heard(self._workers)):
            if worker.task == HANDSHAKE:
                self._met(worker, message)
            elif isinstance(message, Lost):
                task, worker.task = worker.task, None
                self._replaced(worker)
                yield worker, task, message
            elif message[0] == "at":
                worker.at = message[1]
            elif message[0] == "broke":
                raise message[1]
            else:
                task, worker.task = worker.task, None
                self.ledger.add(message[2])
                yield worker, task, message[1]

    # -- units

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
            if limits.cut_off:
                self._stop(share)
        return share.results

    def _play(self, share: WorkQueue, limits: Limits, advanced: Advanced, finished: Finished) -> None:
        def next_unit() -> tuple[Unit, tuple[str, Any]] | None:
            if not share.queue:
                return None
            unit = share.queue.popleft()
            return unit, ("play", (unit, share.muted, share.left_out.get(unit, {})))

        while (share.queue or self._busy()) and not limits.is_over:
            self._share_out(next_unit)
            for worker, unit, outcome in self._answers():
                self._enter(share, worker, unit, outcome)
            finished(share.results)
            advanced(share.schedules + sum(worker.at for worker in self._busy()))

    def _enter(self, share: WorkQueue, worker: WorkerHandle, unit: Unit, outcome: Played | Lost) -> None:
        if isinstance(outcome, Lost):
            blame = "SUT" if outcome.is_hung and outcome.verb else self._blame
            trouble = Trouble(blame, str(outcome), outcome.trace)
            is_last = share.lost(unit, worker.at + 1, trouble, is_hung=outcome.is_hung)
            error = (TimedOut if outcome.is_hung else SutDied)(trouble.what)
            self.ledger.failed(error)
            if is_last:
                self.ledger.lasting(error, None if outcome.is_hung else error)
        else:
            for words in share.done(unit, outcome):
                self.ledger.recovered(SutDied(words))

    def _stop(self, share: WorkQueue) -> None:
        """Ask the workers to stop their units; kill one that does not."""
        for worker in self._busy():
            worker.tell(STOP)
        patience = Limits.of(STOP_SECONDS)
        with suppress(KeyboardInterrupt):
            while any(worker.task != HANDSHAKE for worker in self._busy()) and not patience.is_over:
                for _, unit, outcome in self._answers():
                    if isinstance(outcome, Played):
                        share.results[unit] = outcome
        for worker in self._busy():
            worker.kill()
            worker.task = None
            if not self._limits.is_terminated:
                self._replaced(worker)

    # -- witnesses

    def shorten(self, found: Sequence[Found]) -> list[Witness]:
        waiting = deque(enumerate(found))
        short: dict[int, Witness] = {}
        batch = object()  # a worker may still be at work for a call that was interrupted

        def next_found() -> tuple[Any, tuple[str, Any]] | None:
            if not waiting:
                return None
            number, one = waiting.popleft()
            return (batch, number), ("shorten", one)

        with suppress(RunlockError):  # a worker that was lost could not be replaced
            while not self._limits.is_terminated and (waiting or len(short) < len(found)):
                self._share_out(next_found)
                for _, (of, number), outcome in self._answers():
                    if of is batch:
                        short[number] = self._short(found[number], outcome)
        return [short.get(number) or as_found(one) for number, one in enumerate(found)]

    def _short(self, found: Found, outcome: Witness | Lost) -> Witness:
        if not isinstance(outcome, Lost):
            return outcome
        self.ledger.failed(SutDied(str(outcome)))
        return as_found(found)

    def close(self) -> None:
        for worker in self._workers:
            worker.tell(STOP)
            worker.tell(None)
        for worker in self._workers:
            with suppress(Exception):
                worker.process.wait(GRACE_SECONDS)
            worker.kill()
        self._folder.cleanup()
