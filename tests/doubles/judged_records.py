"""Judges records that a test wrote down: no runtime, no schedule and no campaign."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.judging.judge import Judge
from runlock.conformance.protocol import Handshake, Report, Scenario
from runlock.conformance.trace.scenario_file import parse
from runlock.conformance.trace.trace import Record
from runlock.spec.model import load_spec


def new_judge(handshake: Handshake, scenario: Scenario, only: Collection[str] = ()) -> Judge:
    """A judge of one scenario; with `only`, it judges no other clauses."""
    spec = load_spec()
    policies = spec.policies_of(handshake.profile, handshake.policies)
    applies = {clause: clause in only for clause in spec.clauses} if only else {}
    return Judge(handshake, policies, scenario, applies)


def fold(judge: Judge, records: Iterable[Record]) -> Judge:
    """Give a judge the records of a trace, in their order, and then the end."""
    seen: list[Any] = []
    for record in records:
        ((key, value),) = record.items()
        if key == "stimulus":
            judge.stimulus(value["method"], value["params"])
        elif key == "crash":
            judge.stimulus("crash", {})
        elif key == "observation":
            seen.append(value)
        elif key == "report":
            judge.answer(Report.model_validate({**value, "observations": seen}))
            seen = []
    judge.end()
    return judge


@dataclass(frozen=True)
class Row:
    """Records in the notation of a scenario file, and what a judge of one clause makes of them."""

    clause: str
    records: str
    profile: str = "awaken-8"
    policies: Mapping[str, Any] | None = None
    declares: Mapping[str, Any] | None = None  # other fields of the handshake
    reason: str = ""  # why the clause is broken; without it, it holds

    @property
    def handshake(self) -> Handshake:
        """The handshake of the reference under the row's profile and policies, with what the row declares."""
        said: Handshake = factory(self.profile, dict(self.policies or {}))().handshake
        return Handshake.model_validate({**said.model_dump(by_alias=True), **(self.declares or {})})

    def judged(self) -> Judge:
        """The judge of the clause, after it has seen the records."""
        records = parse(self.records, self.clause).trace.records
        scenario = next(record["scenario"] for record in records if "scenario" in record)
        return fold(new_judge(self.handshake, Scenario.model_validate(scenario), {self.clause}), records)


def rows_of(table: Path) -> list[Row]:
    """The rows of a table of records."""
    return [Row(**row) for row in tomllib.loads(table.read_text("utf-8"))["row"]]
