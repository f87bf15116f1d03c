"""What is said of decisions, and of what needs one before it is executed."""

from __future__ import annotations

from typing import Final

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.lifecycle.joint.clauses.rules import (
    FINAL,
    has_crashed,
    is_decided,
    is_entered,
    is_in,
    works,
)

DECISIONS: Final[tuple[Rule, ...]] = (
    NeverStep(
        "DECIDE-1",
        "a decision acted once more in a call that it had woken before",
        lambda c, call, to, after: (
            after.status == "Resuming" and after.decided == "resume" and not has_crashed(c, to)
        ),
    ),
    Never(
        "DECIDE-4",
        "nothing was under way, and a decision for a suspended call had not acted",
        lambda control: control.work not in ("done", "model") and control.cancel != "asked",
        (is_decided,),
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
        (is_decided,),
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
        (is_decided,),
        lambda call: call.decided == "acting",
        at_rest=True,
        only=("resume", "partial"),
    ),
    NeverStep(
        "DECIDE-42",
        "a call was replayed while another decided call of the wait was still Suspended",
        lambda c, call, to, after: c.gate == "PrepareResume" and is_entered(c, call, to, after),
    ),
)

GATES: Final[tuple[Rule, ...]] = (
    NeverStep(
        "GATE-1",
        "a call that was held was executed without an approval of its own",
        lambda c, call, to, after: call.waits > 0 and call.decided != "acting",
        is_entered,
    ),
    NeverStep(
        "GATE-2",
        "a call that was rejected was executed",
        lambda c, call, to, after: call.status == "Cancelled" or call.decided == "rejecting",
        is_entered,
    ),
    NeverStep(
        "ONCE-1",
        "a call whose tool had answered was executed again",
        lambda c, call, to, after: call.status in FINAL,
        is_entered,
    ),
    NeverStep(
        "ONCE-2",
        "a call that is final in the checkpoint was executed again",
        lambda c, call, to, after: call.kept is not None and call.kept.status in FINAL,
        is_entered,
    ),
)
