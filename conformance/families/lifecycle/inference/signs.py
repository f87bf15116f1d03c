"""Policy evidence not covered by clauses: observations that rule a policy value in or out.

Clauses say what is wrong under a value; these say what is shown under another one, right or wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from runlock.conformance.families.lifecycle.inference.evidence import (
    Evidence,
    Excluded,
    Sign,
    supposing,
)
from runlock.conformance.families.lifecycle.invariants.decision_window import (
    arrived,
    came_alone_at_work,
    left_out,
    only_early,
    rests,
)
from runlock.conformance.families.lifecycle.invariants.policy import early_decisions_are_treated_as_declared
from runlock.conformance.families.lifecycle.invariants.reshown import (
    shown_after_a_restart,
    shown_to_a_watcher,
)
from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    GateOpened,
    PhaseEntered,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.family.invariant import HELD
from runlock.conformance.protocol import Observation

LATE: Final = ("after_round", "waiting", "between_segments")
"""The windows in which a decision that came while the run was at work does not act yet."""


def _undisturbed(run: Run | None) -> Run | None:
    """The run, if nothing from outside its flow can be what it shows."""
    disturbed = run is None or run.disturbed_by(CANCEL, FAULT, CRASH, INPUT) or run.hooks
    return None if disturbed else run


# --- phases and steps ---------------------------------------------------------------------------


def the_first_status_of_a_run(evidence: Evidence, seen: RunMoved) -> Excluded:
    """Created or Running is the first status of a run."""
    run = _undisturbed(evidence.state.runs.get(seen.run or ""))
    if run is None or run.claims:
        return
    if seen.to == "Running":
        yield "yes", "the first status of the run is Running, so that it was not created before"
    elif seen.to == "Created":
        yield "no", "the first status of the run is Created"


def a_gate_of_pure_judgement(evidence: Evidence, seen: PhaseEntered) -> Excluded:
    """ToolGate fires."""
    if seen.phase == "ToolGate":
        yield "eight", "ToolGate fires, which only nine phases have"


def a_tool_after_the_end_of_its_step(evidence: Evidence, seen: GateOpened) -> Excluded:
    """A tool is entered after StepEnd of its step."""
    state = evidence.state
    run, call = _undisturbed(state.run_of(seen)), state.entering(seen)
    if run is None or call is None or call.step != run.steps or _has_waited(run):
        return
    bounds = [entered.phase for entered in run.phases if entered.phase in ("StepStart", "StepEnd")]
    if bounds[-1:] == ["StepEnd"] and not call.entries:
        yield "after_tools", f"StepEnd of its step has fired when call {call.id} is entered"


def a_step_end_after_its_tools(evidence: Evidence, seen: PhaseEntered) -> Excluded:
    """StepEnd fires once tools of its step have been entered."""
    run = _undisturbed(evidence.state.run_of(seen))
    if run is None or seen.phase != "StepEnd" or _has_waited(run):
        return
    entered = [call.id for call in _newest(run) if call.entries and not call.raced]
    if entered:
        yield "before_tools", f"call {entered[0]} has been executed when StepEnd of its step fires"


def _newest(run: Run) -> list[ObservedCall]:
    """The calls of the newest turn."""
    return [call for call in run.calls.values() if call.step == run.steps]


def _has_waited(run: Run) -> bool:
    """Whether a call of the newest turn has been held, decided or asked for twice."""
    return any(call.may_have_waited or call.decisions or call.is_unclear for call in _newest(run))


# --- rounds -------------------------------------------------------------------------------------


def a_model_asked_during_a_wait(evidence: Evidence, seen: GateOpened) -> Excluded:
    """The model is asked while a call waits for a decision."""
    run = _undisturbed(evidence.state.run_of(seen))
    waiting = [call for call in run.calls.values() if _certainly_waits(call)] if run is not None else []
    if seen.on == "model" and waiting:
        yield "wait", f"the model is asked while call {waiting[0].id} waits for a decision"


def _certainly_waits(call: ObservedCall) -> bool:
    """Whether the call was left pending by its tool, or says that it is, and there is no decision."""
    if call.is_unclear or call.decisions or call.raced:
        return False
    if call.claimed is not None:
        return call.claimed == "Suspended"
    return call.last_answer is not None and call.last_answer["kind"] == "pending" and not call.executing


def a_wait_for_a_part_of_a_round(evidence: Evidence, seen: SegmentEnded) -> Excluded:
    """A segment ends as Suspended though a call of its round has come to its end."""
    run = _undisturbed(evidence.state.run_of(seen))
    if run is None or seen.reason.code != "Suspended" or not run.turn_alone:
        return
    newest = _newest(run)
    if any(call.decisions or call.is_unclear or call.raced for call in newest):
        return
    over = [call.id for call in newest if call.is_final]
    waiting = [call.id for call in newest if _certainly_waits(call)]
    if over and waiting and len(over) + len(waiting) == len(newest):
        yield "continue", f"call {over[0]} of the round is over, yet the run waits for call {waiting[0]}"


def a_call_after_a_suspension(evidence: Evidence) -> Excluded:
    """A run waits, and a call after the one that waits was never entered."""
    run = _undisturbed(evidence.state.run)
    if run is None or run.is_done or evidence.state.gates_of(run):
        return
    for before, call in _left_behind(run):
        if call.claimed == "Failed":
            yield "deferred", f"call {call.id} fails unentered after call {before.id}, which is suspended"
        elif call.claimed == "New":
            yield "failed", f"call {call.id} is held back after call {before.id}, which is suspended"


def a_call_that_runs_after_a_suspension(evidence: Evidence, seen: GateOpened) -> Excluded:
    """A call is entered for the first time once the one before it, which was suspended, was decided."""
    state = evidence.state
    run, entered = _undisturbed(state.run_of(seen)), state.entering(seen)
    if run is None or entered is None or entered.entries:
        return
    for before, call in _left_behind(run):
        if call is entered and before.decisions:
            yield "failed", f"call {call.id} runs after all after call {before.id}, which was suspended"


def an_error_after_a_suspension(evidence: Evidence, seen: GateOpened) -> Excluded:
    """The model is shown an error for a call that was never entered, after one that was suspended."""
    run = _undisturbed(evidence.state.run_of(seen))
    if run is None or seen.on != "model" or seen.messages is None:
        return
    for before, call in _left_behind(run):
        if any(one.call == call.id and one.status == "error" for one in seen.messages):
            yield "deferred", f"the model is shown an error for call {call.id} after call {before.id}"


def _left_behind(run: Run) -> Iterator[tuple[ObservedCall, ObservedCall]]:
    """Calls that nothing but the suspension of an earlier one keeps from being entered, with that one."""
    newest = _newest(run) if run.turn_alone else []
    plain = [one for one in newest if one.tool is not None and one.tool.permission == "allow"]
    for at, before in enumerate(plain):
        first = before.entries[0] if before.entries else None
        parked = first is not None and (first.outcome or {}).get("kind") == "pending" and first.alone
        if parked and not before.is_unclear:
            following = (
                one for one in plain[at + 1 :] if not (one.entries or one.is_unclear or one.decisions)
            )
            yield from ((before, one) for one in following)


# --- decisions ----------------------------------------------------------------------------------


def a_decision_at_work(evidence: Evidence) -> Excluded:
    """A decision comes alone while the model or a tool is at work: its call has moved, or has not."""
    run = _undisturbed(evidence.state.run)
    if run is None:
        return
    for call, decided in came_alone_at_work(evidence.state, run):
        came = f"decision {decided.id} for call {call.id} came while the run was at work"
        if rests(decided):
            if not (left_out(run, [decided]) or decided.repeats):
                yield "immediate", f"{came}, and the call is still Suspended"
        elif call.claimed is not None or call.executing:
            yield from ((window, f"{came}, and acted there and then") for window in LATE)


def a_wait_though_all_is_decided(evidence: Evidence, seen: SegmentEnded) -> Excluded:
    """A segment ends as Suspended though each of its calls was decided while the run was at work."""
    run = _undisturbed(evidence.state.run_of(seen))
    if run is None or seen.reason.code != "Suspended":
        return
    pending = [run.calls[call] for call in seen.pending if call in run.calls]
    heard = [_came_at_work(call) for call in pending]
    if pending and all(one is not None for one in heard):
        yield "after_round", f"call {pending[0].id} was decided while the run was at work, yet that waits"


def _came_at_work(call: ObservedCall) -> Decided | None:
    """The decision that came while the run was at work and has not acted."""
    newest = call.decisions[-1] if len(call.decisions) == 1 and not call.is_unclear else None
    kept = newest is not None and newest.answers is call and newest.at_work and not newest.turned_down
    return newest if kept and newest is not None and rests(newest) else None


def an_early_decision_turned_down(evidence: Evidence) -> Excluded:
    """A decision that came before its call was suspended is turned down."""
    supposed = supposing(evidence.state, {"decision.early": "refuse"})
    if list(early_decisions_are_treated_as_declared(supposed)) == [HELD]:
        yield "ignore", "a decision that came before its call was suspended was turned down"


def an_early_decision_without_effect(evidence: Evidence) -> Excluded:
    """A call waits, and the decision that came before that was not turned down and has not acted."""
    state, run = evidence.state, _undisturbed(evidence.state.run)
    if run is None or run.is_done or state.gates_of(run) or run.segment_open:
        return
    waiting = [call for call in run.calls.values() if call.claimed == "Suspended"]
    early = [(call, only_early(state, run, call)) for call in waiting]
    if early and all(one is not None and not one.turned_down for _, one in early):
        call, one = early[0]
        yield "buffer", f"call {call.id} waits, though decision {one.id if one else ''} came before that"


def a_part_that_acts(evidence: Evidence, seen: GateOpened) -> Excluded:
    """A call runs on its decision, though another one waits as well."""
    part, call = _part_decided(evidence), evidence.state.entering(seen)
    for decided, other in part if call is not None else ():
        if decided.call == seen.call and decided.action == "resume":
            because = f"call {other.id} waits as well, and decision {decided.id} acts by itself"
            yield from ((value, because) for value in ("collect", "all_or_nothing"))


def a_part_that_was_held(evidence: Evidence, seen: GateOpened) -> Excluded:
    """A call runs on a decision of before, once another one was decided."""
    state, call = evidence.state, evidence.state.entering(seen)
    newest = call.decisions[-1] if call is not None and call.decisions else None
    if call is None or newest is None or call.is_unclear or arrived(state) is None:
        return
    held = newest.answers is call and newest.at_rest and newest.at < state.stimuli and not newest.turned_down
    if held and not any(gate.at >= newest.at for gate in call.entries if gate.at < state.stimuli):
        because = f"decision {newest.id} acts only when another call is decided"
        yield from ((value, because) for value in ("partial", "all_or_nothing"))


def a_part_that_is_turned_down(evidence: Evidence) -> Excluded:
    """Decisions are turned down, and another call waits as well."""
    for decided, other in _part_decided(evidence):
        if decided.turned_down:
            because = f"call {other.id} waits as well, and decision {decided.id} was turned down"
            yield from ((value, because) for value in ("partial", "collect"))


def _part_decided(evidence: Evidence) -> list[tuple[Decided, ObservedCall]]:
    """The decisions that have just come for a part of what waits, each with a call that has none."""
    found = arrived(evidence.state)
    left = left_out(*found) if found is not None and not found[0].had_input else []
    return [(decided, left[0]) for decided in found[1]] if found is not None and left else []


# --- new input in a wait ------------------------------------------------------------------------


def an_input_that_is_taken(evidence: Evidence, seen: GateOpened) -> Excluded:
    """The model is shown what the user said while the run waited."""
    run = _met_by_input(evidence)
    texts = [message.text for message in seen.messages or () if message.role == "user"]
    if run is not None and seen.on == "model" and any(run.input_text in text for text in texts):
        yield "refuse", f"the run waits, and the model is shown the new input {run.input_text!r}"


def a_decision_that_comes_after_new_input(evidence: Evidence) -> Excluded:
    """A decision is turned down whose call waited when the user said something else."""
    state = evidence.state
    named = [
        raw["call"] for method, params in state.newest if method == "decide" for raw in params["decisions"]
    ]
    call = (
        state.run.calls.get(named[0]) if state.run is not None and state.alone and len(named) == 1 else None
    )
    if call is None or call.input_at is None or call.is_unclear:
        return
    if call.decisions and call.decisions[-1].turned_down:
        yield "placeholder", f"new input met call {call.id} in its wait, and a decision is turned down now"


def _met_by_input(evidence: Evidence) -> Run | None:
    """The run that waited when the newest stimulus, new input, came alone."""
    state, run = evidence.state, evidence.state.run
    came = [method for method, _ in state.newest] == ["run.input"] and state.alone
    is_met = run is not None and run.input_at == state.stimuli and not run.disturbed_by(CANCEL, FAULT, CRASH)
    return run if came and is_met else None


# --- replays and waits --------------------------------------------------------------------------


def a_checkpoint_of_a_replay(evidence: Evidence, seen: Checkpointed) -> Excluded:
    """A checkpoint says that it is of a replay."""
    run = evidence.state.run_of(seen)
    decided = run is not None and any(call.decisions for call in run.every_call)
    if seen.trigger == "ToolResultsCommitted" and seen.cause in ("run_start", "replay") and decided:
        yield "no", f"a checkpoint ToolResultsCommitted is taken for the replay ({seen.cause})"


def a_replay_without_a_checkpoint(evidence: Evidence, seen: GateOpened) -> Excluded:
    """The model is asked after a replay, and no checkpoint was taken of that."""
    state = evidence.state
    run = _undisturbed(state.run_of(seen))
    if run is None or seen.on != "model" or state.handshake.control.store == "none":
        return
    for call in run.calls.values():
        newest = call.decisions[-1] if _was_replayed(call) and not call.is_unclear else None
        since = [
            gate for gate in state.gates.values() if gate.on == "tool" and newest and gate.at >= newest.at
        ]
        alone = [gate.call for gate in since] == [call] and since[0].alone and call.result is not None
        if alone and not any(one.trigger == "ToolResultsCommitted" for one in state.since_answer):
            yield (
                "yes",
                f"the replay of call {call.id} is over and the model is asked, with no checkpoint of it",
            )


def _was_replayed(call: ObservedCall) -> bool:
    decided = [one for one in call.decisions if one.answers is call and one.at_rest and not one.turned_down]
    return len(decided) == len(call.decisions) == 1 and len(call.entries) > decided[0].entries_before


def a_replay_in_the_same_segment(evidence: Evidence, seen: GateOpened) -> Excluded:
    """A decision lets a call run, and no RunStart has fired since the run came to wait."""
    state = evidence.state
    run, call = _undisturbed(state.run_of(seen)), state.entering(seen)
    if run is None or call is None or not (run.finished and run.is_replaying(call)) or not state.alone:
        return
    known = any(one.phase == "RunStart" for one in run.phases)
    again = any(isinstance(one, PhaseEntered) and one.phase == "RunStart" for one in run.segment)
    if known and not again:
        yield "reentered", f"call {call.id} is replayed, and RunStart has not fired again"


def a_wait_that_goes_on(evidence: Evidence) -> Excluded:
    """A decided call was replayed, the run waits for another one, and no segment has ended with that."""
    state, run = evidence.state, _undisturbed(evidence.state.run)
    if run is None or run.is_done or state.gates_of(run) or not state.settled_before:
        return
    waits = any(_certainly_waits(call) for call in run.calls.values())
    for call in run.calls.values() if waits else ():
        newest = call.decisions[-1] if call.decisions else None
        if newest is not None and _was_replayed(call) and newest.segment == len(run.finished) and call.result:
            yield "reentered", f"call {call.id} was replayed and the run waits on, and no segment has ended"


# --- what is durable ----------------------------------------------------------------------------


def a_checkpoint_of_a_step(evidence: Evidence, seen: Checkpointed) -> Excluded:
    """A checkpoint is taken at StepEnd."""
    if seen.trigger == "StepEnd":
        yield "triggers", "a checkpoint is taken at StepEnd"


def a_checkpoint_at_a_trigger(evidence: Evidence, seen: Checkpointed) -> Excluded:
    """A checkpoint is taken at a trigger within a step."""
    if seen.trigger in ("UserMessage", "AssistantTurnCommitted"):
        yield "step_end", f"a checkpoint is taken at {seen.trigger}"


def a_wait_shown_again(evidence: Evidence) -> Excluded:
    """A watcher that comes, or those who decide after a restart, are shown what waits."""
    for call, is_shown in (*shown_to_a_watcher(evidence.state), *shown_after_a_restart(evidence.state)):
        again = f"call {call.id} waits, and is shown again"
        yield from ((value, again) for value in ("on_request", "no") if is_shown)


def _sign(
    policy: str, values: str, check: Callable[..., Excluded], seeing: type[Observation] | None, *needs: str
) -> Sign:
    return Sign(policy, tuple(values.split()), check, seeing, needs)


MESSAGES: Final = ("gate model",)
TOOLS: Final = ("gate model", "gate tool")
WAITS: Final = (*TOOLS, "stimulus decide")
AT_WORK: Final = (*WAITS, "observes call.status", "decisions live")

SIGNS: Final = (
    _sign("run.created", "yes no", the_first_status_of_a_run, RunMoved, "observes run.status"),
    _sign("phases", "eight", a_gate_of_pure_judgement, PhaseEntered, "observes phase"),
    _sign(
        "step.end", "after_tools", a_tool_after_the_end_of_its_step, GateOpened, *TOOLS, "observes phase"
    ),
    _sign("step.end", "before_tools", a_step_end_after_its_tools, PhaseEntered, *TOOLS, "observes phase"),
    _sign("round.mixed", "wait", a_model_asked_during_a_wait, GateOpened, *TOOLS),
    _sign("round.mixed", "continue", a_wait_for_a_part_of_a_round, SegmentEnded, *TOOLS),
    _sign("round.rest", "failed deferred", a_call_after_a_suspension, None, *TOOLS, "observes call.status"),
    _sign("round.rest", "failed", a_call_that_runs_after_a_suspension, GateOpened, *WAITS),
    _sign("round.rest", "deferred", an_error_after_a_suspension, GateOpened, *TOOLS),
    _sign("decision.window", f"immediate {' '.join(LATE)}", a_decision_at_work, None, *AT_WORK),
    _sign("decision.window", "after_round", a_wait_though_all_is_decided, SegmentEnded, *AT_WORK),
    _sign("decision.early", "ignore", an_early_decision_turned_down, None, *AT_WORK),
    _sign("decision.early", "buffer", an_early_decision_without_effect, None, *AT_WORK),
    _sign("resume", "collect all_or_nothing", a_part_that_acts, GateOpened, *WAITS),
    _sign("resume", "partial all_or_nothing", a_part_that_was_held, GateOpened, *WAITS),
    Sign("resume", ("partial", "collect"), a_part_that_is_turned_down, None, WAITS, is_heard=True),
    _sign("input.waiting", "refuse", an_input_that_is_taken, GateOpened, *WAITS),
    Sign(
        "input.waiting", ("placeholder",), a_decision_that_comes_after_new_input, None, WAITS, is_heard=True
    ),
    _sign("replay.commit", "no", a_checkpoint_of_a_replay, Checkpointed, *WAITS, "observes checkpoint"),
    _sign("replay.commit", "yes", a_replay_without_a_checkpoint, GateOpened, *WAITS, "observes checkpoint"),
    _sign("waiting", "reentered", a_replay_in_the_same_segment, GateOpened, *WAITS, "observes phase"),
    _sign("waiting", "reentered", a_wait_that_goes_on, None, *WAITS),
    _sign("checkpoint.at", "triggers", a_checkpoint_of_a_step, Checkpointed, "observes checkpoint"),
    _sign("checkpoint.at", "step_end", a_checkpoint_at_a_trigger, Checkpointed, "observes checkpoint"),
    _sign("wait.reshown", "on_request no", a_wait_shown_again, None, "stimulus decide"),
)  # fmt: skip
"""Every sign that is no check of a clause."""
