"""The supervisor: distributes the units of a campaign to workers, and merges the results in order.

Tallies are added in the order of the stages and their units, not in the order of arrival, so the result
does not depend on the number of workers.  A unit that fails permanently ends the campaign there: the
results of later units are dropped, even if they have been run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from runlock.conformance.campaign.causes import grouped
from runlock.conformance.campaign.interrupts import Limits, impatient, polite_interrupt
from runlock.conformance.campaign.on_cluster import ClusterWorkers
from runlock.conformance.campaign.order import ALONE, Exhaustive, Means, Order, Plan, Sampled
from runlock.conformance.campaign.questions import evidence
from runlock.conformance.campaign.result import ClauseVerdict, Level, Result, Search, Toured, Unanswered
from runlock.conformance.campaign.stages import (
    LEVELS,
    Stage,
    Unit,
    stages_of,
    units_for_the_seldom,
    units_of,
)
from runlock.conformance.campaign.thread_workers import ThreadWorkers
from runlock.conformance.campaign.units import Facts, Played
from runlock.conformance.campaign.verdicts import verdicts
from runlock.conformance.campaign.worker import as_found
from runlock.conformance.campaign.worker_pool import WorkerPool
from runlock.conformance.campaign.workforce import (
    Advanced,
    Finished,
    InProcessRunner,
    Muted,
    Workforce,
    given_up_at,
)
from runlock.conformance.driving.findings import Witness
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.exhaustive import COUNTED
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.judging.selection import Selection
from runlock.conformance.protocol import SPEC_REVISION
from runlock.conformance.text import counted

AT_THE_FIRST: Final = "it stopped at the first violation"

Expects = Callable[[int], None]
"""Called with the total number of schedules, once the family of the runtime is known."""


def campaign(
    order: Order[Sampled],
    means: Means = ALONE,
    advanced: Advanced = lambda _: None,
    expects: Expects = lambda _: None,
) -> Result:
    """Run a whole campaign; after an interrupt, return a partial result."""
    limits = Limits.of(means.seconds)
    with polite_interrupt(limits), employed(order, means) as workforce:
        facts = facts_of(workforce)
        stages = stages_of(order.plan, facts.family)
        expects(sum(stage.schedules for stage in stages))
        units = units_of(stages)
        to_the_end = partial(played_to_the_end, workforce, facts)
        play = workforce.play if order.first else to_the_end
        played = play(units, limits, advanced)
        tally, hopeless = merged(units, played, first=order.first)
        if not (hopeless or limits.is_over):
            seldom = units_for_the_seldom(stages, tally.exercised, facts.applies, order.plan.examples)
            played |= play(seldom, limits, advanced, broken_in(played.values(), facts))
            tally, hopeless = merged([*units, *seldom], played, first=order.first)
        witnesses = witnesses_of(workforce, tally, facts)
        questions = questions_of(workforce, tally, facts)
    cut_short = limits.cut_off or hopeless
    budget = _budget(order, means.seconds)
    result = concluded(
        order.target, order.clauses, facts, tally, witnesses, questions, budget=budget, partial=cut_short
    )
    result.search = search_of(order.plan, stages, tally, played)
    return result


def played_to_the_end(
    workforce: Workforce,
    facts: Facts,
    units: Sequence[Unit],
    limits: Limits,
    advanced: Advanced,
    muted: Muted = frozenset(),
    before: Mapping[Unit, Played] = MappingProxyType({}),
    finished: Finished = lambda _: None,
) -> dict[Unit, Played]:
    """Run units, except those that were run before; repeat those that broke a clause with the broken clauses
    muted, until nothing more breaks.

    A schedule ends at its first violation, so each other clause is judged to the end only then.
    """
    played = {unit: before[unit] for unit in units if unit in before}
    left = [unit for unit in units if unit not in played]
    played |= workforce.play(left, limits, advanced, muted, finished)
    while not limits.is_over and given_up_at(units, played) is None:
        again = [unit for unit, one in played.items() if one.tally.cut_short]
        if not again:
            break
        muted = muted | broken_in(played.values(), facts)
        for unit, one in workforce.play(again, limits, lambda _: None, muted).items():
            one.tally.keep(played[unit].tally)
            played[unit] = one
    return played


def broken_in(played: Iterable[Played], facts: Facts) -> Muted:
    """The clauses that broke, and the open policies whose values the runtime mixes."""
    tally = Tally()
    for one in played:
        tally.keep(one.tally)
    return frozenset(tally.found.keys() | tally.mixed(facts.undeclared))


@contextmanager
def employed(order: Order[Plan], means: Means) -> Iterator[Workforce]:
    """The runner of the units, closed at the end: this process, several, or the cluster at an address."""
    workforce = _workforce(order, means)
    try:
        yield workforce
    finally:
        workforce.close()


def _workforce(order: Order[Plan], means: Means) -> Workforce:
    if means.on is not None:
        return ClusterWorkers(order, means.on, means.jobs)
    if order.resolved().is_shared and not means.in_process:
        return ThreadWorkers(order, means.jobs)
    return InProcessRunner(order) if means.in_process else WorkerPool(order, means.jobs)


def facts_of(workforce: Workforce) -> Facts:
    """The handshake; an interrupt ends the command, since nothing was judged yet."""
    with impatient():
        return workforce.facts()


def witnesses_of(workforce: Workforce, tally: Tally, facts: Facts) -> list[Witness]:
    """A shrunk witness for each broken clause; what broke only once moves to the incidents."""
    tally.settle(facts.undeclared)
    short = made_short(workforce, [found for _, found in sorted(tally.found.items())])
    for one in short:
        if one.unrepeated:
            tally.found.pop(one.clause, None)
            tally.unrepeated[one.clause] = one.unrepeated
    tally.ledger.add(workforce.ledger.taken())
    return grouped([one for one in short if not one.unrepeated], facts, tally)


def questions_of(workforce: Workforce, tally: Tally, facts: Facts) -> list[Unanswered]:
    """The questions, each with a shrunk witness; what was seen only once moves to the incidents."""
    asked = list(evidence(facts, tally))
    short = made_short(workforce, [found for _, _, found in asked])
    tally.ledger.add(workforce.ledger.taken())
    return [
        Unanswered(question, values, witness)
        for (question, values, _), witness in zip(asked, short, strict=True)
        if not witness.unrepeated
    ]


def search_of(
    plan: Plan, stages: Sequence[Stage], tally: Tally, played: Mapping[Unit, Played]
) -> Search | None:
    """How far every schedule was tried, if levels were requested."""
    levels = tuple(
        _level(stage, tally.searched, [played.get((at, unit)) for unit in range(stage.units)])
        for at, stage in enumerate(stages)
        if stage.level
    )
    if not levels:
        return None
    bound = plan if isinstance(plan, Exhaustive) else Exhaustive(LEVELS)
    return Search(len(levels), bound.races, levels, bound is plan, bound.one_order)


def _level(stage: Stage, counts: Mapping[tuple[int, str], int], units: Sequence[Played | None]) -> Level:
    is_whole = all(unit is not None and unit.is_whole and not unit.tally.troubles for unit in units)
    played, named, spare, broken, reordered = (counts.get((stage.level, one), 0) for one in COUNTED)
    return Level(stage.level, played, named, spare, broken, reordered, is_whole)


def _budget(order: Order[Sampled], seconds: float | None) -> dict[str, Any]:
    bound = {} if seconds is None else {"seconds": seconds}
    skip = {"skip": list(order.clauses.skip)} if order.clauses.skip else {}
    plan = order.plan
    again = {"replayed": len(plan.again)} if plan.again else {}
    return {"examples": plan.examples, "seed": plan.seed, "shards": SHARDS, **bound, **skip, **again}


def merged(units: Sequence[Unit], played: Mapping[Unit, Played], *, first: bool = False) -> tuple[Tally, str]:
    """The tallies in order, up to where the campaign ends; and why it does, if it does not run to its end."""
    tally = Tally()
    last = given_up_at(units, played, first=first)
    for unit in units:
        if unit in played:
            tally.add(played[unit].tally)
        if unit == last:
            gave_up = f"it gave up after {_failures(tally)}"
            return tally, AT_THE_FIRST if first and tally.found else gave_up
    return tally, ""


def _failures(tally: Tally) -> str:
    if not tally.troubles:
        return counted(tally.ledger.times, "incident")
    return f"{counted(len(tally.troubles), 'schedule')} that could not be judged"


def made_short(workforce: Workforce, found: list[Found]) -> list[Witness]:
    """A shrunk witness for each clause; after an interrupt, the violation as it was found."""
    try:
        with impatient():
            return workforce.shorten(found)
    except KeyboardInterrupt:  # immediately: the violations are shown as they were found
        return [as_found(one) for one in found]


def concluded(
    target: str,
    clauses: Selection,
    facts: Facts,
    tally: Tally,
    witnesses: list[Witness],
    questions: Sequence[Unanswered] = (),
    *,
    budget: dict[str, Any],
    partial: str,
) -> Result:
    """The whole result, with the reasons of the shrunk witnesses, and without skipped clauses."""
    skipped, kept = Selection(skip=clauses.skip), []
    found = {witness.clause: witness for witness in witnesses}
    shown = [one for one in witnesses if not (skipped.skips(one.clause) or skipped.skips(one.cause))]
    for one in verdicts(facts, tally):
        if not skipped.skips(one.id):
            kept.append(_explained(one, found.get(one.id), skipped))
    return Result(
        target=target,
        implementation=facts.handshake.implementation.to_wire(),
        profile=facts.handshake.profile,
        policies=facts.policies,
        spec=SPEC_REVISION,
        family_name=facts.family.name,
        budget=budget,
        schedules=tally.schedules,
        stimuli=tally.stimuli,
        partial=partial,
        settles_exactly=facts.handshake.control.settles_exactly,
        clauses=kept,
        witnesses=shown,
        questions=[one for one in questions if not skipped.skips(one.witness.clause)],
        troubles=tally.troubles,
        ledger=tally.ledger,
        warnings=[*facts.warnings, *_of_no_schedule(tally)],
        unjudged_policies=_unjudged(facts, tally),
        raised=list(tally.raised.values()),
        coverage=facts.family.judging.coverage_targets(
            facts.handshake, facts.policies, facts.standings, tally.coverage
        ),
        tours=[
            Toured(*goal, played, tally.tours_reached[goal])
            for goal, played in sorted(tally.tours_played.items())
        ],
    )


def _of_no_schedule(tally: Tally) -> Iterator[str]:
    """What a runtime asked for that belonged to no schedule, as a sentence."""
    if tally.asides:
        times = counted(tally.asides.total(), "request")
        yield f"{times} of the runtime belonged to no schedule, for instance {next(iter(tally.asides))}"


def _unjudged(facts: Facts, tally: Tally) -> list[str]:
    """The declared policies that no check read, and none of whose clauses was exercised."""
    clauses = facts.family.spec.clauses
    exercised = {key for clause in tally.exercised for key in clauses[clause].applies}
    return [key for key in facts.policies if key not in tally.policies | exercised]


def _explained(verdict: ClauseVerdict, witness: Witness | None, skipped: Selection) -> ClauseVerdict:
    """The verdict with the reason of the witness; a symptom of a skipped violation decides nothing."""
    if witness is None:
        return verdict
    if witness.cause and skipped.skips(witness.cause):
        why = f"it broke only as a consequence of {witness.cause}, which is skipped"
        return replace(verdict, verdict="untested", why=why, offered=False)
    return replace(verdict, why=witness.reason)
