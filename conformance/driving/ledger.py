"""The ledger of incidents: what a target did without being asked, each kind with its first example.

An incident is a restart that the kit did not order, or another answer to the same schedule.  The kit goes
on after it, so it has to be counted: a result with an incident is never held.  Restarts that the kit orders
(a crash as a stimulus, a worker that is replaced) are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from runlock.conformance.errors import (
    AdapterError,
    AnotherHandshake,
    Restless,
    RunlockError,
    SutDied,
    TimedOut,
)
from runlock.conformance.text import counted
from runlock.conformance.trace.trace import Trace

ENDED: Final = "it ended, or reported a crash"
LATE: Final = "it did not answer in time"
RESTLESS: Final = "it did not settle"
HANDSHAKE: Final = "its handshake was another one after a restart"
GARBLED: Final = "it answered against the protocol"
DIFFERED: Final = "it answered otherwise when the same was sent again"

MOST: Final = 20
SHARE: Final = 0.3
"""A unit of a campaign ends after this many restarts, if they are at least this share of its scenarios."""

KINDS: Final[Mapping[type[RunlockError], str]] = {
    TimedOut: LATE, SutDied: ENDED, Restless: RESTLESS, AnotherHandshake: HANDSHAKE,
}  # fmt: skip


def kind_of(error: RunlockError) -> str:
    """The kind of incident that an error is."""
    return KINDS.get(type(error), GARBLED)


@dataclass(frozen=True, slots=True)
class Incident:
    """The incidents of one kind: the first example in a sentence, and how many there were.

    Of these, `recovered` were followed by a repeat that went right, and `lasting` by one that failed as well.
    """

    kind: str
    what: str
    times: int = 1
    recovered: int = 0
    lasting: int = 0
    trace: Trace | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether errors of schedules report all of them."""
        return self.times <= self.lasting

    @property
    def sentence(self) -> str:
        """How often it happened, and the first example."""
        return f"{self.kind}, {'once' if self.times == 1 else f'{self.times} times'}; first: {self.what}"


@dataclass(slots=True)
class Ledger:
    """All incidents of a target, and the number of scenarios that were opened on it."""

    scenarios: int = 0
    incidents: dict[str, Incident] = field(default_factory=dict)

    def failed(self, error: RunlockError) -> None:
        """Record an error after which the target is restarted."""
        self._add(Incident(kind_of(error), str(error)))

    def differed(self, what: str, trace: Trace | None = None) -> None:
        """Record another answer to the same schedule."""
        self._add(Incident(DIFFERED, what, recovered=1, trace=trace))

    def recovered(self, error: RunlockError) -> None:
        """Record that the schedule of an error went right when it was repeated."""
        self._add(Incident(kind_of(error), str(error), times=0, recovered=1))

    def lasting(self, *errors: RunlockError | None) -> None:
        """Record that these errors are reported as the error of a schedule."""
        for error in errors:
            if error is not None:
                self._add(Incident(kind_of(error), str(error), times=0, lasting=1))

    def _add(self, one: Incident) -> None:
        known = self.incidents.get(one.kind)
        if known is not None:
            counts: dict[str, Any] = {
                name: getattr(known, name) + getattr(one, name) for name in ("times", "recovered", "lasting")
            }
            one = replace(known, **counts, trace=known.trace or one.trace)
        self.incidents[one.kind] = one

    def add(self, other: Ledger) -> None:
        """Add the incidents of another ledger."""
        self.scenarios += other.scenarios
        for one in other.incidents.values():
            self._add(one)

    def taken(self) -> Ledger:
        """The incidents so far, which are removed from this ledger."""
        taken = Ledger(self.scenarios, self.incidents)
        self.scenarios, self.incidents = 0, {}
        return taken

    @property
    def times(self) -> int:
        """The number of incidents."""
        return sum(one.times for one in self.incidents.values())

    @property
    def is_too_long(self) -> bool:
        """Whether the target had to be restarted so often that more scenarios would show nothing else."""
        restarts = sum(one.times for one in self.incidents.values() if one.kind != DIFFERED)
        return restarts >= MOST and restarts > self.scenarios * SHARE

    @property
    def all(self) -> list[Incident]:
        """The incidents of each kind: first those that no error of a schedule reports, then by frequency."""
        return sorted(self.incidents.values(), key=lambda one: (one.is_lasting, -one.times, one.kind))

    @property
    def shown(self) -> list[Incident]:
        """The incidents that no error of a schedule reports."""
        return [one for one in self.all if not one.is_lasting]

    @property
    def refusal(self) -> tuple[str, str]:
        """The incidents as an error says them: how many, and the first of the most frequent kind."""
        return f"{self.headline[:1].upper()}{self.headline[1:]}.", self.shown[0].sentence

    def refuse(self) -> None:
        """Raise an `AdapterError` for the incidents, if there are any."""
        if self.headline:
            raise AdapterError(*self.refusal)

    @property
    def headline(self) -> str:
        """The incidents in one sentence, or an empty string; says whether the target is flaky."""
        times = sum(one.times for one in self.shown)
        if not times:
            return ""
        count = f"{counted(times, 'incident')} in {counted(self.scenarios, 'scenario')}"
        if any(one.recovered for one in self.shown):
            return f"flaky: {count}; what was sent again went otherwise"
        return f"not asked for: {count}"
