"""A campaign: puts a runtime through its schedules, gathers verdicts, and makes witnesses short.

The budget is a number of schedules, cut into a fixed number of shards with seeds of their own, so that
the number of processes that work them off changes nothing.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any, Final, Protocol, TypeVar

from runlock.conformance.campaign.result import ClauseVerdict, Trouble, Witness
from runlock.conformance.driving.deferred_session import JudgedLater, Precedents
from runlock.conformance.driving.leaks import Leak, leaks_of
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shrink import shrink
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.errors import AdapterError, RunlockError
from runlock.conformance.families.lifecycle.situations import scenarios
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.coverage import Coverage, Goal
from runlock.conformance.judging.applicability import SILENT, Standing, standings
from runlock.conformance.judging.determinism import DETERMINISM, difference
from runlock.conformance.judging.judge import Asked, Judge, Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion, Undeclared, nothing_left
from runlock.conformance.protocol import (
    PROTOCOL_VERSION,
    Handshake,
    Initialize,
    Party,
    ProtocolError,
    Scenario,
)
from runlock.conformance.protocol.answers import fitted
from runlock.conformance.protocol.framing import quote
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace
from runlock.conformance.transport.sut import Sut
from runlock.spec.model import SpecError, load_spec

SHARDS: Final = 16
ERRORS_MAX: Final = 3
"""Schedules in a row that could not be judged, after which a campaign gives up."""

INSPECTED: Final = "inspect yes"
"""What a clause needs about a look at a run: no handshake says whether there is one, only the answer does."""

KIT_VERSION: Final = "0.1.0"

Opened = TypeVar("Opened", bound=Session)

Schedule = Callable[[Session], None]
"""Plays one schedule on an open session, and closes it."""


@dataclass(slots=True)
class Found:
    """A violation as it was found, before its witness is made short."""

    violation: Violation
    scenario: Scenario
    moves: tuple[Move, ...]
    trace: Trace


@dataclass(slots=True)
class Tally:
    """What a number of schedules showed; tallies add up in the order of their shards."""

    exercised: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)  # gates and observations, as clauses need them
    schedules: int = 0
    stimuli: int = 0
    found: dict[str, Found] = field(default_factory=dict)
    excluded: dict[tuple[str, str], tuple[Exclusion, Found]] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    leaks: dict[str, Leak] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    tours_played: Counter[Goal] = field(default_factory=Counter)
    tours_reached: Counter[Goal] = field(default_factory=Counter)
    searched: Counter[tuple[int, str]] = field(default_factory=Counter)  # by stimuli, and what is counted

    def add(self, other: Tally) -> None:
        """Take another tally in; of two violations of a clause the shorter stays."""
        self.exercised.update(other.exercised)
        self.shown.update(other.shown)
        self.schedules += other.schedules
        self.stimuli += other.stimuli
        self.troubles += other.troubles
        for leak in other.leaks.values():
            self.leak(leak)
        self.coverage.add(other.coverage)
        self.tours_played.update(other.tours_played)
        self.tours_reached.update(other.tours_reached)
        self.searched.update(other.searched)
        for clause, found in other.found.items():
            self.note(clause, found)
        for one, (exclusion, found) in other.excluded.items():
            self.exclude(one, exclusion, found)

    def leak(self, leak: Leak) -> None:
        """Remember what was left behind."""
        known = self.leaks.get(leak.what)
        self.leaks[leak.what] = leak if known is None else known.more(leak)

    def exclude(self, one: tuple[str, str], exclusion: Exclusion, found: Found) -> None:
        """Remember why an open policy cannot have a value; the shortest schedule that shows it stays."""
        known = self.excluded.get(one)
        if known is None or len(found.moves) < len(known[1].moves):
            self.excluded[one] = (exclusion, found)

    def settle(self, undeclared: Undeclared) -> None:
        """Note the policies of which each value was ruled out by some schedule: the runtime mixes two."""
        for key, values in undeclared.policies.items():
            whys = {value: self.excluded[key, value] for value in values if (key, value) in self.excluded}
            if len(whys) == len(values):
                last, found = list(whys.values())[-1]
                because = nothing_left(key, {value: why for value, (why, _) in whys.items()})
                self.note(last.clause, replace(found, violation=replace(found.violation, because=because)))

    def note(self, clause: str, found: Found) -> None:
        """Remember a violation, unless a shorter one of its clause is known."""
        known = self.found.get(clause)
        if known is None or len(found.moves) < len(known.moves):
            self.found[clause] = found


class Bench:
    """A runtime on the bench: its handshake, how each clause stands, and schedules played on it."""

    searches = True  # whether a shorter schedule is sought than leaving things out leads to

    def __init__(self, open_sut: Callable[[], Sut], only: Sequence[str] = ()) -> None:
        self.open_sut = open_sut
        self._folder = tempfile.mkdtemp(prefix="runlock-")
        self._tidy = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.sut = open_sut()
        try:
            self.handshake = self._shake_hands()
            self.policies = self._policies()
        except RunlockError:
            self.close()
            raise
        self.standings: dict[str, Standing] = standings(load_spec(), self.handshake, self.policies)
        self.only = tuple(only)
        self.undeclared = Undeclared.of(load_spec(), self.handshake, self.policies, self.only)
        self.applies = {clause: self._is_asked(standing) for clause, standing in self.standings.items()}
        self.scenarios = list(scenarios(self.handshake, self.policies))
        self.precedents: Precedents = {}

    @cached_property
    def asked(self) -> Asked:
        """What each scenario asks of the runtime."""
        return Asked(self.applies, self.undeclared)

    def _is_asked(self, standing: Standing) -> bool:
        chosen = not self.only or any(fnmatchcase(standing.clause.id, pattern) for pattern in self.only)
        return chosen and standing.is_judged

    def _shake_hands(self) -> Handshake:
        hello = Initialize(kit=Party(name="runlock", version=KIT_VERSION))
        params = hello.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            answer = self.sut.request("initialize", params)
        except ProtocolError as error:
            raise AdapterError(
                f"The adapter turned the handshake down with error {error.code}: {quote(error.message)}.",
                f"It should answer `initialize` for protocol {PROTOCOL_VERSION}.",
            ) from error
        handshake = fitted(Handshake, answer, "The handshake", "initialize.answer")
        if handshake.protocol != PROTOCOL_VERSION:
            raise AdapterError(
                f"The adapter speaks protocol {handshake.protocol}.", f"This kit speaks {PROTOCOL_VERSION}."
            )
        return handshake

    def _policies(self) -> dict[str, Any]:
        try:
            return load_spec().policies_of(self.handshake.profile, self.handshake.policies)
        except SpecError as error:
            raise AdapterError(f"The handshake cannot be judged: {error}") from error

    def renew(self) -> None:
        """Replace the SUT after an error."""
        self.sut.kill()
        self.sut = self.open_sut()
        self._shake_hands()

    def revive(self) -> Sut:
        """Kill the SUT in the middle of a scenario, and start it anew."""
        self.renew()
        return self.sut

    def session(self, scenario: Scenario) -> Session:
        """Open a scenario under the judge."""
        return self._opened(Session, scenario)

    def session_judged_later(self, scenario: Scenario) -> JudgedLater:
        """Open a scenario that the judge hears when it is over."""
        return self._opened(JudgedLater, scenario, policies=self.policies, precedents=self.precedents)

    def _opened(self, kind: type[Opened], scenario: Scenario, **more: Any) -> Opened:
        new_judge, folder = partial(self.judge, scenario), self._empty_folder()
        return kind(self.sut, self.handshake, scenario, new_judge, folder, revive=self.revive, **more)

    def judge(self, scenario: Scenario) -> Judge:
        """Who judges a scenario."""
        return Judge(self.handshake, self.policies, scenario, self.applies, self.undeclared, asked=self.asked)

    def _empty_folder(self) -> str:
        """A folder for the bytes of a scenario: a fresh one where the runtime keeps a store of its own."""
        if self.handshake.control.store != "own":
            return self._folder
        return tempfile.mkdtemp(dir=self._folder)

    def admit(self, tally: Tally) -> bool:
        """Asked before each schedule; false leaves it out."""
        return True

    def play(self, scenario: Scenario, schedule: Schedule, tally: Tally) -> Session | None:
        """Play one schedule, and take what it showed into the tally."""
        session = self.judged(scenario, schedule, tally)
        if session is not None:
            self.enter(session, tally)
        return session

    def judged(self, scenario: Scenario, schedule: Schedule, tally: Tally) -> Session | None:
        """One schedule, played; what could not be judged is tried once more on a fresh SUT, and noted."""
        if not self.admit(tally):
            return None
        for attempt in (1, 2):
            try:
                session = self.session(scenario)
                schedule(session)
            except RunlockError as error:
                if attempt == 2:
                    tally.troubles.append(Trouble(error.blame, str(error)))
                self.renew()
                continue
            return session
        return None

    def play_twice(self, scenario: Scenario, schedule: Schedule, tally: Tally) -> None:
        """Play one schedule, and once more to see that the same words lead to the same."""
        once = self.play(scenario, schedule, tally)
        if once is None or once.violation is not None or not self.applies[DETERMINISM]:
            return
        again = self.play(scenario, schedule, Tally())
        if again is None:
            return
        tally.exercised[DETERMINISM] += 1
        because = difference(once.trace, again.trace)
        if because:
            broken = Violation(DETERMINISM, because, again.state.stimuli)
            tally.note(DETERMINISM, Found(broken, scenario, tuple(again.sent), again.trace))

    def enter(self, session: Session, tally: Tally) -> None:
        """Take what a finished session showed into a tally."""
        tally.schedules += 1
        tally.stimuli += session.state.stimuli
        ruling = session.ruling
        tally.exercised.update(ruling.exercised)
        tally.shown.update(_shown(session.trace))
        tally.coverage.add(ruling.coverage)
        for leak in leaks_of(session):
            tally.leak(leak)
        if ruling.violation is not None:
            tally.note(ruling.violation.clause, _found(session, ruling.violation))
        for one, exclusion in ruling.excluded.items():
            ruled_out = Violation(exclusion.clause, exclusion.because, session.state.stimuli)
            tally.exclude(one, exclusion, _found(session, ruled_out))

    def close(self) -> None:
        """Give the SUT back, and the folders of its scenarios."""
        self.sut.close()
        self._tidy()

    # -- witnesses

    def witness(self, found: Found) -> Witness:
        """The violation with the shortest schedule that leaving things out leads to."""
        best: dict[str, Session] = {}

        def still_breaks(moves: Sequence[Move]) -> Sequence[Move] | None:
            session = self._replay(found.scenario, moves)
            if session is None or session.violation is None:
                return None
            if session.violation.clause != found.violation.clause:
                return None
            best[str(session.sent)] = session
            return session.sent

        shortest = shrink(found.moves, still_breaks)
        session = best.get(str(shortest)) or self._replay(found.scenario, shortest)
        if session is None or session.violation is None:
            return Witness(found.violation.clause, found.violation.because, found.moves, found.trace)
        return Witness(session.violation.clause, session.violation.because, tuple(shortest), session.trace)

    def _replay(self, scenario: Scenario, moves: Sequence[Move]) -> Session | None:
        try:
            session = self.session(scenario)
            session.play(moves)
            session.close()
        except RunlockError:
            self.renew()
            return None
        return session


def _shown(trace: Trace) -> set[str]:
    """What a runtime showed, each in the words in which clauses need it."""
    seen = list(trace.of("observation"))
    gates = {f"gate {one.get('on')}" for one in seen if one.get("kind") == "gate.open"}
    return gates | {f"observes {one.get('kind')}" for one in seen}


def _found(session: Session, violation: Violation) -> Found:
    return Found(violation, session.scenario, tuple(session.sent), session.trace)


def shard_sizes(examples: int) -> list[int]:
    """How many schedules each shard plays."""
    return [examples // SHARDS + (1 if shard < examples % SHARDS else 0) for shard in range(SHARDS)]


def run_shard(bench: Bench, shard: int, schedules: int, seed: int) -> Tally:
    """Play one shard: walks with seeds of its own, each in the next scenario."""
    tally = Tally()
    for index in range(schedules):
        scenario = bench.scenarios[(shard + index) % len(bench.scenarios)]
        chooser = Seeded(seed, shard, index)
        bench.play(scenario, lambda session, chooser=chooser: walk(session, chooser), tally)  # type: ignore[misc]
        if len(tally.troubles) >= ERRORS_MAX:
            break
    return tally


class Known(Protocol):
    """How each clause stands with a runtime, and which clauses were asked for."""

    @property
    def standings(self) -> Mapping[str, Standing]: ...

    @property
    def only(self) -> Sequence[str]: ...


def verdicts(bench: Known, tally: Tally) -> Iterator[ClauseVerdict]:
    """What became of each clause that was asked for."""
    for clause_id, standing in bench.standings.items():
        level = standing.clause.level
        count = tally.exercised[clause_id]
        if bench.only and not any(fnmatchcase(clause_id, pattern) for pattern in bench.only):
            continue
        if clause_id in tally.found:
            yield ClauseVerdict(clause_id, level, "broken", tally.found[clause_id].violation.because, count)
        elif not standing.is_judged:
            verdict: Any = standing.verdict
            yield ClauseVerdict(clause_id, level, verdict, standing.why, 0, standing.offered)
        elif count:
            yield ClauseVerdict(clause_id, level, "held", "", count)
        elif not standing.hears_silence:
            yield ClauseVerdict(clause_id, level, "untested", SILENT, offered=False)
        elif INSPECTED in standing.clause.needs and not tally.shown["observes inspect"]:
            yield ClauseVerdict(clause_id, level, "untested", "no look at a run was answered", offered=False)
        else:
            yield ClauseVerdict(clause_id, level, "untested", _unreached(standing, tally))


def _unreached(standing: Standing, tally: Tally) -> str:
    """Why a clause that can be judged was not: a claim of the handshake that never came true goes first."""
    if standing.clause.level == "MAY":
        return "it is a permission, and was not taken"
    claimed = [need for need in standing.clause.needs if need.startswith(("gate ", "observes "))]
    never = next((need.partition(" ") for need in claimed if not tally.shown[need]), None)
    if never is None or not tally.schedules:
        return "no schedule reached it"
    if never[0] == "gate":
        return f"the handshake names a {never[2]} gate, and none was ever opened"
    return f"the handshake says that {never[2]} is shown, and it never was"
