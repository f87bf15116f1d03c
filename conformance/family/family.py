"""What one protocol family gives to the kit; shared code knows of a family nothing but this.

A family is found by its name: `runlock.conformance.families.<name>` has it as `FAMILY`, or an entry point of the
group `runlock.families` names an object for a family that another distribution ships.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from runlock.conformance.family.chooser import Chooser
    from runlock.conformance.family.invariant import Invariant
    from runlock.conformance.family.monitor import MonitorFactory
    from runlock.conformance.family.state import State
    from runlock.conformance.protocol import Handshake, Observation, Report, Scenario, Wire
    from runlock.conformance.trace.moves import Move
    from runlock.conformance.transport.sut import Sut, SutFactory
    from runlock.spec.model import Spec

GROUP: Final = "runlock.families"
NAMES: Final = ("lifecycle", "tool-runner", "message-loop")
"""The families that come with the kit, by the folders that hold them."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The messages of a family: models of its handshake, scenario, verbs, observations and gate outcomes."""

    handshake: type[Handshake]
    scenario: type[Scenario]
    report: type[Report]
    snapshot: type[Wire]
    methods: Mapping[str, tuple[type[Wire], type[Wire]]]  # verb: its parameters and its answer
    observations: Mapping[str, type[Observation]]  # kind: its model
    outcomes: Mapping[str, TypeAdapter[Any]]  # gate: what releases it
    gate_fields: tuple[str, ...] = ("on", "call")  # fields of `gate.open` that name the gate in a schedule

    @property
    def stimuli(self) -> tuple[str, ...]:
        """The verbs that are answered by a report."""
        return tuple(verb for verb, (_, answer) in self.methods.items() if answer is self.report)

    def gate_name(self, opened: Mapping[str, Any]) -> str:
        """The name of a gate in schedules and scenario files: `model`, `tool:c1`."""
        return ":".join(str(opened[key]) for key in self.gate_fields if opened.get(key) is not None)


class Context(Protocol):
    """What an action looks at: the observed state, and fresh ids."""

    state: Any
    handshake: Any
    counts: dict[str, int]

    def aside(self) -> Context:
        """A copy with its own id counters, for testing whether an action is enabled."""
        ...


Action = Callable[[Any, "Chooser"], "Move | None"]
"""Proposes a move for a context, or None where it is not enabled."""


@dataclass(frozen=True, slots=True)
class Actions:
    """What the outside world may do next: classes of action, and hints for the generators of schedules."""

    table: Mapping[str, Action]
    new_context: Callable[..., Any]  # (state, counts={}) -> Context
    opening: str = "start"  # the class that begins a scenario
    racers: Sequence[str] = ()  # classes of which two or three may happen at once
    prerequisites: Mapping[str, str] = field(default_factory=dict)  # class: an open gate of a kind, or a fact
    met: Callable[[Any], set[str]] = lambda context: set()  # the prerequisites that hold in a context
    weights: Mapping[str, int] = field(default_factory=dict)  # how much likelier a class is than others
    always: Sequence[str] = ()  # classes that swarm testing never switches off
    seldom: Mapping[str, int] = field(default_factory=dict)  # expensive classes: one of N schedules has them
    telling: Sequence[str] = ()  # classes that show most of the policies


@dataclass(frozen=True, slots=True)
class Family:
    """One protocol family."""

    name: str  # as the handshake gives it
    spec: Spec
    vocabulary: Vocabulary
    new_state: Callable[[Handshake, Mapping[str, Any], Scenario], State]
    invariants: tuple[Invariant, ...]
    monitors: tuple[MonitorFactory, ...]
    actions: Actions
    ground: Callable[
        [Move, Any], dict[str, Any] | None
    ]  # (move, state) -> params with this runtime's gate ids
    admit: Callable[
        [Move, Any], Move | None
    ]  # (move, state) -> the move without what the runtime does not take
    drain: Callable[[Any], Move | None]  # state -> the next move that gives a run what it waits for
    scenarios: Callable[[Any, Mapping[str, Any]], Iterable[Scenario]]  # (handshake, policies)
    files: Traversable  # the folder with `scenarios/` and `witnesses/`
    host: Callable[[Callable[[], Any]], Sut]  # from a factory of hosted adapters
    reference: Callable[[str, Mapping[str, Any]], SutFactory]  # (profile, policies)
    default_profile: str
    mutants: Callable[[], Mapping[str, Any]]  # by name
    variants: Callable[[], Mapping[str, Any]]


@cache
def family_named(name: str) -> Family:
    """The family of that name; `LookupError` lists the known ones."""
    if name in NAMES:
        found: Family = import_module(f"runlock.conformance.families.{name.replace('-', '_')}").FAMILY
        return found
    shipped = {one.name: one for one in entry_points(group=GROUP)}
    if name in shipped:
        return shipped[name].load()  # type: ignore[no-any-return]
    raise LookupError(f"There is no family {name!r}; known: {', '.join((*NAMES, *shipped))}.")
