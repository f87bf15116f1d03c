"""What is said of a cancel, and of the end of a turn."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule, StepTest, Where
from runlock.machines.message_loop.joint.clauses.rules import (
    PASS_OVER,
    Terms,
    has,
    is_asked_for,
    is_entered,
    turn_ends,
)


def ends(terms: Terms) -> Iterator[Rule]:
    """The rules of cancels and of ends."""
    yield from _cancelled()
    yield from _in_flight(terms)
    yield from _reasons(terms)
    yield NeverStep(
        "RUN-14",
        "a turn was Done and moved on",
        lambda c, call, to, after: c.run == "Done" and to.run != "Done",
    )
    yield Never(
        "RUN-20",
        "the turn was Done, and a gate of it was open",
        lambda control: control.run == "Done",
        (is_asked_for,),
    )


def _is_in(*states: str) -> Where:
    """Whether the cancel is in one of these states."""
    return lambda control: control.cancel in states


def _cancelled() -> Iterator[Rule]:
    yield Never(
        "CANCEL-1",
        "a cancel was settled, and a prompt, a hook or a tool of the turn was under way",
        _is_in("Quiet", "Settled", "Ended"),
        (is_asked_for,),
    )
    yield Never(
        "CANCEL-2",
        "the turn was cancelled, no tool of it was running, and it did not end",
        lambda control: control.cancel != "" and control.run != "Done",
        none=has("Running"),
        at_rest=True,
    )
    yield NeverStep(
        "CANCEL-4",
        "a cancel came to a pass that was over",
        lambda c, call, to, after: c.cancel == "" and to.cancel != "",
        lambda c, call, to, after: c.cancels > 0 and c.stage in PASS_OVER,
    )
    yield NeverStep(
        "CANCEL-8",
        "a call was entered after the cancel",
        is_entered,
        lambda c, call, to, after: c.cancel != "",
    )
    yield NeverStep(
        "CANCEL-9",
        "a cancelled turn rendered",
        lambda c, call, to, after: to.stage != c.stage and to.stage in ("RENDER", "Rendered"),
        lambda c, call, to, after: c.cancel != "",
    )
    yield Never(
        "CANCEL-20",
        "prompts and hooks were closed by a cancel, and a call was still before its tool",
        _is_in("GivingUp", "Draining", "Quiet"),
        (has("New"),),
    )
    yield Never(
        "CANCEL-25",
        "a cancel was over, and a call of the round had no result",
        _is_in("Settled", "Ended"),
        (is_asked_for,),
    )


def _in_flight(terms: Terms) -> Iterator[Rule]:
    """The tools that run at the cancel."""
    if terms.says("cancel.inflight", "abort"):
        yield NeverStep(
            "CANCEL-5",
            "a tool ran at the cancel, and was not given up",
            lambda c, call, to, after: after.status == "Running",
            lambda c, call, to, after: c.cancel == "GivingUp" and call.status == "Running",
        )
        yield NeverStep(
            "CANCEL-6",
            "a tool was given up on a cancel, and its call succeeded or failed",
            lambda c, call, to, after: after.status in ("Succeeded", "Failed"),
            lambda c, call, to, after: c.cancel != "" and call.status == "Running",
        )
        return
    yield NeverStep(
        "CANCEL-5",
        "a tool that ran at the cancel was given up, where it is to end by itself",
        lambda c, call, to, after: after.status == "Cancelled",
        lambda c, call, to, after: c.cancel in ("GivingUp", "Draining") and call.status == "Running",
    )


def _reasons(terms: Terms) -> Iterator[Rule]:
    """The reason of a turn, by the end of its pass."""
    at_bound = "Error" if terms.says("bound.end", "error") else "Stopped"
    for clause, stage, reason in (
        ("RUN-3", "Rendered", "NaturalEnd"),
        ("RUN-3", "Finished", "NaturalEnd"),
        ("RUN-5", "Bounded", at_bound),
        ("RUN-6", "Blocked", "Blocked"),
        ("RUN-7", "Cancelled", "Cancelled"),
        ("RUN-8", "Failed", "Error"),
    ):
        because = f"a pass that was {stage} ended the turn, and its reason is not {reason}"
        yield NeverStep(clause, because, _is_not(reason), _ends_at(stage))
    yield NeverStep(
        "RUN-24",
        "the turn was Done, and its pass was not over",
        lambda c, call, to, after: c.stage not in PASS_OVER,
        turn_ends,
    )


def _is_not(reason: str) -> StepTest:
    return lambda c, call, to, after: to.reason != reason


def _ends_at(stage: str) -> StepTest:
    return lambda c, call, to, after: c.stage == stage and turn_ends(c, call, to, after)
