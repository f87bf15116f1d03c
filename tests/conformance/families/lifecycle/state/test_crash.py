"""A crash takes away all that is volatile: each field of a volatile object is as in a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.calls import CallVolatile
from runlock.conformance.families.lifecycle.state.knowledge import StateVolatile
from runlock.conformance.families.lifecycle.state.records import RunVolatile
from runlock.conformance.families.lifecycle.state.watchers import Audience
from runlock.conformance.trace.moves import Move

START = Move("run.start", {"run": "r1", "input": "hello", "watcher": "w1"})
TURN = Move(
    "gate.release",
    {
        "gate": "model",
        "outcome": {"kind": "turn", "tool_calls": [{"id": "c1", "name": "allowed", "args": {}}]},
    },
)
MARK = object()
"""A value that no volatile field has by default."""


def default_of(field: Field[Any]) -> Any:
    """The value that a field has in a new object."""
    return field.default if field.default_factory is MISSING else field.default_factory()  # type: ignore[misc]


def plain_fields(volatile: Any) -> Iterator[Field[Any]]:
    """The fields that hold no volatile object themselves."""
    return (field for field in fields(volatile) if not is_dataclass(getattr(volatile, field.name)))


def volatile_of(state: ObservedState) -> list[Any]:
    """Every volatile object that a state holds."""
    runs = list(state.runs.values())
    calls = [call for run in runs for call in run.calls.values()]
    return [state.volatile, state.audience, *(one.volatile for one in (*runs, *calls))]


@pytest.fixture
def state() -> ObservedState:
    """A run of which one call is under way, with a gate open and a watcher."""
    bench = Bench(lambda: Hosted(factory("awaken-8")))
    session = bench.session(bench.scenarios[0])
    session.play([START, TURN])
    found = session.state
    session.close()
    bench.close()
    return found


def test_every_kind_of_volatile_object_is_there(state: ObservedState) -> None:
    """The other test looks at each class whose objects a crash replaces."""
    assert {type(one) for one in volatile_of(state)} == {StateVolatile, Audience, RunVolatile, CallVolatile}


def test_after_a_crash_each_volatile_field_has_its_default(state: ObservedState) -> None:
    """Whatever was known before, a field that is added to a volatile object cannot be forgotten."""
    gates = list(state.open_gates)
    for one in volatile_of(state):
        for field in plain_fields(one):
            setattr(one, field.name, gates if field.name == "open_gates" else MARK)

    state.stimulus("crash", {})

    left = [
        (type(one).__name__, field.name)
        for one in volatile_of(state)
        for field in plain_fields(one)
        if getattr(one, field.name) != default_of(field)
    ]
    assert gates
    assert left == []


def test_what_survives_a_crash_is_still_known(state: ObservedState) -> None:
    """What the kit has witnessed is no claim of the runtime: entries, decisions and ids are kept."""
    (run,) = state.runs.values()
    steps, calls, gates = run.steps, list(run.calls), dict(state.gates)

    state.stimulus("crash", {})

    assert (run.steps, list(run.calls), state.gates, run.crashes) == (steps, calls, gates, 1)
    assert {gate.gone for gate in state.gates.values() if gate.outcome is None} == {"crash"}
