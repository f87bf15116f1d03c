"""The steps that the clauses draw: each must be possible somewhere, and there is no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from runlock.machines.joint.rules import Due, NeverStep, Rule, Where
from runlock.machines.tool_runner.joint.clauses.rules import Terms
from runlock.machines.tool_runner.joint.state import Call, Control

RUNNER_STEPS: Final[Mapping[str, str]] = {
    "Settled": "Asked Limited Cancelled",
    "Asked": "Streaming Received Broken Cancelled",
    "Streaming": "Yielded Left Broken Cancelled",
    "Received": "Yielded",
    "Yielded": "Resumed Left Cancelled",
    "Resumed": "Updated Broken Cancelled",
    "Updated": "Handling Finished Settled Limited Cancelled",
    "Handling": "Settled Broken Cancelled",
    "Left": "Resumed Over",
    "Broken": "Settled Over",
}
RESPONSE_STEPS: Final[Mapping[str, str]] = {
    "Empty": "Making Forgotten",
    "Making": "Kept Empty",
    "Kept": "Empty Making Forgotten",  # a response that is dropped may be made anew at once
}


def arrows(terms: Terms) -> Iterator[Rule]:
    """The rules of the steps of both charts."""
    yield NeverStep(
        "RUNNER-49", "an iteration took a step that no clause draws", _is_undrawn_of_runner, _moves
    )
    yield NeverStep(
        "RUNNER-50", "a response took a step that no clause draws", _is_undrawn_of_response, _moves
    )
    yield from _requests(terms)
    yield from _updates(terms)
    yield from _handling(terms)
    yield from _ends(terms)
    yield from _again(terms)
    yield from _responses(terms)


def _moves(c: Control, call: Call, to: Control, after: Call) -> bool:
    return (c.runner, c.response) != (to.runner, to.response)


def _is_undrawn_of_runner(c: Control, call: Call, to: Control, after: Call) -> bool:
    return c.runner != to.runner and to.runner not in RUNNER_STEPS.get(c.runner, "").split()


def _is_undrawn_of_response(c: Control, call: Call, to: Control, after: Call) -> bool:
    """A request begins another iteration; a response that broke may be taken up where the user left."""
    if c.response == to.response or to.runner == "Asked" or (c.runner, to.response) == ("Left", "Kept"):
        return False
    return to.response not in RESPONSE_STEPS.get(c.response, "").split()


def _due(clause: str, source: str, target: str, where: Where, when: Where | None = None) -> Due:
    """A step of the runner; `when` tells it from another with the same ends."""
    taken = when or (lambda control: True)
    return Due(
        clause,
        "run",
        source,
        target,
        lambda control, call: where(control),
        lambda control, call: taken(control),
    )


def _always(control: Control) -> bool:
    return True


def _may_send(control: Control) -> bool:
    return control.left != 0 and control.cancel != "asked"


def _is_cancelled(control: Control) -> bool:
    return control.cancel == "asked"


def _is_spent(control: Control) -> bool:
    return control.left == 0 and control.cancel != "asked"


def _is_broken(control: Control) -> bool:
    return control.broken != ""


def _requests(terms: Terms) -> Iterator[Rule]:
    yield _due("RUNNER-8", "Settled", "Asked", _may_send)
    yield _due("STREAM-1", "Asked", "Streaming", _always)
    yield _due("STREAM-2", "Streaming", "Yielded", _always)
    yield _due("RUNNER-2", "Asked", "Received", _always)
    yield _due("RUNNER-1", "Received", "Yielded", _always)
    yield _due("RUNNER-3", "Yielded", "Resumed", _always)
    yield _due("RUNNER-4", "Yielded", "Left", _always)
    yield _due("STREAM-7", "Streaming", "Left", _always)
    yield _due("RUNNER-25", "Asked", "Broken", _always)
    yield _due("RUNNER-25", "Streaming", "Broken", _always)


def _updates(terms: Terms) -> Iterator[Rule]:
    """How the state is updated after a resume."""
    if terms.says("runner.append", "on_receipt"):
        yield _due("RUNNER-44", "Resumed", "Updated", _always)
        return

    def changed(control: Control) -> bool:
        return terms.changed(control) and control.stop != "pause_turn"

    def paused(control: Control) -> bool:
        return terms.changed(control) and control.stop == "pause_turn"

    yield _due("RUNNER-9", "Resumed", "Updated", terms.unchanged, terms.unchanged)
    yield _due("RUNNER-10", "Resumed", "Updated", changed, changed)
    yield _due("RUNNER-31", "Resumed", "Updated", paused, paused)


def _handling(terms: Terms) -> Iterator[Rule]:
    def may_run(control: Control) -> bool:
        is_preempted = control.left == 0 and terms.says("stop.tools", "preempted")
        return control.stop == "tool_use" and control.cancel != "asked" and not is_preempted

    def asks(control: Control) -> bool:
        return terms.unchanged(control) and may_run(control)

    def follows(control: Control) -> bool:
        last = ("turn", "other turn") if terms.says("runner.inspects", "state") else ("turn", "")
        return terms.changed(control) and may_run(control) and control.last in last

    def dropped(control: Control) -> bool:
        return terms.says("runner.results", "dropped") and terms.changed(control)

    def appended(control: Control) -> bool:
        return terms.says("runner.append", "on_receipt") or not dropped(control)

    yield _due("RUNNER-5", "Updated", "Handling", asks, terms.unchanged)
    yield _due("RUNNER-13", "Updated", "Handling", follows, terms.changed)
    yield _due("RUNNER-14", "Handling", "Settled", appended, appended)
    if terms.says("runner.results", "dropped"):
        yield _due("RUNNER-45", "Handling", "Settled", dropped, dropped)
    yield from _without_handling(terms)


def _without_handling(terms: Terms) -> Iterator[Rule]:
    """The next request without a call that is handled."""

    def paused(control: Control) -> bool:
        return terms.unchanged(control) and control.stop == "pause_turn" and control.cancel != "asked"

    def answered(control: Control) -> bool:
        changed = terms.changed(control) and control.stop != "pause_turn"
        return changed and control.stands != "" and control.last == "results"

    if terms.says("runner.pause", "resent"):
        yield _due("RUNNER-20", "Updated", "Settled", paused, paused)
    yield _due("RUNNER-16", "Updated", "Settled", answered, answered)


def _ends(terms: Terms) -> Iterator[Rule]:
    def final(control: Control) -> bool:
        return terms.unchanged(control) and control.stop == "end_turn" and control.cancel != "asked"

    def changed(control: Control) -> bool:
        return terms.changed(control) and control.stop == "end_turn" and control.cancel != "asked"

    yield _due("RUNNER-6", "Updated", "Finished", final, terms.unchanged)
    if terms.says("runner.finish", "received"):
        yield _due("RUNNER-7", "Updated", "Finished", changed, terms.changed)
    yield _due("STOP-1", "Settled", "Limited", _is_spent)
    if terms.says("stop.tools", "preempted"):
        yield _due(
            "STOP-5",
            "Updated",
            "Limited",
            lambda control: _is_spent(control) and control.stop == "tool_use" and terms.unchanged(control),
        )
    yield _due("RUN-6", "Handling", "Broken", _is_broken)
    yield _due("RUN-6", "Resumed", "Broken", _is_broken)
    for state in ("Settled", "Asked", "Streaming", "Yielded", "Updated", "Handling"):
        yield _due("CANCEL-2", state, "Cancelled", _is_cancelled)
    if terms.says("cancel.handed_over", "not_run"):
        yield _due("CANCEL-2", "Resumed", "Cancelled", _is_cancelled)


def _again(terms: Terms) -> Iterator[Rule]:
    """What comes of a runner that the user iterates again."""

    def left(control: Control) -> bool:
        return control.stop != "" and control.cancel != "asked"

    def broken(control: Control) -> bool:
        return control.cancel != "asked"

    for policy, clause, source, target, where in (
        ("again.break", "RUNNER-24", "Left", "Resumed", left),
        ("again.fault", "RUNNER-36", "Broken", "Settled", broken),
    ):
        if terms.says(policy, "over"):
            yield _due("RUN-8", source, "Over", where)
            yield NeverStep(
                clause,
                "the runner is over when the user iterates it again, and it went on",
                lambda c, call, to, after, target=target: to.runner == target,  # type: ignore[misc]
                lambda c, call, to, after, source=source: c.runner == source,  # type: ignore[misc]
            )
        else:
            yield _due(clause, source, target, where)


def _responses(terms: Terms) -> Iterator[Rule]:
    def asked(control: Control, call: Call) -> bool:
        return control.runner == "Yielded" and control.stop == "tool_use" and control.cancel != "asked"

    def made(control: Control, call: Call) -> bool:
        return not control.broken and call.status in ("Succeeded", "Failed")

    def given_up(control: Control, call: Call) -> bool:
        return call.status == "Cancelled"

    def is_over(control: Control, call: Call) -> bool:
        return control.runner == "Updated"

    yield Due("ONCE-1", "response", "Empty", "Making", asked)
    yield Due("CANCEL-6", "response", "Making", "Empty", given_up, given_up)
    yield Due("RUNNER-19", "response", "Empty", "Forgotten", is_over)
    if terms.says("runner.cache", "none"):
        return
    yield Due("RUNNER-17", "response", "Making", "Kept", made)
    yield Due("RUNNER-19", "response", "Kept", "Forgotten", is_over)
    if not terms.says("runner.cache", "kept"):
        yield Due("RUNNER-30", "response", "Kept", "Empty", lambda control, call: control.pushed)
