"""What the clauses say of joint states and of the steps between them, transcribed from their words.

None of this looks at a chart: the statuses are spelled out, so that a chart which says something else than
the clauses is seen.  `Never` is a state that must not be, `NeverStep` a step, `Due` a step that must be
possible somewhere.  What a profile's policies rule out is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runlock.machines.joint import policies as spec_policies
from runlock.machines.joint.rules import Due, Never, NeverStep, Rule
from runlock.machines.lifecycle.joint.clauses.calls import CALL_RULES
from runlock.machines.lifecycle.joint.clauses.cancels import CANCELS
from runlock.machines.lifecycle.joint.clauses.decisions import DECISIONS, GATES
from runlock.machines.lifecycle.joint.clauses.gates import GATE_RULES
from runlock.machines.lifecycle.joint.clauses.runs import (
    AT_REST,
    CLOSED,
    DERIVED,
    RUN,
)
from runlock.machines.lifecycle.joint.clauses.store import STORED

__all__ = ["CALL_RULES", "ONCE_MORE", "Due", "Never", "NeverStep", "Rule", "applies", "rules_for"]

JOINT_RULES: Final[tuple[Rule, ...]] = (
    *GATE_RULES, *CALL_RULES, *DERIVED, *RUN, *DECISIONS, *GATES, *CANCELS, *CLOSED, *STORED, *AT_REST,
)  # fmt: skip
"""All of them."""

ONLY_UNDER: Final[Mapping[str, tuple[str, str]]] = {
    "CALL-13": ("end.live", "closed"),
    "CALL-16": ("end.live", "closed"),
    "CANCEL-5": ("cancel.inflight", "drain"),
    "DECIDE-13": ("decision.cancel_path", "direct"),
    "RUN-27": ("end.live", "closed"),
    "RECOVER-5": ("durability", "round step call"),
}
"""Clauses that hold a runtime to what it declared: the rule here is about one of the values."""


def applies(clause_id: str, policies: Mapping[str, Any]) -> bool:
    """Whether a clause is one of those that a profile with these policies is held to."""
    if not spec_policies.applies("lifecycle", clause_id, policies):
        return False
    key, allowed = ONLY_UNDER.get(clause_id, ("", ""))
    return not key or policies.get(key) in allowed.split()


def _is_under(rule: Rule, policies: Mapping[str, Any]) -> bool:
    key, value = rule.only if isinstance(rule, Never) else ("", "")
    return not key or policies.get(key) == value


ONCE_MORE: Final = "CALL-10"
"""The clause that only a call which may suspend again is about."""


def rules_for(policies: Mapping[str, Any], resuspensions: int) -> Iterator[Rule]:
    """The rules that a profile with these policies is held to, within a bound on re-suspensions."""
    rules = (rule for rule in JOINT_RULES if applies(rule.clause, policies) and _is_under(rule, policies))
    return (rule for rule in rules if resuspensions or rule.clause != ONCE_MORE)
