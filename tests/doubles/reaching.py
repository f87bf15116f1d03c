"""Derives the known schedules that reach each clause, by playing them on references that offer little.

A schedule is an occasion of a clause if the reference reaches the clause by it under every profile while it
offers no more than the schedule and the clause need.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from textwrap import fill
from typing import Final

from weaker_handshakes import Offer, Reference, deviations, plain_references, references_of, weakest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import fits
from runlock.conformance.driving.strategies.scripted import (
    Script,
    corpus,
    known_scripts,
    play,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.family import Family
from runlock.conformance.judging.applicability import unmet

EXERCISED: Final = (2, 1)
KILLED: Final = (4, 1)
"""What a clause and a mutant count when scripts are put in order, by how many scripts before met them."""


@cache
def reached(reference: Reference) -> Mapping[str, frozenset[str]]:
    """The clauses that each schedule reaches on the reference that offers everything."""
    with closing(reference.bench(reference.offer)) as bench:
        fitting = [one for one in known_scripts(reference.family).values() if fits(bench, one)]
        return {one.name: reached_by(bench, one) for one in fitting}


def playing_order(family: Family) -> list[str]:
    """The scripts, each the one that shows most of what those before it showed seldom.

    What a script shows is the clauses that it exercises and the mutants that it kills.
    """
    exercised = _exercised(family)
    killed = _killed(family, exercised)
    left = {name for name, some in exercised.items() if some}
    met: Counter[str] = Counter()
    order: list[str] = []

    def worth(name: str) -> int:
        return sum(
            sum(worths[met[one]] for one in shown[name] if met[one] < len(worths))
            for shown, worths in ((exercised, EXERCISED), (killed, KILLED))
        )

    while left:
        best = max(sorted(left), key=worth)
        met.update(exercised[best] | killed[best])
        left.remove(best)
        order.append(best)
    return order


def _killed(family: Family, exercised: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """The mutants that each script kills, of those whose clause it exercises."""
    found: dict[str, set[str]] = {name: set() for name in exercised}
    for name, mutant in family.made.mutants().items():
        with closing(Bench(partial(family.host, mutant))) as bench:
            bench.mute(mutant.also if mutant.is_masked else ())
            for script in corpus(family):
                if mutant.clause in exercised[script.name] and _breaks(bench, script, mutant.clause):
                    found[script.name].add(name)
    return {name: frozenset(mutants) for name, mutants in found.items()}


def _breaks(bench: Bench, script: Script, clause: str) -> bool:
    """Whether a script breaks a clause of a runtime that it fits."""
    tally = Tally()
    if fits(bench, script):
        play_fitted(bench, script, tally)
    return clause in tally.found


def _exercised(family: Family) -> Mapping[str, frozenset[str]]:
    """The clauses that each script exercises on the references."""
    played = [reached(one) for one in references_of(family.name) if not one.overrides]
    return {
        script.name: frozenset().union(*(one.get(script.name, frozenset()) for one in played))
        for script in corpus(family)
    }


@cache
def least(reference: Reference, needs: frozenset[str]) -> Offer:
    """What the reference offers at least where these needs are met."""
    needed = [need for need in sorted(needs) if not need.startswith("policy ")]

    def suffices(offer: Offer) -> bool:
        handshake = reference.handshake(offer)
        return handshake is not None and not any(unmet(reference.family, one, handshake) for one in needed)

    return weakest(reference.offer, suffices)


def is_reached(reference: Reference, clause: str, script: Script) -> bool:
    """Whether the schedule reaches the clause on the reference that offers what they need alone."""
    needs = frozenset((*script.needs, *reference.family.spec.clause(clause).needs))
    plain = replace(reference, overrides=())
    with closing(reference.bench(least(plain, needs))) as bench:
        return clause in reached_by(bench, script)


def reached_by(bench: Bench, script: Script) -> frozenset[str]:
    """The clauses that a schedule reaches, unless it breaks one."""
    tally = Tally()
    play_fitted(bench, script, tally)
    return frozenset() if tally.found or tally.troubles else frozenset(tally.exercised)


def play_fitted(bench: Bench, script: Script, tally: Tally) -> None:
    """Play a schedule in the words that the runtime offers."""
    bench.play(bench.family.fitting.fitted(script.scenario, bench.handshake), play(script), tally)


def occasions_of(family: Family) -> dict[str, list[Script]]:
    """For each clause, the schedules that reach it."""
    asked = {clause for one in references_of(family.name) for clause in one.asked}
    compared = (family.judging.determinism, family.judging.mixing)
    return {
        clause: occasions_of_clause(family, clause)
        for clause in family.spec.clauses
        if clause in asked and clause not in compared
    }


def occasions_of_clause(family: Family, clause: str) -> list[Script]:
    """The script that reaches a clause with the fewest needs, and each schedule that can do with less."""
    of_profiles = [one for one in plain_references(family.name) if clause in one.asked]
    under = of_profiles or [one for one in references_of(family.name) if clause in one.asked]
    met, scripts = set(family.spec.clause(clause).needs), corpus(family)
    kept: list[Script] = []
    for script in sorted(known_scripts(family).values(), key=lambda one: len({*one.needs} - met)):
        less = any({*one.needs} - met <= {*script.needs} for one in kept)
        is_first = script in scripts and not any(one in scripts for one in kept)
        if (is_first or not less) and _always(clause, script, under):
            kept.append(script)
    return sorted(kept, key=lambda one: one not in scripts)


def _always(clause: str, script: Script, under: Sequence[Reference]) -> bool:
    """Whether a schedule reaches a clause on each reference that it fits."""
    fitting = [one for one in under if script.name in reached(one)]
    likely = bool(fitting) and all(clause in reached(one)[script.name] for one in fitting)
    return likely and all(is_reached(one, clause, script) for one in fitting)


def play_occasions(bench: Bench, known: Mapping[str, Sequence[Script]]) -> Tally:
    """For each clause the schedules that are known to reach it, until one does; else the corpus."""
    tally = Tally()
    for clause, scripts in known.items():
        for script in scripts:
            if not tally.exercised[clause] and fits(bench, script):
                play_fitted(bench, script, tally)
    for script in corpus(bench.family) if not all(tally.exercised[clause] for clause in known) else ():
        if fits(bench, script):
            play_fitted(bench, script, tally)
    return tally


def exceptions_of(family: Family, occasions: Mapping[str, Sequence[Script]]) -> dict[str, list[str]]:
    """For each clause, the policy values under which nothing that is always played reaches it."""
    seen = {
        (clause, f"{key}={value}")
        for one in plain_references(family.name)
        for key, value in one.sent["policies"].items()
        for clause in one.asked
    }
    found: dict[str, list[str]] = {clause: [] for clause in occasions}
    for reference in deviations(family.name):
        value = "=".join(*reference.overrides)
        asked = [one for one in occasions if one in reference.asked]
        left = {clause: occasions[clause] for clause in asked if (clause, value) not in seen}
        with closing(reference.bench(reference.offer)) as bench:
            tally = play_occasions(bench, left)
        if not (tally.found or tally.troubles):  # else the reference does not do what it declares
            seen |= {(clause, value) for clause in left}
            for clause in left:
                found[clause] += [] if tally.exercised[clause] else [value]
    return {clause: values for clause, values in found.items() if values}


HEADER: Final = """\
# For each clause the schedules that reach it on any runtime that offers what they need: scripts first, then
# witnesses that need less.  Derived: `pytest -m long -k test_occasions --rewrite`.

"""
UNLESS: Final = """
# The policy values under which none of them does.
[unless]
"""


def as_file(family: Family) -> str:
    """The text of `occasions.toml`."""
    occasions = occasions_of(family)
    named = {clause: [one.name for one in scripts] for clause, scripts in occasions.items()}
    return HEADER + _rows(named) + UNLESS + _rows(exceptions_of(family, occasions))


def _rows(lists: Mapping[str, Sequence[str]]) -> str:
    rows = (f"{clause} = {json.dumps(names)}" for clause, names in lists.items())
    return "".join(
        fill(row, 110, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
        for row in rows
    )
