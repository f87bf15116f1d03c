"""One worker of a campaign: plays units on a runtime of its own, and makes witnesses short.

The same bench works in the kit's own process and in a process of its own, where it takes its tasks from
a connection and says before each schedule how far it is.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from hypothesis.errors import Flaky

from runlock.conformance.campaign.result import Trouble, Witness
from runlock.conformance.campaign.stages import Order, stages_of
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import (
    ERRORS_MAX,
    Bench,
    Found,
    Tally,
)
from runlock.conformance.driving.strategies.shortest_first import length, search
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.judging.applicability import Standing, standings
from runlock.conformance.judging.policy_hypotheses import Undeclared
from runlock.conformance.protocol import Handshake, Scenario
from runlock.conformance.transport.journal import Journal, Journalled
from runlock.conformance.transport.sut import Sut

Unit = tuple[int, int]
"""A stage by its number, and a unit of it."""

Between = Callable[[int], bool]
"""Asked before each schedule with how many of the unit were played; false stops the unit."""


class Stopped(BaseException):
    """The unit is to be given up where it is; no runner of tests takes this for a failing test."""


@dataclass(frozen=True)
class Facts:
    """What is known of a runtime from its handshake, with no runtime at hand."""

    handshake: Handshake
    policies: Mapping[str, Any]
    only: tuple[str, ...] = ()

    @property
    def family(self) -> Family:
        """The family that it speaks."""
        return family_named(self.handshake.family)

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """How each clause stands."""
        return standings(self.family, self.handshake, self.policies)

    @cached_property
    def undeclared(self) -> Undeclared:
        """Which policies it leaves open."""
        return Undeclared.of(self.family, self.handshake, self.policies, self.only)


@dataclass(slots=True)
class Played:
    """What became of one unit."""

    tally: Tally = field(default_factory=Tally)
    is_whole: bool = True
    is_hopeless: bool = False  # the runtime cannot even be started any more


class WatchedBench(Bench):
    """A bench that can be stopped between two schedules, and leaves out those that ended its process."""

    def __init__(self, order: Order, between: Between, journal: Journal | None = None) -> None:
        target = resolve(order.target, timeout_scale=order.timeout_scale)
        self.between = between
        self.played = 0
        self.left_out: Mapping[int, Trouble] = {}
        self.is_stopped = self.is_hopeless = False
        self._judged = (0, 0)  # how many schedules had been judged, and the troubles until then
        self.tally = Tally()

        def opened() -> Sut:
            return target.open() if journal is None else Journalled(target.open(), journal)

        self.journal = journal
        super().__init__(opened, order.only)
        self.stages = stages_of(order, self.family)

    def revive(self) -> Sut:
        """Kill the SUT in the middle of a scenario, which goes on in the next one."""
        if self.journal is not None:
            self.journal.killed()
        return super().revive()

    @property
    def facts(self) -> Facts:
        """What its handshake tells."""
        return Facts(self.handshake, self.policies, self.only)

    def admit(self, tally: Tally) -> bool:
        """Let a schedule be played, unless the unit is to stop here or it is known to end the process."""
        self.tally = tally
        self._look_for_hope(tally)
        if self.is_stopped or not self.between(self.played):
            self.is_stopped = True  # whoever asks again is told the same
            raise Stopped
        self.played += 1
        if self.played in self.left_out:
            tally.troubles.append(self.left_out[self.played])
            return False
        return True

    def _look_for_hope(self, tally: Tally) -> None:
        """Give up after so many schedules in a row that could not be judged."""
        if tally.schedules != self._judged[0]:
            self._judged = (tally.schedules, len(tally.troubles))
        if len(tally.troubles) - self._judged[1] >= ERRORS_MAX:
            self.is_stopped = self.is_hopeless = True

    def unit(self, unit: Unit, left_out: Mapping[int, Trouble] | None = None) -> Played:
        """Play one unit, as far as it gets."""
        self.played, self.left_out, self.tally = 0, left_out or {}, Tally()
        self.is_stopped = self.is_hopeless = False
        self._judged = (0, 0)
        stage, number = unit
        try:
            return Played(self.stages[stage].play(self, number))
        except Stopped:
            return Played(self.tally, is_whole=False, is_hopeless=self.is_hopeless)
        except Flaky:
            # What stops a schedule before it began, or leaves it out, is a flaky test to Hypothesis.
            if not (self.is_stopped or self.left_out):
                raise
            return Played(self.tally, is_whole=False, is_hopeless=self.is_hopeless)
        except RunlockError as error:
            self.tally.troubles.append(Trouble(error.blame, str(error)))
            return Played(self.tally, is_whole=False, is_hopeless=True)


def bench_of(order: Order, between: Between, journal: Journal | None = None) -> WatchedBench:
    """The bench for what was ordered: one that judges, or one that learns."""
    from runlock.conformance.campaign.inference.bench import LearningBench  # which is a bench of this kind

    return (WatchedBench if order.settled is None else LearningBench)(order, between, journal)


# --- in a process of its own --------------------------------------------------------------------

STOP: Final = "stop"

YOUNG_MAX: Final = 100_000
"""So many objects are made before a collection goes over those that are left of them."""


def collect_rarely() -> None:
    """What was loaded stays, and what a schedule makes is freed with it: there is little to be collected."""
    gc.freeze()
    gc.set_threshold(YOUNG_MAX)


def main() -> None:
    """Take tasks from the connection whose descriptor is the first argument, until it closes."""
    connection = Connection(int(sys.argv[1]))
    with contextlib.suppress(EOFError, OSError):  # the supervisor is gone
        order, sys.path[:] = connection.recv()
        _serve(connection, order, Journal(Path(sys.argv[2])))


def _serve(connection: Connection, order: Order, journal: Journal) -> None:
    def between(played: int) -> bool:
        try:
            connection.send(("at", played))
            return not (connection.poll() and connection.recv() == STOP)
        except (EOFError, OSError):  # nobody waits for the rest
            return False

    try:
        bench = bench_of(order, between, journal)
    except RunlockError as error:
        connection.send(("refused", error))
        return
    collect_rarely()
    connection.send(("facts", bench.facts))
    while (task := connection.recv()) is not None:
        if task != STOP:  # it came too late: the unit was complete
            connection.send(_done(bench, task))
    bench.close()


def _done(bench: WatchedBench, task: tuple[str, Any]) -> tuple[str, Any]:
    verb, given = task
    try:
        return ("done", bench.unit(*given) if verb == "play" else shortened(bench, given))
    except Exception as error:
        return ("broke", KitBroke.of(error))


SOUGHT: Final = 250
"""So many schedules are tried for one that is shorter than what is left of a violation by leaving out."""


def shortened(bench: Bench, found: Found) -> Witness:
    """The short witness; the one that was found, if the runtime does not let itself be asked again."""
    try:
        witness = bench.witness(found)
    except RunlockError:
        return as_found(found)
    return (shorter(bench, witness, found.scenario) if bench.searches else None) or witness


def shorter(bench: Bench, witness: Witness, scenario: Scenario) -> Witness | None:
    """A shorter schedule that breaks the same clause in the same scenario, if the first ones have one."""
    if witness.clause == bench.family.determinism:  # it takes two schedules to break it
        return None
    searched = search(
        bench,
        lambda violation: violation.clause == witness.clause,
        limit=SOUGHT,
        depth_max=length(witness.moves) - 1,
        scenarios=[scenario],
    )
    return as_found(searched.found) if searched.found is not None else None


def as_found(found: Found) -> Witness:
    """The witness as it was met, not made short."""
    return Witness(found.violation.clause, found.violation.because, found.moves, found.trace)


class KitBroke(Exception):
    """A bug of the kit that showed in another process, with where it was and the traceback there."""

    def __init__(self, words: str, place: str, trace: str) -> None:
        super().__init__(words, place, trace)
        self.words = words
        self.place = place
        self.trace = trace

    @staticmethod
    def of(error: BaseException) -> KitBroke:
        """An exception as it can cross between processes."""
        if isinstance(error, KitBroke):
            return error
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "nowhere"
        words = f"{type(error).__name__}: {error}"
        return KitBroke(words, place, "".join(traceback.format_exception(error)))
