"""What is said of the run: how its status follows from its calls, how it moves, how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from runlock.machines.joint.rules import Due, Never, NeverStep, Rule, StepTest, Where
from runlock.machines.lifecycle.joint.clauses.rules import BUSY, has_crashed, is_decided, is_in, runs, works

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
        lambda c, call, to, after: c.work == "round" and to.run == "Done" and not has_crashed(c, to),
    ),
)


def _ran(source: str, *allowed: str) -> StepTest:
    """Whether the run left a status for one that is not among those allowed."""
    return lambda c, call, to, after: (
        c.run == source and to.run not in (source, *allowed) and not has_crashed(c, to)
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
        (is_decided,),
        at_rest=True,
        only=("resume", "partial"),
    ),
    Never(
        "RUN-2",
        "every suspended call had its decision and the run went on waiting",
        lambda control: control.run == "Waiting" and control.cancel != "asked",
        (is_decided,),
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

CLOSED: Final[tuple[Rule, ...]] = (
    Never(
        "RUN-27",
        "the run was Done and a call of it was live",
        runs("Done"),
        (is_in(*BUSY, "Suspended"),),
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
