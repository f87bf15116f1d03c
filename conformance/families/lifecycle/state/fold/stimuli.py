"""How the state takes in what the kit sends: a function for each stimulus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import ToolSpec
from runlock.conformance.families.lifecycle.state.fold import expiry
from runlock.conformance.families.lifecycle.state.fold.decisions import decisions_sent
from runlock.conformance.families.lifecycle.state.fold.inputs import input_sent, inputs_crashed
from runlock.conformance.families.lifecycle.state.fold.told import told_by
from runlock.conformance.families.lifecycle.state.fold.watchers import unwatched, watched
from runlock.conformance.families.lifecycle.state.grants import (
    asked_under_grants,
    grants_crashed,
    revoked,
    verdict_under_grants,
)
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge, StateVolatile
from runlock.conformance.families.lifecycle.state.nesting import waits_within
from runlock.conformance.families.lifecycle.state.records import (
    WORKING_GATES,
    Decided,
    ObservedCall,
    ObservedGate,
    Run,
)


def _started(state: Knowledge, params: Mapping[str, Any]) -> None:
    state.run = state.runs[params["run"]] = Run(
        params["run"],
        began_alone=state.alone,
        began_at_ms=state.now_ms,
        answered_at_ms=state.now_ms,
        turned_at_ms=state.now_ms,
        said=params["input"],
    )
    state.inputs.append(params["input"])
    decisions_sent(state, params)


def _released(state: Knowledge, params: Mapping[str, Any]) -> None:
    gate = state.gates.get(params["gate"])
    if gate is None or not gate.is_open:
        return
    if params["outcome"]["kind"] in ("activity", "delta"):
        _told(state, gate, params["outcome"])
        return
    gate.outcome, gate.alone = verdict_under_grants(gate.call, params["outcome"]), state.alone
    gate.answered_at, gate.answered_ms = state.stimuli, state.now_ms
    state.shut(gate)
    if gate.is_left:
        return
    if gate.on in ("model", "tool"):
        state.since_answer = []
    run = state.runs[gate.run]
    if gate.on == "tool" and run.cancel_at is not None and not run.cancel_settled:
        run.may_lose_cancel = True
    kind = gate.outcome["kind"]
    if kind in ("pending", "suspend"):
        state.add_feature("a wait")
    if kind in ("fault", "raise"):
        state.add_feature("a fault")
        if gate.deltas:
            state.add_feature("a broken stream")
        run.volatile.faulted, run.fault_alone = gate.on if kind == "fault" else "raise", state.alone
        run.ended_before_fault = len(run.finished)
    if kind in ("fault", "block") and gate.on in ("tool", "permission") and state.alone:
        run.volatile.broke_at = gate
    run.answered_at_ms = state.now_ms
    if gate.on == "hook":
        _plugin_acted(state, run, gate, gate.outcome)
    if gate.on == "model":
        _turned(state, run, gate.outcome)


def _told(state: Knowledge, gate: ObservedGate, outcome: Mapping[str, Any]) -> None:
    """A tool tells something and stays at work, or the model streams a piece of its turn."""
    if outcome["kind"] == "delta":
        gate.deltas.append(outcome)
    else:
        state.audience.activities.append(outcome.get("content"))


def _turned(state: Knowledge, run: Run, turn: Mapping[str, Any]) -> None:
    """The model has answered, or broke."""
    run.turned_at_ms = state.now_ms
    usage = turn.get("usage") or {}
    run.tokens += usage.get("input", 0) + usage.get("output", 0)
    run.texts.append(turn.get("text", ""))
    run.last_turn, run.turn_alone = turn, state.alone and not run.is_done
    run.taken_out, run.left_in = set(), set()
    asked = turn.get("tool_calls", []) if turn["kind"] == "turn" else []
    _asked(state, run, asked)
    if turn.get("stop") == "length":
        state.add_feature("a call that breaks off")
        _cut_off_by_length(run, [call["id"] for call in asked])


def _cut_off_by_length(run: Run, asked: Sequence[str]) -> None:
    for call in asked:
        run.calls[call].in_cut_turn = True
        run.calls[call].is_cut = call == asked[-1]


def _asked(state: Knowledge, run: Run, asked: Sequence[Mapping[str, Any]]) -> None:
    if asked:
        state.add_feature("calls")
    for index, raw in enumerate(asked):
        call_id = raw["id"]
        former = run.calls.get(call_id)
        is_duplicate = any(other["id"] == call_id for other in asked[:index])
        if is_duplicate:
            run.calls[call_id].duplicate_id = True
            continue
        if isinstance(raw.get("args"), str):
            state.add_feature("a call that breaks off")
        args = raw.get("args", {})
        written = args if isinstance(args, str) else None
        tool, refused_for = _tool_for(state, raw)
        call = ObservedCall(
            id=call_id,
            name=raw["name"],
            args={} if written is not None else args,
            written=written,
            run=run.id,
            step=run.steps,
            tool=tool,
            refused_for=refused_for,
            life=state.life,
            raced=not state.alone,
            asked_at=state.stimuli,
            due_on=state.audience.stream if state.alone and state.is_watched else None,
        )
        if former is not None:
            call.duplicate_id = former.duplicate_id or not former.is_final
            run.former_calls.append(run.calls.pop(call_id))
            state.nested.pop(f"{run.id}/{call_id}", None)
        run.calls[call_id] = call
        asked_under_grants(state, call)


def _tool_for(state: Knowledge, raw: Mapping[str, Any]) -> tuple[ToolSpec | None, str]:
    """The tool that a call may reach, and why there is none though the scenario has one of its name."""
    tool, gate = state.tools.get(raw["name"]), state.last_model_gate
    offered = gate.opened.tools if gate is not None else None
    if tool is None or (offered is None and tool.parameters is None):
        return tool, ""
    if offered is not None and tool.name not in offered:
        return None, "not offered"
    args = raw.get("args", {})
    return (tool, "") if isinstance(args, str) or tool.fits(args) else (None, "unfit")


def _plugin_acted(state: Knowledge, run: Run, gate: ObservedGate, outcome: Mapping[str, Any]) -> None:
    if outcome["kind"] in ("terminate", "skip_inference"):
        run.volatile.faulted, run.fault_alone = "plugin", state.alone
    data = outcome.get("data") or {}
    if gate.opened.at == "AfterInference" and "tool_calls" in data:
        _calls_left(state, run, data["tool_calls"])
    elif gate.opened.at == "AfterToolExecute" and "content" in data:
        call = run.calls.get(gate.opened.call or "")
        if call is not None and call.entries and call.entries[-1].outcome is not None:
            call.entries[-1].outcome = {**call.entries[-1].outcome, "content": data["content"]}


def _calls_left(state: Knowledge, run: Run, left: list[Mapping[str, Any]]) -> None:
    """Of a turn, a plugin left these calls: the others were never asked for."""
    run.left_in = {call["id"] for call in left}
    run.taken_out = {call.id for call in run.calls.values() if call.step == run.steps} - run.left_in
    for call in run.taken_out:
        del run.calls[call]
    _asked(state, run, [call for call in left if call["id"] not in run.calls])
    run.last_turn = {**(run.last_turn or {}), "tool_calls": left}
    run.turn_alone = run.turn_alone and state.alone


def _cancelled(state: Knowledge, params: Mapping[str, Any]) -> None:
    state.add_feature("a cancel")
    run = state.runs.get(params["run"])
    if run is None:
        return
    run.stirs += 1
    run.was_sent_cancel = True
    if run.cancel_at is None and not run.is_done:
        run.volatile.cancel_at, run.cancel_alone = state.stimuli, state.alone and not state.is_committing()
        run.cancel_met = state.stimuli if state.alone else None
        run.may_lose_cancel = _meets_an_answer(state, run)
        run.volatile.has_expired = params.get("by") == "clock"
        run.cancel_status = run.claimed or ("Running" if run.segment_open else "Waiting")
        run.cut_off = _cut_off(run) if run.cancel_alone else []
        executing = [call for call in run.calls.values() if call.executing and not call.decisions]
        run.left_to_drain = executing if run.cancel_alone else []
        replayed = (c for c in run.calls.values() if c.executing and run.is_replaying(c))
        run.cancel_in_replay = next(replayed, None) if run.cancel_alone else None


def _meets_an_answer(state: Knowledge, run: Run) -> bool:
    """Whether the cancel races with the answer of a tool: either may win."""
    released = {params.get("gate") for method, params in state.newest if method == "gate.release"}
    entries = [gate for call in run.calls.values() for gate in call.entries]
    return any(gate.id in released or gate.answered_at > state.last_settled for gate in entries)


def settled(state: Knowledge, run: Run) -> None:
    """A quiescent answer has come: a cancel is heard, or has lost its race and the run went on."""
    late = [gate for gate in state.gates_of(run) if gate.on in WORKING_GATES]
    if run.may_lose_cancel and any(gate.at >= (run.cancel_at or 0) for gate in late):
        run.volatile.cancel_at, run.cut_off, run.left_to_drain = None, [], []
    run.may_lose_cancel = False
    run.volatile.cancel_settled = run.cancel_settled or run.cancel_at is not None


def _cut_off(run: Run) -> list[ObservedCall]:
    """The calls of the newest round that have answered, while it still executes and none of it waits."""
    newest = [call for call in run.calls.values() if call.step == run.steps]
    plain = not any(
        call.is_unclear or call.raced or call.decisions or call.may_have_waited for call in newest
    )
    executing = any(call.executing for call in newest)
    return [call for call in newest if call.result is not None] if plain and executing else []


def _new_input(state: Knowledge, params: Mapping[str, Any]) -> None:
    decisions_sent(state, params)
    input_sent(state, params)
    state.inputs.append(params["input"])
    run = state.runs.get(params["run"])
    if run is not None:
        run.stirs += 1
        run.had_input = True
        if state.alone and not (run.segment_open or state.gates_of(run) or params.get("decisions")):
            _put_aside(state, run, params["input"])


def _put_aside(state: Knowledge, run: Run, text: str) -> None:
    run.input_at, run.input_text = state.stimuli, text
    for call in run.calls.values():
        if call.waits:
            call.input_at = state.stimuli


def _time_passed(state: Knowledge, params: Mapping[str, Any]) -> None:
    state.now_ms += params["ms"]


def _crashed(state: Knowledge, _params: Mapping[str, Any]) -> None:
    state.add_feature("a crash")
    inputs_crashed(state)
    grants_crashed(state)
    state.life += 1
    state.kept_before = len(state.checkpoints), len(state.messages)
    state.forgotten |= state.decision_ids.keys()
    state.waited_at_crash, state.crashed_at = waits_within(state), state.stimuli
    state.prompts_at_crash = len(state.prompts)
    for run in state.runs.values():
        run.owed = _owed(state, run)
        run.told = told_by(run) if state.handshake.control.told == "kept" else None
    whole = {name: _whole(state, run) for name, run in state.runs.items()}
    for gate in state.open_gates:
        gate.gone = "crash"
    state.volatile = StateVolatile()
    state.as_shown, state.edits = (), [edit for edit in state.edits if edit.instead]
    for name, run in state.runs.items():
        run.crash(whole[name])


def _whole(state: Knowledge, run: Run) -> dict[str, list[ObservedCall]]:
    """What a crash may not cost, by durability; for the one that was declared, or for each."""
    declared = state.policy("durability")
    return {
        unit: [call for call in run.calls.values() if state.is_whole(run, call, unit)]
        for unit in ("call", "round", "step")
        if declared in (unit, None)
    }


def _owed(state: Knowledge, run: Run) -> list[Decided]:
    """The decisions that were certainly accepted in a wait and whose calls are not over, nor wait again."""
    if run.is_done or not state.settled_before or state.is_committing(run):
        return []
    newest = [call.decision_in_force for call in run.calls.values() if not call.is_final]
    told = state.observes("decision")
    return [one for one in newest if one is not None and (one.disposition == "accepted" or not told)]


def _recovered(state: Knowledge, params: Mapping[str, Any]) -> None:
    run = state.runs.get(params["run"])
    durable = state.durable(run) if run is not None else None
    own = durable.state if durable is not None and state.handshake.control.store == "own" else None
    told = run.told if run is not None else None
    state.recovered_from = params.get("store") or own or told  # its own store has what it said is durable
    state.recovered_run = params["run"]
    stored = (state.recovered_from or {}).get("calls", {})
    if run is not None:
        for call in run.calls.values():
            found = stored.get(call.id) if isinstance(stored, dict) else None
            kept = found if isinstance(found, dict) else {}
            call.volatile.suspensions = kept.get("suspension") or 0
            call.volatile.listed_pending = kept.get("status") == "Suspended"
        expiry.recovered(state, run)
        run.segment_open = not _is_over(state.recovered_from)
        run.stirs += run.segment_open
        run.last_turn = _newest_turn(params.get("store"))
        _steps_taken(run, state.recovered_from, is_whole=bool(params.get("store")))


def _is_over(stored: Any) -> bool:
    """Whether the run is Done in the checkpoint that it is recovered from: then it begins no segment."""
    kept = stored.get("run") if isinstance(stored, dict) else None
    return isinstance(kept, dict) and kept.get("status") == "Done"


def _steps_taken(run: Run, state: Any, *, is_whole: bool) -> None:
    """How many steps a run knows of that goes on from this checkpoint; its own store may hold a newer one."""
    kept = state.get("run") if isinstance(state, dict) else None
    steps = kept.get("step") if isinstance(kept, dict) else None
    if not isinstance(steps, int):
        run.steps_at_least, run.steps_at_most = 0, run.steps
        return
    turns = len(_turns(state.get("messages")))
    # a step that is counted and has no turn in the thread was under way, and is begun once more
    under_way = run.turns_before is None or turns - run.turns_before < steps
    run.steps_at_least = max(0, steps - under_way)
    run.steps_at_most = steps if is_whole else run.steps


def _newest_turn(state: Any) -> Mapping[str, Any] | None:
    """What the model answered last of what a run knows that goes on from this checkpoint, if that is seen."""
    turns = _turns(state.get("messages")) if isinstance(state, dict) else []
    return {"kind": "turn", "tool_calls": turns[-1].get("tool_calls") or []} if turns else None


def _turns(messages: Any) -> list[dict[str, Any]]:
    """The turns of the model among the messages of a checkpoint."""
    stored = messages if isinstance(messages, list) else []
    return [one for one in stored if isinstance(one, dict) and one.get("role") == "assistant"]


SENT: Final[Mapping[str, Callable[[Knowledge, Mapping[str, Any]], None]]] = {
    "run.start": _started,
    "gate.release": _released,
    "decide": decisions_sent,
    "cancel": _cancelled,
    "run.input": _new_input,
    "grant.revoke": revoked,
    "watch": watched,
    "unwatch": unwatched,
    "clock.advance": _time_passed,
    "crash": _crashed,
    "recover": _recovered,
}
