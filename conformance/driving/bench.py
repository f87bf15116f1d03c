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

from runlock.conformance.driving.deferred_session import CachedRulings, DeferredSession
from runlock.conformance.driving.exceptions import exceptions_of
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.schedule_ids import renumbered
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shrink import minimal
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import AdapterError, RunlockError, TimedOut
from runlock.conformance.family.family import Family, family_of_answer
from runlock.conformance.judging.applicability import Applicability, standings
from runlock.conformance.judging.determinism import difference
from runlock.conformance.judging.judge import Asked, Judge, Violation
from runlock.conformance.judging.policy_hypotheses import Undeclared
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.protocol import (
    PROTOCOL_VERSION,
    Initialize,
    Party,
    ProtocolError,
    Scenario,
)
from runlock.conformance.protocol.answers import fitted
from runlock.conformance.protocol.framing import quote
from runlock.conformance.protocol.unknown_keys import unknown_keys
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

KIT_VERSION: Final = "0.1.0"

Opened = TypeVar("Opened", bound=Session)

Schedule = Callable[[Session], None]
"""Runs one schedule on an open session, and closes it."""


class Bench:
    """The test harness of one runtime: its handshake, the applicability of each clause, and schedules run
    on it."""

    searches = True  # whether to search for a shorter schedule after shrinking

    def __init__(self, open_sut: Callable[[], Sut], selection: Selection = EVERYTHING) -> None:
        self.open_sut = open_sut
        self.timeouts = 0
        self.entered = 0
        self._folder = tempfile.mkdtemp(prefix="runlock-")
        self._tidy = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.sut = open_sut()
        try:
            self.family, self.handshake = self._shake_hands()
            self.policies = self._policies()
        except RunlockError:
            self.close()
            raise
        self.standings: dict[str, Applicability] = standings(self.family, self.handshake, self.policies)
        self.selection = selection
        self.muted: frozenset[str] = frozenset()
        self._select(selection)
        self.scenarios = list(self.family.driving.scenarios(self.handshake, self.policies))
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
    def asked(self) -> Asked:
        """The requirements of each scenario."""
        return Asked(self.family, self.applies, self.undeclared)

    def _shake_hands(self) -> tuple[Family, Any]:
        hello = Initialize(kit=Party(name="runlock", version=KIT_VERSION))
        params = hello.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            answer = self.sut.request("initialize", params)
        except ProtocolError as error:
            raise AdapterError(
                f"The adapter turned the handshake down with error {error.code}: {quote(error.message)}.",
                f"It should answer `initialize` for protocol {PROTOCOL_VERSION}.",
            ) from error
        family = family_of_answer(answer)
        self.warnings = unknown_keys(family.vocabulary.handshake, answer)
        handshake = fitted(family.vocabulary.handshake, answer, "The handshake", "initialize.answer")
        if handshake.protocol != PROTOCOL_VERSION:
            raise AdapterError(
                f"The adapter speaks protocol {handshake.protocol}.", f"This kit speaks {PROTOCOL_VERSION}."
            )
        return family, handshake

    def _policies(self) -> dict[str, Any]:
        try:
            return self.family.spec.policies_of(self.handshake.profile, self.handshake.policies)
        except SpecError as error:
            raise AdapterError(f"The handshake cannot be judged: {error}") from error

    def renew(self) -> None:
        """Replace the SUT after an error."""
        self.sut.kill()
        self.sut = self.open_sut()
        self._shake_hands()

    def revive(self) -> Sut:
        """Kill the SUT in the middle of a scenario, and restart it."""
        self.renew()
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
        return kind(
            self.family,
            self.sut,
            self.handshake,
            scenario,
            new_judge or partial(self.judge, scenario),
            self._empty_folder(),
            revive=self.revive,
            **more,
        )

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
        for attempt in (1, 2):
            try:
                session = (opened or self.session)(scenario)
                schedule(session)
            except RunlockError as error:
                is_last = attempt == 2 or self.ran_out_of_time(error)
                if is_last:
                    tally.troubles.append(Trouble(error.blame, str(error)))
                self.renew()
                if is_last:
                    return None
                continue
            return session
        return None

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
        if (
            once is None
            or once.violation is not None
            or not self.applies.get(self.family.judging.determinism)
        ):
            return
        again = self.judged(scenario, schedule, Tally(), self.session_not_judged)
        if again is None:
            return
        clause = self.family.judging.determinism
        tally.exercised[clause] += 1
        because = difference(once.trace, again.trace)
        if because:
            broken = Violation(clause, because, again.state.stimuli)
            tally.note(clause, self._found(again, broken))

    def enter(self, session: Session, tally: Tally) -> None:
        """Add the results of a finished session to a tally."""
        self.entered += 1
        tally.schedules += 1
        tally.stimuli += session.state.stimuli
        ruling = session.ruling
        tally.exercised.update(ruling.exercised)
        tally.policies |= ruling.policies
        tally.shown.update(_shown(session.trace))
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

    def _found(self, session: Session, violation: Violation) -> Found:
        return Found(violation, session.scenario, tuple(session.sent), session.trace, self.muted)

    def close(self) -> None:
        """Release the SUT, and the folders of its scenarios."""
        self.sut.close()
        self._tidy()

    # -- witnesses

    def witness(self, found: Found) -> Witness:
        """The violation with its schedule shrunk, and with ids that count from 1."""
        self.mute(found.muted)
        shown: list[Session] = []

        def still_breaks(scenario: Scenario, moves: Sequence[Move]) -> Sequence[Move] | None:
            session = self._replay(scenario, moves)
            if session is None or not _shows(session, found):
                return None
            shown[:] = [session]
            return session.sent

        scenario, moves = minimal(found.scenario, found.moves, still_breaks, self.family.driving.bare)
        for candidate in (renumbered(moves), moves):
            if (sent := still_breaks(scenario, candidate)) is not None:
                because, trace = _reason(shown[0], found), shown[0].trace
                return Witness(found.violation.clause, because, tuple(sent), trace)
        return Witness(found.violation.clause, found.violation.reason, found.moves, found.trace)

    def _replay(self, scenario: Scenario, moves: Sequence[Move]) -> Session | None:
        try:
            session = self.session(scenario)
            session.play(moves)
            session.close()
        except RunlockError as error:
            if self.ran_out_of_time(error) and self.is_silent:
                raise
            self.renew()
            return None
        return session


def _shows(session: Session, found: Found) -> bool:
    """Whether a schedule breaks the same clause, or rules out the same value of a policy."""
    if found.rules_out is not None:
        return found.rules_out in session.ruling.excluded
    return session.violation is not None and session.violation.clause == found.violation.clause


def _reason(session: Session, found: Found) -> str:
    """Why the clause is broken; what several schedules show together is in the original reason alone."""
    if found.rules_out is not None or session.violation is None:
        return found.violation.reason
    return session.violation.reason


def _shown(trace: Trace) -> set[str]:
    """What a runtime showed, each kind under the name that clauses use for it."""
    seen = list(trace.of("observation"))
    gates = {f"gate {one.get('on')}" for one in seen if one.get("kind") == "gate.open"}
    return gates | {f"observes {one.get('kind')}" for one in seen}
