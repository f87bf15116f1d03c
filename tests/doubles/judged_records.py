"""Judges records that a test wrote down: no runtime, no schedule and no campaign."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import Invariant
from runlock.conformance.family.recordings import parse
from runlock.conformance.judging.applicability import standings
from runlock.conformance.judging.judge import Judge
from runlock.conformance.protocol import Handshake, Scenario
from runlock.conformance.trace.trace import Record


def new_judge(
    handshake: Handshake, scenario: Scenario, only: Collection[str] = (), family: Family = FAMILY
) -> Judge:
    """A judge of one scenario, of the clauses that apply; with `only`, it judges no others."""
    policies = family.spec.policies_of(handshake.profile, handshake.policies)
    stands = standings(family, handshake, policies)
    applies = {clause: one.is_judged and (not only or clause in only) for clause, one in stands.items()}
    return Judge(family, handshake, policies, scenario, applies)


def fold(judge: Judge, records: Iterable[Record], family: Family = FAMILY) -> Judge:
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
            judge.answer(family.vocabulary.report.model_validate({**value, "observations": seen}))
            seen = []
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
        said: Handshake = FAMILY.made.reference(self.profile, dict(self.policies or {}))().handshake
        return FAMILY.vocabulary.handshake.model_validate(
            {**said.model_dump(by_alias=True), **(self.declares or {})}
        )

    def judged(self, checks: tuple[Invariant, ...]) -> Judge:
        """A judge that asks these checks of the clause and no monitor, after it has seen the records."""
        family = replace(FAMILY, invariants=checks, monitors=())
        records = parse(self.records, self.clause).trace.records
        scenario = next(record["scenario"] for record in records if "scenario" in record)
        opened = family.vocabulary.scenario.model_validate(scenario)
        return fold(new_judge(self.handshake, opened, {self.clause}, family), records, family)


def rows_of(table: Path) -> list[Row]:
    """The rows of a table of records."""
    return [Row(**row) for row in tomllib.loads(table.read_text("utf-8"))["row"]]
