"""Replays of a violation: it counts if the same schedule breaks the same clause in most of them.

A target that fails at random may break any clause once.  The best of five decides, so that a race in a
runtime that is usually lost is still a violation, and a fault in one of hundreds of answers is none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from runlock.conformance.driving.session import Session
from runlock.conformance.driving.tally import Found
from runlock.conformance.judging.determinism import differs_at

MOST: Final = 3
"""Replays that agree, after which there are no more."""


@dataclass(slots=True)
class Replays:
    """The replays of a violation so far."""

    found: Found
    broke: Counter[int] = field(default_factory=Counter)  # by the stimulus at which two replays differ, or 0
    passed: list[Session | None] = field(default_factory=list)  # no session if it failed

    def add(self, session: Session | None) -> None:
        """Add a replay."""
        if session is not None and shows(session, self.found):
            self.broke[0] += 1
        else:
            self.passed.append(session)

    def add_pair(self, once: Session | None, again: Session | None) -> None:
        """Add two replays that are compared."""
        at = 0 if once is None or again is None else differs_at(once.trace, again.trace)
        if at:
            self.broke[at] += 1
        else:
            self.passed.append(None)

    @property
    def agree(self) -> bool:
        """Whether most replays break the clause."""
        return max(self.broke.values(), default=0) >= MOST

    @property
    def is_over(self) -> bool:
        """Whether more replays would change nothing."""
        return self.agree or self.broke.total() + len(self.passed) >= 2 * MOST - 1 or len(self.passed) >= MOST

    @property
    def clean(self) -> Session | None:
        """A replay that breaks nothing, if there is one."""
        return next((one for one in self.passed if one is not None and one.violation is None), None)

    @property
    def sentence(self) -> str:
        """What happened, in one sentence."""
        number = self.broke.total() + len(self.passed)
        clause, reason = self.found.violation.clause, self.found.violation.reason
        return (
            f"it broke {clause} once, and in {len(self.passed)} of {number} replays of the same schedule "
            f"it did not ({reason})"
        )


def shows(session: Session, found: Found) -> bool:
    """Whether a schedule breaks the same clause, or rules out the same value of a policy."""
    if found.rules_out is not None:
        return found.rules_out in session.ruling.excluded
    return session.violation is not None and session.violation.clause == found.violation.clause
