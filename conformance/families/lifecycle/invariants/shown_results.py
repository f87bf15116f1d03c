"""PAIR: the status of a result that the model is shown agrees with what became of its call.

That a success was given at all is for PAIR-6 to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    check,
)
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message

SHOWN_AS: Final = {"Succeeded": "ok", "Failed": "error", "Cancelled": "cancelled"}
"""The status of the result of a call that is over; for any other call a placeholder stands, as pending."""


@check("PAIR-4", at=("model",), rank=Rank.SHOWN, requires="calls")
def an_answer_is_shown_with_its_status(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a tool answered is shown with the status of the answer: no success as an error."""
    for run, call, message in _results(state, seen):
        if call.result is not None and (right := _statuses(state, run, call)):
            kind = call.result["kind"]
            yield _judged(message, right, f"the tool of call {call.id} answered {kind}")


@check("PAIR-7", at=("model",), rank=Rank.SHOWN, requires="calls")
def a_result_is_shown_as_what_became_of_its_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A result that no tool answered is shown with the status that its call has."""
    for run, call, message in _results(state, seen):
        if call.result is None and (right := _statuses(state, run, call)):
            yield _judged(message, right, f"call {call.id} {_what_became_of(call)}")


@check("PAIR-7", at=("model",), rank=Rank.SHOWN, requires="calls")
def a_call_that_nothing_holds_runs(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call has no result before it has run, where neither it nor a sibling met anything but success."""
    for run, call, message in _results(state, seen):
        if (
            message.status in ("error", "cancelled")
            and not call.entries
            and _went_well(state, run, call.step)
        ):
            because = f"nothing holds call {call.id} back, and it has not run"
            yield broken(f"{because}, yet the model is shown {message.status}")


def _went_well(state: ObservedState, run: Run, step: int) -> bool:
    """Whether nothing but success met the calls of a step, as far as it was witnessed."""
    disturbed = run.was_sent_cancel or run.faulted or run.had_input or run.is_done or run.taken_out
    if disturbed or state.scenario.agent.stop:
        return False
    return all(_met_only_success(call) for call in run.every_call if call.step == step)


def _met_only_success(call: ObservedCall) -> bool:
    """Whether nothing is known of a call that could keep it, or a sibling, from running."""
    is_asked_about = call.tool is None or call.tool.permission == "ask" or call.suspensions or call.decisions
    is_judged = call.tool is not None and (call.tool.permission == "allow" or call.last_verdict == "allow")
    kinds = {gate.outcome["kind"] for gate in (*call.entries, *call.judged) if gate.outcome is not None}
    unclear = call.is_unclear or call.raced or call.claimed is not None
    return is_judged and not is_asked_about and not unclear and kinds <= {"ok", "warning", "allow"}


def _judged(message: Message, right: frozenset[str], cause: str) -> CheckResult:
    wrong = message.status not in right and message.status != "ok"
    return broken(f"{cause}, yet the model is shown {message.status}") if wrong else HELD


def _results(state: ObservedState, seen: GateOpened) -> Iterator[tuple[Run, ObservedCall, Message]]:
    """The results that the model is shown, each with its call, where one call alone has that id."""
    every = [(run, call) for run in state.runs.values() for call in run.every_call]
    ids = Counter(call.id for _, call in every)
    of_call = {call.id: (run, call) for run, call in every if ids[call.id] == 1}
    for message in seen.messages or ():
        if message.role == "tool" and message.status is not None and message.call in of_call:
            run, call = of_call[message.call]
            if not (call.is_unclear or call.raced or run.crashes):
                yield run, call, message


def _what_became_of(call: ObservedCall) -> str:
    if call.claimed is not None:
        return f"is {call.claimed}"
    if call.rejection is not None:
        return "was rejected"
    if call.tool is None:
        return "names an unknown tool"
    return "was blocked" if call.last_verdict == "block" else "has the result that was set for it"


def _statuses(state: ObservedState, run: Run, call: ObservedCall) -> frozenset[str]:
    """The statuses with which the result of a call may be shown; none where that is not certain."""
    if call.claimed is None:
        return _by_what_was_witnessed(run, call)
    if not call.is_final:
        return frozenset() if run.is_done else frozenset({"pending"})
    right = {SHOWN_AS[call.claimed]}
    if run.was_sent_cancel:  # which may drop a result, and close what is left in its own way
        right |= {"cancelled"} if state.policy("cancel.results") == "kept" else {"cancelled", "error"}
    if run.is_done and call.claimed != "Succeeded" and call.last_verdict != "block":
        right |= {"cancelled", "error"}
    return frozenset(right)


def _by_what_was_witnessed(run: Run, call: ObservedCall) -> frozenset[str]:
    """The same for a runtime that shows no status of the call, by what its gates and decisions say."""
    if run.was_sent_cancel or run.is_done or not all(gate.alone for gate in (*call.entries, *call.judged)):
        return frozenset()
    if call.rejection is not None and not call.rejection.alone:
        return frozenset()  # what came at the same time may have made the run go on before it
    if call.rejection is not None and not call.executing:
        return frozenset({"cancelled", "error"})  # a model's API may know no third status
    if call.tool is None and not (call.entries or call.judged or call.suspensions or call.decisions):
        return frozenset({"error", "cancelled"})  # a call of an unknown tool
    if call.ended_as is None or call.decisions:
        return frozenset()
    return frozenset({"ok"} if call.ended_as == "Succeeded" else {"error", "cancelled"})
