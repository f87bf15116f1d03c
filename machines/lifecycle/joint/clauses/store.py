"""What is said of checkpoints, and of a life that begins with one."""

from __future__ import annotations

from typing import Final

from runlock.machines.joint.rules import Due, Never, NeverStep, Rule
from runlock.machines.lifecycle.joint.clauses.rules import FINAL, asks_the_model, has_crashed
from runlock.machines.lifecycle.joint.state import Call, Control


def _crash(before: Control, call: Call, to: Control, after: Call) -> bool:
    return has_crashed(before, to) and bool(before.kept_run)


def _is_kept(call: Call) -> bool:
    return call.kept is not None and call.kept.status == call.status


def _lies_before(kept: str, status: str) -> bool:
    """Whether a call that had one status may have the other by now."""
    return kept == status or (kept not in FINAL and status != "New")


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
        lambda c, call, to, after: asks_the_model(c, to) and after.status in FINAL and not _is_kept(after),
    ),
    NeverStep(
        "STORE-6",
        "the model was asked again and the step before was not durable",
        lambda c, call, to, after: asks_the_model(c, to) and bool(after.status) and not _is_kept(after),
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
        lambda c, call, to, after: asks_the_model(c, to) and after.status in FINAL and not _is_kept(after),
    ),
)
