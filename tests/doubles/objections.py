"""Which checks of a family object: each is asked on its own, whatever the others have said before."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from edited_traces import Edit, right_trace
from judged_records import fold, rows_of
from loop_walks import Walks
from places import DATA, ROOT

from runlock.conformance.campaign.audit import scenes
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import (
    Script,
    applicable,
    corpus,
    play,
    script_of,
    witnesses,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.family import Family, family_named
from runlock.conformance.family.invariant import Invariant, gathered
from runlock.conformance.family.made import Mutant
from runlock.conformance.judging.applicability import standings
from runlock.conformance.judging.judge import Judge
from runlock.conformance.protocol import Observation
from runlock.conformance.report.examples import clauses_of
from runlock.conformance.selftest.witnesses import replay
from runlock.conformance.selftest.witnesses import witnesses as witness_of
from runlock.conformance.trace.scenario_file import family_of
from runlock.conformance.trace.trace import Record, Trace

Records = list[Record]

TABLES = ROOT / "tests" / "conformance" / "families" / "lifecycle" / "invariants" / "tables"
WALKS = tomllib.loads((DATA / "message_loop_walks.toml").read_text("utf-8"))


class Listener(Judge):
    """A judge that goes on whatever is objected; it asks the checks that are silent yet, and no others."""

    silent: set[Invariant]

    def _run_checks(self, checks: Iterable[Invariant], *seen: Observation) -> None:
        asked = [check for check in checks if check in self.silent]
        self.silent.difference_update([one for one in asked if one.first_reason(self.state, *seen)])


def name_of(check: Invariant) -> str:
    """The clause of a check, its function and what it is asked about."""
    kind = check.seeing.__name__ if check.seeing else "rest"
    after = (f"after {one or 'nothing'}" for one in check.after)
    return " ".join((check.clause, check.check.__name__, kind, *check.at, *after))


def hear(family: Family, records: Records, silent: set[Invariant], **policies: Any) -> None:
    """Take from the silent checks those that object to a trace, judged as if it declared these policies."""
    for scene in scenes(Trace(records)):
        said = scene.records[0]["handshake"]
        declared = {**said, "policies": {**said.get("policies", {}), **policies}}
        handshake = family.vocabulary.handshake.model_validate(declared)
        scenario = family.vocabulary.scenario.model_validate(next(scene.of("scenario")))
        known = family.spec.policies_of(handshake.profile, handshake.policies)
        applies = {one: found.is_judged for one, found in standings(family, handshake, known).items()}
        asked = replace(family, monitors=(), invariants=tuple(silent))
        judge = Listener(asked, handshake, known, scenario, applies)
        judge.silent = silent
        fold(judge, scene.records, family)


# --- what is heard ------------------------------------------------------------------------------


def objecting_in_tables() -> Iterator[Invariant]:
    """The checks of the lifecycle that object to a row of a table."""
    for path in sorted(TABLES.glob("*.toml")):
        module = import_module(f"runlock.conformance.families.lifecycle.invariants.{path.stem}")
        for row in rows_of(path):
            checks = [one for one in gathered(module) if one.clause == row.clause] if row.reason else []
            yield from (one for one in checks if row.judged((one,)).violation is not None)


def wrong_traces() -> Iterator[Records]:
    """The stored traces that are wrong."""
    for path in sorted((DATA / "wrong_traces").glob("*.jsonl")):
        yield [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def traces_of_arrows() -> Iterator[Records]:
    """The right traces of message loops that are edited so that the clause of a transition breaks."""
    rows = tomllib.loads((DATA / "message_loop_arrows.toml").read_text("utf-8"))["traces"]
    for row in rows.values():
        edit = Edit(row["way"], row["record"], row.get("value"))
        yield edit.apply(right_trace(row["runtime"], row["script"]))


def traces_of_mutants(family: Family) -> Iterator[Records]:
    """What each mutant shows in its shortest schedule, or in the first script that gives it away."""
    stored = witness_of(family)
    for mutant in family.made.mutants().values():
        if family.name == "message-loop":
            yield _shown_in_a_walk(mutant)
        elif mutant.name in stored:
            yield replay(family, mutant, stored[mutant.name]).trace.records
        else:
            yield from _shown_in_scripts(family, mutant)


def _shown_in_a_walk(mutant: Mutant) -> Records:
    """The whole walk or script, as no clause is judged that would end it."""
    walks, sessions = Walks(mutant), []
    walks.bench.mute(walks.bench.family.spec.clauses)
    walks.bench.enter = lambda session, tally: sessions.append(session)
    known = {name: seen for part in WALKS.values() for name, seen in part.items()}
    walks.see(known[mutant.name])
    walks.close()
    return sessions[0].trace.records


def _shown_in_scripts(family: Family, mutant: Mutant) -> Iterator[Records]:
    bench = Bench(lambda: family.host(mutant))
    for script in sorted(corpus(family), key=lambda one: mutant.clause not in clauses_of(one)):
        if not applicable(family, script, bench.handshake):
            tally = Tally()
            bench.play(script.scenario, play(script), tally)
            yield from (one.trace.records for one in tally.found.values())
            if mutant.clause in tally.found:
                break
    bench.close()


# --- traces with one change ---------------------------------------------------------------------


@cache
def played(name: str, runtime: str, script: str) -> Records:
    """The records of a script of a family on a reference, a variant or a mutant."""
    family = family_named(name)
    made = {**family.made.variants(), **family.made.mutants()}
    factory = made.get(runtime) or family.made.reference(runtime, {})
    bench = Bench(lambda: family.host(factory))
    stored = (*corpus(family), *witnesses(family, sys.maxsize), *schedules_of_edits(family))
    one = next(one for one in stored if one.name == script)
    session = bench.session_not_judged(family.fitting.fitted(one.scenario, bench.handshake))
    play(one)(session)
    bench.close()
    return session.trace.records


def schedules_of_edits(family: Family) -> Iterator[Script]:
    """The schedules that are played for an edit alone, as no script or witness shows what it needs."""
    for path in sorted((DATA / "edited_schedules").glob("*.scenario")):
        text = path.read_text("utf-8")
        if family_of(text) == family.name:
            yield script_of(family, path.stem, text)


def judged_on_the_reference(family: Family, script: Script) -> Tally:
    """What a judge says of a script on the default reference."""
    bench, tally = Bench(lambda: family.host(family.made.reference(family.default_profile, {}))), Tally()
    bench.play(family.fitting.fitted(script.scenario, bench.handshake), play(script), tally)
    bench.close()
    return tally


def edited(family: Family, row: dict[str, Any]) -> tuple[Records, dict[str, Any]]:
    """The trace of a row, in which some records are taken out and others put; and what it declares."""
    shown = played(family.name, row["runtime"], row["script"])
    at, out = row.get("at", 0), row.get("out", 0)
    return [*shown[:at], *row.get("put", ()), *shown[at + out :]], row.get("declares", {})


def rows_of_edits(family: Family) -> dict[str, Any]:
    """The rows of a family, by the names of the checks that object to them."""
    rows: dict[str, Any] = json.loads((DATA / "edited_traces.json").read_text("utf-8"))[family.name]
    return rows
