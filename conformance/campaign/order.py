"""What a campaign is asked to do: its target, its plan of schedules, the clauses it reports, and its means.

Each plan names what its own stages need, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from runlock.conformance.campaign.targets import Target, resolve
from runlock.conformance.driving.strategies.move_enumeration import Scope
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Sampled:
    """The scripted schedules, and a number of others."""

    examples: int
    seed: int = 0
    again: tuple[Trace, ...] = ()  # counterexamples of the last run, which are replayed before anything else


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Every schedule of up to `depth` stimuli."""

    depth: int
    races: int = 0
    one_order: bool = False

    @property
    def scope(self) -> Scope:
        """The bounds of the move enumeration."""
        return Scope(uneven=self.races, one_order=self.one_order)


@dataclass(frozen=True, slots=True)
class Inferring:
    """Schedules that tell the policies of the runtime, which are inferred and not judged."""

    examples: int
    seed: int = 0
    settled: tuple[tuple[str, str], ...] = ()  # the policies that are known by now
    aside: tuple[str, ...] = ()  # clauses that are not judged, since they always break


Plan = Sampled | Exhaustive | Inferring
P_co = TypeVar("P_co", bound=Plan, covariant=True)
Other = TypeVar("Other", bound=Plan)


@dataclass(frozen=True, slots=True)
class Order(Generic[P_co]):
    """One campaign, as it is sent to the workers."""

    target: str
    plan: P_co
    clauses: Selection = EVERYTHING  # those that are skipped are judged all the same, and not reported
    timeout_scale: float = 1.0
    first: bool = False  # stop at the first violation

    def resolved(self) -> Target:
        """The runtime under test."""
        return resolve(self.target, timeout_scale=self.timeout_scale)

    def with_plan(self, plan: Other) -> Order[Other]:
        """The same campaign with another plan."""
        return Order(self.target, plan, self.clauses, self.timeout_scale, self.first)


@dataclass(frozen=True, slots=True)
class Means:
    """What a campaign may use; the result of a complete one does not depend on it."""

    jobs: int = 1
    seconds: float | None = None
    on: str | None = None  # the cluster that plays the schedules
    in_process: bool = False  # in this process, which the runtime can then end or block


ALONE = Means(in_process=True)
