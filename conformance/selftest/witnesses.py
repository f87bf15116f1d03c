"""Witnesses: for each mutant the shortest known schedule that breaks its clause.

They are stored as moves alone, in the files that `trace/witness_file.py` describes; `replay` gives the trace.
The search plays the whole corpus, then random walks from fixed seeds.  It shrinks what it finds, as long as
the reference breaks nothing on the same schedule.  It is deterministic, so the files can be rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

from runlock.conformance.driving.bench import Bench, Schedule
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shrink import shrink
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import (
    applicable,
    corpus,
    play,
    witness_files,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import RunlockError
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.families.lifecycle.requirements import occasions_of
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.judging.judge import Violation
from runlock.conformance.trace.moves import Move, moves_of, record_of
from runlock.conformance.trace.trace import Trace
from runlock.conformance.trace.witness_file import Witness

WALKS_MAX: Final = 400
SEED: Final = 1

BY_COMPARISON: Final = frozenset({"RUN-29"})
"""Clauses that no schedule breaks by itself: only two of them, compared, show that something is wrong."""

OUT_OF_REACH: Final = frozenset({"AsksAgainWhileItWaits", "JudgesBesideABatch", "ReturnsAtAFailure"})
"""Mutants that take longer walks than are searched here, so that they have no witness yet."""


def witnesses() -> Mapping[str, Witness]:
    """The stored witnesses, by the names of their mutants."""
    return witness_files(FAMILY)


def replay(mutant: Mutant, witness: Witness) -> Session:
    """The closed session of a witness on its mutant."""
    bench = Bench(lambda: Hosted(mutant))
    try:
        session = bench.session(witness.scenario)
        session.play(witness.moves)
        session.close()
        return session
    finally:
        bench.close()


def witnessed() -> list[Mutant]:
    """The mutants that one schedule gives away, each of which has a file."""
    return [one for one in MUTANTS if one.clause not in BY_COMPARISON and one.name not in OUT_OF_REACH]


def mutants_of(clause: str) -> list[Mutant]:
    """The mutants that are blamed on a clause."""
    return [mutant for mutant in MUTANTS if mutant.clause == clause]


def fault_of(mutant: Mutant) -> str:
    """What a mutant does wrong, in one sentence."""
    return " ".join((mutant.make.__doc__ or mutant.name).partition("\n\n")[0].split())


# --- searching ----------------------------------------------------------------------------------


class Case:
    """A mutant on the bench, next to the reference that it was made from."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.bench = Bench(lambda: Hosted(mutant))
        self.reference = Bench(lambda: Hosted(innocent(mutant)))

    def close(self) -> None:
        """Give both benches back."""
        self.bench.close()
        self.reference.close()

    def shown(self, scenario: Scenario, moves: Sequence[Move]) -> Session | None:
        """The session of these moves, if they give away the mutant, and the mutant alone."""
        session = _played(self.bench, scenario, moves)
        if session is None or not self.is_blamed(session.violation):
            return None
        passed = _played(self.reference, scenario, session.sent, to_the_end=True)
        return session if passed is not None and passed.violation is None else None

    def is_blamed(self, violation: Violation | None) -> bool:
        """Whether the mutant broke the clause that it was made to break, and the reason says how."""
        declared = violation is not None and violation.clause == self.mutant.clause
        return declared and violation is not None and self.mutant.says in violation.because


def innocent(mutant: Mutant) -> Mutant:
    """The mutant without its fault: the reference under the same profile and policies."""
    layers = mutant.make.__mro__
    right = next(
        layer for layer in layers if layer.__module__.startswith("runlock.machines.lifecycle.runtime")
    )
    return replace(mutant, make=right)


def _played(
    bench: Bench, scenario: Scenario, moves: Sequence[Move], *, to_the_end: bool = False
) -> Session | None:
    """The session of these moves; nothing if they hold what cannot be sent."""
    try:
        session = bench.session(scenario)
        session.play(moves)
        if to_the_end:
            session.drain()
        session.close()
    except RunlockError:
        bench.renew()
        return None
    return session


