"""`runlock selftest`: runs the mutation tests of the kit, and its tests for false positives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from statistics import median
from typing import Any, Final, TypeVar

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.stages import SCRIPTED
from runlock.conformance.cli.commands.check import EXAMPLES, jobs_of
from runlock.conformance.cli.commands.families import families_chosen
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family
from runlock.conformance.report.console import Page
from runlock.conformance.safe_path import spawned
from runlock.conformance.selftest.mutation_testing import (
    MutantResult,
    VariantResult,
    calm,
    kill_named,
)
from runlock.conformance.transport.guardian import end_with_parent

SHORTEST: Final = 250
"""Enough schedules to try all of two stimuli, and so to know whether three are the minimum."""

T = TypeVar("T")


@dataclass(slots=True)
class Matrix:
    """The results of all selected mutants and variants."""

    seed: int
    kills: list[MutantResult] = field(default_factory=list)
    calms: list[VariantResult] = field(default_factory=list)

    @property
    def survivors(self) -> list[MutantResult]:
        """The mutants that were not killed."""
        return [one for one in self.kills if not one.is_dead]

    @property
    def accused(self) -> list[VariantResult]:
        """The variants that were blamed, or could not be judged."""
        return [one for one in self.calms if not one.is_passed]

    @property
    def known(self) -> list[int]:
        """The number of stimuli by which each witness exceeds the minimum, where that is known."""
        return [
            one.witness - one.shortest
            for one in self.kills
            if one.witness is not None and one.shortest is not None
        ]

    @property
    def exit_code(self) -> int:
        """0 if every mutant is killed and every variant passes, else 1."""
        return 1 if self.survivors or self.accused else 0


def selftest(
    seed: int, only: Sequence[str], jobs: int | None, shortest: int, *, family: str | None, as_json: bool
) -> int:
    """Run the whole command; the exit code."""
    plan = Sampled(EXAMPLES, seed)
    mutants, variants = _chosen(only, families_chosen(family))
    with results() as stdout:
        page = Page(stdout)
        matrix = Matrix(seed)
        workers = min(jobs_of(jobs), max(1, len(mutants) + len(variants)))
        with _sharing(workers) as share:
            hunted = share(partial(kill_named, plan=plan, shortest=shortest), mutants)
            calmed = share(partial(calm, plan=plan), variants)
            matrix.kills = _shown(hunted, page, as_json)
            matrix.calms = list(calmed)
        if as_json:
            page.console.out(json.dumps(as_object(matrix), indent=1))
        else:
            _summary(matrix, page)
    return matrix.exit_code


Named = tuple[str, str]
"""A mutant or a variant: the name of its family, and its own."""


def _chosen(only: Sequence[str], among: Sequence[Family]) -> tuple[list[Named], list[Named]]:
    def is_asked(*names: str) -> bool:
        return not only or any(fnmatchcase(name, pattern) for name in names for pattern in only)

    mutants = [
        (family.name, mutant.name)
        for family in among
        for mutant in family.made.mutants().values()
        if is_asked(mutant.name, mutant.clause)
    ]
    variants = [(family.name, name) for family in among for name in family.made.variants() if is_asked(name)]
    if not (mutants or variants):
        raise UsageError(
            f"`--only {' '.join(only)}` names no mutant, variant or clause.",
            "A pattern is as in 'DECIDE-*' or 'Approves*'.",
        )
    return mutants, variants


class _sharing:
    """Distributes work among processes, and returns the results in the order of the work."""

    def __init__(self, jobs: int) -> None:
        self._pool = spawned(jobs, end_with_parent) if jobs > 1 else None

    def __enter__(self) -> Callable[[Callable[[Named], Any], Iterable[Named]], Iterator[Any]]:
        return map if self._pool is None else self._pool.map

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


# --- for a person -------------------------------------------------------------------------------


def _shown(hunted: Iterator[MutantResult], page: Page, is_silent: bool) -> list[MutantResult]:
    """The mutation tests, each shown as a row as soon as it is complete."""
    if is_silent:
        return list(hunted)
    page.line(_row("mutant", "clause", "schedule", "seconds", "witness", "shortest"), "bold")
    kills = []
    for one in hunted:
        kills.append(one)
        page.line(_row(*_cells(one)), "" if one.is_dead else "red")
        for note in _notes(one):
            page.wrapped(note, indent="    ")
        page.console.file.flush()
    return kills


def _row(mutant: str, clause: str, *numbers: str) -> str:
    return f"{mutant:<36} {clause:<11}" + "".join(f"{number:>10}" for number in numbers)


def _cells(one: MutantResult) -> tuple[str, ...]:
    witness = "-" if one.witness is None else str(one.witness)
    schedule = "-" if one.schedule is None else str(one.schedule)
    return (one.mutant, one.clause, schedule, f"{one.seconds:.2f}", witness, _shortest(one))


def _shortest(one: MutantResult) -> str:
    if one.shortest is not None:
        return str(one.shortest)
    return f"≥ {one.at_least}" if one.tried else "not known"


def _notes(one: MutantResult) -> Iterator[str]:
    if one.why:
        yield one.why
    elif one.by != SCRIPTED:
        yield f"found by {one.by}"
    others = [f"{clause} at schedule {at}" for clause, at in one.blamed.items() if clause != one.clause]
    if others and not one.astray:
        yield f"also blamed on {', '.join(others)}, which it breaks as well"


def _summary(matrix: Matrix, page: Page) -> None:
    killed = [one for one in matrix.kills if one.is_dead]
    passed = len(matrix.calms) - len(matrix.accused)
    page.line()
    for line in _lengths(matrix, killed):
        page.wrapped(line, indent="  ")
    for one in matrix.survivors:
        page.wrapped(f"{one.mutant} lives: {one.why}", "red", "  ")
    for variant in matrix.accused:
        for clause, because in variant.blamed.items():
            page.wrapped(f"{variant.variant} was blamed on {clause}: {because}", "red", "  ")
        for trouble in variant.troubles:
            page.wrapped(f"{variant.variant} could not be judged: {trouble}", "red", "  ")
    mutants = f"{len(killed)} of {len(matrix.kills)} mutants killed"
    variants = f"{passed} of {len(matrix.calms)} variants passed"
    word, style = ("broken", "red") if matrix.exit_code else ("held", "green")
    page.headline(word, f": {mutants}, {variants}", style)


def _lengths(matrix: Matrix, killed: Sequence[MutantResult]) -> Iterator[str]:
    schedules = [one.schedule for one in killed if one.schedule is not None]
    if schedules:
        spent = f"{sum(one.seconds for one in matrix.kills):.0f} CPU seconds"
        yield f"schedules to the kill: median {median(schedules):g}, most {max(schedules)}; {spent}"
    known = matrix.known
    if killed:
        share = f"{len(known)} of {len(killed)} mutants ({len(known) / len(killed):.0%})"
        yield f"the shortest possible witness is known for {share}"
    if known:
        longer = sum(extra > 0 for extra in known)
        spread = f"median {median(known):g}, most {max(known)}; {longer} of {len(known)} are longer"
        yield f"witness minus shortest, where that is known: {spread}"


# --- for a machine ------------------------------------------------------------------------------


def as_object(matrix: Matrix) -> dict[str, Any]:
    """The whole matrix as one JSON object."""
    return {
        "schema": 1,
        "seed": matrix.seed,
        "examples": EXAMPLES,
        "mutants": len(matrix.kills),
        "killed": len(matrix.kills) - len(matrix.survivors),
        "survivors": [one.mutant for one in matrix.survivors],
        "variants": len(matrix.calms),
        "passed": len(matrix.calms) - len(matrix.accused),
        "accused": [one.variant for one in matrix.accused],
        "shortest_known": len(matrix.known),
        "witness_minus_shortest": median(matrix.known) if matrix.known else None,
        "kills": [{**asdict(one), "why": one.why} for one in matrix.kills],
        "calms": [asdict(one) for one in matrix.calms],
        "exit_code": matrix.exit_code,
    }
