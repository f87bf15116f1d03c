"""PRODUCER: what a server of AG-UI owes its client on each stream, and from one request to the next.

What one stream shows by itself is read by `stream_reader`.  Two clauses need more: how the run ended by other
accounts, and which interrupts were open when the request came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.stream_reader import Request, read
from runlock.conformance.families.lifecycle.messages import Exchanged, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.knowledge import once
from runlock.conformance.family.invariant import CheckResults, Invariant, check, held_or
from runlock.conformance.family.rank import Rank

OF_ONE_STREAM: Final = (*range(1, 14), *range(15, 29), *range(30, 34))
"""The numbers of the clauses that one stream breaks or keeps by itself."""

Event = Mapping[str, Any]


@once
def _read(_state: ObservedState, seen: Exchanged) -> Any:
    return read(seen)


def _of(clause: str) -> Callable[[ObservedState, Exchanged], CheckResults]:
    def judged(state: ObservedState, seen: Exchanged) -> CheckResults:
        return (held_or(not reason, reason) for reason in _read(state, seen).get(clause, ()))

    return judged


INVARIANTS: Final = tuple(
    Invariant(clause, _of(clause), Exchanged, rank=Rank.STREAM, is_deferred=True)
    for clause in (f"PRODUCER-{number}" for number in OF_ONE_STREAM)
)


@check("PRODUCER-14", at=("Cancelled", "Stopped"), rank=Rank.STREAM, is_deferred=True)
def what_was_stopped_is_no_success(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that is cancelled or stopped has not finished as a success on its stream."""
    end = _end(state.exchanges[-1]) if state.exchanges else {}
    if end.get("type") in ("RUN_FINISHED", "RUN_ERROR"):
        why = f"the run is {seen.reason.code}, and RUN_FINISHED reports a success"
        yield held_or(_ends_as(end) != "success", why)


@check("PRODUCER-29", rank=Rank.STREAM, is_deferred=True)
def what_a_resume_leaves_out_stays_open(state: ObservedState, seen: Exchanged) -> CheckResults:
    """A call that waits, and that neither this resume nor one before it answers, is asked about again."""
    end, left = _end(seen), _left_out(state, seen)
    for call in left if end else ():
        again = [one.get("toolCallId") for one in _interrupts(end)]
        if _ends_as(end) == "success":
            yield held_or(False, f"the run ends as a success, and the resume does not answer call {call}")
        else:
            asks = _ends_as(end) != "interrupt" or call in again or None in again
            why = f"the run waits for {again}, and not for call {call}, which the resume does not answer"
            yield held_or(asks, why)


def _left_out(state: ObservedState, seen: Exchanged) -> list[str]:
    """The calls that wait, of which the messages of a request have no result, and its resume says nothing."""
    request = seen.request or {}
    if not request.get("resume"):
        return []
    answered = _answered(request)
    waiting: dict[Any, Any] = {}
    for before in reversed(state.exchanges):
        end = _end(before)
        if (before.request or {}).get("threadId") != request.get("threadId") or not end:
            continue
        if _ends_as(end) not in ("interrupt", "error"):
            break
        if _ends_as(end) == "interrupt":
            waiting = waiting or {one.get("id"): one.get("toolCallId") for one in _interrupts(end)}
            answered |= _answered(before.request or {})
    known = Request(request).waiting
    open_ = [call for id_, call in waiting.items() if id_ not in answered and call in known]
    run = state.run_of(seen)
    over = {call.id for call in run.calls.values() if call.is_final} if run is not None else set()
    return [call for call in open_ if call not in over]  # as when a plugin has ended the run


def _answered(request: Event) -> set[Any]:
    return {one.get("interruptId") for one in request.get("resume") or () if isinstance(one, Mapping)}


def _end(seen: Exchanged) -> Event:
    """The last event of a stream that says how its run ended."""
    ends = (one for one in reversed(seen.events) if one.get("type") in ("RUN_FINISHED", "RUN_ERROR"))
    return next(ends, {})


def _ends_as(end: Event) -> str:
    """The outcome of a run: one that is left out is a success."""
    if end.get("type") == "RUN_ERROR":
        return "error"
    outcome = end.get("outcome")
    return str(outcome.get("type")) if isinstance(outcome, Mapping) else "success"


def _interrupts(end: Event) -> list[Event]:
    outcome = end.get("outcome")
    found = outcome.get("interrupts") if isinstance(outcome, Mapping) else None
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
