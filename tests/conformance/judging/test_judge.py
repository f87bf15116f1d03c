"""The judge: what counts as exercised, which objection is the violation, and what silence is worth.

Its checks are made for these tests; those of a family have tables of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from judged_records import fold, new_judge
from lifecycle_messages import SCENARIO, handshake

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.messages import GateOpened, RunMoved
from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.family.rank import Rank
from runlock.conformance.judging.judge import Judge, Violation
from runlock.conformance.trace.trace import Record

START: Record = {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "hello"}}}
SETTLE: Record = {"stimulus": {"method": "settle", "params": {}}}
RUNNING: Record = {"observation": {"kind": "run.status", "run": "r1", "from": None, "to": "Running"}}
GATE: Record = {"observation": {"kind": "gate.open", "run": "r1", "gate": "g1", "on": "model", "step": 1}}
REPORT: Record = {"report": {"quiescent": True, "refused": []}}
BUSY: Record = {"report": {"quiescent": False, "refused": []}}


def holds(*_: Any) -> CheckResults:
    """It holds."""
    yield HELD


def says_nothing(*_: Any) -> CheckResults:
    """It judges nothing."""
    return iter(())


def objects(words: str) -> Any:
    """A check that objects with these words."""

    def check(*_: Any) -> CheckResults:
        yield broken(words)

    return check


def judged(
    *checks: Invariant,
    records: list[Record],
    monitors: tuple[type[Monitor], ...] = (),
    only: Collection[str] = (),
    **said: Any,
) -> Judge:
    """A judge with these checks and monitors and no others, after it has seen the records."""
    family: Family = replace(FAMILY, invariants=checks, monitors=monitors)
    return fold(new_judge(handshake(**said), SCENARIO, only, family), records, family)


def test_a_check_that_holds_is_counted_each_time() -> None:
    """How often a clause was exercised is how often something was judged."""
    judge = judged(Invariant("RUN-1", holds, RunMoved), records=[START, RUNNING, RUNNING, REPORT])

    assert (judge.exercised["RUN-1"], judge.violation) == (2, None)


def test_a_clause_is_not_broken_without_a_reason() -> None:
    """A reader could do nothing with such a violation."""
    with pytest.raises(ValueError, match="needs a reason"):
        broken("")


def test_a_check_that_says_nothing_has_exercised_nothing() -> None:
    """A clause that was never judged has not held."""
    judge = judged(Invariant("RUN-1", says_nothing, RunMoved), records=[START, RUNNING, REPORT])

    assert judge.exercised == {}


def test_an_objection_is_the_violation_with_its_stimulus() -> None:
    """The first thing that is wrong is kept, and the stimulus that led there, counted from 1."""
    judge = judged(
        Invariant("RUN-1", objects("it is late"), GateOpened),
        records=[START, RUNNING, REPORT, SETTLE, GATE, REPORT],
    )

    assert judge.violation == Violation("RUN-1", "it is late", 2)


def test_nothing_is_judged_after_a_violation() -> None:
    """A state that went wrong once would blame the innocent."""
    judge = judged(
        Invariant("RUN-1", objects("first"), RunMoved),
        Invariant("RUN-2", objects("second"), GateOpened),
        records=[START, RUNNING, GATE, REPORT],
    )

    assert judge.violation == Violation("RUN-1", "first", 1)
    assert "RUN-2" not in judge.exercised


def test_of_two_objections_the_first_check_is_heard() -> None:
    """The order of the checks is the order of blame."""
    one, other = (Invariant(clause, objects(clause), RunMoved) for clause in ("RUN-1", "RUN-2"))
    records = [START, RUNNING, REPORT]

    for first, second in ((one, other), (other, one)):
        judge = judged(first, second, records=records)
        assert judge.violation == Violation(first.clause, first.clause, 1)


def test_a_deferred_objection_waits_until_the_runtime_is_quiescent() -> None:
    """A check that sees consequences lets one that names the cause speak first."""
    deferred = Invariant("RUN-1", objects("a consequence"), RunMoved, is_deferred=True)
    cause = Invariant("RUN-2", objects("the cause"), GateOpened)

    assert judged(deferred, records=[START, RUNNING, REPORT]).violation == Violation(
        "RUN-1", "a consequence", 1
    )
    assert judged(deferred, records=[START, RUNNING, BUSY]).violation is None
    assert judged(deferred, cause, records=[START, RUNNING, GATE, REPORT]).violation == Violation(
        "RUN-2", "the cause", 1
    )


def test_a_check_at_rest_is_asked_when_the_runtime_is_quiescent() -> None:
    """While it is busy, something may still come."""
    at_rest = Invariant("RUN-1", holds)

    assert judged(at_rest, records=[START, BUSY]).exercised["RUN-1"] == 0
    assert judged(at_rest, records=[START, BUSY, SETTLE, REPORT]).exercised["RUN-1"] == 1


def test_silence_counts_only_where_the_runtime_settles_exactly() -> None:
    """A recording that ends early does not show what would have come."""
    at_rest = Invariant("RUN-1", objects("nothing came"))
    records = [START, REPORT]

    assert judged(at_rest, records=records).violation is not None
    assert judged(at_rest, records=records, control={"settle": "observed"}).exercised == {}


def test_a_clause_that_does_not_apply_is_not_asked() -> None:
    """What the handshake leaves out is neither held nor broken."""
    checks = [Invariant(clause, objects(clause), RunMoved) for clause in ("RUN-1", "RUN-2")]
    judge = judged(*checks, records=[START, RUNNING, REPORT], only={"RUN-2"})

    assert judge.violation == Violation("RUN-2", "RUN-2", 1)
    assert "RUN-1" not in judge.exercised


def test_a_check_is_asked_only_about_the_names_that_it_lists() -> None:
    """A check of model gates is not asked about a tool gate."""
    judge = judged(
        Invariant("RUN-1", holds, GateOpened, at=("model",)),
        Invariant("RUN-2", holds, GateOpened, at=("tool",)),
        records=[START, GATE, REPORT],
    )

    assert judge.exercised == {"RUN-1": 1}


def test_a_check_is_asked_before_the_observation_is_taken_in() -> None:
    """It is asked whether this may be shown now, so the state is that of before."""
    statuses = []

    def looks(state: Any, _seen: Any) -> CheckResults:
        statuses.append(state.run.claimed)
        yield HELD

    judged(Invariant("RUN-1", looks, RunMoved), records=[START, RUNNING, REPORT])

    assert statuses == [None]


def test_the_ruling_is_what_is_known_by_then() -> None:
    """Answers that were judged, what was exercised, and the violation."""
    judge = judged(Invariant("RUN-1", holds, RunMoved), records=[START, RUNNING, REPORT, SETTLE, REPORT])
    ruling = judge.ruling

    assert (ruling.answers, ruling.violation, dict(ruling.exercised)) == (2, None, {"RUN-1": 1})


class ObjectsToGates(Monitor):
    """Finds no transition for a gate that opens."""

    clauses = frozenset({"RUN-3"})

    def observe(self, seen: Any) -> Iterator[ClauseResult]:
        """Object to a gate, and to nothing else."""
        if isinstance(seen, GateOpened):
            yield clause_result("RUN-3", "no transition")


class ReadsGates(ObjectsToGates):
    """Is asked about gates alone, and notes what it was asked about."""

    reads = (GateOpened,)
    asked: ClassVar[list[str]] = []

    def observe(self, seen: Any) -> Iterator[ClauseResult]:
        """Object to a gate."""
        self.asked.append(seen.kind)
        return super().observe(seen)


def test_a_monitor_is_asked_about_what_it_reads() -> None:
    """It misses nothing of that, and one that names no kinds is asked about each."""
    ReadsGates.asked.clear()
    ruling = judged(records=[START, RUNNING, GATE, REPORT], monitors=(ReadsGates,)).ruling

    assert ReadsGates.asked == ["gate.open"]
    assert ruling.violation == judged(records=[START, GATE, REPORT], monitors=(ObjectsToGates,)).violation


def test_a_monitor_objects_last() -> None:
    """A check that objects to the same answer leads a chart, whichever comes first."""
    records = [START, GATE, RUNNING, REPORT]
    before, after = (
        Invariant("RUN-1", objects("a check"), kind, rank=Rank.LOST) for kind in (GateOpened, RunMoved)
    )

    assert judged(records=records, monitors=(ObjectsToGates,)).violation == Violation(
        "RUN-3", "no transition", 1
    )
    for check in (before, after):
        led = judged(check, records=records, monitors=(ObjectsToGates,)).violation
        assert led == Violation("RUN-1", "a check", 1, Rank.LOST)


@pytest.mark.parametrize(
    ("first", "second", "leads"),
    [
        (Rank.CHECKPOINT, Rank.TWICE, "second"),  # what was done to a call leads what a checkpoint says of it
        (Rank.STATUS, Rank.HISTORY, "second"),
        (Rank.TWICE, Rank.TWICE, "first"),
        (Rank.CHECKPOINT, Rank.STATUS, "first"),  # of what a runtime says about itself the first is the cause
        (Rank.CONSENT, Rank.LOST, "first"),
    ],
)
def test_the_worst_objection_to_an_answer_leads(first: Rank, second: Rank, leads: str) -> None:
    """The rank decides between two observations of one answer, and never between two answers."""
    checks = (
        Invariant("RUN-1", objects("first"), GateOpened, rank=first),
        Invariant("RUN-2", objects("second"), RunMoved, rank=second),
    )
    one_answer, two_answers = [START, GATE, RUNNING, REPORT], [START, GATE, REPORT, SETTLE, RUNNING, REPORT]

    assert getattr(judged(*checks, records=one_answer).violation, "reason", "") == leads
    assert getattr(judged(*checks, records=two_answers).violation, "reason", "") == "first"
