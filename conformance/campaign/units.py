"""A unit of a stage, played on a bench that can be stopped between two schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hypothesis.errors import Flaky

from runlock.conformance.campaign.stages import Order, stages_of
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import ERRORS_MAX, Bench
from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.judging.applicability import Standing, standings
from runlock.conformance.judging.policy_hypotheses import Undeclared
from runlock.conformance.protocol import Handshake
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
