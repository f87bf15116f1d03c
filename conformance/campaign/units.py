"""A unit of a stage, run on a bench that can be stopped between two schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from hypothesis.errors import Flaky

from runlock.conformance.campaign.order import Order, Plan
from runlock.conformance.campaign.stages import Unit, stages_of
from runlock.conformance.driving.bench import ERRORS_MAX, Bench
from runlock.conformance.driving.findings import Trouble
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.judging.applicability import Applicability, standings
from runlock.conformance.judging.judge import Asked
from runlock.conformance.judging.policy_hypotheses import Undeclared
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.protocol import Handshake
from runlock.conformance.transport.exceptions import error_in_words
from runlock.conformance.transport.guardian import refuse_orphan
from runlock.conformance.transport.journal import Journal, Journalled
from runlock.conformance.transport.sut import Sut

Between = Callable[[int], bool]
"""Called before each schedule with the number of schedules run in the unit; return False to stop."""


FIRST: Final = (0, 0)


class Stopped(BaseException):
    """The unit is abandoned at this point; test runners do not treat this as a failing test."""


@dataclass(frozen=True)
class Facts:
    """Facts from the handshake of a runtime, without the runtime."""

    handshake: Handshake
    policies: Mapping[str, Any]
    selection: Selection = EVERYTHING
    warnings: tuple[str, ...] = ()  # about the handshake

    @property
    def family(self) -> Family:
        """The family that it speaks."""
        return family_named(self.handshake.family)

    @cached_property
    def standings(self) -> dict[str, Applicability]:
        """The applicability of each clause."""
        return standings(self.family, self.handshake, self.policies)

    @cached_property
    def undeclared(self) -> Undeclared:
        """The policies that it leaves open."""
        return Undeclared.of(self.family, self.handshake, self.policies, self.selection)

    @cached_property
    def applies(self) -> dict[str, bool]:
        """Whether each clause is judged."""
        return {name: one.is_judged and self.selection.has(name) for name, one in self.standings.items()}

    @cached_property
    def asked(self) -> Asked:
        """The invariants that apply to it, which all of its judges share."""
        return Asked(self.family, self.applies, self.undeclared)

    def without(self, names: Iterable[str]) -> Facts:
        """The same facts with these clauses and policies muted."""
        return replace(self, selection=self.selection.without(names))


@dataclass(slots=True)
class Played:
    """The result of one unit."""

    tally: Tally = field(default_factory=Tally)
    is_whole: bool = True
    is_hopeless: bool = False  # the runtime cannot be started any more


class KitFailed(RunlockError):
    """The kit failed in the process of a runtime, which may have changed what the kit uses."""

    @staticmethod
    def after(error: Exception) -> KitFailed:
        """The error, with its place."""
        return KitFailed(
            f"The kit failed in the process of the runtime with {error_in_words(error)}.",
            "Either the runtime changed a module that the kit uses, or it is a bug of the kit.",
        )


class WatchedBench(Bench):
    """A bench that can be stopped between two schedules, and skips those that ended its process."""

    def __init__(self, order: Order[Plan], between: Between, journal: Journal | None = None) -> None:
        target = order.resolved()
        self.between = between
        self.first = order.first
        self.is_shared = not target.has_process  # a runtime that can change what the kit uses
        self.played = 0
        self.left_out: Mapping[int, Trouble] = {}
        self.is_stopped = self.is_hopeless = False
        self._judged = (0, 0)  # the number of judged schedules, and the errors until then
        self.tally = Tally()

        def opened() -> Sut:
            refuse_orphan()
            return target.open() if journal is None else Journalled(target.open(), journal)

        self.journal = journal
        super().__init__(opened, order.clauses if order.first else order.clauses.with_skipped)
        self.stages = stages_of(order.plan, self.family)

    def revive(self) -> Sut:
        """Kill the SUT in the middle of a scenario, which continues in the next one."""
        if self.journal is not None:
            self.journal.killed()
        return super().revive()

    @property
    def facts(self) -> Facts:
        """The facts from its handshake."""
        return Facts(self.handshake, self.policies, self.selection, tuple(self.warnings))

    @property
    def plays_all(self) -> bool:  # type: ignore[override]
        """Whether no schedule of the unit is skipped, and it is not to stop."""
        return not (self.is_stopped or self.left_out)

    def admit(self, tally: Tally) -> bool:
        """Allow a schedule, unless the unit is to stop here or the schedule is known to end the process."""
        self.tally = tally
        self._look_for_hope(tally)
        is_over = self.first and bool(tally.found)
        if self.is_stopped or is_over or not self.between(self.played):
            self.is_stopped = True  # later calls get the same answer
            raise Stopped
        self.played += 1
        if self.played in self.left_out:
            tally.troubles.append(self.left_out[self.played])
            return False
        return True

    def _look_for_hope(self, tally: Tally) -> None:
        """Give up after too many consecutive schedules that could not be judged, or too many timeouts."""
        if tally.schedules != self._judged[0]:
            self._judged = (tally.schedules, len(tally.troubles))
        if len(tally.troubles) - self._judged[1] >= ERRORS_MAX or self.is_silent or self.ledger.is_too_long:
            self.is_stopped = self.is_hopeless = True

    def unit(
        self, unit: Unit, muted: Iterable[str] = (), left_out: Mapping[int, Trouble] | None = None
    ) -> Played:
        """Run one unit, as far as possible."""
        self.mute(muted)
        self.played, self.left_out, self.tally = 0, left_out or {}, Tally()
        self.is_stopped = self.is_hopeless = False
        self._judged = (0, 0)
        played = self._played(*unit)
        played.tally.ledger.add(self.ledger.taken())
        return played

    def _played(self, stage: int, number: int) -> Played:
        try:
            if (stage, number) == FIRST:
                self.restart()  # a target that says something else at each start is met here
            return Played(self.stages[stage].play(self, number))
        except (Stopped, Flaky):
            # To Hypothesis, a schedule that is stopped before it starts, or skipped, is a flaky test.
            if self.plays_all:
                raise
            return Played(self.tally, is_whole=False, is_hopeless=self.is_hopeless)
        except RunlockError as error:
            return self._given_up(error)
        except Exception as error:
            if not self.is_shared:
                raise
            return self._given_up(KitFailed.after(error))

    def _given_up(self, error: RunlockError) -> Played:
        self.tally.troubles.append(Trouble(error.blame, str(error)))
        return Played(self.tally, is_whole=False, is_hopeless=True)
