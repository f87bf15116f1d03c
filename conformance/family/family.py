"""What one protocol family provides to the kit; shared code knows a family only through this object.

A family is found by its name: as `FAMILY` in `runlock.conformance.families.<name>.family`, or, for a family
in another distribution, through an entry point of the group `runlock.families`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources.abc import Traversable
from pkgutil import iter_modules
from typing import Any, Final

from runlock.conformance.errors import AdapterError
from runlock.conformance.family.exploration import Exploration
from runlock.conformance.family.invariant import Invariant
from runlock.conformance.family.made import Made
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.family.parts import Actions, Driving, Fitting, Inference, Judging, Wording
from runlock.conformance.protocol.vocabulary import Vocabulary
from runlock.conformance.trace.line_formats import LineFormats
from runlock.conformance.transport.sut import Sut
from runlock.machines.catalogue import tables
from runlock.machines.chart import Chart
from runlock.machines.table import Table, compile_chart
from runlock.spec.model import Profile, Spec

GROUP: Final = "runlock.families"
FOLDER: Final = "runlock.conformance.families"
DEFAULT: Final = "lifecycle"
"""The family of a handshake that does not name one."""


@dataclass(frozen=True)
class Family:
    """One protocol family."""

    name: str  # as the handshake gives it
    spec: Spec
    vocabulary: Vocabulary
    line_formats: LineFormats  # of its scenario files
    wording: Wording
    files: Traversable  # the folder with `scenarios/` and `witnesses/`
    host: Callable[[Callable[[], Any]], Sut]  # from a factory of hosted adapters to a Sut
    made: Made
    default_profile: str
    actions: Actions
    driving: Driving
    judging: Judging
    invariants: tuple[Invariant, ...]  # in the order of blame
    monitors: tuple[type[Monitor], ...] = ()  # made with (state, trails, applies)
    fitting: Fitting = field(default_factory=Fitting)
    inference: Inference = field(default_factory=Inference)
    explored: Exploration | None = None  # of a family whose charts have a joint model
    charts: Callable[[], Iterable[type[Chart]]] | None = None
    """The charts of a family in another distribution; those of the kit's own families are found by name."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every chart as a table; a family may have none."""
        if self.charts is not None:
            return tuple(map(compile_chart, self.charts()))
        return tables(self.name) if self.name in _own() else ()

    @cached_property
    def core_profile(self) -> Profile:
        """The profile that claims only the universal core: of several, the one that is called so."""
        claiming = [one for one in self.spec.profiles.values() if not one.policies]
        return min(claiming, key=lambda one: not one.name.endswith("core"))

    @cached_property
    def checked(self) -> frozenset[str]:
        """The clauses that have a check."""
        monitored = (clause for monitor in self.monitors for clause in monitor.clauses)
        return frozenset(
            {*(check.clause for check in self.invariants), *monitored, *self.checked_by_comparison}
        )

    @cached_property
    def checked_by_comparison(self) -> Mapping[str, str]:
        """The clauses that shared code checks by comparing observations, each with its check in words."""
        judging = self.judging
        checks = {
            judging.determinism: "a schedule that was played is played again, and both lead to the same",
            judging.mixing: "each value of an open policy is tried on all that is seen, until none is left",
            judging.leaks: "the answer to scenario.close names nothing that is still held",
        }
        return {clause: check for clause, check in checks.items() if clause}

    @cached_property
    def held_by_silence(self) -> frozenset[str]:
        """The clauses that hold only if a quiescent runtime's silence counts."""
        return frozenset(check.clause for check in self.invariants if check.seeing is None)

    @cached_property
    def rests_on_silence(self) -> frozenset[str]:
        """The clauses that only silence can break."""
        return self.held_by_silence - {one.clause for one in self.invariants if one.seeing is not None}


@cache
def family_named(name: str) -> Family:
    """The family of that name; `LookupError` lists the known ones."""
    if name in _own():
        found: Family = import_module(f"{FOLDER}.{name.replace('-', '_')}.family").FAMILY
        return found
    shipped = {one.name: one for one in entry_points(group=GROUP)}
    if name in shipped:
        return shipped[name].load()  # type: ignore[no-any-return]
    raise LookupError(f"There is no family {name!r}; known: {', '.join(family_names())}.")


def family_of_answer(answer: Mapping[str, Any]) -> Family:
    """The family that a handshake on the wire names; the default one if it names none."""
    try:
        return family_named(str(answer.get("family", DEFAULT)))
    except LookupError as error:
        raise AdapterError("The handshake names an unknown family.", str(error)) from error


@cache
def _own() -> tuple[str, ...]:
    """The families that come with the kit, by their folders; the default one first."""
    found = [one.name.replace("_", "-") for one in iter_modules(import_module(FOLDER).__path__)]
    return tuple(sorted(found, key=lambda name: (name != DEFAULT, name)))


def family_names() -> tuple[str, ...]:
    """The names of all families, those of other distributions last."""
    return tuple(dict.fromkeys((*_own(), *(one.name for one in entry_points(group=GROUP)))))


def families() -> tuple[Family, ...]:
    """Every family that comes with the kit or is installed."""
    return tuple(map(family_named, family_names()))


def family_of_profile(profile: str) -> Family | None:
    """The family that publishes this profile."""
    return next((one for one in map(family_named, family_names()) if profile in one.spec.profiles), None)
