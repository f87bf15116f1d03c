"""The result of a check together with the clause that it is about: what a monitor yields."""

from __future__ import annotations

from typing import NamedTuple

from runlock.conformance.family.invariant import HELD, CheckResult


class ClauseResult(NamedTuple):
    """One thing that was judged."""

    clause: str
    result: CheckResult = HELD
    is_deferred: bool = False  # an objection waits until the runtime is quiescent
    always: bool = False  # counts although the clause is not judged by itself, since a policy of it is open

    @property
    def reason(self) -> str:
        """Why the clause is broken; empty if it holds."""
        return self.result.reason


def clause_result(clause: str, reason: str) -> ClauseResult:
    """The result for a clause that is broken for this reason, or holds if the reason is empty."""
    return ClauseResult(clause, CheckResult(reason))
