"""Smoke test: sends each verb to an adapter once, and shows what its handshake leaves untested.

A verb is tried by the shortest script of the corpus that sends it, and works if that script completes.  An
error is attributed to the verb in flight; later verbs of the script were not reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.exceptions import Raised, exceptions_of
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.occasions import out_of_reach
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies.scripted import (
    Script,
    applicable,
    corpus,
    play,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import RunlockError, TimedOut
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.judging.applicability import unmet
from runlock.conformance.protocol import METHOD_NOT_FOUND, UNSUPPORTED, ProtocolError
from runlock.conformance.protocol.answers import fitted
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move
from runlock.conformance.transport.sut import Sut

NOT_SENT: Final = ("initialize", "scenario.open", "scenario.close", "inspect", "shutdown")
FIRST: Final = ("run.start", "gate.release", "settle")
LAST: Final = ("crash", "recover")
ALWAYS: Final = ("scenario.open", "run.start", "gate.release", "settle", "scenario.close")
WORKS, FAILS, NOT_OFFERED, NOT_REACHED = "works", "does not work", "not offered", "not reached"

TRIES: Final = 6
"""Number of scripts tried for one verb or gate; a profile may end some of them too early."""

NO_SCRIPT: Final = "no script came to it"

Schedule = Callable[[Session], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """One verb, gate or kind of observation: its status, the reason, and the party at fault."""

    what: str
    state: str
    why: str = ""
    blame: str = ""


@dataclass(slots=True)
class Smoke:
    """The result of a smoke test."""

    implementation: dict[str, Any] = field(default_factory=dict)
    profile: str = ""
    verbs: dict[str, Tried] = field(default_factory=dict)
    gates: list[Tried] = field(default_factory=list)
    observes: list[Tried] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)  # clauses, and why
    warnings: list[str] = field(default_factory=list)  # about the handshake
    notes: list[str] = field(default_factory=list)  # what the handshake says in sentences
    raised: list[Raised] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    untested: dict[str, list[str]] = field(
        default_factory=dict
    )  # weaknesses of the handshake, and the clauses that they cost

    @property
    def faults(self) -> list[Tried]:
        """What was declared and does not work."""
        return [one for one in (*self.verbs.values(), *self.gates) if one.state == FAILS]

    @property
    def exit_code(self) -> int:
        """The usual exit code: 1 if a clause is broken, 3 if something does not work, raised or is flaky."""
        return 1 if self.broken else 3 if self.faults or self.raised or self.ledger.times else 0


class Followed:
    """A `Sut` that records which verbs were sent."""

    def __init__(self, sut: Sut, asked: list[str]) -> None:
        self._sut = sut
        self.asked = asked
        self.kill = sut.kill
        self.close = sut.close

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Record one verb, and pass it on."""
        self.asked.append(method)
        return self._sut.request(method, params)


def smoke(open_sut: Callable[[], Sut]) -> Smoke:
    """Exercise everything that an adapter declares."""
    asked: list[str] = []
    try:
        bench = Bench(lambda: Followed(open_sut(), asked))
    except RunlockError as error:
        return Smoke(verbs={"initialize": _fault("initialize", error)})
    try:
        return _Drive(bench, asked).result()
    finally:
        bench.close()


