"""One worker of a campaign: runs units on its own runtime, and shrinks witnesses.

The same bench is used in the kit's own process and in a worker process, which receives tasks over a
connection and reports its progress before each schedule.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.order import Inferring, Order, Plan
from runlock.conformance.campaign.units import Between, WatchedBench
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.strategies.shortest_first import length, search
from runlock.conformance.driving.tally import Found
from runlock.conformance.errors import RunlockError
from runlock.conformance.protocol import Scenario
from runlock.conformance.transport import guardian
from runlock.conformance.transport.journal import Journal


def bench_of(order: Order[Plan], between: Between, journal: Journal | None = None) -> WatchedBench:
    """Create the bench for this order: one that judges, or one that infers."""
    from runlock.conformance.campaign.inference.bench import LearningBench  # a bench of this kind

    if isinstance(order.plan, Inferring):
        return LearningBench(order.with_plan(order.plan), between, journal)
    return WatchedBench(order, between, journal)


# --- in a worker process ------------------------------------------------------------------------

STOP: Final = "stop"

YOUNG_MAX: Final = 100_000
"""Number of new objects that triggers a garbage collection."""


def collect_rarely() -> None:
    """Exclude loaded modules from collection, and collect rarely: schedules free their own objects."""
    gc.freeze()
    gc.set_threshold(YOUNG_MAX)


def main() -> None:
    """Receive tasks from the connection whose descriptor is the first argument, until it closes."""
    guardian.remember_parent()
    connection = Connection(int(sys.argv[1]))
    os.register_at_fork(after_in_child=connection.close)  # a child that goes on as the worker finds it closed
    with contextlib.suppress(EOFError, OSError):  # the supervisor is gone
        order, sys.path[:] = connection.recv()
        _serve(connection, order, Journal(Path(sys.argv[2])))


def _serve(connection: Connection, order: Order[Plan], journal: Journal) -> None:
    def between(played: int) -> bool:
        try:
            connection.send(("at", played))
            return not (connection.poll() and connection.recv() == STOP)
        except (EOFError, OSError):  # the supervisor does not wait for the rest
            return False

    try:
        bench = bench_of(order, between, journal)
    except RunlockError as error:
        connection.send(("refused", error))
        return
    collect_rarely()
    connection.send(("facts", bench.facts))
    while (task := connection.recv()) is not None:
        if task != STOP:  # the request came too late: the unit was complete
            connection.send(_done(bench, task))
    bench.close()


def _done(bench: WatchedBench, task: tuple[str, Any]) -> tuple[str, Any, Ledger]:
    """What became of a task, and the incidents that no tally holds."""
    verb, given = task
    try:
        outcome = bench.unit(*given) if verb == "play" else shortened(bench, given)
    except Exception as error:
        return ("broke", KitBroke.of(error), Ledger())
    return ("done", outcome, bench.ledger.taken())


SOUGHT: Final = 250
"""Number of schedules tried to find a shorter one than the shrunk witness."""


def shortened(bench: Bench, found: Found) -> Witness:
    """The shrunk witness; the original one if the runtime does not answer any more."""
    try:
        witness = bench.witness(found)
    except RunlockError as error:
        bench.ledger.failed(error)
        return as_found(found)
    if witness.unrepeated:
        return witness
    is_exact = bench.handshake.control.settles_exactly  # if not, each schedule takes real time
    return (shorter(bench, witness, found.scenario) if bench.searches and is_exact else None) or witness


def shorter(bench: Bench, witness: Witness, scenario: Scenario) -> Witness | None:
    """A shorter schedule that breaks the same clause in the same scenario, if the search finds one."""
    if witness.clause == bench.family.judging.determinism:  # it takes two schedules to break it
        return None
    if not bench.applies.get(witness.clause, True):  # it rules a value out, and is not judged
        return None
    searched = search(
        bench,
        lambda violation: violation.clause == witness.clause,
        limit=SOUGHT,
        depth_max=length(witness.moves) - 1,
        scenarios=[scenario],
    )
    found = bench.witness(searched.found) if searched.found is not None else None
    return None if found is None or found.unrepeated else found


def as_found(found: Found) -> Witness:
    """The witness as it was found, not shrunk."""
    return Witness(found.violation.clause, found.violation.reason, found.moves, found.trace)


class KitBroke(Exception):
    """A bug of the kit in another process, with its place and traceback."""

    def __init__(self, words: str, place: str, trace: str) -> None:
        super().__init__(words, place, trace)
        self.words = words
        self.place = place
        self.trace = trace

    @staticmethod
    def of(error: BaseException) -> KitBroke:
        """An exception in a form that can be sent between processes."""
        if isinstance(error, KitBroke):
            return error
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "nowhere"
        words = f"{type(error).__name__}: {error}"
        return KitBroke(words, place, "".join(traceback.format_exception(error)))
