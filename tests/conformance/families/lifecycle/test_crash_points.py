"""Crashes of the corpus come at every kind of point: at each gate, around runs, and twice in a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages.vocabulary import GateKind
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.trace.moves import Move

BEFORE, AFTER, WAITING, TWICE = "before the first run", "after a run", "while it waits", "twice in a row"
POINTS = {*get_args(GateKind), BEFORE, AFTER, WAITING, TWICE}


def points(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Where the runtime stood at each crash of a trace."""
    gates: dict[str, str] = {}
    code, crashed = None, False
    for record in records:
        if "crash" in record:
            yield from _stands(gates, code, crashed)
            gates, crashed = {}, True
        elif "stimulus" in record:
            for method, params in Move(record["stimulus"]["method"], record["stimulus"]["params"]).parts():
                code = None if method == "run.start" else code
                gates.pop(params.get("gate", ""), None)
            crashed = crashed and record["stimulus"]["method"] == "recover"
        elif (seen := record.get("observation", {})).get("kind") == "gate.open":
            gates[seen["gate"]], code = seen["on"], "at work"
        elif seen.get("kind") == "gate.closed":
            gates.pop(seen["gate"], None)
        elif seen.get("kind") == "run.finished":
            code = seen["reason"]["code"]


def _stands(gates: Mapping[str, str], code: str | None, crashed: bool) -> Iterator[str]:
    yield from gates.values()
    if crashed:
        yield TWICE
    if not gates:
        yield {None: BEFORE, "Suspended": WAITING}.get(code, AFTER)


@pytest.mark.parametrize("profile", ["tirea", "awaken-9"])
def test_crashes_come_at_every_kind_of_point(profile: str) -> None:
    """No kind of point is left out, and nothing is broken by a crash there."""
    bench, tally, met = Bench(lambda: Hosted(factory(profile))), Tally(), set[str]()
    for script in corpus(FAMILY):
        if any("crash" in entry.method for entry in script.moves) and not applicable(
            FAMILY, script, bench.handshake
        ):
            session = bench.judged(script.scenario, play(script), tally)
            assert session is not None
            met |= set(points(session.trace.records))
    bench.close()

    assert POINTS - met == set()
    assert tally.found == {}


def test_a_crash_at_work_is_at_its_gates() -> None:
    """The trace alone says where a crash came."""
    gate = {"observation": {"kind": "gate.open", "gate": "g1", "on": "tool"}}
    start = {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "hello"}}}

    assert list(points([{"crash": {}}])) == [BEFORE]
    assert list(points([start, gate, {"crash": {}}, {"crash": {}}])) == ["tool", TWICE, AFTER]
