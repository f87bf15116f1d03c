"""The findings of a matrix: a library, a class of witness, one program; the broken clauses are their labels.

One fault of a library breaks several clauses, in several of its configurations.  The program that shows it
without the kit makes them one finding.  A violation without a program belongs to the finding of its cause, if
that can explain it, or to one whose witness begins as its own does; else to those of its class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from runlock.conformance.campaign.runtime import Known, Runtime
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.family.recordings import parse
from runlock.conformance.trace.moves import Move, moves_of
from runlock.conformance.trace.scenario_file import DEFAULT_FAMILY
from runlock.conformance.trace.situation import situation
from runlock.spec.model import SEVERITIES, Clause, Severity

Object = Mapping[str, Any]
Against = Literal["its own documentation or an API's rule", "the specification alone", "documented"]

PROMISE: Final[Against] = "its own documentation or an API's rule"
SPECIFICATION: Final[Against] = "the specification alone"
DOCUMENTED: Final[Against] = "documented"
"""What a finding is against; what is documented is no violation: its documentation and we disagree."""


@dataclass(frozen=True)
class Violated:
    """A clause that a configuration of a library breaks, with its witness and what is known of it."""

    runtime: Runtime
    column: Object
    found: Object
    known: Known | None

    @property
    def clause(self) -> Clause:
        """The clause that is broken."""
        return self.family.spec.clauses[self.found["clause"]]

    @property
    def family(self) -> Family:
        """The family of the runtime."""
        return family_named(self.column.get("family", DEFAULT_FAMILY))

    @property
    def moves(self) -> tuple[Move, ...]:
        """The witness."""
        return witness_moves(self.found, self.family)

    @property
    def situation(self) -> frozenset[str]:
        """The class of the witness."""
        return situation(self.moves)

    @property
    def against(self) -> Against:
        """What it violates, as far as that is known."""
        if self.known is None:
            return SPECIFICATION
        return DOCUMENTED if self.known.documented else PROMISE if self.known.promise else SPECIFICATION

    def explains(self, other: Violated) -> bool:
        """Whether the witness of a consequence has what its own needs: older columns did not ask for that."""
        return self.situation <= other.situation


class Name(NamedTuple):
    """What makes a finding one: the program, or where there is none the class of its witnesses."""

    library: str
    program: str
    situation: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What was found, in each configuration that shows it; the worst clause leads."""

    name: Name
    violated: tuple[Violated, ...]

    @property
    def lead(self) -> Violated:
        """The worst violation, of those with a program first."""
        return min(self.violated, key=lambda one: (one.known is None, self._order(one)))

    def _order(self, one: Violated) -> tuple[int, bool]:
        return one.clause.gravity, "cause" in one.found

    @property
    def severity(self) -> Severity:
        """That of the worst clause."""
        return SEVERITIES[min(one.clause.gravity for one in self.violated)]

    @property
    def against(self) -> Against:
        """What it violates: a promise, if any configuration or clause of it breaks one."""
        found = {one.against for one in self.violated if one.known is not None} or {SPECIFICATION}
        return next(one for one in (PROMISE, SPECIFICATION, DOCUMENTED) if one in found)

    @property
    def is_violation(self) -> bool:
        """Whether it counts as a violation: a program shows it, and no page says that it is meant."""
        return bool(self.name.program) and self.against != DOCUMENTED

    @property
    def pages(self) -> list[str]:
        """Where its documentation promises something else, or says the same."""
        known = [one.known for one in self.violated if one.known is not None]
        which = [one.documented if self.against == DOCUMENTED else one.promise for one in known]
        return [*dict.fromkeys(filter(None, which))]

    @property
    def clauses(self) -> list[str]:
        """The clauses that label it, the worst first."""
        ordered = sorted(self.violated, key=lambda one: one.clause.gravity)
        return [*dict.fromkeys(one.clause.id for one in ordered)]

    @property
    def configurations(self) -> list[str]:
        """The columns of the matrix that show it."""
        return [*dict.fromkeys(one.runtime.name for one in self.violated)]

    @property
    def sentence(self) -> str:
        """What happens."""
        known = self.lead.known
        return known.sentence if known is not None else f"The kit saw that {self.lead.found['because']}."

    @property
    def upstream(self) -> dict[str, str]:
        """The reports to its maintainers, with their states."""
        known = [one.known for one in self.violated if one.known is not None]
        return {address: state for one in known for address, state in one.upstream.items()}

    def as_json(self) -> dict[str, Any]:
        """The finding for a program."""
        return {
            "library": self.name.library,
            "program": self.name.program or None,
            "situation": sorted(self.lead.situation),
            "severity": self.severity,
            "against": self.against,
            "clauses": self.clauses,
            "configurations": self.configurations,
        }


