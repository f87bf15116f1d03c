"""Runs within calls: an agent that is used as a tool has a run of its own, and that a state of its own.

What such a run shows names it by the run around it and the call, as `r1/c1`.  It is folded into a state like
any other, together with those of the stimuli that concern it: the gates that it opened, the decisions for its
calls, the cancel of the run around it, a crash.  The run around it sees one call, of which it cannot tell
what is due when; so the checks of calls leave that one out, as they do with one whose id stands for two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.protocol import Observation

S = TypeVar("S", bound=Knowledge)


def runs_within(state: S, run: Run) -> Iterator[tuple[ObservedCall, S, Run]]:
    """The runs within the calls of a run, each with its call and its state."""
    for call in run.calls.values() if state.nested else ():
        inner = state.nested.get(f"{run.id}/{call.id}")
        if inner is not None and inner.run is not None and not call.duplicate_id:
            yield call, inner.under(state.policies), inner.run


def calls_within(state: S, run: Run) -> Iterator[tuple[S, Run, ObservedCall]]:
    """The calls of all runs within a run, however deep."""
    for _, inner, within in runs_within(state, run):
        yield from ((inner, within, call) for call in within.calls.values())
        yield from calls_within(inner, within)


def leaves(state: Knowledge, run: Run) -> list[ObservedCall]:
    """The calls that a decision can be about: those of the run, or of the run within one of them."""
    every = [*run.calls.values(), *(call for _, _, call in calls_within(state, run))]
    return [call for call in every if not call.has_agent]


def is_within(state: Knowledge, run: Run | None, call: str) -> bool:
    """Whether a call that the run itself does not have is one of a run within it."""
    if run is None or not state.nested or call in run.calls:
        return False
    return any(one.id == call for _, _, one in calls_within(state, run))


def begins_anew(inner: Knowledge, seen: Observation) -> bool:
    """Whether the model is asked as in the first step of a run that is past it."""
    if not isinstance(seen, GateOpened) or seen.on != "model" or seen.messages is None:
        return False
    is_first = all(message.role != "assistant" for message in seen.messages)
    answers = [gate.outcome or {} for gate in inner.gates.values() if gate.on == "model"]
    return is_first and any(answer.get("kind") == "turn" for answer in answers)


def waits_within(state: Knowledge) -> dict[str, frozenset[str]]:
    """The runs within calls of a run that waits, each with its calls for which it waits, undecided."""
    run = state.run
    if run is None or not state.settled_before or run.segment_open or run.is_done or state.gates_of(run):
        return {}
    waits = {}
    for _, _, within in runs_within(state, run):
        waiting = [call for call in within.calls.values() if call.waits]
        decided = any(one.in_suspension == call.suspensions for call in waiting for one in call.decisions)
        if waiting and not decided:
            waits[within.id] = frozenset(call.id for call in waiting)
    return waits
