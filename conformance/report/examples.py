"""Examples of a clause: a legal one on a reference, and illegal ones on mutants, all run on demand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Final

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.strategies.scripted import (
    Script,
    applicable,
    corpus,
    send,
)
from runlock.conformance.family.family import Family, families, family_named
from runlock.conformance.family.made import Mutant
from runlock.conformance.family.timeline import timeline
from runlock.conformance.judging.applicability import unmet
from runlock.conformance.protocol import Handshake, Scenario
from runlock.conformance.report.clause_names import seen_by
from runlock.conformance.selftest.witnesses import mutants_of, replay, witnesses
from runlock.conformance.text import plain
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace
from runlock.spec.model import Clause

SENT: Final = ("tools ", "outcome ", "stimulus ", "hook ", "stream ", "gate ")
"""Needs that a script fulfils by what it sends."""

SEEN_MAX: Final = 8
"""Maximum observations of the last step that are listed."""


@dataclass(frozen=True, slots=True)
class Example:
    """A trace that shows a clause at its last step, its source, and the reason if it is illegal."""

    family: Family
    source: str
    target: str
    trace: Trace
    because: str = ""

    def seen(self, clause: Clause) -> list[str]:
        """The observations of the last step that the clause is about and a timeline leaves out."""
        kinds = {need.removeprefix("observes ") for need in clause.needs} | seen_by(self.family, clause.id)
        told = [
            plain(self.family.wording.observation(record["observation"]))
            for record in _last_step(self.trace)
            if _is_telling(record.get("observation"), kinds - set(self.family.wording.in_timeline))
        ]
        return told if len(told) <= SEEN_MAX else ["…", *told[-SEEN_MAX:]]

    def as_json(self, clause: Clause) -> dict[str, Any]:
        """The example for JSON."""
        rows = [
            {"calls": dict(row.calls), "run": row.run, "happened": row.happened}
            for row in timeline(self.family, self.trace)
        ]
        return {
            "source": self.source,
            "target": self.target,
            "because": self.because or None,
            "timeline": rows,
            "seen": self.seen(clause),
        }


def _is_telling(seen: Mapping[str, Any] | None, kinds: set[str]) -> bool:
    return seen is not None and seen["kind"] in kinds


def _last_step(trace: Trace) -> list[dict[str, Any]]:
    starts = [at for at, record in enumerate(trace.records) if "stimulus" in record]
    return trace.records[starts[-1] :] if starts else []


# --- the legal one ------------------------------------------------------------------------------


def legal(family: Family, clause: Clause) -> Example | None:
    """The shortest script that names and exercises a clause; else a witness of a mutant, or any other script.

    On the reference, the schedule that reveals a mutant shows the correct behaviour.
    """
    naming, others = _divided(family, clause)
    ways = (
        _scripted(family, clause, naming),
        _of_witnesses(family, clause),
        _scripted(family, clause, others),
    )
    return next(chain(*ways), None)


def _scripted(family: Family, clause: Clause, scripts: Sequence[Script]) -> Iterator[Example]:
    """The shortest of these scripts on the first profile on which one exercises the clause."""
    for profile in (one for one in profiles_of(family, clause) if _offers(family, one, clause)):
        found = {
            (_lacking(script, clause), *_length(trace)): Example(
                family, script.name, f"reference:{profile}", trace
            )
            for script in scripts
            if (scene := _scene(family.name, profile, script.name)) is not None
            and (trace := scene.up_to(clause.id)) is not None
        }
        if found:
            yield found[min(found)]
            return


def _divided(family: Family, clause: Clause) -> tuple[list[Script], list[Script]]:
    """The corpus backwards: the scripts that name a clause, and the others."""
    divided: tuple[list[Script], list[Script]] = ([], [])
    for script in reversed(corpus(family)):
        divided[clause.id not in clauses_of(script)].append(script)
    return divided


def _lacking(script: Script, clause: Clause) -> int:
    """How many of the needs that a script can fulfil for the clause it does not."""
    return len([need for need in clause.needs if need.startswith(SENT) and need not in script.needs])


def clauses_of(script: Script) -> list[str]:
    """The clauses that the comment at the top of a script names."""
    return re.findall(r"\b[A-Z]+-[1-9][0-9]*\b", script.about)


def _length(trace: Trace) -> tuple[int, int]:
    """Order by the number of steps, then by the number of observations."""
    return len(trace.stimuli), len(trace.records)


def _of_witnesses(family: Family, clause: Clause) -> Iterator[Example]:
    for mutant in mutants_of(family, clause.id):
        witness = witnesses(family).get(mutant.name)
        if witness is None:
            continue
        bench = Bench(lambda mutant=mutant: family.host(mutant.innocent()))  # type: ignore[misc]
        trace = _played(bench, witness.scenario, witness.moves).up_to(clause.id)
        bench.close()
        if trace is not None:
            yield Example(family, f"the witness of {mutant.name}", f"reference:{mutant.profile}", trace)
            return


@dataclass(frozen=True, slots=True)
class Scene:
    """A schedule as it was run, with the number of records before each clause was first exercised."""

    trace: Trace
    first: Mapping[str, int]

    def up_to(self, clause: str) -> Trace | None:
        """The trace up to the step that exercised a clause, if one did."""
        return Trace(self.trace.records[: self.first[clause]]) if clause in self.first else None


@cache
def _scene(name: str, profile: str, script: str) -> Scene | None:
    """A script of the corpus on the reference of a profile, unless the profile rules it out."""
    family = family_named(name)
    (chosen,) = (one for one in corpus(family) if one.name == script)
    bench = Bench(lambda: family.host(family.made.reference(profile, {})))
    try:
        ruled_out = applicable(family, chosen, bench.handshake)
        return None if ruled_out else _played(bench, chosen.scenario, chosen.moves)
    finally:
        bench.close()


def _played(bench: Bench, scenario: Scenario, moves: Sequence[Move]) -> Scene:
    """A schedule, continued until the run waits for nothing, unless a clause breaks."""
    session = bench.session(scenario)
    first: dict[str, int] = {}
    for move in moves:
        send(session, move)
        _note(session, first)
    session.drain()
    _note(session, first)
    session.close()
    _note(session, first)
    return Scene(session.trace, first)


def _note(session: Session, first: dict[str, int]) -> None:
    if session.violation is None:
        for clause in session.judge.exercised:
            first.setdefault(clause, len(session.trace.records))


def _offers(family: Family, profile: str, clause: Clause) -> bool:
    """Whether the reference of a profile offers what the clause needs; none does what only a wire shows."""
    handshake = _handshake(family.name, profile)
    return not any(unmet(family, need, handshake) for need in clause.needs)


@cache
def _handshake(name: str, profile: str) -> Handshake:
    family = family_named(name)
    bench = Bench(lambda: family.host(family.made.reference(profile, {})))
    try:
        handshake: Handshake = bench.handshake
        return handshake
    finally:
        bench.close()


def profiles_of(family: Family, clause: Clause) -> list[str]:
    """The profiles of the sources under which a clause applies, the simplest first."""
    return [
        one.name
        for one in family.spec.profiles.values()
        if one.policies and all(_has(one.policies, key, values) for key, values in clause.applies.items())
    ]


def _has(policies: Mapping[str, Any], key: str, values: list[str]) -> bool:
    """Whether a profile has one of the values, or leaves the policy open."""
    if key not in policies:
        return True
    declared = policies[key]
    return bool(set(declared if isinstance(declared, list) else [declared]) & set(values))


# --- the illegal ones ---------------------------------------------------------------------------


def illegal(family: Family, clause: Clause) -> Example | None:
    """The shortest of the witnesses of the mutants that are blamed on a clause."""
    found = [
        one for mutant in mutants_of(family, clause.id) if (one := example_of(family, mutant)) is not None
    ]
    return min(found, key=lambda one: _length(one.trace), default=None)


def example_of(family: Family, mutant: Mutant) -> Example | None:
    """The witness of one mutant, replayed."""
    witness = witnesses(family).get(mutant.name)
    if witness is None:
        return None
    return Example(
        family, mutant.name, _target(family, mutant), _replayed(family.name, mutant.name), witness.reason
    )


@cache
def _replayed(family_name: str, name: str) -> Trace:
    """The trace of the witness of a mutant of a family; the pages of a site ask for each several times."""
    family = family_named(family_name)
    return replay(family, family.made.mutants()[name], witnesses(family)[name]).trace


def _target(family: Family, mutant: Mutant) -> str:
    """The target of a mutant, with its family where several have one of that name."""
    is_shared = mutant.name in _shared_names()
    return f"mutant:{family.name}/{mutant.name}" if is_shared else f"mutant:{mutant.name}"


@cache
def _shared_names() -> frozenset[str]:
    """The names of mutants that several families have."""
    counts = Counter(name for one in families() for name in one.made.mutants())
    return frozenset(name for name, count in counts.items() if count > 1)
