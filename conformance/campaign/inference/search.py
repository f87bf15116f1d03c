"""The search: runs schedules until they rule out no more values.

Some evidence can be read only once another policy is known, and nothing is learned after a violation.  The
same schedules are therefore repeated where that may help: first with the settled policies assumed, and
then without the clauses that broke.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from runlock.conformance.campaign.inference.result import (
    Against,
    Inferred,
    Value,
    left,
    named,
    settled,
    to_find_out,
)
from runlock.conformance.campaign.interrupts import Limits, polite_interrupt
from runlock.conformance.campaign.order import ALONE, Inferring, Means, Order
from runlock.conformance.campaign.stages import Stage, stages_of, units_of
from runlock.conformance.campaign.supervisor import employed, facts_of, made_short, merged
from runlock.conformance.campaign.units import Facts
from runlock.conformance.campaign.worker import as_found
from runlock.conformance.campaign.workforce import Workforce
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.driving.ledger import Ledger
from runlock.conformance.driving.tally import Found, Tally
from runlock.conformance.family.family import Family
from runlock.conformance.judging.judge import Violation
from runlock.conformance.judging.policy_hypotheses import Exclusion

Advanced = Callable[[int], None]
Expects = Callable[[int], None]


@dataclass(slots=True)
class _Known:
    """The values that were ruled out so far, each with its shortest evidence."""

    against: dict[Value, tuple[Exclusion, Found]] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    schedules: int = 0
    troubles: list[Trouble] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)

    def learn(self, family: Family, tally: Tally) -> None:
        """Add the evidence of a pass; evidence after a violation is used only while another value is left."""
        for one, (exclusion, found) in tally.excluded.items():
            known = self.against.get(one)
            is_shorter = known is None or len(found.moves) < len(known[1].moves)
            is_news = known is None and len(left(family, one[0], self.against)) > 1
            if is_news if self.aside else is_shorter:
                self.against[one] = (exclusion, found)
        self.schedules += tally.schedules
        self.ledger.add(tally.ledger)
        self.troubles = self.troubles or tally.troubles


def infer(
    order: Order[Inferring],
    means: Means = ALONE,
    advanced: Advanced = lambda _: None,
    expects: Expects = lambda _: None,
) -> Inferred:
    """Infer as many policies as the schedules of the order allow."""
    limits, known = Limits.of(means.seconds), _Known()
    while True:
        with polite_interrupt(limits), employed(order, means) as workforce:
            facts = facts_of(workforce)
            family = facts.family
            stages = stages_of(order.plan, family)
            expects(sum(stage.schedules for stage in stages))
            tally, partial = _pass(stages, workforce, limits, advanced)
            known.learn(family, tally)
            known.ledger.add(workforce.ledger.taken())
            more = replace(order.plan, settled=tuple(settled(family, known.against).items()))
            if partial or not _reads_more(family, order.plan, more, known):
                known.aside = tuple(sorted({*order.plan.aside, *tally.found}))
                if partial or known.aside == order.plan.aside:
                    return _concluded(order.target, workforce, facts, known, partial)
                more = replace(more, aside=known.aside)
        order = order.with_plan(more)


def _pass(
    stages: Iterable[Stage], workforce: Workforce, limits: Limits, advanced: Advanced
) -> tuple[Tally, str]:
    """Run everything once; returns why it was cut off, or an empty string."""
    units = units_of(stages)
    played = workforce.play(units, limits, advanced)
    tally, hopeless = merged(units, played)
    return tally, limits.cut_off or hopeless


def _reads_more(family: Family, before: Inferring, after: Inferring, known: _Known) -> bool:
    """Whether an open policy has evidence that has become readable."""
    news = set(after.settled) - set(before.settled)
    open_ = {one.key for one in to_find_out(family) if len(left(family, one.key, known.against)) > 1}
    if family.inference.new_learner is None:
        return bool(news and open_)  # any check may read two policies
    return any(value in news and key in open_ for key, value in family.inference.read_under.items())


def _concluded(target: str, workforce: Workforce, facts: Facts, known: _Known, partial: str) -> Inferred:
    found = [
        replace(found, violation=Violation(named(one), why.reason, found.violation.stimulus))
        for one, (why, found) in known.against.items()
    ]
    is_exact = facts.handshake.control.settles_exactly  # if not, each schedule takes real time
    shown = made_short(workforce, found) if is_exact else [as_found(one) for one in found]
    witnesses = {one: short for one, short in zip(known.against, shown, strict=True) if not short.unrepeated}
    known.ledger.add(workforce.ledger.taken())
    return Inferred(
        target=target,
        handshake=facts.handshake,
        against={one: _against(known.against[one][0], short) for one, short in witnesses.items()},
        schedules=known.schedules,
        aside=known.aside,
        troubles=known.troubles,
        ledger=known.ledger,
        partial=partial,
    )


def _against(why: Exclusion, witness: Witness) -> Against:
    return Against(witness.reason, why.clause, witness.steps, witness.trace)
