"""Judges a recorded trace without a runtime: its records are passed to a judge as if they were live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from runlock.conformance.campaign.result import Result
from runlock.conformance.campaign.stages import Order
from runlock.conformance.campaign.supervisor import concluded
from runlock.conformance.campaign.units import Facts
from runlock.conformance.campaign.worker import as_found
from runlock.conformance.driving.exceptions import exceptions_of
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT, Family, family_named
from runlock.conformance.judging.judge import Judge, Violation
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import moves_of
from runlock.conformance.trace.trace import Trace, read_trace
from runlock.spec.model import SpecError

UNREACHED: Final = "the recording does not reach it"


def audit(path: Path, target: str, only: tuple[str, ...] = ()) -> Result:
    """The result for a file; a clause that the recording does not exercise is untested."""
    trace = read_trace(path)
    facts = facts_of(path, trace, only)
    tally = Tally()
    for scene in scenes(trace):
        judge = judged(path, scene, facts)
        tally.schedules += 1
        tally.stimuli += judge.state.stimuli
        tally.exercised.update(judge.exercised)
        tally.coverage.add(judge.coverage)
        for raised in exceptions_of(scene):
            tally.exception(raised)
        if judge.violation is not None:
            scenario = judge.state.scenario
            moves = tuple(moves_of(scene, facts.family.line_formats.gate_name))[: judge.violation.stimulus]
            tally.note(judge.violation.clause, Found(judge.violation, scenario, moves, scene))
        for one, why in judge.open.excluded.items():
            tally.exclude(
                one, why, Found(Violation(why.clause, why.because, 0), judge.state.scenario, (), scene)
            )
    tally.settle(facts.undeclared)
    witnesses = [as_found(found) for _, found in sorted(tally.found.items())]
    result = concluded(Order(target, 0), facts, tally, witnesses, budget={"recorded": str(path)}, partial="")
    result.clauses = [
        replace(one, offered=False, why=UNREACHED) if one.verdict == "untested" and one.offered else one
        for one in result.clauses
    ]
    if not tally.schedules:
        raise UsageError(f"{path} holds no scenario.", "A trace that is judged holds at least one.")
    return result


def facts_of(path: Path, trace: Trace, only: tuple[str, ...] = ()) -> Facts:
    """The facts from the handshake of a recording."""
    raw = next(trace.of("handshake"), None)
    if raw is None:
        raise UsageError(f"{path} holds no handshake.", "A trace that is judged begins with one.")
    family = _family_of(path, raw)
    handshake = _read(path, "handshake", family.vocabulary.handshake, raw)
    try:
        policies = family.spec.policies_of(handshake.profile, handshake.policies)
    except SpecError as error:
        raise UsageError(f"The handshake in {path} cannot be judged: {error}") from error
    return Facts(handshake, policies, only)


def _family_of(path: Path, handshake: Mapping[str, Any]) -> Family:
    try:
        return family_named(str(handshake.get("family", DEFAULT)))
    except LookupError as error:
        raise UsageError(f"The handshake in {path} names an unknown family.", str(error)) from error


def scenes(trace: Trace) -> Iterator[Trace]:
    """The scenarios of a trace, each as a separate trace."""
    handshakes: list[dict[str, Any]] = []
    scene: Trace | None = None
    for record in trace.records:
        if "handshake" in record:
            handshakes = [record]
            continue
        if "scenario" in record:
            if scene is not None:
                yield scene
            scene = Trace([*handshakes])
        if scene is not None:
            scene.records.append(record)
    if scene is not None:
        yield scene


def the_scene(path: Path, trace: Trace) -> Trace:
    """The only scenario of a trace."""
    found = list(scenes(trace))
    if len(found) != 1:
        held = "no scenario" if not found else f"{len(found)} scenarios"
        raise UsageError(f"{path} holds {held}.", "A trace that is replayed holds one.")
    return found[0]


def judged(path: Path, scene: Trace, facts: Facts) -> Judge:
    """The judge, after it has processed the whole scene."""
    scenario = scenario_of(path, scene, facts.family)
    asked = {clause: standing.is_judged for clause, standing in facts.standings.items()}
    judge = Judge(facts.family, facts.handshake, facts.policies, scenario, asked, facts.undeclared)
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
            _pass_gate(path, number, value, gates)
            seen.append(value)
        elif key == "report":
            judge.answer(
                _read(
                    path,
                    f"report (record {number})",
                    facts.family.vocabulary.report,
                    {**value, "observations": seen},
                )
            )
            seen = []
    judge.end()
    return judge


def _pass_gate(path: Path, number: int, seen: Mapping[str, Any], gates: dict[str, bool]) -> None:
    """Check that a gate opens once in an incarnation and is abandoned at most once."""
    kind, gate = seen.get("kind"), str(seen.get("gate"))
    if kind == "gate.open" and gate in gates:
        raise UsageError(f"{path} opens gate {gate} twice (record {number}).", "A gate has an id of its own.")
    if kind == "gate.closed" and not gates.get(gate):
        raise UsageError(f"{path} closes gate {gate} (record {number}).", "Only an open gate is given up.")
    if kind in ("gate.open", "gate.closed"):
        gates[gate] = kind == "gate.open"


def scenario_of(path: Path, scene: Trace, family: Family) -> Scenario:
    """The scenario that a scene opens."""
    scenario: Scenario = _read(path, "scenario", family.vocabulary.scenario, next(scene.of("scenario")))
    return scenario


def _read(path: Path, what: str, model: Any, raw: Mapping[str, Any]) -> Any:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "missing":
            raise UsageError(f"The {what} in {path} lacks {where}.") from error
        raise UsageError(
            f"The {what} in {path} does not fit the protocol: {where} is {first.get('input')!r}.",
            f"{first['msg']}.",
        ) from error
