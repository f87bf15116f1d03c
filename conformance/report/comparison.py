"""Compares two stored results: how each clause changed between two versions of a runtime."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from runlock.conformance.campaign.baseline import unnumbered
from runlock.conformance.report.console import Page
from runlock.conformance.report.stored_result import (
    SCHEMA,
    Stored,
    StoredClause,
    StoredViolation,
    word,
)
from runlock.conformance.text import plain

Kind = Literal["broke", "broke otherwise", "lost", "mended", "changed"]
KINDS: Final[dict[Kind, str]] = {
    "broke": "red", "broke otherwise": "red", "lost": "yellow", "mended": "green", "changed": "dim",
}  # fmt: skip
"""The possible changes of a clause, the worst first; a lost clause was held and is now undecided."""

NEWS: Final = {0: ("nothing broke", "green"), 1: ("something broke", "red"), 3: ("undecided", "yellow")}
UNASKED: Final = "not asked"


@dataclass(frozen=True, slots=True)
class Change:
    """One clause that changed; the witness is of the side that breaks it."""

    clause: str
    kind: Kind
    before: str
    after: str
    why: str
    witness: StoredViolation | None


def _directness(change: Change) -> tuple[int, bool]:
    """Sorts the shorter schedule first, and of two the one that is no symptom of the other."""
    return (change.witness.steps, change.witness.cause is not None) if change.witness else (0, False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one result to another."""

    before: Stored
    after: Stored

    @property
    def changes(self) -> list[Change]:
        """The clauses that changed, the worst first."""
        order = list(KINDS)
        return sorted(self._changes(), key=lambda change: order.index(change.kind))

    def _changes(self) -> Iterator[Change]:
        was, now = ({one.id: one for one in side.clauses} for side in (self.before, self.after))
        for clause in {**was, **now}:
            if (kind := self._kind(clause, was.get(clause), now.get(clause))) is not None:
                yield self._change(clause, kind, was.get(clause), now.get(clause))

    def _kind(self, clause: str, was: StoredClause | None, now: StoredClause | None) -> Kind | None:
        before, after = _verdict(was), _verdict(now)
        if before == after == "broken":
            first, second = self.before.of_clause(clause), self.after.of_clause(clause)
            return None if _because(first) == _because(second) else "broke otherwise"
        if before == after:
            return None
        if after == "broken":
            return "broke"
        if before == "held" and after in ("untested", "error"):
            return "lost"
        return "mended" if (before, after) == ("broken", "held") else "changed"

    def _change(self, clause: str, kind: Kind, was: StoredClause | None, now: StoredClause | None) -> Change:
        breaking = self.after if _verdict(now) == "broken" else self.before
        why = now.why if now is not None else ""
        return Change(clause, kind, _verdict(was), _verdict(now), why, breaking.of_clause(clause))

    @property
    def shortest(self) -> Change | None:
        """The shortest schedule on which the two differ: one breaks a clause, and the other held it."""
        told = [one for one in self.changes if "held" in (one.before, one.after) and one.witness is not None]
        return min(told, key=_directness, default=None)

    @property
    def exit_code(self) -> int:
        """1 if a clause broke, 3 if a clause that was held became undecided, else 0."""
        kinds = {change.kind for change in self.changes}
        return 1 if kinds & {"broke", "broke otherwise"} else 3 if "lost" in kinds else 0

    @property
    def unlike(self) -> list[str]:
        """How the two campaigns differ in their parameters, which may explain differences."""
        names = ("family", "profile", "policies", "spec", "budget", "partial")
        return [name for name in names if getattr(self.before, name) != getattr(self.after, name)]


def _verdict(clause: StoredClause | None) -> str:
    return UNASKED if clause is None else word(clause.verdict)


def _because(violation: StoredViolation | None) -> str:
    return "" if violation is None else unnumbered(violation.reason)


# --- for a person -------------------------------------------------------------------------------


def write(comparison: Comparison, page: Page) -> None:
    """Write what changed, and at the end the shortest schedule that shows it."""
    changes = comparison.changes
    names = f"{comparison.before.who} and {comparison.after.who}"
    counted = [f"{sum(one.kind == kind for one in changes)} {kind}" for kind in KINDS]
    told = ", ".join(text for text in counted if not text.startswith("0 ")) or "no clause changed"
    news, style = NEWS[comparison.exit_code]
    page.headline(news, f" between {names}: {told}", style)
    if comparison.unlike:
        page.wrapped(f"they were not played alike: other {', '.join(comparison.unlike)}", "yellow", "  ")
    for change in changes:
        page.line()
        _write_change(comparison, change, page)
    if (shortest := comparison.shortest) is not None and shortest.witness is not None:
        page.line()
        _write_schedule(comparison, shortest, shortest.witness, page)


def _write_change(comparison: Comparison, change: Change, page: Page) -> None:
    title = comparison.after.title(change.clause)
    page.headline(plain(change.clause), f" {change.kind}{f': {title}' if title else ''}", KINDS[change.kind])
    page.labelled("was", change.before)
    page.labelled("is", change.after + (f": {plain(change.why)}" if change.why else ""))


def _write_schedule(comparison: Comparison, change: Change, witness: StoredViolation, page: Page) -> None:
    breaking, other, which = comparison.after, comparison.before, "after"
    if change.after != "broken":
        breaking, other, which = other, breaking, "before"
    news = f" schedule on which they differ: {breaking.who} ({which}) breaks {plain(change.clause)}"
    page.headline("shortest", news, "cyan")
    page.labelled("because", plain(witness.reason))
    page.block("steps", breaking.steps(witness))
    page.block("replay", [line for side in (breaking, other) if (line := side.replay(witness))])


# --- for a machine ------------------------------------------------------------------------------


def as_object(comparison: Comparison) -> dict[str, Any]:
    """What changed as one JSON object."""
    shortest = comparison.shortest
    return {
        "schema": SCHEMA,
        "before": _side(comparison.before),
        "after": _side(comparison.after),
        "unlike": comparison.unlike,
        "changes": [_as_object(change) for change in comparison.changes],
        "shortest": None if shortest is None else shortest.clause,
        "exit_code": comparison.exit_code,
    }


def _side(result: Stored) -> dict[str, Any]:
    return {
        "target": result.target,
        "implementation": result.implementation,
        "profile": result.profile,
        "spec": result.spec,
        "verdict": result.verdict,
    }


def _as_object(change: Change) -> dict[str, Any]:
    witness = None if change.witness is None else [move.model_dump() for move in change.witness.witness]
    return {
        "clause": change.clause,
        "kind": change.kind,
        "before": change.before.replace(" ", "-"),
        "after": change.after.replace(" ", "-"),
        "why": change.why,
        "witness": witness,
    }
