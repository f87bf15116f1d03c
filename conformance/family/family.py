"""What one protocol family gives to the kit; shared code knows of a family nothing but this.

A family is found by its name: `runlock.conformance.families.<name>.family` has it as `FAMILY`, or an entry
point of the group `runlock.families` names it for a family that another distribution ships.
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

from runlock.conformance.family.invariant import NO_SELECTORS, Selectors

if TYPE_CHECKING:
    from runlock.conformance.family.chooser import Chooser
    from runlock.conformance.family.coverage import ChartCoverage
    from runlock.conformance.family.invariant import Invariant
    from runlock.conformance.family.monitor import Monitor
    from runlock.conformance.protocol.vocabulary import Vocabulary
    from runlock.conformance.trace.line_formats import LineFormats
    from runlock.conformance.trace.moves import Move
    from runlock.conformance.transport.sut import Sut
    from runlock.spec.model import Profile, Spec

GROUP: Final = "runlock.families"
FOLDER: Final = "runlock.conformance.families"
DEFAULT: Final = "lifecycle"
"""The family of a handshake that names none."""


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
    """What the outside world may do next: classes of action, and hints for the generators of schedules.

    A context holds what actions look at: `state`, `handshake`, and `counts` of the ids that were used; its
    `aside()` is a copy with its own counts, for testing whether an action is enabled.
    """

    table: Mapping[str, Action]
    new_context: Callable[..., Any]  # (state, counts={})
    racers: Sequence[str] = ()  # classes of which two or three may happen at once
    prerequisites: Mapping[str, str] = field(default_factory=dict)  # class: an open gate of a kind, or a fact
    gates: Mapping[str, str] = field(default_factory=dict)  # class: the kind of gate that it releases
    met: Callable[[Any], set[str]] = _nothing_met  # the prerequisites that hold in a context
    weights: Mapping[str, int] = field(default_factory=dict)  # how much likelier a class is than others
    always: Sequence[str] = ()  # classes that swarm testing never switches off
    seldom: Mapping[str, int] = field(default_factory=dict)  # expensive classes: one of N schedules has them
    telling: Sequence[str] = ()  # classes that show most of the policies
    enumerations: Mapping[str, Enumeration] = field(default_factory=dict)
    not_enumerated: Sequence[str] = ()  # classes that a search leaves out
    long_lists: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """By the length of a list of choices: how many a class tries in a search; 1 if it is not named."""
    reduced: Callable[..., Iterable[Any]] = _not_reduced
    """(options, context, scope) -> the options without those that differ from another one by names alone."""

    start: ClassVar[str] = "start"
    """The class that begins a run; every family has it."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way of finding schedules that only this family has, and its share: one of N schedules."""

    name: str
    share: int
    play: Callable[..., Any]  # (bench, unit, schedules, seed) -> Tally


def _never_hidden(key: str, sets: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Inference:
    """How policies are found out from what a runtime shows."""

    new_learner: Callable[..., Any]  # (handshake, policies, scenario, applies, wanted) -> a Judge
    unconditional: Callable[..., dict[str, bool]]  # (handshake, clauses set aside) -> which clauses are asked
    signs: Callable[[], Sequence[Any]]
    read_under: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Policies whose signs can be read only where another policy has this value."""
    alike: Mapping[str, tuple[frozenset[str], str]] = field(default_factory=dict)
    """Values of a policy that show the same, and why."""
    idle: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """The values of other policies under which a policy says nothing, or nothing that shows."""
    hidden: Callable[[str, Mapping[str, Any]], str] = _never_hidden
    """(policy, the declared sets) -> why no sign of the policy can show, or an empty string."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How moves and observations read in reports, and how a trace is drawn as a timeline."""

    move: Callable[[Move], str]
    observation: Callable[[Mapping[str, Any]], str]
    timeline: Callable[..., Any] | None = None  # (trace) -> a timeline


@dataclass(frozen=True, slots=True)
class Made:
    """The runtimes that the kit makes of its own reference: each by its name."""

    reference: Callable[..., Callable[[], Any]]  # (profile, policies) -> a factory of hosted adapters
    durable: Callable[..., Callable[[], Any]] | None  # the same, with a store of its own
    mutants: Callable[[], Mapping[str, Any]]
    variants: Callable[[], Mapping[str, Any]]


def _always_met(need: str, handshake: Any) -> str:
    return ""


def _always_timely(move: Any, state: Any) -> bool:
    return True


def _no_needs(document: Any) -> Iterable[str]:
    return ()


def _never_recovers(state: Any) -> Mapping[str, Any] | None:
    return None


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
    monitors: tuple[type[Monitor], ...]  # made with (state, trails, applies)
    line_formats: LineFormats  # of its scenario files
    actions: Actions
    ground: Callable[
        [Move, Any], dict[str, Any] | None
    ]  # (move, state) -> params with the runtime's gate ids
    admit: Callable[[Move, Any], Move | None]  # (move, state) -> without what the runtime does not take
    drain: Callable[[Any], Move | None]  # state -> the next move that gives a run what it waits for
    scenarios: Callable[..., Iterable[Any]]  # (handshake, policies)
    files: Traversable  # the folder with `scenarios/` and `witnesses/`
    host: Callable[[Callable[[], Any]], Sut]  # from a factory of hosted adapters to a Sut
    made: Made
    default_profile: str
    wording: Wording
    selectors: Selectors = NO_SELECTORS
    unmet: Callable[[str, Any], str] = _always_met  # (need, handshake): why a need of its own is not met
    is_timely: Callable[[Move, Any], bool] = _always_timely  # (move, state): a script may send it now
    needs_of_script: Callable[[Any], Iterable[str]] = _no_needs
    recover: Callable[[Any], Mapping[str, Any] | None] = _never_recovers
    """state -> the params of `recover` if the runtime may be crashed now, else None."""
    strategies: tuple[Strategy, ...] = ()
    coverage_targets: Callable[..., list[ChartCoverage]] = _no_coverage
    """(handshake, policies, standings, coverage) -> what could be covered of each chart, and what was."""
    inference: Inference | None = None
    verb_needs: Mapping[str, str] = field(
        default_factory=dict
    )  # verb: the need that offers it, if it is not its own
    determinism: str = ""  # the clause for which two plays of one schedule are compared
    shared_types: tuple[type, ...] = ()  # immutable parts of a judge that a session snapshot does not copy

    @cached_property
    def core_profile(self) -> Profile:
        """The profile that claims the universal core alone."""
        return next(one for one in self.spec.profiles.values() if not one.policies)

    @cached_property
    def checked(self) -> frozenset[str]:
        """The clauses that something judges."""
        monitored = (clause for monitor in self.monitors for clause in monitor.clauses)
        return frozenset({*(check.clause for check in self.invariants), *monitored, self.determinism})

    @cached_property
    def held_by_silence(self) -> frozenset[str]:
        """The clauses that hold only where a quiescent runtime's silence counts."""
        return frozenset(check.clause for check in self.invariants if check.seeing is None)

    @cached_property
    def rests_on_silence(self) -> frozenset[str]:
        """The clauses that nothing but silence breaks."""
        seen = {check.clause for check in self.invariants if check.seeing is not None}
        monitored = (clause for monitor in self.monitors for clause in monitor.rests_on_silence)
        return frozenset({*(self.held_by_silence - seen), *monitored})


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
    return next((one for one in families() if profile in one.spec.profiles), None)
