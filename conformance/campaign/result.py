"""The result of a campaign: a verdict for each clause, witnesses, and the budget that was used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from runlock.conformance.campaign.interrupts import INTERRUPTED
from runlock.conformance.driving.exceptions import Raised
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.family.coverage import ChartCoverage
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.text import either
from runlock.spec.model import Question

Verdict = Literal["held", "broken", "untested", "not-applicable", "error"]
Overall = Literal["held", "broken", "undecided"]

UNREACHED: Final = "no schedule reached it"
"""Why a clause is untested of which no schedule is known that would reach it."""

THIN: Final = 10
"""Below this number of exercises a clause is looked for, and if it holds it is called thinly tested."""


@dataclass(frozen=True, slots=True)
class ClauseVerdict:
    """The verdict on one clause; `why` unless it is simply held."""

    id: str
    level: str
    verdict: Verdict
    why: str = ""
    exercised: int = 0
    offered: bool = True  # the handshake makes it testable

    @property
    def is_thin(self) -> bool:
        """Whether it held with little evidence."""
        return self.verdict == "held" and self.exercised < THIN


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question, the values that its policy may still have, and a schedule that shows the harm."""

    question: Question
    values: tuple[str, ...]
    witness: Witness

    @property
    def sentence(self) -> str:
        """The question, with what to declare where the answer is yes."""
        first, *more = self.values
        answers = either([f"`{self.question.policy}: {first}`", *(f"`{one}`" for one in more)])
        return f"{self.question.harm}: declare {answers} if that is meant"


@dataclass(frozen=True, slots=True)
class Toured:
    """The tours with one goal: one arrow or two consecutive ones, by their clauses."""

    chart: str
    goal: tuple[str, ...]
    played: int
    reached: int


@dataclass(frozen=True, slots=True)
class Level:
    """The schedules of one length: those that were played represent all that were `named`."""

    stimuli: int
    played: int
    named: int
    spare: int  # left out, since a limit of turns was not used up
    broken: int  # shorter schedules that broke a clause, and were not continued
    reordered: int  # shorter schedules that were continued in the other order of their last two stimuli
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Search:
    """How far every schedule was tried; `is_asked` if the campaign consisted only of that."""

    depth: int
    races: int
    levels: tuple[Level, ...]
    is_asked: bool
    one_order: bool = False  # only one order of two commuting stimuli was continued
    left: int | None = (
        None  # estimated number of schedules within the bound that were not run; None if unknown
    )

    @property
    def exhausted(self) -> int:
        """The number of stimuli up to which every schedule was tried."""
        whole = 0
        for level in self.levels:
            if not level.is_whole:
                break
            whole = level.stimuli
        return whole

    @property
    def is_exhaustive(self) -> bool:
        """Whether every schedule within the bound was tried."""
        return self.exhausted == self.depth


@dataclass(slots=True)
class Result:
    """A whole campaign."""

    target: str
    implementation: Mapping[str, Any]
    profile: str
    policies: Mapping[str, Any]
    spec: str
    family_name: str
    budget: Mapping[str, Any]
    schedules: int = 0
    stimuli: int = 0
    partial: str = ""  # why it was cut off, or empty
    settles_exactly: bool = True  # or silence for a while is all that shows that the runtime is at rest
    clauses: list[ClauseVerdict] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    questions: list[Unanswered] = field(default_factory=list)  # the most harmful first
    troubles: list[Trouble] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    warnings: list[str] = field(default_factory=list)  # about the handshake
    unjudged_policies: list[str] = field(default_factory=list)  # declared, and no check judged by them
    raised: list[Raised] = field(default_factory=list)
    coverage: list[ChartCoverage] = field(default_factory=list)
    tours: list[Toured] = field(default_factory=list)
    search: Search | None = None

    @property
    def family(self) -> Family:
        """The family of the runtime."""
        return family_named(self.family_name)

    @property
    def causes(self) -> list[Witness]:
        """The witnesses that lead a group of violations with one cause."""
        return [one for one in self.witnesses if not one.cause]

    def symptoms_of(self, cause: Witness) -> list[Witness]:
        """The other violations with the same cause."""
        return [one for one in self.witnesses if one.cause == cause.clause]

    def count(self, verdict: Verdict) -> int:
        """How many clauses have a verdict."""
        return sum(clause.verdict == verdict for clause in self.clauses)

    @property
    def unexercised(self) -> list[ClauseVerdict]:
        """Testable clauses that no schedule exercised; a MAY does not count."""
        return [c for c in self.clauses if c.verdict == "untested" and c.offered and c.level != "MAY"]

    @property
    def verdict(self) -> Overall:
        """Broken if any clause is; held if all testable clauses were exercised and held."""
        if self.witnesses:
            return "broken"
        is_cut = self.search is not None and self.search.is_asked and not self.search.is_exhaustive
        went_wrong = self.ledger.times or self.troubles or self.raised or self.partial == INTERRUPTED
        undecided = went_wrong or self.unexercised or is_cut or not self.count("held")
        return "undecided" if undecided else "held"

    def exit_code(self, strict: bool = False) -> int:
        """0 held, 1 broken, 3 undecided; `strict` leaves nothing applicable untested, and no question."""
        if self.verdict != "held":
            return {"broken": 1, "undecided": 3}[self.verdict]
        return 3 if strict and (self.count("untested") or self.questions) else 0
