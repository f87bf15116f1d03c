"""The mutants and variants of the tool runner: one for each clause that a hosted runner can break."""

import pytest

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.tool_runner.family import FAMILY
from runlock.conformance.families.tool_runner.host.hosted import HostedRunner
from runlock.conformance.families.tool_runner.mutants import MUTANTS
from runlock.conformance.families.tool_runner.variants import VARIANTS
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.report.examples import clauses_of
from runlock.spec.model import load_spec

QUICK, MORE = (8, range(2)), (3, range(2, 10))
"""A variant plays one script in N, the next variant from the next script on, and these random walks."""

OF_THE_KIT = {"RUN-1", "RUN-3", "RUN-10", "STREAM-6", "CANCEL-3"}
"""Clauses about what the kit itself reports as it iterates: ends, late resumes and cancels."""

OF_THE_CHARTS = {"RUNNER-49", "RUNNER-50"}
"""Clauses that close a chart; each wrong transition also violates a clause of its own."""

OF_SEVERAL_SCHEDULES = {"RUN-13"}
"""The clause about mixed values of a policy, which test_policy_hypotheses.py breaks."""


def test_each_clause_has_a_mutant():
    """Every clause of a hosted runner has a mutant, so that its check is known to fail."""
    blamed = {mutant.clause for mutant in MUTANTS}

    assert set(load_spec("tool-runner").clauses) - blamed == OF_THE_KIT | OF_THE_CHARTS | OF_SEVERAL_SCHEDULES


def test_a_mutant_is_blamed_on_a_clause_that_applies_to_it():
    """The clause of a mutant applies under its policies."""
    spec = load_spec("tool-runner")
    for mutant in MUTANTS:
        declared = mutant().handshake.policies
        for key, values in spec.clause(mutant.clause).applies.items():
            assert declared[key] in values, mutant.name


def test_every_value_of_every_policy_is_a_reference_or_a_variant():
    """A policy value that no reference and no variant uses could be forbidden by mistake."""
    taken = {(key, value) for one in VARIANTS for key, value in one().handshake.policies.items()}
    spec = load_spec("tool-runner")
    known = {(policy.key, value) for policy in spec.policies.values() for value in policy.values}

    assert known - taken == set()


def test_a_variant_says_what_it_is_free_to_do():
    """Every variant has a description for reports."""
    assert [one.name for one in VARIANTS if not one.freedom] == []
    assert [mutant.name for mutant in MUTANTS if not (mutant.make.__doc__ or "").endswith(".")] == []


# -- under the kit


def played(make, schedules):
    """Runs schedules against a runner, one after the other."""
    bench = Bench(lambda: HostedRunner(make))
    for schedule in schedules(bench):
        tally = Tally()
        bench.play(*schedule, tally)
        yield tally
    bench.close()


def scripts(bench, part=slice(None), clause=""):
    """The scripts that the runner supports, those that name this clause first."""
    for script in sorted(corpus(FAMILY)[part], key=lambda one: clause not in clauses_of(one)):
        if not applicable(FAMILY, script, bench.handshake):
            yield script.scenario, play(script)


def walks(bench, numbers):
    """A few random walks."""
    for index in numbers:
        scenario = bench.scenarios[index % len(bench.scenarios)]
        yield scenario, lambda session, index=index: walk(session, Seeded(3, index))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_blamed_on_its_clause(mutant):
    """A script violates its clause for the expected reason; `also` lists all other violated clauses."""
    is_blamed(mutant, lambda bench: scripts(bench, clause=mutant.clause))


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS[::3], ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_nothing_else_on_the_way(mutant):
    """Nor is another clause violated in the scripts before, in the order of the corpus."""
    is_blamed(mutant, scripts)


def is_blamed(mutant, schedules):
    """Play these schedules until the clause is violated for the expected reason."""
    found = {}
    for tally in played(mutant, schedules):
        found |= {clause: one.violation.reason for clause, one in tally.found.items()}
        if mutant.says in found.get(mutant.clause, ""):
            break

    assert mutant.says in found.get(mutant.clause, "it is not broken")
    assert set(found) - {mutant.clause} <= set(mutant.also)


def test_a_wrong_transition_breaks_the_chart_where_its_own_clause_is_not_judged():
    """The clause that closes the chart of the iteration is blamed for a mutant whose clause is muted."""
    mutant = next(one for one in MUTANTS if one.name == "AsksAhead")
    bench, tally = Bench(lambda: HostedRunner(mutant)), Tally()
    bench.mute({mutant.clause, *mutant.also})
    for script in scripts(bench):
        bench.play(*script, tally)
    bench.close()

    assert (
        "request came in Yielded; the chart has no such transition"
        in tally.found["RUNNER-49"].violation.reason
    )


each_variant = pytest.mark.parametrize(
    ("variant", "share"), [(one, at) for at, one in enumerate(VARIANTS)], ids=[one.name for one in VARIANTS]
)


@each_variant
def test_a_variant_passes(variant, share):
    """A legal variant violates no clause, in scripts and in random walks."""
    breaks_nothing(variant, share, *QUICK)


@pytest.mark.long
@each_variant
def test_a_variant_passes_in_more_schedules(variant, share):
    """Nor does it in more scripts and walks."""
    breaks_nothing(variant, share, *MORE)


def breaks_nothing(variant, share, every, numbers):
    """Play the schedules of a variant: no clause is violated."""
    part = slice(share % every, None, every)
    for some in (lambda bench: scripts(bench, part), lambda bench: walks(bench, numbers)):
        for tally in played(variant, some):
            assert {clause: one.violation.reason for clause, one in tally.found.items()} == {}
            assert tally.troubles == []
