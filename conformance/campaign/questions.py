"""Questions: a harm that a runtime shows, of which no declared policy says whether it is meant.

The judge runs each check under every value of an open policy.  A value that it rules out is the evidence;
what is asked about which value, and in which order, is for the spec of the family to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from runlock.conformance.campaign.units import Facts
from runlock.conformance.driving.tally import Found, Tally
from runlock.spec.model import Question


def evidence(facts: Facts, tally: Tally) -> Iterator[tuple[Question, tuple[str, ...], Found]]:
    """What is asked, the most harmful first: at most one question a policy, its values that are left, and
    the shortest schedule."""
    asked: set[str] = set()
    for one in facts.family.spec.questions:
        key, values = (one.policy, one.without), _left(facts, tally, one.policy)
        if key in tally.excluded and one.policy not in asked and _allow_harm(facts, one.policy, values):
            asked.add(one.policy)
            yield one, values, replace(tally.excluded[key][1], rules_out=key)


def _left(facts: Facts, tally: Tally, policy: str) -> tuple[str, ...]:
    """The values that nothing has ruled out."""
    values = facts.undeclared.policies.get(policy, ())
    return tuple(one for one in values if (policy, one) not in tally.excluded)


def _allow_harm(facts: Facts, policy: str, values: tuple[str, ...]) -> bool:
    """Whether one of the values promises nothing, so that no question is about being without it."""
    promises = {one.without for one in facts.family.spec.questions if one.policy == policy}
    return bool(set(values) - promises)
