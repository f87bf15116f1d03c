"""What a campaign found: a verdict for each clause, witnesses, and what was spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.leaks import Leak
from runlock.conformance.family.coverage import ChartCoverage

Verdict = Literal["held", "broken", "untested", "not-applicable", "error"]
Overall = Literal["held", "broken", "undecided"]

THIN: Final = 5
"""Exercised fewer times than this, a clause that held is said to be thinly tested."""


@dataclass(frozen=True, slots=True)
class ClauseVerdict:
    """What became of one clause: `why` where it is not simply held."""

    id: str
    level: str
    verdict: Verdict
    why: str = ""
    exercised: int = 0
    offered: bool = True  # what the handshake offers makes it testable

    @property
    def is_thin(self) -> bool:
        """Whether it held on little evidence."""
        return self.verdict == "held" and self.exercised < THIN


@dataclass(frozen=True, slots=True)
class Toured:
    """What became of the tours with one goal: arrows of a chart by their clauses, one or two in a row."""

    chart: str
    goal: tuple[str, ...]
    played: int
    reached: int


@dataclass(frozen=True, slots=True)
class Level:
    """What became of the schedules of one length: those that were played stand for all that were `named`."""

    stimuli: int
    played: int
    named: int
    spare: int  # left out, since a limit of turns was not used up
    broken: int  # schedules one shorter that broke a clause, and were not gone on with
    reordered: int  # schedules one shorter of which the other order of the last two stimuli was gone on with
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Search:
    """How far every schedule was tried; `is_asked` where that was the whole of the campaign."""

    depth: int
    races: int
    levels: tuple[Level, ...]
    is_asked: bool
    one_order: bool = False  # what two stimuli lead to was tried in one order, where both are answered alike
    left: int | None = None  # about so many schedules of the bound were not played; nothing if nobody knows

    @property
    def exhausted(self) -> int:
        """Up to how many stimuli every schedule was tried."""
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
    budget: Mapping[str, Any]
    schedules: int = 0
    stimuli: int = 0
    partial: str = ""  # why it was cut off, if it was
    clauses: list[ClauseVerdict] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    leaks: list[Leak] = field(default_factory=list)
    coverage: list[ChartCoverage] = field(default_factory=list)
    tours: list[Toured] = field(default_factory=list)
    search: Search | None = None

    def count(self, verdict: Verdict) -> int:
        """How many clauses have a verdict."""
        return sum(clause.verdict == verdict for clause in self.clauses)

    @property
    def unexercised(self) -> list[ClauseVerdict]:
        """Clauses that the runtime made testable and no schedule reached; a MAY need not be reached."""
        return [c for c in self.clauses if c.verdict == "untested" and c.offered and c.level != "MAY"]

    @property
    def verdict(self) -> Overall:
        """Broken if anything is; held if all that is testable was exercised and held."""
        if self.witnesses:
            return "broken"
        is_cut = self.search is not None and self.search.is_asked and not self.search.is_exhaustive
        undecided = self.troubles or self.unexercised or is_cut or not self.count("held")
        return "undecided" if undecided else "held"

    def exit_code(self, strict: bool = False) -> int:
        """0 held, 1 broken, 3 could not decide; `strict` asks that everything applicable was tested."""
        if self.verdict != "held":
            return {"broken": 1, "undecided": 3}[self.verdict]
        return 3 if strict and self.count("untested") else 0
