"""An invariant checks one clause at one point of a scenario.

A check yields one result for each thing that it judged: `HELD`, or `broken(reason)`.  A check that yields
nothing has judged nothing, and its clause was not exercised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any, Final, NamedTuple, TypeVar, get_args

from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation

NOTHING: Final = ""
"""The selector value before a run has shown any observation of the kind."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found out about one thing: the clause holds, or the reason why it is broken."""

    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the clause holds."""
        return not self.reason


HELD: Final = CheckResult()


def broken(reason: str) -> CheckResult:
    """The result of a check whose clause is broken; the reason is one sentence."""
    if not reason:
        raise ValueError("A clause that is broken needs a reason.")
    return CheckResult(reason)


def held_or(holds: object, reason: str) -> CheckResult:
    """The clause holds if this is true; otherwise it is broken for that reason."""
    return HELD if holds else broken(reason)


CheckResults = Iterator[CheckResult]


def broken_for(reasons: Iterable[str]) -> CheckResults:
    """One result for each reason why the clause is broken; it holds if there is none."""
    found = [broken(reason) for reason in reasons]
    yield from found or [HELD]


class Selectors(NamedTuple):
    """How an observation is named among those of its kind, so that fewer checks have to run."""

    name_of: Callable[[Any], str]  # (observation)
    newest_of: Callable[[Any, Any], str]  # (state, observation): the run's previous one of that kind


NO_SELECTORS: Final = Selectors(lambda seen: "", lambda state, seen: NOTHING)


@dataclass(frozen=True, slots=True)
class Invariant:
    """A check of one clause, and when it applies.

    With `seeing`, the check runs on each observation of that kind, before the state records it: may this
    be shown now?  Without `seeing`, it runs on the state at every quiescent point.  `at` limits it to
    observations with one of these names, `after` to those whose predecessor of the same kind in the run has
    one of these names, and `requires` to scenarios in which that feature has occurred.  It is not asked
    about a run that one of the disturbances `excuses` has met.

    Where several checks object to the same observation, the one of the lowest `rank` is blamed, and of equal
    ranks the first one of the family.  A deferred check sees consequences: its objection waits until the
    runtime is quiescent, so that a clause that names the cause is blamed first.  With `only_counts` it judges
    nothing: it says that the clause was exercised, and another check of the clause objects.
    """

    clause: str
    check: Callable[..., CheckResults]
    seeing: type[Observation] | None = None
    at: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    requires: str | None = None
    is_deferred: bool = False
    rank: Rank = Rank.CHART
    excuses: tuple[Any, ...] = ()
    only_counts: bool = False

    @property
    def title(self) -> str:
        """The name of the check, as a sentence; empty if a function made it and it has no name of its own."""
        name, scope = self.check.__name__, self.check.__qualname__
        is_unnamed = scope.endswith(f"<locals>.{name}")
        return "" if is_unnamed else name.replace("_", " ")

    def is_asked(self, name: str, newest: str, features: Collection[str]) -> bool:
        """Whether the check applies to an observation of this name, after one of that name."""
        is_there = (not self.at or name in self.at) and (not self.after or newest in self.after)
        return is_there and (self.requires is None or self.requires in features)

    def run(self, state: Any, *seen: Any) -> CheckResults:
        """Run the check; `seen` is the observation, or nothing at a quiescent point."""
        if self.excuses and state.is_excused(self.excuses, *seen):
            return iter(())
        return self.check(state, *seen)

    def first_reason(self, state: Any, *seen: Any) -> str:
        """The first reason why the clause is broken, or an empty string."""
        return next((found.reason for found in self.run(state, *seen) if not found.ok), "")


# --- registration -------------------------------------------------------------------------------

Registered = TypeVar("Registered", bound=Callable[..., CheckResults])


def check(
    *clauses: str,
    rank: Rank,
    seeing: tuple[type[Observation], ...] = (),
    at: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
    requires: str | None = None,
    excuses: tuple[Any, ...] = (),
    is_deferred: bool = False,
    only_counts: bool = False,
) -> Callable[[Registered], Registered]:
    """Register a function as the check of these clauses; `Invariant` says what the options mean.

    The kinds of observation are those of the annotation of its second parameter, unless `seeing` names
    them.  A function without a second parameter is a check of quiescent points.
    """

    def register(function: Registered) -> Registered:
        made = tuple(
            Invariant(clause, function, kind, at, after, requires, is_deferred, rank, excuses, only_counts)
            for clause in clauses
            for kind in seeing or _kinds_of(function)
        )
        function.__dict__["invariants"] = made + registered(function)  # decorators apply from the bottom up
        return function

    return register


def counts(*clauses: str, **options: Any) -> Callable[[Registered], Registered]:
    """Register a function that yields `HELD` where these clauses are exercised, and never objects.

    The options are those of `check`, without a rank: it is asked first, and so counts where others object.
    """
    return check(*clauses, rank=Rank.CONSENT, only_counts=True, **options)


def ranked(rank: Rank, *checks: Invariant) -> tuple[Invariant, ...]:
    """These checks with their rank, of a module that makes them in a function."""
    return tuple(replace(one, rank=rank) for one in checks)


def registered(function: Callable[..., Any]) -> tuple[Invariant, ...]:
    """The invariants that a function is the check of, in the order of its decorators."""
    found: tuple[Invariant, ...] = function.__dict__.get("invariants", ())
    return found


def _kinds_of(function: Callable[..., Any]) -> tuple[type[Observation] | None, ...]:
    """The kinds of observation that a check is annotated with; None if it judges quiescent points."""
    _, second, *_ = function.__annotations__  # its parameters, and "return" at the end
    if second == "return":
        return (None,)
    kind = eval(function.__annotations__[second], function.__globals__)
    return get_args(kind) or (kind,)


def gathered(*modules: ModuleType) -> tuple[Invariant, ...]:
    """The checks of these modules in the order of blame: by rank, then by module, then as they are defined.

    A module may name further ones as `INVARIANTS`, such as those that a function makes.
    """
    every = (one for module in modules for one in (*_defined_in(module), *vars(module).get("INVARIANTS", ())))
    return tuple(sorted(every, key=lambda one: one.rank))


def _defined_in(module: ModuleType) -> Iterator[Invariant]:
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and (value.__module__, value.__name__) == (module.__name__, name):
            yield from registered(value)
