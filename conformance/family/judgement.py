"""The former form of `ClauseResult`, until the monitors of all families have switched to it."""

from __future__ import annotations

from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.invariant import CheckResult


class Judgement(ClauseResult):
    """A clause that was judged, made from the reason why it is broken."""

    def __new__(
        cls, clause: str, because: str = "", is_patient: bool = False, always: bool = False
    ) -> Judgement:
        """Make the result; an empty reason means that the clause holds."""
        return super().__new__(cls, clause, CheckResult(because), is_patient, always)

    @property
    def because(self) -> str:
        """The former name of `reason`."""
        return self.reason
