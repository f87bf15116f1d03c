"""What is said of a cancel, and of what it finds under way."""

from __future__ import annotations

from typing import Final

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.lifecycle.joint.clauses.rules import has_crashed, is_entered, is_in
from runlock.machines.lifecycle.joint.state import Call, Control


def _is_cancelled(before: Control, call: Call, to: Control, after: Call) -> bool:
    return before.cancel == "asked" or before.reason == "Cancelled"


CANCELS: Final[tuple[Rule, ...]] = (
    NeverStep(
        "CANCEL-1",
        "a tool was entered, or the model was asked, after the run had been cancelled",
        lambda c, call, to, after: (
            not has_crashed(c, to)
            and (is_entered(c, call, to, after) or (to.work == "model" and c.work != "model"))
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
    NeverStep(
        "CANCEL-5",
        "a tool that ran at the cancel was given up, where it is to end by itself",
        lambda c, call, to, after: (
            to.reason == "Cancelled" and call.status == "Running" and after.status == "Cancelled"
        ),
        _is_cancelled,
    ),
)
