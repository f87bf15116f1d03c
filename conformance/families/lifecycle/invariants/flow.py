"""FLOW: a segment passes its stations in order, from RunStart to its forced last checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.families.lifecycle.invariants.segment_queries import (
    asked_for,
    asked_for_nothing,
    followed,
    has_fired,
    is_among,
    is_cut_short,
    may_be_a_replay,
    may_hold_back,
    requires,
    stored,
)
from runlock.conformance.families.lifecycle.messages import (
    FINAL_CALL_STATUSES,
    CallMoved,
    Checkpointed,
    GateOpened,
    PhaseEntered,
    ResumeEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import INPUT
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Observation

# --- the start of a segment ---------------------------------------------------------------------


@check("FLOW-1", rank=Rank.PHASE)
def a_segment_begins_with_RunStart(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """The first phase of a segment is RunStart; only a cancel ends a run without entering it again."""
    run = followed(state, seen)
    if run is None or has_fired(run.segment, *_ANY) or is_cut_short(state, run):
        return
    yield (
        HELD
        if seen.phase == "RunStart"
        else broken(f"the segment begins with {seen.phase}, not with RunStart")
    )


@check("FLOW-1", at=("StepStart",), rank=Rank.PHASE)
def the_input_is_committed_first(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """The input of a run is committed, after RunStart, before its first step."""
    run = followed(state, seen)
    if run is None or run.finished or has_fired(run.segment, "StepStart"):
        return
    committed = stored(requires(run, "RunStart"), "UserMessage") >= 0
    yield (
        HELD
        if committed
        else broken("the first step starts, yet the input has not been committed after RunStart")
    )


@check("FLOW-1", rank=Rank.PHASE)
def the_committed_input_is_in_the_thread(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """The checkpoint by which the input of a run is committed holds it."""
    run, stored = followed(state, seen), seen.state
    messages = stored.get("messages") if isinstance(stored, dict) else None
    if run is None or run.finished or seen.trigger != "UserMessage" or not isinstance(messages, list):
        return
    texts = [m.get("text") for m in messages if isinstance(m, dict) and m.get("role") == "user"]
    if run.said and not run.disturbed_by(INPUT):
        held = any(isinstance(text, str) and run.said in text for text in texts)
        yield (
            HELD
            if held
            else broken(f"the input {run.said[:40]!r} is committed, yet its checkpoint does not hold it")
        )


@check("FLOW-2", at=("StepStart",), rank=Rank.PHASE)
def an_input_looks_for_decisions(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Between the checkpoint of the input and the first step the resume gate is passed."""
    run, newest = _starts_after(state, seen)
    if run is not None and newest is not None and newest.trigger == "UserMessage":
        shown = run.segment[stored(run.segment) :]
        yield (
            HELD
            if _gate(shown)
            else broken("the first step starts, yet nobody has looked for decisions before it")
        )


