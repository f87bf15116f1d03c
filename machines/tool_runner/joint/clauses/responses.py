"""What is said of a response: made once, used while it is kept, never for another turn; and of entries."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.tool_runner.joint.clauses.rules import HAS_RESULT, Terms, is_entered
from runlock.machines.tool_runner.joint.state import Control


def responses(terms: Terms) -> Iterator[Rule]:
    """The rules of responses and of entries of bodies."""
    yield Never(
        "RUNNER-17",
        "a response was made, and a call of the turn has no result in it",
        lambda control: control.response == "Kept" and control.target != "other",
        (lambda call: call.status not in HAS_RESULT,),
    )
    yield NeverStep(
        "RUNNER-18",
        "a response was kept, and a tool ran instead of its being used",
        is_entered,
        lambda c, call, to, after: (
            c.response == "Kept" and not c.stale and to.target != "other" and to.runner != "Asked"
        ),
    )
    yield NeverStep(
        "RUNNER-19",
        "a response was given for a turn that is not its own",
        lambda c, call, to, after: call.entered == 0,
        lambda c, call, to, after: c.target == "other" and c.runner == "Handling" and to.runner == "Settled",
    )
    yield from _kept(terms)
    yield from _entries(terms)
    yield from _rounds(terms)


def _kept(terms: Terms) -> Iterator[Rule]:
    """How long a response is kept."""
    if terms.says("runner.cache", "none"):
        yield Never(
            "RUNNER-30",
            "a response was kept, which is not the rest of one that a tool broke",
            lambda control: control.response == "Kept" and control.again != "break",
        )
        return
    if terms.says("runner.cache", "by_state"):
        yield Never(
            "RUNNER-30",
            "the state had changed, and the response to what it was before was used",
            lambda control: control.runner == "Handling" and control.response == "Kept" and control.stale,
        )
        return
    yield NeverStep(
        "RUNNER-30",
        "a response was kept, and what the user did invalidated it",
        lambda c, call, to, after: to.response == "Kept",
        lambda c, call, to, after: c.response == "Kept" and _is_invalid(terms, c, to),
    )


def _is_invalid(terms: Terms, c: Control, to: Control) -> bool:
    """Whether a step pushes or sets something for the first time, where that invalidates a response."""
    pushes = to.pushed and not c.pushed
    sets = to.was_set and not c.was_set
    return pushes or (sets and terms.says("runner.cache", "until_change"))


def _entries(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "ONCE-1",
        "a call was entered a second time, and no response had been dropped",
        lambda c, call, to, after: call.entered > 0 and not (c.dropped or to.dropped),
        lambda c, call, to, after: is_entered(c, call, to, after) and to.target != "other",
    )
    yield NeverStep(
        "ONCE-2",
        "a call was entered while its body was running",
        lambda c, call, to, after: call.status == "Running",
        lambda c, call, to, after: after.entered > call.entered,
    )


def _rounds(terms: Terms) -> Iterator[Rule]:
    if terms.says("round.executor", "parallel"):
        yield Never(
            "ROUND-5",
            "a call waited for another call of its round",
            lambda control: True,
            (lambda call: call.status == "Queued",),
        )
    else:
        yield NeverStep(
            "ROUND-4",
            "all calls of a round were entered at once",
            is_entered,
            lambda c, call, to, after: c.runner == "Updated" and to.runner == "Handling",
        )
    if terms.says("tool.raises", "failed_call"):
        yield Never(
            "ROUND-7", "an exception in a tool ended the run", lambda control: control.broken == "raise"
        )
