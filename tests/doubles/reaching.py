"""Derives the known schedules that reach each clause, by playing them on references that offer little.

A schedule is an occasion of a clause if the reference reaches the clause by it under every profile, while it
offers no more than the schedule and the clause need.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from textwrap import fill
from typing import Final

from weaker_handshakes import Offer, handshake_with, offer_of, profiles_of, weakest

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


class Profile:
    """The reference of a family under one profile."""

    def __init__(self, family: Family, name: str) -> None:
        self.family = family
        self.name = name
        self.offer = offer_of(family, name)

    def bench(self, offer: Offer) -> Bench:
        """The reference, which offers no more than this."""
        return Bench(lambda: self.family.host(self.family.made.reference(self.name, {}, offer)))

    @cached_property
    def reached(self) -> Mapping[str, frozenset[str]]:
        """The clauses that each schedule reaches on the reference that offers everything."""
        with closing(self.bench(self.offer)) as bench:
            scripts = known_scripts(self.family).values()
            return {one.name: reached_by(bench, one) for one in scripts if fits(bench, one)}

    @cached_property
    def judged(self) -> frozenset[str]:
        """The clauses that have to be reached."""
        with closing(self.bench(self.offer)) as bench:
            return frozenset(
                clause
                for clause, one in bench.standings.items()
                if one.is_judged and one.clause.level != "MAY"
            )

    def least(self, needs: Iterable[str]) -> Offer:
        """What the reference offers at least where these needs are met."""
        needed = [need for need in needs if not need.startswith("policy ")]

        def suffices(offer: Offer) -> bool:
            handshake = handshake_with(self.family, self.name, offer)
            return handshake is not None and not any(unmet(self.family, need, handshake) for need in needed)

        return weakest(self.offer, suffices)

    def is_reached(self, clause: str, script: Script) -> bool:
        """Whether the schedule reaches the clause on the reference that offers what they need alone."""
        needs = [*script.needs, *self.family.spec.clause(clause).needs]
        with closing(self.bench(self.least(needs))) as bench:
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
    """For each clause, the schedules that reach it, less those that need all that another one needs."""
    profiles = [Profile(family, name) for name in profiles_of(family)]
    return {
        clause: [one.name for one in occasions_of_clause(family, clause, profiles)]
        for clause in family.spec.clauses
        if clause != family.judging.determinism and any(clause in one.judged for one in profiles)
    }


def occasions_of_clause(family: Family, clause: str, profiles: Sequence[Profile]) -> list[Script]:
    """The script that reaches a clause with the fewest needs, and each schedule that can do with less."""
    under = [one for one in profiles if clause in one.judged]
    met, scripts = set(family.spec.clause(clause).needs), corpus(family)
    kept: list[Script] = []
    for script in sorted(known_scripts(family).values(), key=lambda one: len({*one.needs} - met)):
        less = any({*one.needs} - met <= {*script.needs} for one in kept)
        is_first = script in scripts and not any(one in scripts for one in kept)
        if (is_first or not less) and _always(clause, script, under):
            kept.append(script)
    return sorted(kept, key=lambda one: one not in scripts)


def _always(clause: str, script: Script, under: Sequence[Profile]) -> bool:
    """Whether a schedule reaches a clause under each profile that it fits."""
    fitting = [one for one in under if script.name in one.reached]
    likely = bool(fitting) and all(clause in one.reached[script.name] for one in fitting)
    return likely and all(one.is_reached(clause, script) for one in fitting)


HEADER: Final = """\
# For each clause the schedules that reach it on any runtime that offers what they need: scripts first, then
# witnesses that need less.  Derived: `pytest -m long -k test_occasions --rewrite`.

"""


def as_file(occasions: Mapping[str, Sequence[str]]) -> str:
    """The text of `occasions.toml`."""
    lines = (fill(f"{clause} = {json.dumps(names)}", 110, subsequent_indent="  ", break_long_words=False,
                  break_on_hyphens=False) for clause, names in occasions.items())  # fmt: skip
    return HEADER + "\n".join(lines) + "\n"
