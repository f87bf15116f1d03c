"""`check`, `audit` and `replay` name the same clause for the same trace: the one that leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from runlock.conformance.campaign.audit import audit
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.family.made import Mutant
from runlock.conformance.selftest.witnesses import replay, witnessed, witnesses


def judged(mutant: Mutant, folder: Path) -> tuple[str, list[str]]:
    """The clause that a replay of the witness blames, and those that an audit of its trace leads with."""
    session = replay(FAMILY, mutant, witnesses(FAMILY)[mutant.name])
    path = folder / f"{mutant.name}.jsonl"
    path.write_text(session.trace.to_jsonl(), encoding="utf-8")
    assert session.violation is not None
    return session.violation.clause, [one.clause for one in audit(path, mutant.name).causes]


@pytest.mark.sampled(16, nightly=2)
@pytest.mark.parametrize("mutant", witnessed(FAMILY), ids=lambda one: one.name)
def test_check_and_replay_name_the_same_clause(mutant: Mutant, tmp_path: Path) -> None:
    """For every stored witness."""
    replayed, audited = judged(mutant, tmp_path)

    assert audited[0] == replayed == mutant.clause


def test_the_worst_clause_leads_its_group(tmp_path: Path) -> None:
    """An approval for one call runs another: that leads, and the status that it shows follows from it."""
    mutant = FAMILY.made.mutants()["ApprovesTheFirst"]
    trace = replay(FAMILY, mutant, witnesses(FAMILY)[mutant.name]).trace
    path = tmp_path / "trace.jsonl"
    path.write_text(trace.to_jsonl(), encoding="utf-8")
    (leader, *others) = audit(path, mutant.name).witnesses

    assert (leader.clause, leader.cause) == ("DECIDE-5", "")
    assert {one.cause for one in others} <= {"DECIDE-5"}