class _Drive:
    """One smoke test; `asked` are the verbs that the latest script has sent."""

    def __init__(self, bench: Bench, asked: list[str]) -> None:
        self.bench = bench
        self.asked = asked
        self.verbs = {"initialize": Tried("initialize", WORKS)}
        self.broken: dict[str, str] = {}
        self.tally = Tally()
        self.silent = ""  # the verb that had no answer in time
        self.is_stopped = False  # whether an error stopped the last script

    def result(self) -> Smoke:
        """Try everything, in the order in which it occurs in a run."""
        handshake = self.bench.handshake
        stimuli = verbs_of(self.bench.family)
        for verb in ("scenario.open", *stimuli, "scenario.close"):
            if verb not in self.verbs:
                self._try_verb(verb)
        gates = [self._try_gate(gate) for gate in handshake.gates]
        for verb, params in (("inspect", {"run": "r1"}), ("shutdown", {})):
            self.verbs[verb] = self._optional(verb, params)
        return Smoke(
            implementation=handshake.implementation.to_wire(),
            profile=handshake.profile,
            verbs={verb: self.verbs[verb] for verb in _in_order(stimuli)},
            gates=gates,
            observes=[self._seen(kind) for kind in handshake.observes],
            broken=self.broken,
            warnings=list(self.bench.warnings),
            notes=list(handshake.notes),
            raised=list(self.tally.raised.values()),
            ledger=self.bench.ledger,
            untested=dict(_weaknesses(self.bench)),
        )

    # -- verbs that scripts send

    def _try_verb(self, verb: str) -> None:
        lacks = "" if verb in ALWAYS else self._lacks(verb)
        if lacks:
            self.verbs[verb] = Tried(verb, NOT_OFFERED, lacks)
            return
        why = self._play_until(lambda script: _sends(script, verb), lambda: verb in self.verbs, verb)
        self.verbs.setdefault(verb, Tried(verb, NOT_REACHED, why))

    def _lacks(self, verb: str) -> str:
        need = self.bench.family.vocabulary.need_of(verb)
        return unmet(self.bench.family, need, self.bench.handshake) if need else ""

    def _play_until(self, fits: Callable[[Script], bool], is_done: Callable[[], bool], verb: str = "") -> str:
        """Run some scripts that fit, the shortest first; returns the reason if none of them is enough."""
        scripts = [one for one in _scripts(self.bench.family.name) if fits(one)]
        for script in [
            one for one in scripts if not applicable(self.bench.family, one, self.bench.handshake)
        ][:TRIES]:
            if is_done():
                return ""
            if self.silent:
                return f"{self.silent} has no answer"
            self._play(script, _settled(play(script)) if verb == "settle" else play(script))
            if self.is_stopped:
                break
        if self.broken:
            return f"{next(iter(self.broken))} broke before"
        faults = [one.what for one in self.verbs.values() if one.state == FAILS]
        if faults:
            return f"{', '.join(faults)} does not work"
        whys = (applicable(self.bench.family, one, self.bench.handshake) for one in scripts)
        return next((why for why in whys if why), NO_SCRIPT)

    def _play(self, script: Script, schedule: Schedule) -> None:
        self.is_stopped = True
        session = self._played(script, schedule)
        if session is None:
            return
        self.bench.enter(session, self.tally)
        for clause, found in self.tally.found.items():
            self.broken.setdefault(clause, found.violation.reason)
        self.is_stopped = session.violation is not None
        for raised in exceptions_of(session.trace):
            self.is_stopped = True
            verb = raised.stimulus
            self.verbs[verb] = Tried(verb, FAILS, raised.what, "adapter")
        for verb in self.asked:
            self.verbs.setdefault(verb, Tried(verb, WORKS))

    def _played(self, script: Script, schedule: Schedule) -> Session | None:
        """The session of a script; what fails is sent once more, unless it took too long."""
        failed: RunlockError | None = None
        while True:
            self.asked.clear()
            try:
                session = self.bench.session(script.scenario)
                schedule(session)
            except RunlockError as error:
                if failed is None and not isinstance(error, TimedOut):
                    failed = error
                    self._renewed(error)
                    continue
                self.bench.ledger.lasting(error, failed)
                self._failed(error)
                return None
            if failed is not None:
                self.bench.ledger.recovered(failed)
            return session

    def _failed(self, error: RunlockError) -> None:
        verb = self.asked[-1]
        for earlier in self.asked[:-1]:
            self.verbs.setdefault(earlier, Tried(earlier, WORKS))
        self.verbs[verb] = _fault(verb, error)
        if isinstance(error, TimedOut):
            self.silent = verb
        self._renewed(error)

    # -- gates and observations

    def _try_gate(self, gate: str) -> Tried:
        need = f"gate {gate}"
        why = self._play_until(lambda script: need in script.needs, lambda: self.tally.shown[need] > 0)
        if self.tally.shown[need]:
            return Tried(gate, WORKS)
        if why != NO_SCRIPT:
            return Tried(gate, NOT_REACHED, why)
        return Tried(gate, FAILS, "the handshake names it, and it was never opened.", "adapter")

    def _seen(self, kind: str) -> Tried:
        need = f"observes {kind}"
        self._play_until(lambda script: need in script.needs, lambda: self.tally.shown[need] > 0)
        shown = self.tally.shown[need]
        return Tried(kind, WORKS) if shown else Tried(kind, NOT_REACHED, "none was shown here")

    # -- verbs that no script sends

    def _optional(self, verb: str, params: dict[str, Any]) -> Tried:
        if self.silent:
            return Tried(verb, NOT_REACHED, f"{self.silent} has no answer")
        try:
            with self._beginning() if verb == "inspect" else nullcontext():
                answer = self.bench.sut.request(verb, params)
            if verb == "inspect":
                fitted(
                    self.bench.family.vocabulary.snapshot, answer, "The answer to inspect", "inspect.answer"
                )
        except ProtocolError as error:
            with suppress(RunlockError):
                self.bench.restart()
            if error.code in (UNSUPPORTED, METHOD_NOT_FOUND):
                return Tried(verb, NOT_OFFERED, "it is optional")
            return Tried(verb, FAILS, f"The adapter answered {verb} with error {error.code}.", "adapter")
        except RunlockError as error:
            blamed = self.asked[-1]
            self.bench.ledger.lasting(error)
            self._renewed(error)
            if blamed != verb:
                return Tried(verb, NOT_REACHED, f"{blamed} does not work")
            return _fault(verb, error)
        return Tried(verb, WORKS)

    @contextmanager
    def _beginning(self) -> Iterator[None]:
        """A scenario in which a run has started."""
        session = self.bench.session(self.bench.scenarios[0])
        session.send(Move("run.start", {"run": "r1", "input": "hello"}))
        yield
        session.close()

    def _renewed(self, error: RunlockError) -> None:
        with suppress(RunlockError):  # it does not even restart: the next script will report it
            self.bench.renew(error)


