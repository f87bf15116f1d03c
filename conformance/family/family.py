"""What one protocol family provides to the kit; shared code knows a family only through this object.

A family is found by its name: as `FAMILY` in `runlock.conformance.families.<name>.family`, or, for a family
in another distribution, through an entry point of the group `runlock.families`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources.abc import Traversable
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runlock.conformance.errors import AdapterError
from runlock.conformance.family.invariant import NO_SELECTORS, Selectors
from runlock.conformance.family.made import Made
from runlock.machines.catalogue import tables
from runlock.machines.table import Table, compile_chart

if TYPE_CHECKING:
    from runlock.conformance.family.chooser import Chooser
    from runlock.conformance.family.coverage import ChartCoverage
    from runlock.conformance.family.exploration import Exploration
    from runlock.conformance.family.invariant import Invariant
    from runlock.conformance.family.monitor import Monitor
    from runlock.conformance.family.timeline import Row
    from runlock.conformance.protocol.vocabulary import Vocabulary
    from runlock.conformance.trace.line_formats import LineFormats
    from runlock.conformance.trace.moves import Move
    from runlock.conformance.trace.trace import Record, Trace
    from runlock.conformance.transport.sut import Sut
    from runlock.machines.chart import Chart
    from runlock.spec.model import Profile, Spec

GROUP: Final = "runlock.families"
FOLDER: Final = "runlock.conformance.families"
DEFAULT: Final = "lifecycle"
"""The family of a handshake that does not name one."""


Action = Callable[[Any, "Chooser"], "Move | None"]
"""Proposes a move for a context, or None where it is not enabled."""

Enumeration = Callable[..., Iterable[Any]]
"""(context, scope, is_race) -> the options of a class whose choices are not tried one by one."""


def _nothing_met(context: Any) -> set[str]:
    return set()


def _not_reduced(options: Iterable[Any], context: Any, scope: Any) -> Iterable[Any]:
    return options


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of the environment: classes of action, and hints for the generators of schedules.

    A context holds what actions depend on: `state`, `handshake`, and `counts` of the ids that were used; its
    `aside()` is a copy with its own counts, for testing whether an action is enabled.
    """

    table: Mapping[str, Action]
    new_context: Callable[..., Any]  # (state, counts={})
    racers: Sequence[str] = ()  # classes of which two or three may happen at once
    prerequisites: Mapping[str, str] = field(default_factory=dict)  # class: an open gate of a kind, or a fact
    gates: Mapping[str, str] = field(default_factory=dict)  # class: the kind of gate that it releases
    met: Callable[[Any], set[str]] = _nothing_met  # the prerequisites that hold in a context
    weights: Mapping[str, int] = field(default_factory=dict)  # relative weight of a class
    always: Sequence[str] = ()  # classes that swarm testing never switches off
    seldom: Mapping[str, int] = field(default_factory=dict)  # expensive classes: one of N schedules has them
    telling: Sequence[str] = ()  # classes that reveal most of the policies
    enumerations: Mapping[str, Enumeration] = field(default_factory=dict)
    not_enumerated: Sequence[str] = ()  # classes that a search leaves out
    long_lists: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """By the length of a list of choices: how many a class tries in a search; 1 if it is not listed."""
    reduced: Callable[..., Iterable[Any]] = _not_reduced
    """(options, context, scope) -> the options without those that differ from another one only in names."""

    start: ClassVar[str] = "start"
    """The class that starts a run; every family has it."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way of finding schedules that only this family has, and its share: one of N schedules."""

    name: str
    share: int
    play: Callable[..., Any]  # (bench, unit, schedules, seed) -> Tally


def _never_hidden(key: str, sets: Mapping[str, Any]) -> str:
    return ""


def _no_signs() -> Sequence[Any]:
    return ()


