"""The clauses that a campaign exercised seldom are looked for at its end."""

from contextlib import closing

from runlock.conformance.campaign.order import Sampled
from runlock.conformance.campaign.result import THIN
from runlock.conformance.campaign.stages import stages_of, units_for_the_seldom, units_of
from runlock.conformance.driving.bench import Bench
from runlock.conformance.family.family import family_named

LIFECYCLE = family_named("lifecycle")


def test_the_clauses_that_were_seldom_exercised_are_looked_for() -> None:
    """The least first, as far as the budget goes, and none that is not judged."""
    stages = stages_of(Sampled(8 * THIN * 2), LIFECYCLE)
    applies = dict.fromkeys(LIFECYCLE.spec.clauses, True) | {"RUN-2": False}
    exercised = dict.fromkeys(LIFECYCLE.spec.clauses, THIN) | {"RUN-1": 1, "RUN-2": 0, "RUN-3": 3, "RUN-4": 2}

    units = units_for_the_seldom(stages, exercised, applies, 8 * THIN * 2)

    assert [stages[at].looks_for[unit] for at, unit in units] == ["RUN-1", "RUN-4"]
    assert not set(units) & set(units_of(stages))


def test_a_clause_is_looked_for_where_it_is_known_to_be() -> None:
    """Each schedule of its unit reaches it on the reference."""
    stage = next(one for one in stages_of(Sampled(1), LIFECYCLE) if one.looks_for)
    reference = LIFECYCLE.made.reference(LIFECYCLE.default_profile, {}, None)
    with closing(Bench(lambda: LIFECYCLE.host(reference))) as bench:
        tally = stage.play(bench, stage.looks_for.index("EXPIRE-5"))

    assert tally.exercised["EXPIRE-5"] >= tally.schedules == THIN