def verbs_of(family: Family) -> list[str]:
    """The verbs that scripts send: first those that are needed for others."""
    sent = [verb for verb in family.vocabulary.methods if verb not in NOT_SENT]
    return sorted(sent, key=lambda verb: (verb not in FIRST, verb in LAST))


def _in_order(stimuli: Sequence[str]) -> tuple[str, ...]:
    return ("initialize", "scenario.open", *stimuli, "inspect", "scenario.close", "shutdown")


@cache
def _scripts(family: str) -> tuple[Script, ...]:
    """The corpus, the shortest scripts first."""
    return tuple(sorted(corpus(family_named(family)), key=lambda script: len(script.moves)))


def _fault(verb: str, error: RunlockError) -> Tried:
    return Tried(verb, FAILS, str(error), error.blame)


def _sends(script: Script, verb: str) -> bool:
    if verb in ("scenario.open", "scenario.close", "settle"):
        return True  # each starts, ends, and settles
    sent = {method for move in script.moves for method in (move.method, *(part for part, _ in move.parts()))}
    return (CRASH_AND_RECOVER if verb in ("crash", "recover") else verb) in sent


def _settled(schedule: Schedule) -> Schedule:
    """The schedule, followed by an inspection of the settled run."""

    def settled(session: Session) -> None:
        session.send(Move("run.start", {"run": "r0", "input": "hello"}))
        session.send(Move("settle", {}))
        session.drain()
        if "run.again" in session.handshake.stimuli:
            schedule(session)
        else:
            session.close()

    return settled


def _weaknesses(bench: Bench) -> Iterator[tuple[str, list[str]]]:
    """What the handshake leaves out, and the clauses that this leaves untested, the most expensive first."""
    costs: dict[str, list[str]] = {}
    for clause, standing in bench.standings.items():
        is_core = standing.verdict == "not-applicable" and standing.why.startswith("the profile core")
        why = standing.why or out_of_reach(bench.family, clause, bench.handshake)
        if why and (not standing.offered or is_core or standing.is_judged):
            costs.setdefault(why, []).append(clause)
    yield from sorted(costs.items(), key=lambda pair: (-len(pair[1]), pair[0]))
