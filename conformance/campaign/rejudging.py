"""Judges a recorded scenario, also past its first violation, by giving its records to a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runlock.conformance.campaign.units import Facts
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import Family
from runlock.conformance.judging.judge import Judge, Violation
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.trace import Trace

Name = Path | str
"""A recording, as errors name it."""


def judges_of(name: Name, scene: Trace, facts: Facts) -> Iterator[Judge]:
    """Judges of one scenario: each mutes what those before it found, and the last one finds nothing more."""
    while True:
        judge = judged(name, scene, facts)
        yield judge
        if judge.violation is None:
            return
        facts = facts.without({judge.violation.clause, *judge.open.exhausted})


def violations_in(name: Name, scene: Trace, facts: Facts) -> list[Violation]:
    """The violations of a scenario, the first one first; of each clause the first one."""
    return [judge.violation for judge in judges_of(name, scene, facts) if judge.violation is not None]


def judged(name: Name, scene: Trace, facts: Facts) -> Judge:
    """The judge, after it has processed the whole scenario."""
    scenario, vocabulary = scenario_of(name, scene, facts.family), facts.family.vocabulary
    judge = Judge(
        facts.family,
        facts.handshake,
        facts.policies,
        scenario,
        facts.applies,
        facts.undeclared,
        asked=facts.asked,
    )
    seen: list[Any] = []
    gates: dict[str, bool] = {}
    for number, record in enumerate(scene.records, 1):
        ((key, value),) = record.items()
        if key == "stimulus":
            judge.stimulus(value["method"], value["params"])
        elif key == "crash":
            judge.stimulus("crash", {})
            gates.clear()
        elif key == "observation":
            _pass_gate(name, number, value, gates)
            seen.append(value)
        elif key == "report":
            whole = {**value, "observations": seen}
            judge.answer(read(name, f"report (record {number})", vocabulary.report, whole))
            seen = []
        elif key == "end":
            judge.closed(value.get("leaks") or ())
    return judge


def _pass_gate(name: Name, number: int, seen: Mapping[str, Any], gates: dict[str, bool]) -> None:
    """Check that a gate opens once in an incarnation and is abandoned at most once."""
    kind, gate = seen.get("kind"), str(seen.get("gate"))
    if kind == "gate.open" and gate in gates:
        raise UsageError(f"{name} opens gate {gate} twice (record {number}).", "A gate has an id of its own.")
    if kind == "gate.closed" and not gates.get(gate):
        raise UsageError(f"{name} closes gate {gate} (record {number}).", "Only an open gate is given up.")
    if kind in ("gate.open", "gate.closed"):
        gates[gate] = kind == "gate.open"


def scenario_of(name: Name, scene: Trace, family: Family) -> Scenario:
    """The scenario that a recording opens."""
    scenario: Scenario = read(name, "scenario", family.vocabulary.scenario, next(scene.of("scenario")))
    return scenario


def read(name: Name, what: str, model: Any, raw: Mapping[str, Any]) -> Any:
    """A part of a recording as a message of the protocol."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            raise UsageError(f"The {what} in {name} lacks {where}.") from error
        raise UsageError(
            f"The {what} in {name} does not fit the protocol: {where} is {first.get('input')!r}.",
            f"{first['msg']}.",
        ) from error
