"""The parts of a protocol family: its words, its actions, and how it is driven, fitted, judged and inferred.

States, handshakes, scenarios and contexts are classes of the family, and `Any` here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from runlock.conformance.family.chooser import Chooser
from runlock.conformance.family.coverage import ChartCoverage
from runlock.conformance.family.invariant import NO_SELECTORS, Selectors
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Record, Trace

Action = Callable[[Any, Chooser], Move | None]
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
class Row:
    """One moment of a timeline: the status of each call and of the run, and what happened."""

    calls: Mapping[str, str]
    run: str
    happened: str


def _no_mistake(trace: Trace) -> str:
    return ""


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
    adapter_mistake: Callable[[Trace], str] = _no_mistake
    """What makes a violation look like a mistake of the adapter, from its trace; empty if nothing does."""
    taken_by: Mapping[str, str] = field(default_factory=dict)
    """The method of an adapter in Python that takes a stimulus."""


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


def _not_combined(handshake: Any, policies: Mapping[str, Any]) -> Iterable[Any]:
    return ()


def _bare_already(scenario: Any, moves: Sequence[Move]) -> Iterable[Any]:
    return ()


def _no_coverage(*given: Any) -> list[Any]:
    return []


@dataclass(frozen=True, slots=True)
class Driving:
    """How schedules are played: in which scenarios, and what a move needs before it is sent."""

    scenarios: Callable[..., Iterable[Any]]  # (handshake, policies) -> the simplest first
    ground: Callable[[Move, Any], dict[str, Any] | None]
    """(move, state) -> params with the runtime's gate ids"""
    admit: Callable[[Move, Any], Move | None]  # (move, state) -> without what the runtime does not support
    drain: Callable[[Any], Move | None]  # state -> the next move that gives a run what it waits for
    recover: Callable[[Any], Mapping[str, Any] | None] = _never_recovers
    """state -> the params of `recover` if the runtime may be crashed now, else None."""
    bare: Callable[[Any, Sequence[Move]], Iterable[Any]] = _bare_already
    """(scenario, moves) -> simplified scenarios, each without one thing."""
    combined: Callable[..., Iterable[Any]] = _not_combined
    """(handshake, policies) -> scenarios in which every two values of two features meet."""
    strategies: tuple[Strategy, ...] = ()


@dataclass(frozen=True, slots=True)
class Fitting:
    """Whether a script fits a runtime, and a script made to fit."""

    unmet: Callable[[str, Any], str] = _always_met
    """(need, handshake) -> why a need that only this family has is not met, or an empty string."""
    needs_of_script: Callable[[Any], Iterable[str]] = _no_needs
    occasions: Callable[[Iterable[Record]], Iterable[str]] = _no_occasions
    """The records of a recording -> what its moves need because of when they are sent."""
    is_timely: Callable[[Move, Any], bool] = _always_timely  # (move, state): a script may send it now
    fitted: Callable[[Any, Any], Any] = _as_it_is
    """(scenario, handshake) -> the same scenario in the words that this runtime offers."""


@dataclass(frozen=True, slots=True)
class Judging:
    """What the invariants judge by, and the clauses that shared code checks."""

    new_state: Callable[..., Any]  # (handshake, policies, scenario) -> State
    selectors: Selectors = NO_SELECTORS
    coverage_targets: Callable[..., list[ChartCoverage]] = _no_coverage
    """(handshake, policies, standings, coverage) -> the coverage of each chart."""
    determinism: str = ""  # the clause that compares two runs of one schedule
    mixing: str = ""  # the clause that an open policy has one value throughout
    leaks: str = ""  # the clause that nothing is held when a scenario is closed
    scoping: Mapping[str, str] = field(default_factory=dict)
    """Needs without which a clause is not applicable, instead of untested, and why."""
