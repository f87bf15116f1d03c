"""Judges recorded scenarios without a runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.causes import grouped
from runlock.conformance.campaign.questions import evidence
from runlock.conformance.campaign.rejudging import Name, judges_of, read
from runlock.conformance.campaign.result import Result, Unanswered
from runlock.conformance.campaign.supervisor import concluded
from runlock.conformance.campaign.units import Facts
from runlock.conformance.campaign.worker import as_found
from runlock.conformance.driving.exceptions import exceptions_of
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT, Family, family_named
from runlock.conformance.family.fitting import check_fits
from runlock.conformance.judging.judge import Violation
from runlock.conformance.judging.selection import EVERYTHING, Selection
from runlock.conformance.trace.moves import moves_of
from runlock.conformance.trace.trace import Trace, numbered_records
from runlock.spec.model import SpecError

UNREACHED: Final = "the recording does not reach it"


def audit(path: Path, target: str, selection: Selection = EVERYTHING) -> Result:
    """The result for a file; a clause that the recording does not exercise is untested."""
    numbered = numbered_records(path)
    trace = Trace([record for _, record in numbered])
    facts = facts_of(path, trace, selection.with_skipped)
    check_fits(facts.family, numbered, str(path), observations=False)
    tally = Tally()
    for scene in scenes(trace):
        _enter(tally, path, scene, facts)
    tally.settle(facts.undeclared)
    found = [as_found(one) for _, one in sorted(tally.found.items())]
    witnesses = grouped(found, facts, tally)
    questions = [Unanswered(one, values, as_found(found)) for one, values, found in evidence(facts, tally)]
    budget = {"recorded": str(path)}
    result = concluded(target, selection, facts, tally, witnesses, questions, budget=budget, partial="")
    result.warnings += _recorded(trace, tally)
    result.clauses = [
        replace(one, offered=False, why=UNREACHED) if one.verdict == "untested" and one.offered else one
        for one in result.clauses
    ]
    if not tally.schedules:
        raise UsageError(f"{path} holds no scenario.", "A trace that is judged holds at least one.")
    return result


def _recorded(trace: Trace, tally: Tally) -> list[str]:
    """The recorded verdicts that judging the file again does not give, such as one on several schedules."""
    return [
        f"the file was recorded for this: {scene.verdict_in_words}"
        for scene in scenes(trace)
        if scene.verdict is not None and scene.verdict.get("clause") not in tally.found
    ]


def _enter(tally: Tally, path: Path, scene: Trace, facts: Facts) -> None:
    """Add one scenario, judged to its end."""
    judges = list(judges_of(path, scene, facts))
    judge, scenario = judges[-1], judges[-1].state.scenario
    tally.schedules += 1
    tally.stimuli += judge.state.stimuli
    tally.exercised.update(judge.exercised)
    tally.policies |= judge.policies
    tally.coverage.add(judge.coverage)
    for raised in exceptions_of(scene):
        tally.exception(raised)
    moves = tuple(moves_of(scene, facts.family.line_formats.gate_name))
    for one in judges:
        if (found := one.violation) is not None:
            tally.ended_by[found.clause] += one is judges[0]
            tally.note(found.clause, Found(found, scenario, moves[: found.stimulus], scene))
        for key, why in one.open.excluded.items():
            tally.exclude(key, why, Found(Violation(why.clause, why.reason, 0), scenario, moves, scene))


def facts_of(path: Name, trace: Trace, selection: Selection = EVERYTHING) -> Facts:
    """The facts from the handshake of a recording."""
    raw = next(trace.of("handshake"), None)
    if raw is None:
        raise UsageError(f"{path} holds no handshake.", "A trace that is judged begins with one.")
    family = _family_of(path, raw)
    handshake = read(path, "handshake", family.vocabulary.handshake, raw)
    try:
        policies = family.spec.policies_of(handshake.profile, handshake.policies)
    except SpecError as error:
        raise UsageError(f"The handshake in {path} cannot be judged: {error}") from error
    return Facts(handshake, policies, selection)


def _family_of(path: Name, handshake: Mapping[str, Any]) -> Family:
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
