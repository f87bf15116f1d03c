"""Witnesses: for each mutant the shortest known schedule that breaks its clause.

They are stored as moves only, in the files that `trace/witness_file.py` describes; `replay` gives the trace.
The search runs the whole corpus, then random walks from fixed seeds.  It shrinks what it finds, as long as
the reference breaks nothing on the same schedule.  It is deterministic, so the files can be rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Final

from runlock.conformance.driving.bench import Bench, Schedule
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shrink import minimal
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import (
    applicable,
    corpus,
    play,
    witness_files,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import RunlockError
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.family import Family
from runlock.conformance.family.made import Mutant, is_said
from runlock.conformance.judging.judge import Violation
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import Move, moves_of, record_of
from runlock.conformance.trace.trace import Trace
from runlock.conformance.trace.witness_file import Witness

WALKS_MAX: Final = 400
SEED: Final = 1


def witnesses(family: Family) -> Mapping[str, Witness]:
    """The stored witnesses, by the names of their mutants."""
    return witness_files(family)


def replay(family: Family, mutant: Mutant, witness: Witness) -> Session:
    """The closed session of a witness on its mutant."""
    bench = Bench(lambda: family.host(mutant))
    try:
        session = bench.session(witness.scenario)
        session.play(witness.moves)
        session.close()
        return session
    finally:
        bench.close()


def witnessed(family: Family) -> list[Mutant]:
    """The mutants that a schedule reveals, each of which has a stored witness.

    A clause that is checked by comparison needs two schedules, so a single one cannot reveal it.
    """
    return [one for one in family.made.mutants().values() if one.clause != family.judging.determinism]


def mutants_of(family: Family, clause: str) -> list[Mutant]:
    """The mutants that are blamed on a clause."""
    return [mutant for mutant in family.made.mutants().values() if mutant.clause == clause]


# --- searching ----------------------------------------------------------------------------------


class Case:
    """A mutant on the bench, and the reference that it was made from."""

    def __init__(self, family: Family, mutant: Mutant) -> None:
        self.family = family
        self.mutant = mutant
        self.bench = Bench(lambda: family.host(mutant))
        self.reference = Bench(lambda: family.host(mutant.innocent()))

    def close(self) -> None:
        """Release both benches."""
        self.bench.close()
        self.reference.close()

    def shown(self, scenario: Scenario, moves: Sequence[Move]) -> Session | None:
        """The session of these moves, if they reveal the mutant, and only the mutant."""
        session = _played(self.bench, scenario, moves)
        if session is None or not self.is_blamed(session.violation):
            return None
        passed = _played(self.reference, scenario, session.sent, to_the_end=True)
        return session if passed is not None and passed.violation is None else None

    def is_blamed(self, violation: Violation | None) -> bool:
        """Whether the mutant broke its clause, for the expected reason."""
        declared = violation is not None and violation.clause == self.mutant.clause
        return declared and violation is not None and is_said(self.mutant, violation.reason)


def _played(
    bench: Bench, scenario: Scenario, moves: Sequence[Move], *, to_the_end: bool = False
) -> Session | None:
    """The session of these moves; None if one of them cannot be sent."""
    try:
        session = bench.session(scenario)
        session.play(moves)
        if to_the_end:
            session.drain()
        session.close()
    except RunlockError as error:
        bench.renew(error)
        return None
    return session


def found(family: Family, mutant: Mutant) -> Witness | None:
    """The witness that a search finds, or None."""
    with closing(Case(family, mutant)) as case:
        shows = next((one for one in _found(case) if case.shown(*one) is not None), None)
        return None if shows is None else _witness(case, *shows)


def shortest(family: Family, mutant: Mutant, scenario: Scenario, moves: Sequence[Move]) -> Witness | None:
    """The witness that these moves shrink to; None if they show nothing."""
    with closing(Case(family, mutant)) as case:
        return None if case.shown(scenario, moves) is None else _witness(case, scenario, moves)


def _found(case: Case) -> Iterator[tuple[Scenario, Sequence[Move]]]:
    """Schedules that break the clause: of the corpus, the shortest first, of random walks, and as stored."""
    for script in sorted(corpus(case.family), key=lambda one: (len(one.moves), one.name)):
        if applicable(case.family, script, case.bench.handshake):
            continue
        if (one := _tried(case, script.scenario, play(script))) is not None:
            yield one
    for scenario, schedule in _walks(case.bench):
        if (one := _tried(case, scenario, schedule)) is not None:
            yield one
    if (stored := witnesses(case.family).get(case.mutant.name)) is not None:
        yield stored.scenario, stored.moves


def _walks(bench: Bench) -> Iterator[tuple[Scenario, Schedule]]:
    for index in range(WALKS_MAX):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        yield scenario, lambda session, index=index: walk(session, Seeded(SEED, index))  # type: ignore[misc]


def _tried(case: Case, scenario: Scenario, schedule: Schedule) -> tuple[Scenario, Sequence[Move]] | None:
    """The session of a schedule, if it reveals the mutant."""
    tally = Tally()
    case.bench.play(scenario, schedule, tally)
    found = tally.found.get(case.mutant.clause)
    return (scenario, found.moves) if found is not None and case.is_blamed(found.violation) else None


# --- shortening ---------------------------------------------------------------------------------


def shortened(case: Case, scenario: Scenario, moves: Sequence[Move]) -> tuple[Scenario, Sequence[Move]]:
    """The scenario and the moves without everything that is not needed to reveal the mutant."""

    def sent(scenario: Scenario, candidate: Sequence[Move]) -> Sequence[Move] | None:
        session = case.shown(scenario, candidate)
        return None if session is None else session.sent

    return minimal(scenario, moves, sent, case.family.driving.bare)


# --- the result ---------------------------------------------------------------------------------


def _witness(case: Case, scenario: Scenario, moves: Sequence[Move]) -> Witness:
    named = scenario.model_copy(update={"scenario": case.mutant.name})
    session = case.shown(*shortened(case, named, moves))
    assert session is not None and session.violation is not None  # it was shown on the way here
    records = session.trace.records
    return Witness(
        case.mutant.name,
        case.mutant.clause,
        session.violation.reason,
        session.scenario,
        tuple(
            moves_of(Trace([record_of(move) for move in session.sent]), case.family.line_formats.gate_name)
        ),
        tuple(dict.fromkeys(case.family.fitting.occasions(records))),
    )
