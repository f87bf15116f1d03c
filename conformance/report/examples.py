"""Examples of a clause: a legal one on a reference, and illegal ones on mutants, all played now."""

from __future__ import annotations

import re
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
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.mutants import Mutant
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.families.lifecycle.wording import shown
from runlock.conformance.protocol import Scenario
from runlock.conformance.report.clause_names import seen_by
from runlock.conformance.selftest.witnesses import innocent, mutants_of, replay, witnesses
from runlock.conformance.text import plain
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace
from runlock.diagrams.lifecycle.timeline import timeline
from runlock.spec.model import Clause, load_spec

TOLD_BY_THE_TIMELINE: Final = ("gate.open", "gate.closed", "run.status", "call.status", "run.finished")
SENT: Final = ("tools ", "outcome ", "stimulus ", "hook ", "stream ", "gate ")
"""Needs that a script meets by what it sends."""

SEEN_MAX: Final = 8
"""So many observations of the last step are listed at most."""


@dataclass(frozen=True, slots=True)
class Example:
    """A trace that shows a clause at its last step, where it comes from, and why it is wrong if it is."""

    source: str
    target: str
    trace: Trace
    because: str = ""

    def seen(self, clause: Clause) -> list[str]:
        """What the last step showed that a timeline leaves out and the clause is about."""
        kinds = {need.removeprefix("observes ") for need in clause.needs} | seen_by(clause.id)
        told = [
            plain(shown(record["observation"]))
            for record in _last_step(self.trace)
            if _is_telling(record.get("observation"), kinds)
        ]
        return told if len(told) <= SEEN_MAX else ["…", *told[-SEEN_MAX:]]

    def as_json(self, clause: Clause) -> dict[str, Any]:
        """The example for a machine."""
        rows = [
            {"calls": dict(row.calls), "run": row.run, "happened": row.happened}
            for row in timeline(self.trace)
        ]
        return {
            "source": self.source,
            "target": self.target,
            "because": self.because or None,
            "timeline": rows,
            "seen": self.seen(clause),
        }


def _is_telling(seen: Mapping[str, Any] | None, kinds: set[str]) -> bool:
    return seen is not None and seen["kind"] in kinds and seen["kind"] not in TOLD_BY_THE_TIMELINE


def _last_step(trace: Trace) -> list[dict[str, Any]]:
    starts = [at for at, record in enumerate(trace.records) if "stimulus" in record]
    return trace.records[starts[-1] :] if starts else []


# --- the legal one ------------------------------------------------------------------------------


def legal(clause: Clause) -> Example | None:
    """The shortest script of the corpus that exercises a clause on a reference; else a witness of a mutant.

    On the reference, the schedule that gives a mutant away shows what is right in its place.
    """
    return next(chain(_scripted(clause), _of_witnesses(clause)), None)


def _scripted(clause: Clause) -> Iterator[Example]:
    """The shortest of the corpus on the first profile that has one, those first that are to the point."""
    for profile in (one for one in _references() if one in profiles_of(clause)):
        found = {
            (*_off_the_point(script, clause), *_length(trace)): Example(
                script.name, f"reference:{profile}", trace
            )
            for script, scene in reversed(_corpus_on(profile))
            if (trace := scene.up_to(clause.id)) is not None
        }
        if found:
            yield found[min(found)]
            return


def _off_the_point(script: Script, clause: Clause) -> tuple[bool, int]:
    """Whether a script is about something else, and how much it lacks of what the clause needs."""
    lacking = [need for need in clause.needs if need.startswith(SENT) and need not in script.needs]
    return clause.id not in clauses_of(script), len(lacking)


def clauses_of(script: Script) -> list[str]:
    """The clauses that the comment at the top of a script names."""
    return re.findall(r"\b[A-Z]+-[1-9][0-9]*\b", script.about)


def _length(trace: Trace) -> tuple[int, int]:
    """Fewer steps before less that happens on them."""
    return len(trace.stimuli), len(trace.records)


def _of_witnesses(clause: Clause) -> Iterator[Example]:
    for mutant in mutants_of(clause.id):
        witness = witnesses().get(mutant.name)
        if witness is None:
            continue
        bench = Bench(lambda mutant=mutant: Hosted(innocent(mutant)))  # type: ignore[misc]
        trace = _played(bench, witness.scenario, witness.moves).up_to(clause.id)
        bench.close()
        if trace is not None:
            yield Example(f"the witness of {mutant.name}", f"reference:{mutant.profile}", trace)
            return


@dataclass(frozen=True, slots=True)
class Scene:
    """A schedule as it was played, and after how many records each clause was exercised first."""

    trace: Trace
    first: Mapping[str, int]

    def up_to(self, clause: str) -> Trace | None:
        """The trace up to the step that exercised a clause, if one did."""
        return Trace(self.trace.records[: self.first[clause]]) if clause in self.first else None


@cache
def _corpus_on(profile: str) -> list[tuple[Script, Scene]]:
    bench = Bench(lambda: Hosted(factory(profile)))
    fitting = [one for one in corpus(FAMILY) if not applicable(FAMILY, one, bench.handshake)]
    scenes = [(one, _played(bench, one.scenario, one.moves)) for one in fitting]
    bench.close()
    return scenes


def _played(bench: Bench, scenario: Scenario, moves: Sequence[Move]) -> Scene:
    """A schedule and then whatever the run still waits for, as far as nothing is broken."""
    session = bench.session(scenario)
    first: dict[str, int] = {}
    for move in moves:
        send(session, move)
        _note(session, first)
    session.drain()
    _note(session, first)
    session.close()
    return Scene(session.trace, first)


def _note(session: Session, first: dict[str, int]) -> None:
    if session.violation is None:
        for clause in session.judge.exercised:
            first.setdefault(clause, len(session.trace.records))


def _references() -> list[str]:
    """The profiles that settle enough for there to be a reference, the plainest first."""
    return [one.name for one in load_spec().profiles.values() if one.policies]


def profiles_of(clause: Clause) -> list[str]:
    """The profiles of the sources under which a clause applies."""
    spec = load_spec()
    return [
        one.name
        for one in spec.profiles.values()
        if one.policies and all(_has(one.policies, key, values) for key, values in clause.applies.items())
    ]


def _has(policies: Mapping[str, Any], key: str, values: list[str]) -> bool:
    """Whether a profile takes one of the values, or leaves it open, so that a runtime of it may."""
    if key not in policies:
        return True
    declared = policies[key]
    return bool(set(declared if isinstance(declared, list) else [declared]) & set(values))


# --- the illegal ones ---------------------------------------------------------------------------


def illegal(clause: Clause) -> Example | None:
    """The shortest of the witnesses of the mutants that are blamed on a clause."""
    found = [one for mutant in mutants_of(clause.id) if (one := example_of(mutant)) is not None]
    return min(found, key=lambda one: _length(one.trace), default=None)


def example_of(mutant: Mutant) -> Example | None:
    """The witness of one mutant, replayed."""
    witness = witnesses().get(mutant.name)
    if witness is None:
        return None
    return Example(mutant.name, f"mutant:{mutant.name}", replay(mutant, witness).trace, witness.reason)
