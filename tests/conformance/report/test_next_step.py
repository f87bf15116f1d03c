"""The last line of a report says what would reach more: a declaration, a budget, or neither."""

from dataclasses import replace

import pytest
from lifecycle_messages import handshake
from sample_result import RESULT

from runlock.conformance.campaign.result import UNREACHED, ClauseVerdict, Result
from runlock.conformance.judging.applicability import standing_of, unmet
from runlock.conformance.report.next_step import EVERYTHING, next_step


def held(*more: ClauseVerdict, exercised: int = 10) -> Result:
    """A campaign without a finding."""
    once = ClauseVerdict("GATE-1", "MUST", "held", exercised=exercised)
    return replace(RESULT, witnesses=[], clauses=[once, *more])


def untested(clause: str, why: str, *, offered: bool = False) -> ClauseVerdict:
    """A clause that was not judged."""
    return ClauseVerdict(clause, "MUST", "untested", why, offered=offered)


def test_a_finding_comes_first():
    """Nothing is said of what else could be reached."""
    assert next_step(RESULT).startswith(f"next: `runlock explain {RESULT.causes[0].clause}` ")


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (held(), "all that applies was exercised often"),
        (held(exercised=9), "more `--examples` for the thin clause"),
        (held(untested("RUN-1", UNREACHED, offered=True)), "more `--examples` may reach the rest"),
        (
            held(untested("RUN-1", "x was played, which reaches it elsewhere", offered=True)),
            "no larger budget is known to reach the rest",
        ),
        (
            held(untested("RUN-1", "its decisions edit no args")),
            "1 untested for what the runtime does not offer",
        ),
    ],
)
def test_the_budget_that_reaches_more(result: Result, says: str):
    """More schedules are advised only where they may help."""
    assert next_step(result) == f"next: {says}; {EVERYTHING}"


@pytest.mark.parametrize(
    ("need", "says"),
    [
        ("observes checkpoint", "show `checkpoint`"),
        ("stimulus watch", "take `watch`"),
        ("gate permission", "have a `permission gate`"),
    ],
)
def test_the_reasons_are_those_that_the_judge_gives(need: str, says: str):
    """A sentence that is worded anew there is not overlooked here."""
    why = unmet(RESULT.family, need, handshake(observes=[], gates=[], stimuli=[]))

    assert says in next_step(held(untested("RUN-1", why)))


def test_the_reason_of_an_undeclared_policy_is_that_which_the_judge_gives():
    """It names the policy."""
    family = RESULT.family
    clause = next(one for one in family.spec.clauses.values() if one.applies and one.core)
    why = standing_of(family, clause, handshake(), {}).why

    assert f"declare `{next(iter(clause.applies))}`" in next_step(held(untested(clause.id, why)))


def test_the_declarations_that_would_judge_most_clauses_are_named():
    """The three with most clauses, each as what an adapter does."""
    whys = {
        "the runtime does not show checkpoint": 4,
        "the policy run.created is not declared": 3,
        "the runtime does not take watch": 2,
        "the runtime has no tool gate": 1,
    }
    clauses = [untested(f"RUN-{number}", why) for why, many in whys.items() for number in range(many)]

    assert next_step(held(*clauses)) == (
        "next: to judge more clauses, show `checkpoint` (4), declare `run.created` (3), take `watch` (2); "
        + EVERYTHING
    )
    assert "have a `tool gate` (1)" in next_step(held(clauses[-1]))
