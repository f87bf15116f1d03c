"""What the clauses say of joint states and of the steps between them, transcribed from their words.

None of this looks at a chart, or at what the joint model makes of the policies: states and transitions are
spelled out, so that a chart or a model that says something else than the clauses is seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.policies import applies
from runlock.machines.joint.rules import Rule
from runlock.machines.message_loop.joint.clauses.approvals import approvals
from runlock.machines.message_loop.joint.clauses.arrows import arrows
from runlock.machines.message_loop.joint.clauses.ends import ends
from runlock.machines.message_loop.joint.clauses.passes import passes
from runlock.machines.message_loop.joint.clauses.prompts import prompts
from runlock.machines.message_loop.joint.clauses.rules import Policies, Terms

__all__ = ["rules_for"]


def rules_for(policies: Policies, calls: int) -> Iterator[Rule]:
    """The rules that a profile with these policies is held to, where a response has this number of calls."""
    terms = Terms(policies, calls)
    for part in (passes, approvals, prompts, ends, arrows):
        for rule in part(terms):
            if applies("message-loop", rule.clause, policies):
                yield rule
