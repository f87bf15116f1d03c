"""A violation hides no other: each clause is judged to the end, and a muted clause mutes nothing else."""

import pytest
from command_line import run

from runlock.conformance.campaign.interrupts import Limits
from runlock.conformance.campaign.order import Means, Order, Sampled
from runlock.conformance.campaign.stages import stages_of, units_of
from runlock.conformance.campaign.supervisor import employed, facts_of

pytestmark = pytest.mark.usefixtures("folder")

TARGET = "py:cli_fakes:TwoFaults"
SHALLOW = "PAIR-3"
"""It breaks in every run with a tool, so that no schedule that shows the deep fault is without it."""
DEEP = "GATE-2"


def checked(capsys, *words, target=TARGET):
    """The causes, the symptoms with their causes, and the held clauses of a check."""
    ran = run(capsys, "check", target, "--examples", 10, "--json", *words)
    symptoms = {one["clause"]: one["cause"] for one in ran.json["violations"]}
    held = {one["id"] for one in ran.json["clauses"] if one["verdict"] == "held"}
    return ran, [clause for clause, cause in symptoms.items() if cause is None], symptoms, held


@pytest.mark.long
def test_a_shallow_fault_hides_no_deep_one(capsys):
    """The deep fault is found by schedules that go on after the shallow one."""
    _, causes, symptoms, held = checked(capsys)

    assert {SHALLOW, DEEP} <= set(causes)
    assert symptoms["GATE-1"] == DEEP
    assert not held & symptoms.keys()


@pytest.mark.long
def test_no_held_clause_breaks_once_the_broken_ones_are_skipped(capsys):
    """What is reported as held was judged to the end of each schedule."""
    _, causes, symptoms, held = checked(capsys)
    skips = [word for clause in symptoms for word in ("--skip", clause)]
    _, left, _, _ = checked(capsys, *skips)

    assert len(causes) > 1
    assert not held & set(left)


@pytest.mark.processes
@pytest.mark.parametrize("jobs", [1, 2])
def test_jobs_find_the_same_causes(capsys, jobs):
    """Workers mute what the supervisor tells them."""
    ran, causes, symptoms, _ = checked(capsys, "--jobs", jobs)

    assert (ran.code, set(causes) >= {SHALLOW, DEEP}, symptoms["GATE-1"]) == (1, True, DEEP)


@pytest.mark.long
def test_a_skipped_clause_hides_no_other(capsys):
    """The deep fault is still found, and the skipped clause is not in the report."""
    ran, causes, _, _ = checked(capsys, "--skip", "PAIR-*")

    assert (ran.code, DEEP in causes, SHALLOW in causes) == (1, True, False)
    assert SHALLOW not in {one["id"] for one in ran.json["clauses"]}


@pytest.mark.long
def test_without_its_fault_a_runtime_is_held(capsys):
    """A skipped clause takes its symptoms with it, which decide nothing."""
    ran, causes, _, _ = checked(capsys, "--skip", DEEP, target="py:cli_fakes:ExecutesRejected")
    symptom = next(one for one in ran.json["clauses"] if one["id"] == "GATE-1")

    assert (ran.code, causes) == (0, [])
    assert symptom["verdict"] == "untested"
    assert symptom["why"] == "it broke only as a consequence of GATE-2, which is skipped"


@pytest.mark.long
def test_a_baseline_covers_the_symptoms_of_what_it_expects(capsys, folder):
    """One entry for the fault is enough, and a second fault on top fails the run."""
    entry = f'[[expected]]\nclause = "{DEEP}"\nbecause = "yet it was executed"\nreason = "known"\n'
    (folder / "known.toml").write_text(entry)
    alone = checked(capsys, "--baseline", "known.toml", target="py:cli_fakes:ExecutesRejected")[0]
    on_top = checked(capsys, "--baseline", "known.toml")[0]

    assert (alone.code, on_top.code) == (0, 1)


@pytest.mark.long
def test_a_report_has_one_block_for_each_cause(capsys):
    """Symptoms are lines in the block of their cause."""
    ran = run(capsys, "check", TARGET, "--examples", 10)

    assert ran.out.count(f"{DEEP} broken by") == 1
    assert "GATE-1 broken by" not in ran.out
    assert "GATE-1: call c1 needs approval" in ran.out.partition("GATE-2 broken by")[2]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.processes)])
def test_the_first_violation_is_enough_with_x(capsys, jobs):
    """The result is partial, the same for any number of jobs, and ends with the schedule that broke."""
    ran = run(capsys, "check", TARGET, "--quick", "-x", "--json", "--jobs", jobs)

    assert (ran.code, ran.json["partial"]) == (1, "it stopped at the first violation")
    assert ran.json["schedules"] == 1


def test_a_skipped_violation_does_not_end_a_campaign_that_stops_at_the_first(capsys):
    """The next violation that is not skipped does."""
    first = run(capsys, "check", TARGET, "--quick", "-x", "--json").json
    [broken] = [one["id"] for one in first["clauses"] if one["verdict"] == "broken"]
    again = run(capsys, "check", TARGET, "--quick", "-x", "--json", "--skip", broken)
    others = [one["id"] for one in again.json["clauses"] if one["verdict"] == "broken"]

    assert again.code == 1
    assert others and broken not in others


@pytest.mark.processes
def test_the_witness_of_an_interrupted_call_is_not_taken_for_another_one(monkeypatch):
    """A worker may still shorten what was asked for before the interrupt."""
    order = Order(TARGET, Sampled(10, 0))
    with employed(order, Means(jobs=2)) as pool:
        units = units_of(stages_of(order.plan, facts_of(pool).family))
        first, other = (
            next(one for each in played.values() for one in each.tally.found.values())
            for muted in (frozenset(), frozenset({SHALLOW}))
            for played in [pool.play(units, Limits(), lambda _: None, muted)]
        )
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(type(pool), "_answers", interrupted)
            pool.shorten([first, first])
        [short] = pool.shorten([other])

    assert short.clause == other.violation.clause


def interrupted(_):
    """What a user does while the answers are waited for."""
    raise KeyboardInterrupt