@check("FLOW-3", at=("StepStart", "RunEnd"), rank=Rank.PHASE, requires="a decision")
def a_replay_at_the_start_is_committed(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """What a replay at the start of a segment did is committed before the step starts or the run ends."""
    run = _at_the_start(state, seen, "StepStart", "RunEnd")
    replayed = _replayed(run.segment) if run is not None else -1
    if run is None or replayed < 0:
        return
    committed = stored(run.segment, "ToolResultsCommitted") > replayed
    yield (
        HELD
        if committed
        else broken(f"{seen.phase} fires, yet the replay at the start of the segment has not been committed")
    )


@check("FLOW-4", at=("ToolResultsCommitted",), rank=Rank.CHECKPOINT)
def nothing_replayed_is_committed(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """A checkpoint of tool results before the first step belongs to a replay or to a round."""
    run = followed(state, seen)
    if run is None or has_fired(run.segment, "StepStart"):
        return
    worked = _replayed(run.segment) >= 0 or has_fired(run.segment, "BeforeToolExecute", "AfterToolExecute")
    if not worked:
        yield broken(
            "the segment has replayed nothing, yet ToolResultsCommitted is stored before its first step"
        )


@check("FLOW-4", at=("StepStart",), rank=Rank.PHASE)
def a_start_without_replay_stores_once(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Counts the segments that entered the loop with nothing to replay."""
    run = _at_the_start(state, seen, "StepStart")
    if run is not None and _replayed(run.segment) < 0:
        yield HELD


@check("FLOW-5", at=("StepStart", "RunEnd"), rank=Rank.PHASE, requires="a decision")
def a_replay_that_ends_the_wait_leads_on(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A replay at the start that suspended nothing is followed by the step, not by the end."""
    run = _at_the_start(state, seen, "StepStart", "RunEnd")
    if run is None or _replayed(run.segment) < 0 or _suspended(run.segment):
        return
    yield (
        HELD
        if seen.phase == "StepStart"
        else broken(
            "the replay at the start suspended nothing, yet the segment ends without asking the model"
        )
    )


@check("FLOW-6", at=("StepStart", "RunEnd"), rank=Rank.PHASE, requires="a wait")
def a_new_suspension_at_the_start_ends_the_segment(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A call that is suspended again by the first replay of a segment leaves no step to start."""
    run = _at_the_start(state, seen, "StepStart", "RunEnd")
    again = _suspended(_first_replay(run.segment)) if run is not None else ""
    call = run.calls.get(again) if run is not None else None
    if again and (call is None or call.claimed == "Suspended"):  # else it was decided once more
        yield (
            HELD
            if seen.phase == "RunEnd"
            else broken(f"call {again} was suspended again by the replay at the start, yet a step starts")
        )


# --- the loop -----------------------------------------------------------------------------------


@check("FLOW-7", at=("StepStart",), rank=Rank.PHASE)
def every_turn_passes_the_gate(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A step starts only after the resume gate, as often as one starts."""
    run, newest = _starts_after(state, seen)
    if run is None:
        return
    at_start = newest is not None and newest.cause == "run_start" and newest.trigger == "ToolResultsCommitted"
    passed = _gate(run.segment[stored(run.segment) :] if at_start else requires(run, "StepEnd", "StepStart"))
    judged_elsewhere = newest is not None and (newest.trigger == "UserMessage" or newest.cause == "round")
    if passed or not judged_elsewhere:
        yield HELD if passed else broken("a step starts, yet the resume gate was not passed on the way to it")


@check("FLOW-8", at=("BeforeInference",), rank=Rank.PHASE)
def a_step_starts_with_StepStart(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """BeforeInference comes right after StepStart."""
    run = followed(state, seen)
    if run is None or not run.phases:
        return
    last = run.phases[-1]
    concurrent = state.policy("decision.window") != "after_round"  # then a replay may fire between the two
    if not (concurrent and may_be_a_replay(run, last)):
        right = last.phase == "StepStart"
        yield HELD if right else broken(f"BeforeInference fires after {last.phase}, not after StepStart")


@check("FLOW-10", seeing=(GateOpened,), at=("model",), rank=Rank.PHASE)
@check("FLOW-10", seeing=(PhaseEntered,), at=("RunEnd",), rank=Rank.PHASE)
def a_step_asks_the_model(state: ObservedState, seen: GateOpened | PhaseEntered) -> CheckResults:
    """A step that has fired BeforeInference asks the model before the run ends naturally or waits."""
    run = followed(state, seen)
    if run is None or not has_fired(run.segment, "BeforeInference") or is_cut_short(state, run):
        return
    asked = any(isinstance(one, GateOpened) and one.on == "model" for one in requires(run, "BeforeInference"))
    if isinstance(seen, GateOpened):
        if seen.on == "model":
            yield HELD
    elif seen.phase == "RunEnd" and not asked:
        yield broken("RunEnd fires, yet the last step of the segment has not asked the model")


@check("FLOW-13", seeing=(PhaseEntered,), rank=Rank.PHASE)
@check("FLOW-13", seeing=(Checkpointed,), at=("AssistantTurnCommitted",), rank=Rank.PHASE)
def an_answer_is_followed_by_AfterInference(
    state: ObservedState, seen: PhaseEntered | Checkpointed
) -> CheckResults:
    """The first station after an answer of the model is AfterInference."""
    run = followed(state, seen)
    if run is None or not _has_answered(state, run) or has_fired(_since_asked(run), *_ANY):
        return
    if isinstance(seen, Checkpointed):
        if seen.trigger == "AssistantTurnCommitted":
            yield broken("the answer of the model is committed, yet AfterInference has not fired for it")
    elif seen.phase != "RunEnd" and not may_be_a_replay(run, seen):
        right = seen.phase == "AfterInference"
        yield (
            HELD if right else broken(f"the model has answered, yet {seen.phase} fires before AfterInference")
        )


@check("FLOW-14", at=("AssistantTurnCommitted",), rank=Rank.PHASE)
def a_turn_is_committed_after_its_step(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """AssistantTurnCommitted comes after AfterInference and StepEnd of its turn."""
    run = followed(state, seen)
    if run is None:
        return
    shown = _since_asked(run)
    missing = [phase for phase in ("AfterInference", "StepEnd") if not has_fired(shown, phase)]
    yield (
        HELD if not missing else broken(f"the turn is committed, yet {missing[0]} of its step has not fired")
    )


@check("FLOW-14", at=("RunEnd",), rank=Rank.PHASE)
def no_turn_is_left_uncommitted(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A segment does not end before the answer of its model was committed."""
    run = followed(state, seen)
    if run is None or is_cut_short(state, run):
        return
    if has_fired(run.segment, "AfterInference"):
        committed = stored(requires(run, "AfterInference"), "AssistantTurnCommitted") >= 0
        yield (
            HELD
            if committed
            else broken("the segment ends, yet the last answer of the model was not committed")
        )


@check("FLOW-16", at=("StepStart",), rank=Rank.PHASE)
def a_turn_without_calls_is_the_last(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """No step starts after a turn that asked for no calls, unless a decision brought something new."""
    run = followed(state, seen)
    if run is None or not has_fired(run.segment, "AfterInference"):
        return
    shows = state.observes("call.status") or state.observes("resume")
    news = any(isinstance(one, CallMoved | ResumeEntered) and _is_news(one) for one in _since_asked(run))
    if not shows and any(call.decisions for call in run.calls.values()):
        return  # what a decision brought does not show
    if asked_for_nothing(run) and not (news or is_cut_short(state, run)):
        yield broken("the model asked for no calls and nothing was decided, yet another step starts")


@check("FLOW-16", rank=Rank.PHASE)
def a_turn_without_calls_ended_the_segment(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Counts the turns without calls that ended the run, or left it waiting for what is suspended."""
    run = followed(state, seen)
    if run is not None and asked_for_nothing(run) and not is_cut_short(state, run):
        yield HELD


@check("FLOW-17", at=("StepStart", "BeforeToolExecute", "RunEnd"), rank=Rank.PHASE, requires="calls")
def a_turn_with_calls_has_its_round(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A turn that asked for calls leads to their phases, not to the next step or the end."""
    run = followed(state, seen)
    if run is None or not has_fired(run.segment, "AfterInference") or is_cut_short(state, run):
        return
    calls = asked_for(run)
    if not calls or has_fired(requires(run, "AfterInference"), "BeforeToolExecute", "AfterToolExecute"):
        return
    if seen.phase in ("StepStart", "RunEnd"):
        yield broken(f"the model asked for call {calls[0].id}, yet {seen.phase} fires before any round")
    elif seen.phase == "BeforeToolExecute":
        yield HELD


@check("FLOW-20", at=("ToolResultsCommitted",), rank=Rank.PHASE)
def a_round_is_committed_whole(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """A round is committed when each of its calls has its outcome."""
    run = followed(state, seen)
    if run is None or seen.cause != "round":
        return
    busy = [call.id for call in run.calls.values() if call.executing and not call.decisions]
    yield HELD if not busy else broken(f"the round is committed, yet call {busy[0]} is still executing")


@check("FLOW-20", at=("RunEnd",), rank=Rank.PHASE)
def a_round_is_committed_before_a_wait(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """A segment does not end after a round that was not committed."""
    run = followed(state, seen)
    if run is None or is_cut_short(state, run):
        return
    shown = requires(run, "AfterInference")
    if asked_for(run) and has_fired(run.segment, "AfterInference"):
        committed = stored(shown, "ToolResultsCommitted") >= 0
        yield (
            HELD if committed else broken("the segment ends after a round, yet the round was not committed")
        )


@check("FLOW-21", at=("StepStart", "RunEnd"), rank=Rank.PHASE, requires="calls")
def a_committed_round_passes_the_gate(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """After the checkpoint of a round the resume gate is passed before a step starts or the run ends."""
    run = followed(state, seen)
    if run is None or is_cut_short(state, run):
        return
    shown = requires(run, "StepStart")
    at = stored(shown)
    newest = shown[at] if at >= 0 else None
    if isinstance(newest, Checkpointed) and (newest.trigger, newest.cause) == (
        "ToolResultsCommitted",
        "round",
    ):
        passed = _gate(shown[at:])
        yield (
            HELD
            if passed
            else broken(f"the round is committed, yet {seen.phase} fires with no look for decisions")
        )


@check("FLOW-22", at=("StepStart", "RunEnd"), rank=Rank.PHASE, requires="a wait")
def a_round_that_waits_ends_the_segment(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """After a round whose calls are all Suspended no step starts."""
    run = _judges_a_round(state, seen)
    if run is None:
        return
    statuses = {call.claimed for call in run.calls.values() if call.step == run.steps}
    if statuses == {"Suspended"}:
        yield (
            HELD
            if seen.phase == "RunEnd"
            else broken("every call of the round is Suspended, yet another step starts")
        )


@check("FLOW-23", at=("StepStart", "RunEnd"), rank=Rank.PHASE, requires="calls")
def a_round_with_an_outcome_leads_on(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """After a round of which a call is over the segment goes on."""
    run = _judges_a_round(state, seen)
    over = [call for call in asked_for(run) if call.claimed in FINAL_CALL_STATUSES] if run is not None else []
    if may_hold_back(state):  # what ran after a wait may be judged without the calls in front of it
        over = [call for call in over if not call.suspensions]
    if over:
        yield (
            HELD
            if seen.phase == "StepStart"
            else broken(f"call {over[0].id} of the round {_is(over[0].claimed)}, yet the segment ends")
        )


# --- reading what was shown ---------------------------------------------------------------------

_ANY = (
    "RunStart", "StepStart", "BeforeInference", "AfterInference", "ToolGate", "BeforeToolExecute",
    "AfterToolExecute", "StepEnd", "RunEnd",
)  # fmt: skip

_RESOLVED = ("ReplayResume", "ReplayCancel")


def _at_the_start(state: ObservedState, seen: PhaseEntered, *phases: str) -> Run | None:
    """The run, if one of these phases is about to end the start of its segment."""
    run = followed(state, seen)
    if run is None or seen.phase not in phases or is_cut_short(state, run):
        return None
    return None if has_fired(run.segment, "StepStart") else run


def _starts_after(state: ObservedState, seen: PhaseEntered) -> tuple[Run | None, Checkpointed | None]:
    """The run whose next step is about to start, and its newest checkpoint since the step before."""
    run = followed(state, seen)
    if run is None or seen.phase != "StepStart" or is_cut_short(state, run):
        return None, None
    shown = requires(run, "StepStart")
    newest = shown[stored(shown)] if stored(shown) >= 0 else None
    return run, newest if isinstance(newest, Checkpointed) else None


def _judges_a_round(state: ObservedState, seen: PhaseEntered) -> Run | None:
    """The run, if its segment goes on or ends after a round of its newest step."""
    run = followed(state, seen)
    if run is None or seen.phase not in ("StepStart", "RunEnd") or is_cut_short(state, run):
        return None
    if state.policy("round.mixed") != "continue" or not state.observes("call.status"):
        return None
    in_this_segment = has_fired(run.segment, "AfterInference") and run.turn_alone
    return (
        run if in_this_segment and stored(requires(run, "StepStart"), "ToolResultsCommitted") >= 0 else None
    )


def _gate(shown: Sequence[Observation]) -> bool:
    return any(isinstance(seen, ResumeEntered) for seen in shown)


def _replayed(shown: Sequence[Observation]) -> int:
    """Where the newest decision was resolved among what was shown, or -1."""
    resolved = [
        at for at, seen in enumerate(shown) if isinstance(seen, ResumeEntered) and seen.state in _RESOLVED
    ]
    return resolved[-1] if resolved else -1


def _first_replay(shown: Sequence[Observation]) -> Sequence[Observation]:
    """What was shown until the resume gate was left for the first time."""
    for at, seen in enumerate(shown):
        if isinstance(seen, ResumeEntered) and seen.state in ("NoDecision", "CommitReplay"):
            return shown[:at]
    return shown


def _suspended(shown: Sequence[Observation]) -> str:
    """The first call that was suspended in what was shown."""
    for seen in shown:
        if isinstance(seen, CallMoved) and seen.to == "Suspended":
            return seen.call
        if isinstance(seen, ResumeEntered) and seen.state == "SetNextSuspended":
            return seen.call or ""
    return ""


def _has_answered(state: ObservedState, run: Run) -> bool:
    """Whether the model was asked in this segment, and has answered."""
    gate = state.last_model_gate
    if gate is None or gate.run != run.id or gate.outcome is None or gate.outcome["kind"] != "turn":
        return False
    return is_among(gate.opened, run.segment)


def _since_asked(run: Run) -> Sequence[Observation]:
    """What the segment has shown since the model was asked last."""
    shown = run.segment
    for at in range(len(shown) - 1, -1, -1):
        seen = shown[at]
        if isinstance(seen, GateOpened) and seen.on == "model":
            return shown[at + 1 :]
    return shown


def _is_news(seen: CallMoved | ResumeEntered) -> bool:
    return seen.to in FINAL_CALL_STATUSES if isinstance(seen, CallMoved) else seen.state in _RESOLVED


def _is(status: str | None) -> str:
    return f"{status}" if status in ("Succeeded", "Failed") else f"is {status}"
