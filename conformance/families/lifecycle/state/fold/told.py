"""What a run has to come back with that keeps what it tells its client: a checkpoint that nothing shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run

STATUS_OF_RESULT: Final = {"ok": "Succeeded", "warning": "Succeeded", "error": "Failed"}


def told_by(run: Run) -> Mapping[str, Any] | None:
    """The checkpoint at the end of the last segment that left the run waiting, before a crash.

    Where a segment has begun since, or a decision was taken, the run may have come further.
    """
    if not run.rested_at:
        return None
    calls = {call.id: {"status": status} for call in run.calls.values() if (status := _status(run, call))}
    told = {"calls": calls, "messages": [{"role": "user", "text": run.said}]}
    if run.segment_open or run.owed or run.is_done:
        return told
    waiting = {call.id: {"status": "Suspended"} for call in run.calls.values() if call.waits}
    return {**told, "run": {"status": "Waiting"}, "calls": {**calls, **waiting}}


def _status(run: Run, call: ObservedCall) -> str | None:
    """The final status of a call that had answered before, and has not come to wait since."""
    since = call.entries[call.entries_when_suspended :]
    before = [gate for gate in since if gate.alone and gate.answered_at <= run.rested_at]
    kinds = [gate.outcome["kind"] for gate in before if gate.outcome is not None]
    return STATUS_OF_RESULT.get(kinds[-1]) if kinds and not call.is_unclear else None
