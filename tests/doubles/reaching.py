"""Derives the known schedules that reach each clause, by playing them on references that offer little.

A schedule is an occasion of a clause if the reference reaches the clause by it under every profile while it
offers no more than the schedule and the clause need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from textwrap import fill
from typing import Final

from weaker_handshakes import Offer, Reference, references_of, weakest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import (
    Script,
    applicable,
    corpus,
    known_scripts,
    play,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.family import Family
from runlock.conformance.judging.applicability import unmet


@cache
def reached(reference: Reference) -> Mapping[str, frozenset[str]]:
    """The clauses that each schedule reaches on the reference that offers everything."""
    with closing(reference.bench(reference.offer)) as bench:
        fitting = [one for one in known_scripts(reference.family).values() if fits(bench, one)]
        return {one.name: reached_by(bench, one) for one in fitting}


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


def fits(bench: Bench, script: Script) -> bool:
    """Whether a schedule fits the runtime on the bench."""
    return not applicable(bench.family, script, bench.handshake)


def reached_by(bench: Bench, script: Script) -> frozenset[str]:
    """The clauses that a schedule reaches, unless it breaks one."""
    tally = Tally()
    bench.play(bench.family.fitting.fitted(script.scenario, bench.handshake), play(script), tally)
    return frozenset() if tally.found or tally.troubles else frozenset(tally.exercised)


def occasions_of(family: Family) -> dict[str, list[str]]:
    """For each clause, the names of the schedules that reach it."""
    asked = {clause for one in references_of(family.name) for clause in one.asked}
    return {
        clause: [one.name for one in occasions_of_clause(family, clause)]
        for clause in family.spec.clauses
        if clause in asked and clause not in (family.judging.determinism, family.judging.mixing)
    }


def occasions_of_clause(family: Family, clause: str) -> list[Script]:
    """The script that reaches a clause with the fewest needs, and each schedule that can do with less."""
    under = [one for one in references_of(family.name) if clause in one.asked]
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


HEADER: Final = """\
# For each clause the schedules that reach it on any runtime that offers what they need: scripts first, then
# witnesses that need less.  Derived: `pytest -m long -k test_occasions --rewrite`.

"""


def as_file(occasions: Mapping[str, Sequence[str]]) -> str:
    """The text of `occasions.toml`."""
    lines = (fill(f"{clause} = {json.dumps(names)}", 110, subsequent_indent="  ", break_long_words=False,
                  break_on_hyphens=False) for clause, names in occasions.items())  # fmt: skip
    return HEADER + "\n".join(lines) + "\n"
