"""What is said of the ways through the resume gate, a wait and the dispatcher of a round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from runlock.machines.joint.rules import Due, NeverStep, Occasion, Rule, Which
from runlock.machines.lifecycle.joint.clauses.rules import FINAL, has_crashed, is_decided
from runlock.machines.lifecycle.joint.state import Call, Control

RESUME_WAYS: Final = (
    ("RESUME-3", "", "ResolveDecision"),
    ("RESUME-4", "ResolveDecision", "PersistResumeDecision"),
    ("RESUME-5", "PersistResumeDecision", "Replay"),
    ("RESUME-6", "Replay", "ReplayCancel"),
    ("RESUME-7", "Replay", "ReplayResume"),
    ("RESUME-8", "ReplayCancel", "ClearResolved"),
    ("RESUME-9", "ReplayResume", "ExecuteReplayedTool"),
    ("RESUME-10", "ExecuteReplayedTool", "ClearResolved"),
    ("RESUME-11", "ExecuteReplayedTool", "SetNextSuspended"),
    ("RESUME-12", "SetNextSuspended", "ClearResolved"),
    ("RESUME-13", "ClearResolved", "SnapshotIfStateChanged"),
    ("RESUME-14", "SnapshotIfStateChanged", ""),
)
"""A pass through the resume gate, which is shut before it and after it."""

WAIT_WAYS: Final = (
    ("DECIDE-40", "Blocked", "EmitDecisions"),
    ("DECIDE-41", "EmitDecisions", "PrepareResume"),
    ("DECIDE-42", "PrepareResume", "ReplayResume"),
    ("DECIDE-43", "ReplayResume", ""),
    ("DECIDE-44", "ReplayResume", "Blocked"),
)
"""One wait of a parked run, which is over where the wait is nowhere."""

DISPATCH_WAYS: Final = (
    ("ROUND-70", "NextBatch", "NextDecision"),
    ("ROUND-71", "NextBatch", ""),
    ("ROUND-75", "NextDecision", "NextBatch"),
    ("ROUND-76", "NextDecision", "Ended"),
)
"""The dispatcher of a round."""

WOKEN_BY: Final[Mapping[str, Which]] = {
    "RESUME-10": lambda call: call.decided == "acting" and call.status in FINAL,
    "RESUME-11": lambda call: call.decided == "acting" and call.status == "Suspended",
    "RESUME-6": lambda call: call.decided == "rejecting",
    "RESUME-7": lambda call: call.decided == "acting",
    "RESUME-3": is_decided,
    "DECIDE-40": is_decided,
    "DECIDE-43": lambda call: call.status in FINAL,
    "DECIDE-44": lambda call: call.status == "Suspended",
    "ROUND-70": is_decided,
    "ROUND-71": lambda call: call.status in FINAL,
    "ROUND-75": lambda call: call.status == "Resuming",
    "ROUND-76": lambda call: call.status in FINAL,
}
"""Some call that makes a way due, where not every state of the gate does."""


def _ways(closed: str, ways: tuple[tuple[str, str, str], ...], *also: tuple[str, str]) -> Iterator[Rule]:
    """Each way of a gate has to be possible, and there is no other but those that leave it."""
    drawn = {(source, target) for _, source, target in ways} | set(also)
    yield NeverStep(
        closed,
        "the gate took a way that is not drawn",
        lambda c, call, to, after: (c.gate, to.gate) not in drawn,
        lambda c, call, to, after: (
            c.gate != to.gate and to.work not in ("ending", "wait") and not has_crashed(c, to)
        ),
    )
    for clause, source, target in ways:
        yield Due(clause, "gate", source, target, _due_at(clause))


def works_at_all(control: Control, call: Call) -> bool:
    """Whether nothing has ended the run yet."""
    return control.work not in ("ending", "closing", "done")


def _any_call(call: Call) -> bool:
    return True


def _due_at(clause: str) -> Occasion:
    test = WOKEN_BY.get(clause, _any_call)
    return lambda control, call: works_at_all(control, call) and test(call)


GATE_RULES: Final[tuple[Rule, ...]] = (
    *_ways("RESUME-20", RESUME_WAYS),
    *_ways("DECIDE-50", WAIT_WAYS),
    Due("DECIDE-45", "gate", "Blocked", "Cancelled", lambda control, call: control.cancel == "asked"),
    Due("DECIDE-46", "gate", "ReplayResume", "Cancelled", lambda control, call: control.cancel == "asked"),
    Due("DECIDE-47", "gate", "ReplayResume", "Ended", works_at_all),
    *_ways("ROUND-79", DISPATCH_WAYS, ("", "NextBatch"), ("Ended", "")),
)
