"""How the state takes in what the kit sends: a function for each stimulus, and for one that was refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import USER_VERBS, Delta, RunnerTurn
from runlock.conformance.families.tool_runner.state.knowledge import Knowledge
from runlock.conformance.families.tool_runner.state.records import (
    Iteration,
    ObservedAct,
    ObservedGate,
    ObservedResponse,
    Run,
    Versions,
)

Params = Mapping[str, Any]


def _started(state: Knowledge, params: Params, _place: int) -> None:
    _begin(state, Run(params["run"], state.stimuli), params["input"])


def _begin(state: Knowledge, run: Run, words: str = "") -> None:
    state.runs[run.id], state.run = run, run
    state.input = state.input or words


def _again(state: Knowledge, params: Params, _place: int) -> None:
    before, iteration = state.run, state.iteration
    run = Run(params["run"], state.stimuli, is_again=True, after="end", before=before)
    if before is not None and before.left_at is not None and iteration is not None:
        run.after, iteration.taken_up_at = "break", state.stimuli
    elif iteration is not None and (iteration.fault or (before is not None and _is_error(before))):
        run.after, iteration.retried_at = "fault", state.stimuli
    _begin(state, run)
    state.taken_up = run
    state.features |= {"again"}


def _is_error(run: Run) -> bool:
    reason = run.ended or run.claimed_reason
    return reason is not None and reason.code == "Error"


def _cancelled(state: Knowledge, params: Params, _place: int) -> None:
    run = state.runs.get(params["run"])
    if run is None or run.is_done:
        state.late_cancel = state.alone
        return
    run.cancel_at = run.cancel_at or state.stimuli
    run.cancelled_in = state.window
    run.cancel_met_a_race = run.cancel_met_a_race or not state.alone
    state.features |= {"cancel"}
    iteration = state.iteration
    if iteration is not None:
        iteration.with_user_at_cancel = iteration.yielded is not None and iteration.turn is not None
        iteration.cancelled_in = state.window


def _acted(method: str, state: Knowledge, params: Params, place: int) -> None:
    iteration = state.iteration
    if iteration is None or iteration.yielded is None:
        return
    state.features |= {"an act"}
    making = iteration.pending_response is not None
    done = sum(not one.is_pending for one in iteration.responses)
    if method == "runner.respond":
        response = ObservedResponse(
            state.stimuli, state.window, len(iteration.acts), after_cancel=state.is_cancelled
        )
        iteration.responses.append(response)
        return
    iteration.acts.append(ObservedAct(method, params, state.stimuli, state.window, place, making, done))
    if method == "runner.tools":
        state.tools_changed = True
        _count_tools(state)


def _count_tools(state: Knowledge) -> None:
    """Work out the set of tools from the request of this iteration and what the user did since."""
    iteration = state.iteration
    assert iteration is not None
    tools = dict(iteration.tools)
    for act in iteration.acts:
        if act.method == "runner.tools":
            for name in act.params.get("remove") or ():
                tools.pop(name, None)
            for name in act.params.get("add") or ():
                tools[name] = _version(state, name, tools)
    state.tools = tools


def _version(state: Knowledge, name: str, tools: Versions) -> frozenset[int]:
    """The versions that a tool may have now: a name that was removed before may count on, or not."""
    known = state.defined.get(name, frozenset({1}))
    if name in tools:
        found = frozenset(version + 1 for version in tools[name])
    else:
        found = known | {version + 1 for version in known} if name in state.given else known
    state.defined[name] = known | found
    state.given.add(name)
    return found


def _released(state: Knowledge, params: Params, _place: int) -> None:
    gate, outcome, iteration = state.gates[params["gate"]], params["outcome"], state.iteration
    if outcome["kind"] == "delta":
        assert iteration is not None
        iteration.deltas.append((Delta.model_validate(outcome), state.stimuli))
        state.features |= {"a stream"}
        return
    gate.outcome, gate.released_at, gate.released_in = outcome, state.stimuli, state.window
    state.shut(gate)
    if iteration is None:
        return
    if gate.on == "model" and gate is iteration.request:
        _answered(state, iteration, outcome)
    elif gate.on == "yield" and gate is not state.early_yield:
        went_on(state, iteration, gate)


def went_on(state: Knowledge, iteration: Iteration, gate: ObservedGate) -> None:
    """The user resumed, or left the loop."""
    iteration.whole_at_resume = iteration.turn is not None
    if gate.kind == "break":
        iteration.left_at, iteration.left_in = gate.released_at, gate.released_in
        if state.run is not None:
            state.run.left_at = gate.released_at
    else:
        iteration.resumed_at = gate.released_at


def _answered(state: Knowledge, iteration: Iteration, outcome: Params) -> None:
    if outcome["kind"] == "fault":
        iteration.fault = True
        state.faults += 1
        return
    iteration.turn, iteration.turn_in = RunnerTurn.model_validate(outcome), state.window
    state.turns += 1


def turned_down(state: Knowledge, place: int) -> None:
    """Forget what the runner did not take."""
    iteration = state.iteration
    refused = [one for one in state.sent if one[0] == state.window and one[2] == place]
    if not refused:
        return
    _, at, _, method = refused[-1]  # an answer before quiescence may be too early to tell of it
    if method == "runner.again" and state.run is not None:
        _not_taken_up(state, state.run)
    elif method == "cancel" and state.run is not None and state.run.cancel_at == at:
        state.run.cancel_at = None
    elif iteration is not None and method in USER_VERBS:
        iteration.acts = [a for a in iteration.acts if (a.at, a.part) != (at, place)]
        kept = (one for one in iteration.responses if not (one.is_pending and one.at == at))
        iteration.responses = list(kept)
        _count_tools(state)


def _not_taken_up(state: Knowledge, run: Run) -> None:
    run.refused = True
    if state.iteration is not None:
        state.iteration.taken_up_at = state.iteration.retried_at = None
    state.run = run.before or run


SENT: Final[Mapping[str, Callable[[Knowledge, Params, int], None]]] = {
    "run.start": _started,
    "runner.again": _again,
    "gate.release": _released,
    "cancel": _cancelled,
    **{verb: partial(_acted, verb) for verb in USER_VERBS},
}
