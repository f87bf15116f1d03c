"""The joint model of a family: every reachable combination of the states of its charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import factorial, prod
from typing import Any, Final, Self

from runlock.conformance.errors import UsageError
from runlock.machines.joint.checker import Judged
from runlock.machines.joint.model import System
from runlock.machines.joint.policies import Chosen, NotExplored
from runlock.machines.joint.search import Bounds, Search
from runlock.machines.table import Row, Table
from runlock.spec.model import Spec, SpecError, Value

SAMPLED_FROM: Final = 4
"""From this many calls on the size is estimated first: fewer are explored while one estimates."""

BYTES: Final = 300
"""About what a joint state takes in memory while it is explored."""

PACE: Final = 30_000
"""About how many joint states are explored and judged in a second."""

EXIT_CODES: Final = {"held": 0, "broken": 1, "undecided": 3}


@dataclass(frozen=True, slots=True)
class Asked:
    """The bounds of an exploration, as given on the command line; None for the default of the model."""

    calls: int
    resuspensions: int | None = None
    cancels: int | None = None
    crashes: int | None = None
    policies: Sequence[str] = ()
    symmetry: bool = True
    max_states: int | None = None
    is_late: Callable[[], bool] = lambda: False
    wants_graph: bool = False
    bounds: Mapping[str, int] = field(default_factory=dict)  # further ones, by the family's name for each


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated size of an exploration."""

    states: int
    seconds: int
    megabytes: int


@dataclass(slots=True)
class Explored:
    """What was explored, and what was found; the properties say it in the terms of the family."""

    plan: Any  # with `model` and `symmetry`
    states: int
    transitions: int
    levels: int
    tables: Sequence[Table]
    judged: Judged
    unreduced: int | None = None
    stopped: str | None = None
    derived: dict[str, int] = field(default_factory=dict)
    chosen: Chosen | None = None
    search: Search | None = None

    @classmethod
    def of(
        cls, plan: Any, search: Search, tables: Sequence[Table], judged: Judged, chosen: Chosen | None
    ) -> Self:
        """What a search found under a plan."""
        return cls(
            plan,
            search.states,
            search.transitions,
            len(search.levels) - 1,
            tables,
            judged,
            search.unreduced if plan.symmetry else None,
            search.stopped.why if search.stopped is not None else None,
            chosen=chosen,
            search=search,
        )

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds by their names."""
        raise NotImplementedError

    @property
    def said_bounds(self) -> Sequence[str]:
        """The bounds in words, with what is not part of the model."""
        raise NotImplementedError

    @property
    def trouble(self) -> str:
        """The verbs for what an environment that is not cooperative does."""
        raise NotImplementedError

    @property
    def remarks(self) -> Sequence[tuple[str, str]]:
        """Further lines of the report: label and text."""
        return ()

    def concerns(self, row: Row) -> bool:
        """Whether the policies that were explored allow an arrow at all."""
        raise NotImplementedError

    def why_never(self, row: Row) -> str | None:
        """Why an arrow was never taken; None if it should have been."""
        return None if self.concerns(row) else "the policies exclude"

    @property
    def verdict(self) -> str:
        """Whether anything is wrong, and whether all of it was looked at."""
        if self.judged.findings:
            return "broken"
        return "held" if self.stopped is None else "undecided"

    @property
    def exit_code(self) -> int:
        """0 nothing is wrong, 1 something is, 3 not everything was looked at."""
        return EXIT_CODES[self.verdict]


@dataclass(frozen=True, slots=True)
class Exploration:
    """How a joint model is explored: `explore(model, asked, announce)` returns the result.

    A model is a profile of the family, or one of `models`, which are not profiles.
    """

    explore: Callable[[str, Asked, Callable[[Estimate], None]], Explored]
    models: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()  # the names that --bound takes


def extrapolated(system: Callable[[int], System], plan: Any) -> Estimate:
    """How large it will be: it grows from one call to two as the number of multisets of call states does."""
    one, two = (Search(system(calls)).run(Bounds(is_late=plan.is_late)).states for calls in (1, 2))
    kinds = 2 * two / one - 1
    states = two * prod((kinds + calls - 1) / calls for calls in range(3, plan.calls + 1))
    if not plan.symmetry:
        states *= factorial(plan.calls)
    return Estimate(int(states), int(states / PACE), int(states * BYTES / 1e6))


def refuse_stores(family: str, bounds: Sequence[str], asked: Asked) -> None:
    """Refuse the bounds of a family whose calls are suspended and whose runs are stored."""
    for name, value in (("resuspensions", asked.resuspensions), ("crashes", asked.crashes)):
        if value is not None:
            *others, last = ("--calls", "--cancels", *(f"--bound {bound}=N" for bound in bounds))
            own = f"Its bounds are {', '.join(others)} and {last}."
            raise UsageError(f"The family {family} takes no --{name}.", own)


def chosen_of(
    spec: Spec, choose: Callable[[str, Mapping[str, Value]], Chosen], profile: str, given: Sequence[str]
) -> Chosen:
    """The policies of a profile, with those of the command line, each as KEY=VALUE."""
    asked: dict[str, Value] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--policy {one} sets nothing.", "Write it as in --policy end.live=left.")
        is_set = key in spec.policies and spec.policies[key].kind == "set of"
        asked[key] = [part for part in value.split(",") if part] if is_set else value
    try:
        return choose(profile, asked)
    except SpecError as error:
        raise UsageError(f"--policy: {error}") from None
    except NotExplored as error:
        raise UsageError(str(error)) from None
