"""What each part of the judge is worth: how many planted mutants are seen by less than all of it.

    python tests/benchmarks/ablation.py [WALKS] [EVERY]

One of EVERY mutants (1) is played once through the corpus and a number of walks (10), with
no one judging; the same traces then go to five judges, each of which asks more than the one before.  A mutant
is seen by a judge that objects to one of its traces, whatever clause is blamed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase

from verdicts import judged

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.errors import RunlockError
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.families.lifecycle.mutants import MUTANTS, Mutant
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.judging.judge import Judge
from runlock.conformance.trace.trace import Trace

LEGALITY = (
    "CALL-17", "CALL-18", "CALL-19", "CALL-20", "CALL-21", "RUN-14", "RUN-15", "RUN-16", "RUN-17",
    "RESUME-20", "STREAM-20", "PHASE-20", "PHASE-70", "PHASE-71", "PHASE-72", "FLOW-40", "DECIDE-50",
)  # fmt: skip
"""Clauses that close a chart: whatever moves, moves along an arrow."""

CONTINUITY = ("CALL-22", "RUN-19", "STORE-1", "PHASE-85")
"""What is said next begins where the last report ended."""

DERIVE = ("DERIVE-*", "RUN-1", "RUN-2", "RUN-22", "RUN-23", "RUN-30", "CALL-24")
"""The status of a run follows from its calls."""

AT_REST = frozenset(check.clause for check in INVARIANTS if check.seeing is None)
"""Clauses that are asked about a runtime at rest: what was due has come."""


def matching(patterns: tuple[str, ...]) -> frozenset[str]:
    """The clauses that are meant."""
    return frozenset(clause for clause in FAMILY.checked if any(fnmatchcase(clause, one) for one in patterns))


LEVELS: dict[str, frozenset[str]] = {
    "arrow legality alone": matching(LEGALITY),
    "+ continuity": matching(LEGALITY + CONTINUITY),
    "+ derived status": matching(LEGALITY + CONTINUITY + DERIVE),
    "+ attribution": (FAMILY.checked - AT_REST) | matching(LEGALITY + CONTINUITY + DERIVE),
    "+ quiescence": frozenset(FAMILY.checked),
}
"""Each level with the clauses that are asked; attribution is who did what, with which decision and result."""


def traces(bench: Bench, walks: int) -> Iterator[Trace]:
    """What a runtime shows with no one judging; what breaks the conversation is left out."""
    bench.applies = dict.fromkeys(bench.applies, False)
    scripts = [script for script in corpus(FAMILY) if not applicable(FAMILY, script, bench.handshake)]
    plays = [(script.scenario, play(script)) for script in scripts]
    for index in range(walks):
        scenario = bench.scenarios[index % len(bench.scenarios)]
        plays.append((scenario, lambda session, index=index: walk(session, Seeded(1, index))))
    for scenario, schedule in plays:
        try:
            session = bench.session(scenario)
            schedule(session)
        except RunlockError:
            bench.renew()
            continue
        yield session.trace


def seen_by(mutant: Mutant, walks: int) -> set[str]:
    """The levels that object to the mutant."""
    bench = Bench(lambda: Hosted(mutant))
    asked = {
        level: {clause: applies and clause in clauses for clause, applies in bench.applies.items()}
        for level, clauses in LEVELS.items()
    }
    found: set[str] = set()
    for trace in traces(bench, walks):
        for level in LEVELS.keys() - found:
            if objects(bench, trace, asked[level]):
                found.add(level)
        if len(found) == len(LEVELS):
            break
    return found


def objects(bench: Bench, trace: Trace, asked: dict[str, bool]) -> bool:
    """Whether a judge that asks these clauses objects to a trace."""
    scenario = Scenario.model_validate(next(trace.of("scenario")))
    judge = Judge(FAMILY, bench.handshake, bench.policies, scenario, asked)
    return judged(judge, FAMILY, trace).violation is not None


def main(walks: int = 10, every: int = 1) -> None:
    """Print the table."""
    mutants = MUTANTS[::every]
    seen = [seen_by(mutant, walks) for mutant in mutants]
    print(
        f"{len(mutants)} planted mutants, the corpus and {walks} walks each; {len(FAMILY.checked)} clauses\n"
    )
    print("| what is asked | clauses | mutants seen | share |\n|---|--:|--:|--:|")
    for level, clauses in LEVELS.items():
        count = sum(level in levels for levels in seen)
        print(f"| {level} | {len(clauses)} | {count} | {count / len(mutants):.1%} |")
    never = [mutant.name for mutant, levels in zip(mutants, seen, strict=True) if not levels]
    print("\nSeen by none within these schedules:", ", ".join(never) or "none")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
