"""GRANT: an approval that stands covers later calls as declared, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.conformance.families.lifecycle.messages import CallMoved, GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.grants import (
    OWN,
    Cover,
    cover,
    covering,
    is_revoked,
    misfit,
)
from runlock.conformance.families.lifecycle.state.records import Grant, ObservedCall
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


@check("GRANT-1", at=("Suspended",), rank=Rank.LOST, requires="a decision")
def a_covered_call_is_not_suspended(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A call that a standing grant covers is not suspended before it runs."""
    call = _plain(state.call_of(seen))
    grant = covering(state, call) if call is not None and not call.entries else None
    if call is not None and grant is not None:
        yield broken(f"{_said(grant)} covers call {call.id}, yet it waits for a decision")


@check("GRANT-1", rank=Rank.LOST, requires="a decision")
def a_covered_call_is_not_pending(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run does not wait for a decision about a call that a standing grant covers."""
    for call in _pending(state, seen):
        grant = covering(state, call)
        if grant is not None:
            yield broken(f"{_said(grant)} covers call {call.id}, yet it waits for a decision")


@counts("GRANT-1", at=("tool",), requires="a decision")
def a_covered_call_runs(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Counts the calls that run on a standing grant."""
    call = _plain(state.call_of(seen))
    if call is not None and covering(state, call) is not None and not call.decisions:
        yield HELD


@check("GRANT-2", at=("tool",), rank=Rank.CONSENT, requires="a decision")
def a_grant_covers_nothing_else(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that no standing grant covers runs on an approval of its own."""
    call = _plain(state.call_of(seen))
    found = _uncovered(state, call) if call is not None else None
    if call is None or found is None or _revoked_for(state, call) is not None:
        return
    grant, why = found
    approved = any(not decided.stale for decided in call.approvals)
    reason = f"{_said(grant)} {why}, and nobody approved call {call.id}, yet it was executed"
    yield held_or(approved, reason)


@check("GRANT-2", at=("Resuming", "Running"), rank=Rank.CONSENT, requires="a decision")
def what_waits_goes_on_waiting(state: ObservedState, seen: CallMoved) -> CheckResults:
    """A standing grant does not move a call that waited when it came."""
    call = _plain(state.call_of(seen))
    if call is None or call.claimed != "Suspended" or any(not one.turned_down for one in call.decisions):
        return
    for grant in state.grants:
        is_for_it = grant.call is not call and grant.call.name == call.name
        if is_for_it and grant.decided.at == state.stimuli and state.alone:
            yield broken(f"{_said(grant)} came when call {call.id} waited already, yet that became {seen.to}")


@counts("GRANT-2", requires="a decision")
def what_no_grant_covers_waits(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Counts the calls that wait though there is a standing grant."""
    yield from (HELD for call in _pending(state, seen) if _uncovered(state, call) is not None)


@check("GRANT-3", at=("tool",), rank=Rank.CONSENT, requires="a decision")
def a_denial_beats_a_grant(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that a grant may cover runs only if its permission hook was asked and did not block it."""
    call = _plain(state.call_of(seen))
    if call is None or call.life != state.life or not _is_gated(state, call):
        return
    grant = _may_cover(state, call)
    if grant is None or call.approvals:
        return
    if call.last_verdict == "block":
        yield broken(f"the permission hook blocked call {call.id}, which {_said(grant)} covers, yet it ran")
    elif not call.judged:
        yield broken(f"{_said(grant)} covers call {call.id}, yet it ran before its permission hook was asked")
    elif call.last_verdict is not None:
        yield HELD


@counts("GRANT-3", requires="a decision")
def a_blocked_call_does_not_run(state: ObservedState) -> CheckResults:
    """Counts the calls that a grant covers, that were blocked and did not run."""
    for call in state.run.calls.values() if state.run is not None else ():
        if call.last_verdict == "block" and not call.entries and _may_cover(state, call) is not None:
            yield HELD


@check("GRANT-4", at=("tool",), rank=Rank.CONSENT, requires="a decision")
def a_revoked_grant_covers_nothing(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that was asked for after a grant was revoked runs on an approval of its own."""
    call = _plain(state.call_of(seen))
    grant = _revoked_for(state, call) if call is not None else None
    if call is None or grant is None:
        return
    approved = any(not decided.stale for decided in call.approvals)
    reason = f"{_said(grant)} was revoked, and nobody approved call {call.id}, yet it was executed"
    yield held_or(approved, reason)


@counts("GRANT-4", requires="a decision")
def what_a_revoked_grant_covered_waits(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Counts the calls that wait since the grant for them was revoked."""
    yield from (HELD for call in _pending(state, seen) if _revoked_for(state, call) is not None)


def _said(grant: Grant) -> str:
    return f"the grant of decision {grant.decided.id} for the {grant.scope}"


def _plain(call: ObservedCall | None) -> ObservedCall | None:
    """The call, if it is certain which call of which tool it is."""
    is_plain = call is not None and not (call.duplicate_id or call.is_renamed or call.has_agent)
    return call if is_plain else None


def _pending(state: ObservedState, seen: SegmentEnded) -> Iterator[ObservedCall]:
    """The calls for which a run waits that have not run."""
    run = state.run_of(seen)
    for call in run.calls.values() if run is not None else ():
        if call.id in seen.pending and not call.entries and _plain(call) is not None:
            yield call


def _is_gated(state: ObservedState, call: ObservedCall) -> bool:
    return call.tool is not None and call.tool.permission == "gate"


def _must_ask(state: ObservedState, call: ObservedCall) -> bool:
    """Whether a call needs an approval: by its tool, or since its permission hook suspended it."""
    tool = state.tools.get(call.name) if call.tool is not None else None
    return tool is not None and (
        tool.permission == "ask" or (tool.permission == "gate" and call.last_verdict == "suspend")
    )


def _uncovered(state: ObservedState, call: ObservedCall) -> tuple[Grant, str] | None:
    """A grant that does not cover a call that must ask, nor does another, and why it does not."""
    if not _must_ask(state, call) or cover(state, call) is not Cover.NO:
        return None
    found = [(grant, misfit(state, grant, call)) for grant in state.grants if not is_revoked(grant, call)]
    others = [(grant, why) for grant, why in found if why and why != OWN]
    return max(others, key=lambda one: one[0].call.name == call.name, default=None)


def _revoked_for(state: ObservedState, call: ObservedCall) -> Grant | None:
    """A grant that would cover a call that must ask, had it not been revoked."""
    if not _must_ask(state, call) or cover(state, call) is not Cover.NO:
        return None
    fits = (grant for grant in state.grants if not misfit(state, grant, call))
    return next((grant for grant in fits if is_revoked(grant, call)), None)


def _may_cover(state: ObservedState, call: ObservedCall) -> Grant | None:
    """A grant that covers a call, or may."""
    fits = (grant for grant in state.grants if not misfit(state, grant, call))
    return next((grant for grant in fits if not is_revoked(grant, call)), None)