@dataclass(frozen=True, slots=True)
class Inference:
    """How policies are inferred from observations; without a learner of the family, from its checks alone."""

    new_learner: Callable[..., Any] | None = None  # (curriculum, scenario, sought) -> a Judge
    signs: Callable[[], Sequence[Any]] = _no_signs
    supposing: frozenset[str] = frozenset()
    """Clauses that are not judged meanwhile, since their checks suppose the declared policies."""
    read_under: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Policies whose evidence can be read only while another policy has this value."""
    alike: Mapping[str, tuple[frozenset[str], str]] = field(default_factory=dict)
    """Values of a policy that are indistinguishable, and why."""
    idle: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """The values of other policies under which a policy has no observable effect."""
    hidden: Callable[[str, Mapping[str, Any]], str] = _never_hidden
    """(policy, the declared sets) -> why there can be no evidence for the policy, or an empty string."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for moves and observations in reports, and the timeline of a trace.

    `spelled` has words of titles as their owners spell them, which the name of a check cannot show.
    """

    move: Callable[[Move], str]
    observation: Callable[[Mapping[str, Any]], str]
    timeline: Callable[[Trace], Iterable[Row]] | None = None  # otherwise one row for each stimulus
    in_timeline: Sequence[str] = ()  # kinds of observation that its timeline shows
    render: Callable[[Trace, int], Iterable[str]] | None = None  # (trace, width) -> the timeline as text
    spelled: Mapping[str, str] = field(default_factory=dict)


def _always_met(need: str, handshake: Any) -> str:
    return ""


def _always_timely(move: Any, state: Any) -> bool:
    return True


def _as_it_is(scenario: Any, handshake: Any) -> Any:
    return scenario


def _no_needs(document: Any) -> Iterable[str]:
    return ()


def _never_recovers(state: Any) -> Mapping[str, Any] | None:
    return None


def _no_occasions(records: Iterable[Record]) -> Iterable[str]:
    return ()


def _bare_already(scenario: Any, moves: Sequence[Move]) -> Iterable[Any]:
    return ()


def _no_coverage(*given: Any) -> list[Any]:
    return []


@dataclass(frozen=True)
class Family:
    """One protocol family."""

    name: str  # as the handshake gives it
    spec: Spec
    vocabulary: Vocabulary
    new_state: Callable[..., Any]  # (handshake, policies, scenario) -> State
    invariants: tuple[Invariant, ...]  # in the order of blame
    monitors: tuple[type[Monitor], ...]  # made with (state, trails)
    line_formats: LineFormats  # of its scenario files
    actions: Actions
    ground: Callable[
        [Move, Any], dict[str, Any] | None
    ]  # (move, state) -> params with the runtime's gate ids
    admit: Callable[[Move, Any], Move | None]  # (move, state) -> without what the runtime does not support
    drain: Callable[[Any], Move | None]  # state -> the next move that gives a run what it waits for
    scenarios: Callable[..., Iterable[Any]]  # (handshake, policies)
    files: Traversable  # the folder with `scenarios/` and `witnesses/`
    host: Callable[[Callable[[], Any]], Sut]  # from a factory of hosted adapters to a Sut
    made: Made
    default_profile: str
    wording: Wording
    selectors: Selectors = NO_SELECTORS
    unmet: Callable[[str, Any], str] = (
        _always_met  # (need, handshake): why a need that only this family has is not met
    )
    is_timely: Callable[[Move, Any], bool] = _always_timely  # (move, state): a script may send it now
    needs_of_script: Callable[[Any], Iterable[str]] = _no_needs
    fitted: Callable[[Any, Any], Any] = _as_it_is
    """(scenario, handshake) -> the same scenario in the words that this runtime offers."""
    occasions: Callable[[Iterable[Record]], Iterable[str]] = _no_occasions
    """The records of a recording -> what its moves need because of when they are sent."""
    bare: Callable[[Any, Sequence[Move]], Iterable[Any]] = _bare_already
    """(scenario, moves) -> simplified scenarios, each without one thing."""
    recover: Callable[[Any], Mapping[str, Any] | None] = _never_recovers
    """state -> the params of `recover` if the runtime may be crashed now, else None."""
    strategies: tuple[Strategy, ...] = ()
    coverage_targets: Callable[..., list[ChartCoverage]] = _no_coverage
    """(handshake, policies, standings, coverage) -> the coverage of each chart."""
    inference: Inference = Inference()
    explored: Exploration | None = None  # of a family whose charts have a joint model
    charts: Callable[[], Iterable[type[Chart]]] | None = None
    """The charts of a family in another distribution; those of the kit's own families are found by name."""
    determinism: str = ""  # the clause that compares two runs of one schedule
    mixing: str = ""  # the clause that an open policy has one value throughout
    leaks: str = ""  # the clause that nothing is held when a scenario is closed
    shared_types: tuple[type, ...] = ()  # immutable parts of a judge that a session snapshot does not copy

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every chart as a table; a family may have none."""
        if self.charts is not None:
            return tuple(map(compile_chart, self.charts()))
        return tables(self.name) if self.name in _own() else ()

    @cached_property
    def core_profile(self) -> Profile:
        """The profile that claims only the universal core."""
        return next(one for one in self.spec.profiles.values() if not one.policies)

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
        checks = {
            self.determinism: "a schedule that was played is played again, and both lead to the same",
            self.mixing: "each value of an open policy is tried on all that is seen, until none is left",
            self.leaks: "the answer to scenario.close names nothing that is still held",
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
