"""What an invariant is: a clause, and a sentence that yields a reason wherever it does not hold.

An invariant yields once for each thing that it judged: `HELD`, or the reason why not.  What yields
nothing has judged nothing, and its clause was not exercised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from runlock.conformance.families.lifecycle.state import Account, CameTo
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.protocol import (
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    Observation,
    PhaseEntered,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
)

HELD: Final = ""
NOTHING: Final = ""
"""The name of what was newest before a run showed any of its kind."""

NAMES: Final[Mapping[type[Observation], Callable[[Any], str]]] = {
    GateOpened: attrgetter("on"),
    PhaseEntered: attrgetter("phase"),
    SegmentEnded: attrgetter("reason.code"),
    RunMoved: attrgetter("to"),
    CallMoved: attrgetter("to"),
    Checkpointed: attrgetter("trigger"),
    ResumeEntered: attrgetter("state"),
    MessageAppended: attrgetter("message.role"),
}
"""The name that an observation of a kind bears: what a gate waits for, which phase fired, and so on."""

NEWEST: Final[Mapping[type[Observation], Callable[[Run], str]]] = {
    PhaseEntered: lambda run: run.phases[-1].phase if run.phases else NOTHING,
    ResumeEntered: lambda run: run.stations[-1].entered.state if run.stations else NOTHING,
}
"""The name that the newest of a kind bears which a run has shown."""


def name_of(seen: Observation) -> str:
    """The name that an observation bears among those of its kind, if there is one."""
    named = NAMES.get(type(seen))
    return named(seen) if named is not None else ""


def newest_of(account: Account, seen: Observation) -> str:
    """The name that the newest of its kind bore which its run has shown, where checks go by that."""
    newest = NEWEST.get(type(seen))
    run = account.run_of(seen) if newest is not None else None
    return newest(run) if newest is not None and run is not None else NOTHING


Judgements = Iterator[str]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A check of one clause.

    With `seeing`, it is asked about each observation of that kind before the account takes it in: may
    this be shown here?  With `at`, only about those that bear one of these names, since it judges no other;
    with `after`, only where the one of its kind that the run showed before bore one of these.  Without
    `seeing`, it is asked about the account at every quiescent point.  With `behind`, only once the scenario
    has come to that.

    A patient check sees consequences: its objection waits until the runtime has settled, so that a clause
    that can name the cause speaks first.
    """

    clause: str
    check: Callable[..., Judgements]
    seeing: type[Observation] | None = None
    at: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    behind: CameTo | None = None
    is_patient: bool = False

    @property
    def title(self) -> str:
        """The sentence that the name of the check is."""
        return self.check.__name__.replace("_", " ")

    def is_asked(self, name: str, newest: str, came_to: Collection[str]) -> bool:
        """Whether it is asked about what bears this name, after that one, in a scenario that came to this."""
        is_there = (not self.at or name in self.at) and (not self.after or newest in self.after)
        return is_there and (self.behind is None or self.behind in came_to)

    def judge(self, account: Account, seen: Any = None) -> Judgements:
        """Yield HELD or a reason for each thing judged."""
        return self.check(account) if self.seeing is None else self.check(account, seen)
