"""What is said of an iteration: request, yield, resume, and that a run is over when it is."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.tool_runner.joint.clauses.rules import (
    DONE,
    HAS_RESULT,
    WITH_USER,
    Terms,
    at,
    is_entered,
    sends,
)
from runlock.machines.tool_runner.joint.state import Call, Control


def iterations(terms: Terms) -> Iterator[Rule]:
    """The rules of requests and yields."""
    yield from _yields(terms)
    yield from _requests(terms)
    yield from _ends()


def _yields(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "RUNNER-1",
        "a turn was received, and something else than its yield came next",
        lambda c, call, to, after: to.runner not in ("Received", "Yielded"),
        lambda c, call, to, after: c.runner == "Received",
    )
    yield NeverStep(
        "RUNNER-1",
        "a turn was yielded a second time",
        lambda c, call, to, after: to.runner in WITH_USER,
        lambda c, call, to, after: c.runner in ("Resumed", "Updated", "Handling", "Left", *DONE),
    )
    if terms.says("tools.start", "after_resume"):
        yield NeverStep(
            "RUNNER-3",
            "a tool started while the turn was with the user, who had asked for no response",
            lambda c, call, to, after: to.response != "Making" and is_entered(c, call, to, after),
            lambda c, call, to, after: c.runner == "Yielded" and to.runner == "Yielded",
        )
        yield NeverStep(
            "STREAM-4",
            "a call started from a stream",
            is_entered,
            lambda c, call, to, after: c.runner == "Streaming",
        )
    yield NeverStep(
        "RUNNER-39",
        "a request was sent while a turn was with the user",
        lambda c, call, to, after: sends(c, to),
        lambda c, call, to, after: c.runner in WITH_USER,
    )
    yield NeverStep("RUNNER-40", "the runner put something into the state during a yield", _puts, _is_open)
    yield NeverStep(
        "STREAM-6",
        "a resume took effect before the turn was whole",
        lambda c, call, to, after: to.runner not in ("Streaming", "Yielded", "Left", "Broken", "Cancelled"),
        lambda c, call, to, after: c.runner == "Streaming",
    )


def _is_open(c: Control, call: Call, to: Control, after: Call) -> bool:
    return c.runner == "Yielded"


def _puts(c: Control, call: Call, to: Control, after: Call) -> bool:
    put_turn = to.stands == "runner" and c.stands != "runner"
    return put_turn or (after.result in ("runner", "both") and after.result != call.result)


def _requests(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "RUNNER-4",
        "the user had left, and a request was sent or a tool started",
        lambda c, call, to, after: sends(c, to) or is_entered(c, call, to, after),
        lambda c, call, to, after: c.runner == "Left",
    )
    yield NeverStep(
        "RUNNER-25",
        "the model or a tool broke, and a request was sent without the user",
        lambda c, call, to, after: sends(c, to),
        lambda c, call, to, after: c.runner == "Broken",
    )
    yield NeverStep(
        "RUNNER-23",
        "a request was sent again, and nothing had changed",
        lambda c, call, to, after: not (c.pushed or c.was_set or c.stands == "runner"),
        lambda c, call, to, after: sends(c, to) and c.stop != "" and not c.again,
    )
    if not terms.says("runner.append", "on_receipt"):
        yield Never(
            "RUNNER-11",
            "a request was sent, and the changes of the iteration before still counted",
            lambda control: control.runner in ("Asked", "Received") and control.pushed,
        )


def _ends() -> Iterator[Rule]:
    yield NeverStep(
        "RUN-8",
        "the run was over for good and moved on",
        lambda c, call, to, after: (
            to.runner != c.runner and c.runner in ("Finished", "Limited", "Cancelled", "Over")
        ),
    )
    yield Never(
        "RUN-9",
        "the run was Done and a tool was running",
        at(*DONE),
        (lambda call: call.status in ("Running", "Queued"),),
    )
    yield Never(
        "PROGRESS-1",
        "the run was not Done, and waited at no gate",
        lambda control: control.runner not in (*DONE, "Asked", *WITH_USER),
        none=lambda call: call.status == "Running",
        at_rest=True,
    )
    yield Never(
        "PROGRESS-1",
        "a response was being made, and no tool of it was running",
        lambda control: control.response == "Making",
        none=lambda call: call.status not in ("", "New", *HAS_RESULT),
        at_rest=True,
    )
