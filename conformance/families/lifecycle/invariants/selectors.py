"""What an invariant is: a clause, and a sentence that yields a reason wherever it does not hold.

An invariant yields once for each thing that it judged: `HELD`, or the reason why not.  What yields
nothing has judged nothing, and its clause was not exercised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    PhaseEntered,
    Published,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.family.invariant import NOTHING
from runlock.conformance.protocol import Observation

NAMES: Final[Mapping[type[Observation], Callable[[Any], str]]] = {
    GateOpened: attrgetter("on"),
    PhaseEntered: attrgetter("phase"),
    SegmentEnded: attrgetter("reason.code"),
    RunMoved: attrgetter("to"),
    CallMoved: attrgetter("to"),
    Checkpointed: attrgetter("trigger"),
    ResumeEntered: attrgetter("state"),
    MessageAppended: attrgetter("message.role"),
    Published: attrgetter("name"),
}
"""The name that an observation of a kind bears: what a gate waits for, which phase fired, and so on."""


def _station_before(run: Run, seen: Any) -> str:
    station = run.station_before(seen)
    return station.entered.state if station is not None else NOTHING


NEWEST: Final[Mapping[type[Observation], Callable[[Run, Any], str]]] = {
    PhaseEntered: lambda run, _seen: run.phases[-1].phase if run.phases else NOTHING,
    ResumeEntered: _station_before,
}
"""The name that the newest of a kind bears which a run has shown."""


def name_of(seen: Observation) -> str:
    """The name that an observation bears among those of its kind, if there is one."""
    named = NAMES.get(type(seen))
    return named(seen) if named is not None else ""


def newest_of(state: ObservedState, seen: Observation) -> str:
    """The name that the newest of its kind bore which its run has shown, where checks go by that."""
    newest = NEWEST.get(type(seen))
    run = state.run_of(seen) if newest is not None else None
    return newest(run, seen) if newest is not None and run is not None else NOTHING
