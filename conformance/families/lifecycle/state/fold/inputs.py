"""The life of an input: sent, taken or refused, shown, or met by what ends its run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import GateOpened, InputReturned
from runlock.conformance.families.lifecycle.state.inputs import Input, Met
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.protocol import Refusal, Report

ENDS: Final[Mapping[str, Met]] = {"NaturalEnd": "natural end", "Cancelled": "cancel", "Error": "error"}
"""What an end of a run is to the inputs that it did not show; any other is just an end."""


def input_sent(state: Knowledge, params: Mapping[str, Any]) -> None:
    """The user says something to a run."""
    run = state.runs.get(params["run"])
    if run is None:
        return
    state.add_feature("an input")
    index = next(i for i, (_, sent) in enumerate(state.newest) if sent is params)
    on = {gate.on: gate for gate in state.gates_of(run)}
    given = Input(params["input"], run.id, state.stimuli, index, state.alone and not params.get("decisions"))
    given.asked, given.may_miss, given.in_commit = on.get("model"), "hook" in on, "store.put" in on
    state.given.append(given)


def input_refused(state: Knowledge, refusal: Refusal) -> None:
    """An input was refused; if the SUT had not settled before, it is not known which."""
    for given in state.given:
        if not state.settled_before and given.at > state.last_settled:
            given.answer = "unsure"
        elif (given.at, given.index) == (state.stimuli, refusal.stimulus):
            given.answer = "refused"


def inputs_answered(state: Knowledge, report: Report) -> None:
    """An input that was not refused in the answer to its stimulus was taken."""
    for given in state.given:
        if given.answer == "sent":
            certain = given.at == state.stimuli and state.settled_before and report.quiescent
            given.answer = "taken" if certain else "unsure"
            given.checkpoints = len(state.checkpoints)


def inputs_shown(state: Knowledge, seen: GateOpened) -> None:
    """The model is asked: what it is shown is settled, and so is what it should have been shown."""
    for given in state.given:
        if given.is_in(seen.messages or ()):
            given.is_shown = given.is_shown or given.answer != "refused"
        elif given.may_miss:
            given.may_miss = False
        elif given.is_due and given.at < state.stimuli:
            given.is_passed = True


def input_returned(state: Knowledge, seen: InputReturned) -> None:
    """An input is given back."""
    for given in state.given:
        given.is_returned = given.is_returned or given.text == seen.text


def run_over(state: Knowledge, run: Run, code: str) -> None:
    """A run is over, and its inputs that were not shown are not shown in it."""
    met = ENDS.get(code, "end")
    raced = {"cancel": not run.cancel_alone, "error": not run.fault_alone}  # it may have begun to show them
    for given in state.given:
        if given.run == run.id and given.met is None and not (given.is_shown or given.is_passed):
            given.met = "end" if raced.get(met) else met


def inputs_crashed(state: Knowledge) -> None:
    """A crash takes what was not durable; of an older end it is not known any more what that did."""
    for given in state.given:
        if not (given.is_shown or given.is_passed):
            kept = len(state.checkpoints) > given.checkpoints and not given.in_commit
            sure = given.met is None and given.answer == "taken" and state.settled_before
            given.met = "crash" if sure and kept else "unsure"
