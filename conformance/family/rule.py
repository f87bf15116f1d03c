"""Invariants as rows of a table: each reads the same typed view of what is about to be shown.

    STEP = Occasion(segments, PhaseEntered, at=("StepStart",))

    Rule("FLOW-22", "a round that waits starts no step", STEP, lambda v: not v.all_wait,
         "every call of the round is Suspended, yet {v.name} fires", when=lambda v: v.is_after_a_round)

Rows suit the rules about an order of stations, where many checks ask the same few questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation

View = TypeVar("View")


@dataclass(frozen=True, slots=True)
class Occasion(Generic[View]):
    """When a rule is asked, and what it reads: a view of each thing that it has to judge.

    `kind`, `at` and `after` select observations as those of an `Invariant` do.
    """

    views: Callable[..., Iterable[View]]  # (state, observation), or (state) at a quiescent point
    kind: type[Observation] | None = None
    at: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule(Generic[View]):
    """A row: where the occasion comes, and `when` is true of a view, `holds` has to be true of it too.

    `why` is the reason otherwise; what it names in braces is read from the view.  A rule whose `holds` is
    None is broken by the occasion itself; one without a reason only counts that its clause was exercised.
    """

    clause: str
    title: str
    occasion: Occasion[View]
    holds: Callable[[View], object] | None
    why: str = ""
    when: Callable[[View], object] | None = None
    requires: str | None = None
    excuses: tuple[Any, ...] = ()
    is_deferred: bool = False

    def __call__(self, state: Any, *seen: Any) -> CheckResults:
        """Judge what the views of the occasion show."""
        for view in self.occasion.views(state, *seen):
            if self.when is None or self.when(view):
                yield HELD if self._holds(view) else broken(self.why.format(v=view))

    def _holds(self, view: View) -> object:
        return not self.why or (self.holds is not None and self.holds(view))

    def invariant(self, rank: Rank) -> Invariant:
        """The check of this rule, with that rank."""
        return Invariant(
            self.clause,
            self,
            self.occasion.kind,
            self.occasion.at,
            self.occasion.after,
            self.requires,
            self.is_deferred,
            rank if self.why else Rank.CONSENT,
            self.excuses,
            only_counts=not self.why,
        )

    @property
    def __name__(self) -> str:
        """The title, as the name of a check that is a function."""
        return self.title.replace(" ", "_")


class Row(Protocol):
    """A rule of any view."""

    def invariant(self, rank: Rank) -> Invariant:
        """The check of the rule, with this rank."""


def table(rank: Rank, *rows: Row | Invariant) -> tuple[Invariant, ...]:
    """The invariants of these rows, all of one rank; a check that suits no row can stand among them."""
    return tuple(
        replace(row, rank=rank) if isinstance(row, Invariant) else row.invariant(rank) for row in rows
    )
