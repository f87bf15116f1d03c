"""What is said of a cancel, and of what it finds under way."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.tool_runner.joint.clauses.rules import DONE, Terms, is_entered, is_handled, sends
from runlock.machines.tool_runner.joint.state import Call, Control


def cancels(terms: Terms) -> Iterator[Rule]:
    """The rules of a cancel."""
    yield NeverStep(
        "CANCEL-1",
        "a request was sent after the run had been cancelled",
        lambda c, call, to, after: sends(c, to),
        lambda c, call, to, after: c.cancel == "asked",
    )
    yield Never(
        "CANCEL-2",
        "the run was cancelled, nothing of it was under way, no yield was open, and it did not end",
        lambda control: (
            control.cancel == "asked" and control.runner not in (*DONE, "Yielded", "Streaming", "Asked")
        ),
        none=lambda call: call.status == "Running",
        at_rest=True,
    )
    yield Never(
        "CANCEL-2",
        "the run was cancelled while the model was asked, and did not end",
        lambda control: control.cancel == "asked" and control.runner == "Asked",
        none=lambda call: call.status == "Running",
        at_rest=True,
    )
    yield from _handed_over(terms)
    yield from _in_flight(terms)
    yield NeverStep(
        "CANCEL-6",
        "a response was asked for after the cancel, and a body was entered",
        is_entered,
        lambda c, call, to, after: c.cancel == "asked" and c.runner == "Yielded" and to.runner == "Yielded",
    )
    yield NeverStep(
        "CANCEL-7",
        "a call was entered after the cancel, and had been entered before",
        lambda c, call, to, after: call.entered > 0 and is_entered(c, call, to, after),
        lambda c, call, to, after: (
            c.cancel == "asked" and c.runner in ("Updated", "Handling") and to.target != "other"
        ),
    )
    yield NeverStep(
        "CANCEL-8",
        "a call had not been entered at the cancel of its round, and was not given up",
        lambda c, call, to, after: after.status != "Cancelled",
        lambda c, call, to, after: _is_cancel(c, to) and call.status == "Queued",
    )


def _is_cancel(c: Control, to: Control) -> bool:
    """Whether this step is the cancel."""
    return to.cancel == "asked" and c.cancel != "asked"


def _handed_over(terms: Terms) -> Iterator[Rule]:
    """The calls of a turn that was with the user at the cancel."""
    if terms.says("cancel.handed_over", "not_run"):
        yield NeverStep(
            "CANCEL-4",
            "a call of a turn that was with the user at the cancel ran after the resume",
            is_handled,
            lambda c, call, to, after: c.cancel == "asked" and c.runner in ("Resumed", "Updated", "Handling"),
        )
        return
    yield NeverStep(
        "CANCEL-4",
        "a turn that was with the user at the cancel asks for tools, and its calls did not run",
        lambda c, call, to, after: to.runner not in ("Handling", "Limited", "Settled"),
        lambda c, call, to, after: (
            c.cancel == "asked" and c.runner == "Updated" and c.stop == "tool_use" and terms.unchanged(c)
        ),
    )


def _in_flight(terms: Terms) -> Iterator[Rule]:
    """The tools that run at the cancel."""
    if terms.says("cancel.inflight", "abort"):
        yield NeverStep(
            "CANCEL-5",
            "a tool ran at the cancel, and was not given up",
            lambda c, call, to, after: after.status == "Running",
            lambda c, call, to, after: _is_cancel(c, to) and call.status == "Running",
        )
        return
    yield NeverStep(
        "CANCEL-5",
        "a tool that ran at the cancel was given up, where it is to end by itself",
        lambda c, call, to, after: after.status == "Cancelled",
        lambda c, call, to, after: _is_cancel(c, to) and _runs(call),
    )


def _runs(call: Call) -> bool:
    return call.status == "Running"
