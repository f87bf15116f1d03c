"""What the clauses say of joint states and of the steps between them, transcribed from their words.

None of this looks at a chart: the statuses are spelled out, so that a chart which says something else than
the clauses is seen.  `Never` is a state that must not be, `NeverStep` a step, `Due` a step that must be
possible somewhere.  What a profile's policies rule out is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from interlock.machines.explore.terms import Call, Control
from interlock.spec.model import load_spec

__all__ = ["CALL_RULES", "ONCE_MORE", "Due", "Never", "NeverStep", "Rule", "applies", "rules_for"]

FINAL: Final = ("Succeeded", "Failed", "Cancelled")
BUSY: Final = ("New", "Running", "Resuming")

Where = Callable[[Control], bool]
Which = Callable[[Call], bool]
Occasion = Callable[[Control, Call], bool]
StepTest = Callable[[Control, Call, Control, Call], bool]


@dataclass(frozen=True, slots=True)
class Never:
    """A joint state that must not be: `where` holds, each of `some` of some call, and `none` of no call."""

    clause: str
    because: str
    where: Where
    some: tuple[Which, ...] = ()
    none: Which | None = None
    at_rest: bool = False  # asked only where the runtime has nothing left to do by itself
    only: tuple[str, str] = ("", "")  # asked only under this value of a policy


@dataclass(frozen=True, slots=True)
class NeverStep:
    """A step that must not be: one that is `asked` and for which `when` holds, of a call before and after."""

    clause: str
    because: str
    when: StepTest
    asked: StepTest = lambda control, call, to, after: True


@dataclass(frozen=True, slots=True)
class Due:
    """A step of a run, call, decision or gate that must be possible: taken `when`, due where `due` says."""

    clause: str
    subject: str
    source: str
    target: str
    due: Occasion
    when: Occasion = lambda control, call: True


Rule = Never | NeverStep | Due


def is_in(*statuses: str) -> Which:
    """Whether a call has one of these statuses."""
    return lambda call: call.status in statuses


def runs(*statuses: str) -> Where:
    """Whether the run has one of these statuses."""
    return lambda control: control.run in statuses


def works(*at: str) -> Where:
    """Whether the run is at one of these."""
    return lambda control: control.work in at


def _crashed(before: Control, after: Control) -> bool:
    return after.crashes < before.crashes


def _crash(before: Control, call: Call, to: Control, after: Call) -> bool:
    return _crashed(before, to) and bool(before.kept_run)


def _is_cancelled(before: Control, call: Call, to: Control, after: Call) -> bool:
    return before.cancel == "asked" or before.reason == "Cancelled"


def _moved(allowed: Mapping[str, tuple[str, ...]]) -> StepTest:
    """Whether a call left a status for one that is not among those allowed."""
    return lambda c, call, to, after: (
        call.status in allowed
        and after.status != call.status
        and after.status not in allowed[call.status]
        and not _crashed(c, to)
    )


def _ran(source: str, *allowed: str) -> StepTest:
    """Whether the run left a status for one that is not among those allowed."""
    return lambda c, call, to, after: (
        c.run == source and to.run not in (source, *allowed) and not _crashed(c, to)
    )


def _entered(c: Control, call: Call, to: Control, after: Call) -> bool:
    return call.status != "Running" and after.status == "Running" and not _crashed(c, to)


def _asked(c: Control, to: Control) -> bool:
    return to.work == "model" and c.work != "model" and not _crashed(c, to)


def _is_decided(call: Call) -> bool:
    return call.status == "Suspended" and call.decided in ("resume", "cancel")


def _is_kept(call: Call) -> bool:
    return call.kept is not None and call.kept.status == call.status


def _lies_before(kept: str, status: str) -> bool:
    """Whether a call that had one status may have the other by now."""
    return kept == status or (kept not in FINAL and status != "New")


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
"""What is said of calls alone."""

DERIVED: Final[tuple[Rule, ...]] = (
    Never(
        "DERIVE-1",
        "a call was executing or resuming while the run was not Running",
        runs("Created", "Waiting"),
        (is_in("Running", "Resuming"),),
    ),
    Never(
        "DERIVE-2",
        "no call had work before it and one was Suspended, yet the run was not Waiting",
        lambda control: control.run != "Waiting" and control.work not in ("model", "done"),
        (is_in("Suspended"),),
        is_in(*BUSY),
        at_rest=True,
    ),
    Never(
        "DERIVE-3",
        "the run was Waiting and no call of it was Suspended",
        runs("Waiting"),
        none=is_in("Suspended"),
        at_rest=True,
    ),
    Never(
        "DERIVE-4",
        "a model gate was open and the run was not Running",
        lambda control: control.work == "model" and control.run != "Running",
    ),
    Never(
        "DERIVE-5",
        "a model gate was open while a call was Suspended",
        works("model"),
        (is_in("Suspended"),),
    ),
    Never(
        "DERIVE-6",
        "a segment ended as Suspended while a tool was executing",
        lambda control: control.reason == "Suspended",
        (is_in("Running"),),
    ),
    NeverStep(
        "DERIVE-7",
        "the run ended at the end of its round, with no reason of its own",
        lambda c, call, to, after: c.work == "round" and to.run == "Done" and not _crashed(c, to),
    ),
)


def _ends(clause: str, source: str, reason: str, where: Where) -> Iterator[Due]:
    """A run ends from a status for a reason, which is due in some place."""
    yield Due(
        clause,
        "run",
        source,
        "Done",
        lambda control, call: where(control),
        lambda control, call: control.reason == reason,
    )


RUN: Final[tuple[Rule, ...]] = (
    Never(
        "RUN-1",
        "the run was Waiting while a call had work before it",
        runs("Waiting"),
        (is_in(*BUSY),),
    ),
    Never(
        "RUN-2",
        "a suspended call had its decision and the run went on waiting",
        lambda control: control.run == "Waiting" and control.cancel != "asked",
        (_is_decided,),
        at_rest=True,
        only=("resume", "partial"),
    ),
    Never(
        "RUN-2",
        "every suspended call had its decision and the run went on waiting",
        lambda control: control.run == "Waiting" and control.cancel != "asked",
        (_is_decided,),
        lambda call: call.status == "Suspended" and not call.decided,
        at_rest=True,
    ),
    NeverStep(
        "RUN-3",
        "the run ended by itself while a call of it was live",
        lambda c, call, to, after: (
            to.reason == "NaturalEnd" and c.reason != "NaturalEnd" and call.status in (*BUSY, "Suspended")
        ),
    ),
    NeverStep("RUN-14", "the run was Done and moved to another status", _ran("Done")),
    NeverStep(
        "RUN-15",
        "the run left Running for something else than Waiting or Done",
        _ran("Running", "Waiting", "Done"),
    ),
    NeverStep(
        "RUN-16",
        "the run left Waiting for something else than Running or Done",
        _ran("Waiting", "Running", "Done"),
    ),
    NeverStep(
        "RUN-17",
        "the run left Created for something else than Running or Done",
        _ran("Created", "Running", "Done"),
    ),
    Never(
        "RUN-20",
        "the run was Done and something of it was under way",
        lambda control: control.run == "Done" and control.work != "done",
    ),
    Never(
        "RUN-22",
        "the status of the run and the reason of its end did not say the same",
        lambda control: (
            (control.run == "Done" and control.reason in ("", "Suspended"))
            or (control.run == "Waiting" and control.work == "wait" and control.reason != "Suspended")
        ),
    ),
    Never(
        "RUN-26",
        "the run was Running and nothing of it was durable",
        lambda control: control.run == "Running" and not control.kept_run,
    ),
    Never(
        "RUN-30",
        "a tool was executing, or the model was asked, while the run was not Running",
        lambda control: control.work == "round" and control.run not in ("Running", "Waiting"),
    ),
    Due("RUN-1", "run", "Running", "Waiting", lambda control, call: control.work == "suspending"),
    Due("RUN-2", "run", "Waiting", "Running", lambda control, call: call.decided in ("resume", "cancel")),
    *_ends("RUN-3", "Running", "NaturalEnd", works("last")),
    *_ends("RUN-4", "Running", "BehaviorRequested", works("model")),
    *_ends("RUN-5", "Running", "Stopped", works("model")),
    *_ends("RUN-6", "Running", "Blocked", works("blocked")),
    *_ends("RUN-7", "Running", "Cancelled", lambda control: control.cancel == "asked"),
    *_ends("RUN-8", "Running", "Error", works("model")),
    *_ends("RUN-9", "Waiting", "Cancelled", lambda control: control.cancel == "asked"),
    *_ends("RUN-10", "Waiting", "Error", works("wait")),
    Due("RUN-11", "run", "Created", "Running", lambda control, call: bool(control.kept_run)),
    *_ends("RUN-12", "Created", "Cancelled", lambda control: control.cancel == "asked"),
    *_ends("RUN-13", "Created", "Error", works("created")),
    *_ends("RUN-18", "Waiting", "Stopped", works("wait")),
)

DECISIONS: Final[tuple[Rule, ...]] = (
    NeverStep(
        "DECIDE-1",
        "a decision acted once more in a call that it had woken before",
        lambda c, call, to, after: (
            after.status == "Resuming" and after.decided == "resume" and not _crashed(c, to)
        ),
    ),
    Never(
        "DECIDE-4",
        "nothing was under way, and a decision for a suspended call had not acted",
        lambda control: control.work not in ("done", "model") and control.cancel != "asked",
        (_is_decided,),
        is_in("Running"),
        at_rest=True,
        only=("resume", "partial"),
    ),
    Never(
        "DECIDE-9",
        "a decided call was replayed while another call of its round executed",
        lambda control: True,
        (
            lambda call: call.status in ("Running", "Resuming") and call.decided == "acting",
            lambda call: call.status == "Running" and call.decided != "acting",
        ),
    ),
    Never(
        "DECIDE-10",
        "a suspended call was decided and had not moved when all had come to rest",
        lambda control: control.work != "done" and control.cancel != "asked",
        (_is_decided,),
        at_rest=True,
        only=("resume", "partial"),
    ),
    NeverStep(
        "DECIDE-13",
        "a rejected call was Resuming, where it is to be Cancelled directly",
        lambda c, call, to, after: (
            call.status == "Suspended"
            and after.status == "Resuming"
            and "rejecting" in (call.decided, after.decided)
        ),
    ),
    Never(
        "DECIDE-24",
        "a decision came during inference or a round and was not replayed there and then",
        works("model", "round"),
        (_is_decided,),
        lambda call: call.decided == "acting",
        at_rest=True,
        only=("resume", "partial"),
    ),
    NeverStep(
        "DECIDE-42",
        "a call was replayed while another decided call of the wait was still Suspended",
        lambda c, call, to, after: c.gate == "PrepareResume" and _entered(c, call, to, after),
    ),
)

GATES: Final[tuple[Rule, ...]] = (
    NeverStep(
        "GATE-1",
        "a call that was held was executed without an approval of its own",
        lambda c, call, to, after: call.waits > 0 and call.decided != "acting",
        _entered,
    ),
    NeverStep(
        "GATE-2",
        "a call that was rejected was executed",
        lambda c, call, to, after: call.status == "Cancelled" or call.decided == "rejecting",
        _entered,
    ),
    NeverStep(
        "ONCE-1",
        "a call whose tool had answered was executed again",
        lambda c, call, to, after: call.status in FINAL,
        _entered,
    ),
    NeverStep(
        "ONCE-2",
        "a call that is final in the checkpoint was executed again",
        lambda c, call, to, after: call.kept is not None and call.kept.status in FINAL,
        _entered,
    ),
)

CANCELS: Final[tuple[Rule, ...]] = (
    NeverStep(
        "CANCEL-1",
        "a tool was entered, or the model was asked, after the run had been cancelled",
        lambda c, call, to, after: (
            not _crashed(c, to)
            and (_entered(c, call, to, after) or (to.work == "model" and c.work != "model"))
        ),
        _is_cancelled,
    ),
    Never(
        "CANCEL-2",
        "the run was cancelled, nothing of it was under way, and it did not end",
        lambda control: control.cancel == "asked" and control.work != "done",
        none=is_in("Running"),
        at_rest=True,
    ),
    Never(
        "CANCEL-3",
        "the run waited, was cancelled, and went on waiting",
        lambda control: control.cancel == "asked" and control.run == "Waiting",
        at_rest=True,
    ),
    NeverStep(
        "CANCEL-6",
        "a call whose tool was given up on a cancel came to a result all the same",
        lambda c, call, to, after: (
            c.reason == "Cancelled" and call.status == "Running" and after.status in ("Succeeded", "Failed")
        ),
        _is_cancelled,
    ),
)

DRAINED: Final[tuple[Rule, ...]] = (
    NeverStep(
        "CANCEL-5",
        "a tool that ran at the cancel was given up, where it is to end by itself",
        lambda c, call, to, after: (
            to.reason == "Cancelled" and call.status == "Running" and after.status == "Cancelled"
        ),
        _is_cancelled,
    ),
)

CLOSED: Final[tuple[Rule, ...]] = (
    Never(
        "RUN-27",
        "the run was Done and a call of it was live",
        runs("Done"),
        (is_in(*BUSY, "Suspended"),),
    ),
)


def _is_recovered(control: Control, call: Call) -> bool:
    return control.crashes == 0 and control.run == "Waiting" and call.status == "Suspended"


STORED: Final[tuple[Rule, ...]] = (
    NeverStep(
        "STORE-2",
        "the end of a segment was announced and the checkpoint did not hold it",
        lambda c, call, to, after: to.run in ("Waiting", "Done") and to.run not in (c.run, to.kept_run),
    ),
    Never(
        "STORE-4",
        "a tool was executing and the turn that asked for it was not durable",
        lambda control: True,
        (lambda call: call.status == "Running" and call.kept is None,),
    ),
    NeverStep(
        "STORE-5",
        "the model was asked again and the result of a call was not durable",
        lambda c, call, to, after: _asked(c, to) and after.status in FINAL and not _is_kept(after),
    ),
    NeverStep(
        "STORE-6",
        "the model was asked again and the step before was not durable",
        lambda c, call, to, after: _asked(c, to) and bool(after.status) and not _is_kept(after),
    ),
    Never(
        "STORE-8",
        "the checkpoint gave a call a status that does not follow from what it has done",
        lambda control: True,
        (
            lambda call: (
                call.kept is not None
                and bool(call.status)
                and (call.kept.waits > call.waits or not _lies_before(call.kept.status, call.status))
                and call.kept.status not in ("New", "Running", "Resuming")
            ),
        ),
    ),
    Never(
        "STORE-9",
        "a checkpoint of a round did not hold a call that was not over",
        lambda control: control.kept_work in ("round", "after", "last", "wait") and control.work != "model",
        (lambda call: call.kept is None,),
    ),
    Never(
        "STORE-10",
        "the checkpoint said that the run waits, and held no call that is Suspended",
        lambda control: control.kept_run == "Waiting",
        none=lambda call: call.kept is not None and call.kept.status == "Suspended",
    ),
    NeverStep(
        "STORE-13",
        "a decision that had not acted was lost from a checkpoint",
        lambda c, call, to, after: (
            after.kept != call.kept
            and after.kept is not None
            and after.decided in ("resume", "cancel", "acting", "rejecting")
            and after.kept.decided != after.decided
        ),
    ),
    NeverStep(
        "RECOVER-1",
        "the run did not start its next life in the status that its checkpoint gives it",
        lambda c, call, to, after: to.run != c.kept_run,
        _crash,
    ),
    NeverStep(
        "RECOVER-2",
        "a call that waits in the checkpoint, or is final in it, started its next life as something else",
        lambda c, call, to, after: (
            call.kept is not None
            and call.kept.status in ("Suspended", *FINAL)
            and after.status != call.kept.status
        ),
        _crash,
    ),
    Due(
        "RECOVER-4",
        "decision",
        "",
        "resume",
        _is_recovered,
        _is_recovered,
    ),
    NeverStep(
        "RECOVER-5",
        "the model was asked again and a crash would have cost a call of the round before",
        lambda c, call, to, after: _asked(c, to) and after.status in FINAL and not _is_kept(after),
    ),
)

AT_REST: Final[tuple[Rule, ...]] = (
    Never(
        "PROGRESS-1",
        "the run was not Done, and waited neither at a gate nor for a decision",
        lambda control: control.work not in ("model", "done"),
        none=lambda call: (
            call.status in ("New", "Running", "Resuming") or (call.status == "Suspended" and not call.decided)
        ),
        at_rest=True,
    ),
)

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
    "RESUME-3": _is_decided,
    "DECIDE-40": _is_decided,
    "DECIDE-43": lambda call: call.status in FINAL,
    "DECIDE-44": lambda call: call.status == "Suspended",
    "ROUND-70": _is_decided,
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
            c.gate != to.gate and to.work not in ("ending", "wait") and not _crashed(c, to)
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

JOINT_RULES: Final[tuple[Rule, ...]] = (
    *GATE_RULES, *CALL_RULES, *DERIVED, *RUN, *DECISIONS, *GATES, *CANCELS, *DRAINED, *CLOSED, *STORED,
    *AT_REST,
)  # fmt: skip
"""All of them."""

ONLY_UNDER: Final[Mapping[str, tuple[str, str]]] = {
    "CALL-13": ("end.live", "closed"),
    "CALL-16": ("end.live", "closed"),
    "CANCEL-5": ("cancel.inflight", "drain"),
    "DECIDE-13": ("decision.cancel_path", "direct"),
    "RUN-27": ("end.live", "closed"),
    "RECOVER-5": ("durability", "round step call"),
}
"""Clauses that hold a runtime to what it declared: the rule here is about one of the values."""


def applies(clause_id: str, policies: Mapping[str, Any]) -> bool:
    """Whether a clause is one of those that a profile with these policies is held to."""
    for key, values in load_spec().clause(clause_id).applies.items():
        value = policies.get(key)
        held = value if isinstance(value, list) else [value]
        if not set(held) & set(values):
            return False
    key, allowed = ONLY_UNDER.get(clause_id, ("", ""))
    return not key or policies.get(key) in allowed.split()


def _is_under(rule: Rule, policies: Mapping[str, Any]) -> bool:
    key, value = rule.only if isinstance(rule, Never) else ("", "")
    return not key or policies.get(key) == value


ONCE_MORE: Final = "CALL-10"
"""The clause that only a call which may suspend again is about."""


def rules_for(policies: Mapping[str, Any], resuspensions: int) -> Iterator[Rule]:
    """The rules that a profile with these policies is held to, within a bound on re-suspensions."""
    rules = (rule for rule in JOINT_RULES if applies(rule.clause, policies) and _is_under(rule, policies))
    return (rule for rule in rules if resuspensions or rule.clause != ONCE_MORE)
