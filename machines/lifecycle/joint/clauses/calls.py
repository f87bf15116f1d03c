"""Rules for calls without a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.machines.joint.rules import Due, NeverStep, Rule, StepTest
from runlock.machines.lifecycle.joint.clauses.rules import FINAL, has_crashed
from runlock.machines.lifecycle.joint.state import Call, Control


def _moved(allowed: Mapping[str, tuple[str, ...]]) -> StepTest:
    """Whether a call left a status for one that is not among those allowed."""
    return lambda c, call, to, after: (
        call.status in allowed
        and after.status != call.status
        and after.status not in allowed[call.status]
        and not has_crashed(c, to)
    )


def _in_round(control: Control, call: Call) -> bool:
    return control.work in ("calls", "round")


def _in_replay(control: Control, call: Call) -> bool:
    return control.work in ("calls", "round", "replay") or control.gate == "ExecuteReplayedTool"


def _to_be_cancelled(control: Control, call: Call) -> bool:
    return control.work == "calls" or control.cancel == "asked"


def _to_be_resumed(control: Control, call: Call) -> bool:
    is_resolved = control.gate in ("Replay", "PrepareResume", "NextDecision")
    return control.work == "calls" or (is_resolved and call.decided in ("resume", "acting"))


def _to_be_rejected(control: Control, call: Call) -> bool:
    is_resolved = control.gate in ("ReplayCancel", "PrepareResume", "NextDecision")
    return control.work == "calls" or (is_resolved and call.decided in ("cancel", "rejecting"))


CALL_RULES: Final[tuple[Rule, ...]] = (
    NeverStep(
        "CALL-17",
        "a call that was over moved to another status",
        _moved(dict.fromkeys(FINAL, ())),
    ),
    NeverStep(
        "CALL-18",
        "a suspended call left Suspended for something else than Resuming or Cancelled",
        _moved({"Suspended": ("Resuming", "Cancelled")}),
    ),
    NeverStep(
        "CALL-19",
        "a new call became Resuming, which only a call that was held can",
        _moved({"New": ("Running", "Suspended", *FINAL)}),
    ),
    NeverStep(
        "CALL-20",
        "a running call left Running for something else than Suspended or its outcome",
        _moved({"Running": ("Suspended", *FINAL)}),
    ),
    NeverStep(
        "CALL-21",
        "a resuming call left Resuming for something else than Running, Suspended or its outcome",
        _moved({"Resuming": ("Running", "Suspended", *FINAL)}),
    ),
    Due("CALL-1", "call", "New", "Running", _in_round),
    Due("CALL-2", "call", "New", "Suspended", _in_round),
    Due("CALL-3", "call", "Running", "Suspended", _in_round),
    Due("CALL-4", "call", "Running", "Succeeded", _in_round),
    Due("CALL-5", "call", "Running", "Failed", _in_round),
    Due("CALL-6", "call", "Running", "Cancelled", _to_be_cancelled),
    Due("CALL-7", "call", "Suspended", "Resuming", _to_be_resumed),
    Due("CALL-8", "call", "Suspended", "Cancelled", _to_be_rejected),
    Due("CALL-9", "call", "Resuming", "Running", _in_replay),
    Due("CALL-10", "call", "Resuming", "Suspended", _in_replay),
    Due("CALL-11", "call", "Resuming", "Succeeded", _in_replay),
    Due("CALL-12", "call", "Resuming", "Failed", _in_replay),
    Due("CALL-13", "call", "Resuming", "Cancelled", _to_be_cancelled),
    Due("CALL-14", "call", "New", "Succeeded", _in_round),
    Due("CALL-15", "call", "New", "Failed", _in_round),
    Due("CALL-16", "call", "New", "Cancelled", _to_be_cancelled),
)
"""Rules for calls without a run."""
