"""A campaign: runs schedules on a runtime, collects verdicts, and shrinks witnesses.

The budget is a number of schedules, cut into a fixed number of shards with their own seeds, so that the
result does not depend on the number of worker processes.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final, TypeVar

from runlock.conformance.driving.connection import Connection
from runlock.conformance.driving.deferred_session import CachedRulings, DeferredSession
from runlock.conformance.driving.exceptions import exceptions_of
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.replays import Replays, shows
from runlock.conformance.driving.schedule_ids import renumbered
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shrink import minimal
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import AdapterError, RunlockError, TimedOut
from runlock.conformance.judging.applicability import Applicability, standings
from runlock.conformance.judging.determinism import another_answer, difference
from runlock.conformance.judging.judge import Asked, Judge, Violation
from runlock.conformance.judging.policy_hypotheses import Undeclared
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.protocol import (
    Scenario,
)
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace
from runlock.conformance.transport.sut import Sut
from runlock.spec.model import SpecError

ERRORS_MAX: Final = 3
"""Consecutive schedules that could not be judged, after which a campaign gives up."""


TIMEOUTS_MAX: Final = 3
"""Answers that did not come in time, after which a bench gives up: each of them takes long.

One fewer is enough if no schedule was judged before.
"""

Opened = TypeVar("Opened", bound=Session)

Schedule = Callable[[Session], None]
"""Runs one schedule on an open session, and closes it."""


class Bench(Connection):
    """The test harness of one runtime: its handshake, the applicability of each clause, and schedules run
    on it."""

    searches = True  # whether to search for a shorter schedule after shrinking
    plays_all = True  # whether no schedule is skipped, and the bench is not to stop

    def __init__(self, open_sut: Callable[[], Sut], selection: Selection = EVERYTHING) -> None:
        self.timeouts = 0
        self.entered = 0
        self.repeated: set[str] = set()  # clauses of which a violation was replayed, and broke again
        self._folder = tempfile.mkdtemp(prefix="runlock-")
        self._tidy = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        try:
            super().__init__(open_sut)
            self.policies = self._policies()
        except RunlockError:
            self.close()
            raise
        self.standings: dict[str, Applicability] = standings(self.family, self.handshake, self.policies)
        self.selection = selection
        self.muted: frozenset[str] = frozenset()
        self._select(selection)
        self.cached_rulings: CachedRulings = {}

    def _select(self, selection: Selection) -> None:
        self.undeclared = Undeclared.of(self.family, self.handshake, self.policies, selection)
        self.applies = {name: one.is_judged and selection.has(name) for name, one in self.standings.items()}

    def mute(self, names: Iterable[str]) -> None:
        """Judge the next schedules without these clauses and policies."""
        if self.muted != (muted := frozenset(names)):
            self.muted = muted
            self._select(self.selection.without(muted))
            self.__dict__.pop("asked", None)
            self.cached_rulings.clear()

    @cached_property
    def scenarios(self) -> list[Any]:
        """The scenarios of generated schedules, the simplest first."""
        return list(self.family.driving.scenarios(self.handshake, self.policies))

    @cached_property
    def combined(self) -> list[Any]:
        """Scenarios in which every two values of two features meet; a bench that replays needs none."""
        return list(self.family.driving.combined(self.handshake, self.policies))

    @cached_property
    def asked(self) -> Asked:
        """The requirements of each scenario."""
        return Asked(self.family, self.applies, self.undeclared)

    def _policies(self) -> dict[str, Any]:
        try:
            return self.family.spec.policies_of(self.handshake.profile, self.handshake.policies)
        except SpecError as error:
            raise AdapterError(f"The handshake cannot be judged: {error}") from error

    def revive(self) -> Sut:
        """Kill the SUT in the middle of a scenario, and restart it."""
        self.restart()
        return self.sut

    def session(self, scenario: Scenario) -> Session:
        """Open a scenario that is judged move by move."""
        return self._opened(Session, scenario)

    def session_judged_later(self, scenario: Scenario) -> DeferredSession:
        """Open a scenario that is judged at its end."""
        return self._opened(
            DeferredSession, scenario, policies=self.policies, cached_rulings=self.cached_rulings
        )

    def session_not_judged(self, scenario: Scenario) -> Session:
        """Open a scenario of which only the answers count."""
        family = replace(self.family, invariants=(), monitors=())
        return self._opened(
            Session, scenario, partial(Judge, family, self.handshake, self.policies, scenario)
        )

    def _opened(
        self,
        kind: type[Opened],
        scenario: Scenario,
        new_judge: Callable[[], Judge] | None = None,
        **more: Any,
    ) -> Opened:
        session = kind(
            self.family,
            self.sut,
            self.handshake,
            scenario,
            new_judge or partial(self.judge, scenario),
            self._empty_folder(),
            revive=self.revive,
            **more,
        )
        self.ledger.scenarios += 1
        return session

    def judge(self, scenario: Scenario) -> Judge:
        """The judge of a scenario."""
        return Judge(
            self.family,
            self.handshake,
            self.policies,
            scenario,
            self.applies,
            self.undeclared,
            asked=self.asked,
        )

    def _empty_folder(self) -> str:
        """A folder for the data of a scenario: a fresh one if the runtime has its own store."""
        if self.handshake.control.store != "own":
            return self._folder
        return tempfile.mkdtemp(dir=self._folder)

    def admit(self, tally: Tally) -> bool:
        """Called before each schedule; return False to skip it."""
        return True

    def play(self, scenario: Scenario, schedule: Schedule, tally: Tally) -> Session | None:
        """Run one schedule, and add its results to the tally."""
        session = self.judged(scenario, schedule, tally)
        if session is not None:
            self.enter(session, tally)
        return session

    def judged(
        self,
        scenario: Scenario,
        schedule: Schedule,
        tally: Tally,
        opened: Callable[[Scenario], Session] | None = None,
    ) -> Session | None:
        """Run one schedule; if it cannot be judged, retry it once on a fresh SUT, and record that.

        A schedule that ran into a time limit is not retried: each retry waits as long again.
        """
        if not self.admit(tally):
            return None
        failed: RunlockError | None = None
        while True:
            try:
                session = (opened or self.session)(scenario)
                schedule(session)
            except RunlockError as error:
                is_last = self.ran_out_of_time(error) or failed is not None
                if is_last:
                    tally.troubles.append(Trouble(error.blame, str(error)))
                    self.ledger.lasting(error, failed)
                self.renew(error)
                if is_last:
                    return None
                failed = error
                continue
            if failed is not None:
                self.ledger.recovered(failed)
            self._compare(session)
            return session

    def _compare(self, session: Session) -> None:
        """Record another answer to a prefix that was sent before."""
        if session.before is not None and self.handshake.control.settles_exactly:
            self._compared(session.before, session.trace)

    def _compared(self, once: Trace, again: Trace) -> None:
        """Record the first difference between the answers to the same schedule."""
        if what := another_answer(once, again, self.family.line_formats.gate_name):
            self.ledger.differed(what, again)

    def ran_out_of_time(self, error: RunlockError) -> bool:
        """Whether the error is an answer that did not come, which is then counted."""
        self.timeouts += isinstance(error, TimedOut)
        return isinstance(error, TimedOut)

    @property
    def is_silent(self) -> bool:
        """Whether too many answers did not come in time."""
        return self.timeouts >= TIMEOUTS_MAX - (not self.entered)

    def play_twice(self, scenario: Scenario, schedule: Schedule, tally: Tally) -> None:
        """Run one schedule, and a second time to compare: the same messages must give the same answers."""
        once = self.play(scenario, schedule, tally)
        is_judged = self.applies.get(self.family.judging.determinism, False)
        is_compared = is_judged or self.handshake.control.settles_exactly
        if once is None or once.violation is not None or not is_compared:
            return
        again = self.judged(scenario, schedule, tally, self.session_not_judged)
        if again is None:
            return
        for raised in exceptions_of(again.trace):
            if raised.what not in tally.raised:  # the same one in both is one schedule
                tally.exception(raised)
        if is_judged and self._differs(once, again, tally):
            return
        self._compared(once.trace, again.trace)

    def _differs(self, once: Session, again: Session, tally: Tally) -> bool:
        """Whether the clause on determinism tells the two apart."""
        clause = self.family.judging.determinism
        tally.exercised[clause] += 1
        because = difference(once.trace, again.trace)
        if because:
            found = self._found(again, Violation(clause, because, again.state.stimuli))
            if self._breaks_again(found, tally):
                tally.note(clause, found)
        return bool(because)

    def enter(self, session: Session, tally: Tally) -> None:
        """Add the results of a finished session to a tally; a violation counts if it can be repeated."""
        violation = session.ruling.violation
        if violation is not None and not self._breaks_again(self._found(session, violation), tally):
            return
        self._enter(session, tally)

    def _breaks_again(self, found: Found, tally: Tally) -> bool:
        """Whether a violation can be repeated, which is tried once for each clause; else it is recorded."""
        clause = found.violation.clause
        if clause in self.repeated:
            return True
        replays = self.replayed(found)
        if replays.agree:
            self.repeated.add(clause)
            return True
        self.ledger.differed(f"{replays.sentence}.", found.trace)
        tally.unrepeated[clause] = replays.sentence
        if replays.clean is not None:
            self._enter(replays.clean, tally)
        return False

    def replayed(self, found: Found) -> Replays:
        """Repeat a schedule until most replays agree, on the SUT as it is, or else on fresh ones."""
        is_compared = found.violation.clause == self.family.judging.determinism
        replays = Replays(found)
        while not is_compared and not replays.is_over:
            replays.add(self._replay(found.scenario, found.moves))
        if replays.agree:
            return replays
        replays = Replays(found)
        while not replays.is_over:
            self.restart()
            once = self._replay(found.scenario, found.moves)
            if is_compared:
                replays.add_pair(once, self._replay(found.scenario, found.moves))
            else:
                replays.add(once)
        return replays

    def _enter(self, session: Session, tally: Tally) -> None:
        self.entered += 1
        tally.schedules += 1
        tally.stimuli += session.state.stimuli
        ruling = session.ruling
        tally.exercised.update(ruling.exercised)
        tally.policies |= ruling.policies
        tally.shown.update(_shown(session.trace))
        tally.asides.update(session.asides)
        tally.coverage.add(ruling.coverage)
        for raised in exceptions_of(session.trace):
            tally.exception(raised)
        if ruling.violation is not None:
            tally.cut_short += 1
            tally.ended_by[ruling.violation.clause] += 1
            tally.note(ruling.violation.clause, self._found(session, ruling.violation))
        for one, exclusion in ruling.excluded.items():
            ruled_out = Violation(exclusion.clause, exclusion.reason, session.state.stimuli)
            tally.exclude(one, exclusion, self._found(session, ruled_out))

    def probe(self, scenario: Scenario) -> None:
        """Open and close a scenario, since a target may have ended after its last answer."""
        try:
            self.session(scenario).close()
        except RunlockError as error:
            self.ledger.failed(error)

    def _found(self, session: Session, violation: Violation) -> Found:
        return Found(violation, session.scenario, tuple(session.sent), session.trace, self.muted)

    def close(self) -> None:
        """Release the SUT, and the folders of its scenarios."""
        if hasattr(self, "sut"):
            self.sut.close()
        self._tidy()

    # -- witnesses

    def witness(self, found: Found) -> Witness:
        """The violation with its schedule shrunk, and with ids from 1; says if it breaks no more."""
        self.mute(found.muted)
        small = self._shrunk(found)
        for one in (small, found):
            replays = self.replayed(one)
            if replays.agree:
                return _witness(one)
        self.ledger.differed(f"{replays.sentence}.", found.trace)
        return replace(_witness(found), unrepeated=replays.sentence)

    def _shrunk(self, found: Found) -> Found:
        """The violation with the shortest schedule that still shows it; itself if there is none."""
        shown: list[Session] = []

        def still_breaks(scenario: Scenario, moves: Sequence[Move]) -> Sequence[Move] | None:
            session = self._replay(scenario, moves)
            if session is None or not shows(session, found):
                return None
            shown[:] = [session]
            return session.sent

        scenario, moves = minimal(found.scenario, found.moves, still_breaks, self.family.driving.bare)
        for candidate in (renumbered(moves), moves):
            if (sent := still_breaks(scenario, candidate)) is not None:
                violation = replace(found.violation, reason=_reason(shown[0], found))
                return replace(
                    found, violation=violation, moves=tuple(sent), scenario=scenario, trace=shown[0].trace
                )
        return found

    def _replay(self, scenario: Scenario, moves: Sequence[Move]) -> Session | None:
        session = None
        try:
            session = self.session(scenario)
            session.play(moves)
            session.close()
        except RunlockError as error:
            if self.ran_out_of_time(error) and self.is_silent:
                raise
            self.renew(error)
            is_broken = session is not None and session.violation is not None  # what follows does not matter
            return session if is_broken else None
        return session


def _witness(found: Found) -> Witness:
    return Witness(found.violation.clause, found.violation.reason, found.moves, found.trace)


def _reason(session: Session, found: Found) -> str:
    """Why the clause is broken; what several schedules show together is in the original reason alone."""
    if found.rules_out is not None:
        shown = session.ruling.excluded[found.rules_out]
        return shown.reason if shown.clause == found.violation.clause else found.violation.reason
    if session.violation is None:
        return found.violation.reason
    return session.violation.reason


def _shown(trace: Trace) -> set[str]:
    """What a runtime showed, each kind under the name that clauses use for it."""
    seen = list(trace.of("observation"))
    gates = {f"gate {one.get('on')}" for one in seen if one.get("kind") == "gate.open"}
    return gates | {f"observes {one.get('kind')}" for one in seen}