def found(mutant: Mutant) -> Witness | None:
    """The witness that a search finds, if it finds one."""
    with closing(Case(mutant)) as case:
        shows = next((one for one in _found(case) if case.shown(*one) is not None), None)
        return None if shows is None else _witness(case, *shows)


def shortest(mutant: Mutant, scenario: Scenario, moves: Sequence[Move]) -> Witness | None:
    """The witness that these moves shrink to; None if they show nothing."""
    with closing(Case(mutant)) as case:
        return None if case.shown(scenario, moves) is None else _witness(case, scenario, moves)


def _found(case: Case) -> Iterator[tuple[Scenario, Sequence[Move]]]:
    """Schedules that break the clause: those of the corpus, the shortest first, then those of walks."""
    for script in sorted(corpus(FAMILY), key=lambda one: (len(one.moves), one.name)):
        if applicable(FAMILY, script, case.bench.handshake):
            continue
        if (one := _tried(case, script.scenario, play(script))) is not None:
            yield one
    for scenario, schedule in _walks(case.bench):
        if (one := _tried(case, scenario, schedule)) is not None:
            yield one


def _walks(bench: Bench) -> Iterator[tuple[Scenario, Schedule]]:
    for index in range(WALKS_MAX):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        yield scenario, lambda session, index=index: walk(session, Seeded(SEED, index))  # type: ignore[misc]


def _tried(case: Case, scenario: Scenario, schedule: Schedule) -> tuple[Scenario, Sequence[Move]] | None:
    """What a schedule came to, if it gives the mutant away."""
    tally = Tally()
    case.bench.play(scenario, schedule, tally)
    found = tally.found.get(case.mutant.clause)
    return (scenario, found.moves) if found is not None and case.is_blamed(found.violation) else None


# --- shortening ---------------------------------------------------------------------------------


def shortened(case: Case, scenario: Scenario, moves: Sequence[Move]) -> tuple[Scenario, Sequence[Move]]:
    """The scenario and the moves without all that the mutant is given away without."""

    def sent(candidate: Sequence[Move]) -> Sequence[Move] | None:
        session = case.shown(scenario, candidate)
        return None if session is None else session.sent

    shortest = shrink(moves, sent)
    barest = _bared(case, scenario, shortest)
    return (barest, shortest) if barest == scenario else shortened(case, barest, shortest)


def _bared(case: Case, scenario: Scenario, moves: Sequence[Move]) -> Scenario:
    """The scenario without the tools that no move names, and without all else that it does without."""
    asked = str([move.params for move in moves])
    used = [tool for tool in scenario.tools if repr(tool.name) in asked]
    scenario = scenario.model_copy(update={"tools": used})
    for part in ("stop", "hold", "hooks"):
        at = 0
        while at < len(_parts(scenario, part)):
            barer = _without(scenario, part, at)
            scenario, at = (barer, at) if case.shown(barer, moves) is not None else (scenario, at + 1)
    return scenario


def _parts(scenario: Scenario, part: str) -> list[Any]:
    return list(getattr(scenario.agent if part == "stop" else scenario, part))


def _without(scenario: Scenario, part: str, at: int) -> Scenario:
    kept = [one for index, one in enumerate(_parts(scenario, part)) if index != at]
    if part == "stop":
        return scenario.model_copy(update={"agent": scenario.agent.model_copy(update={"stop": kept})})
    return scenario.model_copy(update={part: kept})


# --- the result ---------------------------------------------------------------------------------


def _witness(case: Case, scenario: Scenario, moves: Sequence[Move]) -> Witness:
    named = scenario.model_copy(update={"scenario": case.mutant.name})
    session = case.shown(*shortened(case, named, moves))
    assert session is not None and session.violation is not None  # it was shown on the way here
    records = session.trace.records
    return Witness(
        case.mutant.name,
        case.mutant.clause,
        session.violation.because,
        session.scenario,
        tuple(moves_of(Trace([record_of(move) for move in session.sent]), FAMILY.line_formats.gate_name)),
        tuple(dict.fromkeys(occasions_of(records))),
    )