def witness_text(found: Object) -> str:
    """The witness of a violation as a scenario file."""
    return "\n".join(found["witness"]) + "\n"


def witness_moves(found: Object, family: Family) -> tuple[Move, ...]:
    """The moves of the witness of a violation."""
    return _moves(witness_text(found), family.name)


@cache
def _moves(text: str, family: str) -> tuple[Move, ...]:
    """The same, read once: a page asks for the findings several times."""
    return tuple(moves_of(parse(text).trace, family_named(family).line_formats.gate_name))


def findings(report: Object, known: Sequence[Runtime] | None = None) -> tuple[Finding, ...]:
    """All findings of a matrix, the most severe first, and after them those that no program shows.

    `known` are the runtimes of the matrix, by default all of them.
    """
    by_name = {one.name: one for one in (runtimes() if known is None else known)}
    gathered: dict[Name, list[Violated]] = {}
    for column in report["runtimes"]:
        violated = [*_violated(by_name[column["name"]], column)]
        for one in violated:
            gathered.setdefault(_name(one, violated), []).append(one)
    found = (Finding(name, tuple(some)) for name, some in gathered.items())
    return tuple(sorted(found, key=_order))


def _order(one: Finding) -> tuple[bool, int, Name]:
    return not one.name.program, SEVERITIES.index(one.severity), one.name


def _violated(runtime: Runtime, column: Object) -> Iterator[Violated]:
    for found in column.get("violations", ()):
        yield Violated(runtime, column, found, runtime.known(found["clause"]))


def _name(one: Violated, others: Sequence[Violated]) -> Name:
    """The finding to which a violation belongs, among those of its configuration."""
    shown = _leading(one, others)
    if shown is not None and shown.known is not None and shown.known.standalone:
        return Name(one.runtime.library, shown.known.standalone)
    return Name(one.runtime.library, "", tuple(sorted((shown or one).situation)))


def _leading(one: Violated, others: Sequence[Violated]) -> Violated | None:
    """The violation that is shown by a program and stands for this one; itself, if there is none."""
    if one.known is not None:
        return one
    cause = next((other for other in others if other.clause.id == one.found.get("cause")), None)
    if cause is not None and cause.explains(one):
        return cause
    alike = (other for other in others if other.known is not None and _begins_alike(one.moves, other.moves))
    return next(alike, None)


def _begins_alike(moves: Sequence[Move], others: Sequence[Move]) -> bool:
    """Whether one of two witnesses is the beginning of the other."""
    return all(one == other for one, other in zip(moves, others, strict=False))


class Counted(NamedTuple):
    """How many findings, libraries and configurations a matrix has.

    A violation has a program that shows it without the kit, and no page that says that it is meant; what has
    no program is `unshown`: there, the adapter is suspected first.
    """

    violations: int
    documented: int
    unshown: int
    libraries: int
    configurations: int
    libraries_with: int
    clauses: int
    promised: int
    not_reported: int


def counted(report: Object, known: Sequence[Runtime] | None = None) -> Counted:
    """The counts that pages show."""
    every = runtimes() if known is None else known
    judged = {one["name"] for one in report["runtimes"] if one["verdict"]}
    found = findings(report, every)
    violations = [one for one in found if one.is_violation]
    return Counted(
        violations=len(violations),
        documented=sum(one.against == DOCUMENTED for one in found),
        unshown=sum(not one.name.program for one in found),
        libraries=len({one.library for one in every if one.name in judged}),
        configurations=len(judged),
        libraries_with=len({one.name.library for one in violations}),
        clauses=len({clause for one in violations for clause in one.clauses}),
        promised=sum(one.against == PROMISE for one in violations),
        not_reported=sum(not one.upstream for one in violations),
    )


def of_configuration(column: Object, known: Sequence[Runtime] | None = None) -> tuple[Finding, ...]:
    """The findings of one column of a matrix, the most severe first."""
    return findings({"runtimes": [column]}, known)
