"""What the clauses say of joint states and of the steps between them, transcribed from their words.

None of this looks at a chart, or at what the joint model makes of the policies: states and transitions are
spelled out, so that a chart or a model that says something else than the clauses is seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.policies import applies
from runlock.machines.joint.rules import Rule
from runlock.machines.tool_runner.joint.clauses.arrows import arrows
from runlock.machines.tool_runner.joint.clauses.cancels import cancels
from runlock.machines.tool_runner.joint.clauses.iterations import iterations
from runlock.machines.tool_runner.joint.clauses.limits import limits
from runlock.machines.tool_runner.joint.clauses.messages import messages
from runlock.machines.tool_runner.joint.clauses.responses import responses
from runlock.machines.tool_runner.joint.clauses.rules import Policies, Terms
from runlock.machines.tool_runner.joint.clauses.turns import turns

__all__ = ["rules_for"]


def rules_for(policies: Policies, limit: int) -> Iterator[Rule]:
    """The rules that a profile with these policies is held to, within a limit of iterations."""
    terms = Terms(policies, limit)
    for part in (iterations, turns, messages, responses, limits, cancels, arrows):
        for rule in part(terms):
            if applies("tool-runner", rule.clause, policies):
                yield rule
