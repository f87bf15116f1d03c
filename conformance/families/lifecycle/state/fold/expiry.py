"""Waits that have an end: when it has come, the clock decides, as if a decision or a cancel had been sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.state.expiry import ends_at_ms, expiry_id
from runlock.conformance.families.lifecycle.state.fold.decisions import stands
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.nesting import calls_within
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.grounding import Part


def with_expiries(state: Knowledge, parts: Sequence[Part]) -> list[Part]:
    """What is sent, and next to time that passes, what the clock decides then."""
    every = list(parts)
    if state.has_expiries and not state.depth:  # a run within a call takes its part of what the clock decides
        every += expiries(state, sum(params["ms"] for name, params in parts if name == "clock.advance"))
    return every


def expiries(state: Knowledge, ms: int) -> Iterator[Part]:
    """What the clock decides when so much time has passed."""
    run = state.run
    if run is None or run.is_done or not ms:
        return
    waits = [*((state, call) for call in run.calls.values()), *_waits_within(state, run)]
    expired = [call for knows, call in waits if _ends(knows, call, ms)]
    if not expired:
        return
    if state.policy("expire.end") == "run":
        yield "cancel", {"run": run.id, "by": "clock"}
    else:
        yield "decide", {"run": run.id, "decisions": [_expiry(call) for call in expired]}


def _waits_within(state: Knowledge, run: Run) -> Iterator[tuple[Knowledge, ObservedCall]]:
    return ((inner, call) for inner, _, call in calls_within(state, run))


def _ends(state: Knowledge, call: ObservedCall, ms: int) -> bool:
    """Whether the wait of a call ends with that time, and no decision has ended it before."""
    ends_at = ends_at_ms(call)
    is_over = ends_at is not None and state.now_ms + ms >= ends_at
    is_decided = any(one.answers is call and stands(one, call) for one in call.decisions)
    return is_over and not is_decided


def _expiry(call: ObservedCall) -> Mapping[str, Any]:
    expiry = {"id": expiry_id(call), "call": call.id, "action": "cancel", "by": "clock"}
    return {**expiry, "suspension": call.suspensions}


def begins_to_wait(state: Knowledge, call: ObservedCall) -> None:
    """A call is shown to wait: in a new life it may have waited before."""
    is_known = call.before_claim is None and call.suspensions in call.waits_began
    if call.before_claim != "Suspended" and not is_known:
        call.waits_began[call.suspensions] = state.now_ms


def recovered(state: Knowledge, run: Run) -> None:
    """After a crash a wait has the end that it had, which may be past already, or its whole time again."""
    for call in run.calls.values():
        if state.policy("expire.crash") == "anew":
            call.waits_began = dict.fromkeys(call.waits_began, state.now_ms)
        ends_at = ends_at_ms(call)
        if ends_at is not None and state.now_ms >= ends_at:
            call.decisions.append(_may_have_expired(state, call))


def _may_have_expired(state: Knowledge, call: ObservedCall) -> Decided:
    return Decided(
        expiry_id(call), call.id, "cancel", None, call.suspensions, state.stimuli, alone=False,
        unsure=True, is_expiry=True, entries_before=len(call.entries), in_suspension=call.suspensions,
    )  # fmt: skip
