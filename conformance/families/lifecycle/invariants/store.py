"""STORE: checkpoints come at their occasions, in order, and hold what has happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.lifecycle.invariants.stream import SEGMENT_END
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    Published,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, INPUT
from runlock.conformance.families.lifecycle.state.records import Run
from runlock.conformance.families.lifecycle.state.thread import (
    as_asked_for,
    brief,
    messages_of,
    what_differs,
)
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message, Observation


def _stores(state: ObservedState) -> bool:
    return state.observes("checkpoint") and state.handshake.control.store != "none"


@check("STORE-1", rank=Rank.CHECKPOINT)
def messages_only_grow(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """From checkpoint to checkpoint messages are only added, and none changes but a placeholder."""
    stored = _stored_before(state, seen)
    if stored is None or seen.state is None:
        return
    before, after = (as_asked_for(state, one) for one in (stored, messages_of(seen.state) or []))
    for index, message in enumerate(before):
        if index >= len(after):
            yield broken(
                f"the thread had {len(before)} messages when it was stored, yet {len(after)} are stored now"
            )
            return
        if not _succeeds(message, after[index]):
            was, now = brief(message), brief(after[index])
            yield broken(f"message {index + 1} was stored as {was}, yet it is stored as {now} now")
            return
    yield HELD


def _stored_before(state: ObservedState, seen: Checkpointed) -> Sequence[Message] | None:
    """The messages of the checkpoint before, of this run: after a crash, of the one recovered from."""
    of_this_life = state.checkpoints[state.kept_before[0] :]
    earlier = next((one.state for one in reversed(of_this_life) if one.state and one.run == seen.run), None)
    if earlier is not None:
        return messages_of(earlier) or []
    is_known = state.life > 1 and state.handshake.control.store == "kit"
    return messages_of(state.recovered_from) if is_known and seen.run == state.recovered_run else None


def _succeeds(before: Message, after: Message) -> bool:
    replaced = before.status == "pending" and before.call == after.call
    return not what_differs(before, after) or (replaced and after.role == "tool")


@check("STORE-2", rank=Rank.CHECKPOINT)
def the_end_is_durable_before_it_is_announced(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """The end of a segment is announced only after the checkpoint that holds it."""
    run = state.run_of(seen)
    if run is None or not _stores(state) or run.faulted == "store.put":
        return
    right = "Waiting" if seen.reason.code == "Suspended" else "Done"
    newest = next((c for c in reversed(state.checkpoints) if c.run in (None, run.id)), None)
    shown = [one for one in run.segment if one is not seen]
    if newest is None and not shown and seen.reason.code == "Cancelled":
        return  # cancelled before the runtime had it: it cannot store what it was never given
    if newest is None:
        yield broken(f"the segment ended as {seen.reason.code}, yet nothing of the run is durable")
    elif newest.state is not None:
        stored = (newest.state.get("run") or {}).get("status")  # type: ignore[union-attr]
        yield held_or(
            stored == right,
            f"the segment ended as {seen.reason.code}, yet the newest checkpoint says {stored}",
        )


@check("STORE-2", at=("Suspended",), rank=Rank.CHECKPOINT)
def a_wait_is_durable_before_it_is_announced(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A wait is announced only after a checkpoint that was taken since it began."""
    run = state.run_of(seen)
    if run is None or not _stores(state) or run.faulted == "store.put" or run.crashes:
        return
    shown = run.segment
    stored = max((at for at, one in enumerate(shown) if isinstance(one, Checkpointed)), default=-1)
    for call_id in seen.pending:
        began = [at for at, one in enumerate(shown) if _begins_a_wait(one, call_id)]
        if began:
            why = f"call {call_id} waits anew, and that is announced, yet nothing was stored since it waits"
            yield held_or(stored > began[-1], why)


def _begins_a_wait(seen: Observation, call_id: str) -> bool:
    if not isinstance(seen, CallMoved) or seen.call != call_id:
        return False
    return seen.to == "Suspended" and seen.origin not in (None, "Suspended")


@check("STORE-2", rank=Rank.CHECKPOINT)
def the_end_is_durable_before_it_is_told(state: ObservedState, seen: Published) -> CheckResults:
    """A watcher receives the end of a segment only after the checkpoint that holds it."""
    run = state.run_of(seen)
    if run is None or not _stores(state) or run.faulted == "store.put" or seen.stream not in SEGMENT_END:
        return
    newest = state.durable(run)
    if seen.name != SEGMENT_END[seen.stream] or (newest is not None and newest.state is None):
        return
    durable: Any = newest.state if newest is not None else {}
    stored = (durable.get("run") or {}).get("status")
    said = f"the newest checkpoint says {stored}" if newest is not None else "nothing of the run is durable"
    yield held_or(stored in ("Waiting", "Done"), f"event {seen.name} tells of an end, yet {said}")


@check("STORE-3", rank=Rank.CHECKPOINT)
def the_last_checkpoint_is_forced(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Where checkpoints have triggers, a segment's last one is RunFinished, and it is forced."""
    run = state.run_of(seen)
    if run is None or not _stores(state) or state.policy("checkpoint.at") != "triggers":
        return
    if run.faulted == "store.put" or not state.checkpoints:
        return
    newest = state.checkpoints[-1]
    if newest.trigger != "RunFinished":
        yield broken(f"the segment ended as {seen.reason.code}, yet its last checkpoint is {newest.trigger}")
    else:
        yield held_or(newest.force is not False, "the checkpoint RunFinished was not forced")


@check("STORE-4", at=("permission", "tool"), rank=Rank.CHECKPOINT, excuses=(CANCEL,))
def the_turn_is_durable_before_its_tools(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where checkpoints have triggers, the assistant's turn is committed before a tool of it runs."""
    run, call = state.run_of(seen), state.call_of(seen)
    if run is None or call is None or state.life > 1:
        return
    if not _stores(state) or state.policy("checkpoint.at") != "triggers" or call.step != run.steps:
        return
    committed = any(c.trigger == "AssistantTurnCommitted" for c in state.since_model)
    yield held_or(committed, f"call {call.id} runs, yet the turn that asked for it is not committed")


@check("STORE-5", rank=Rank.CHECKPOINT)
def the_round_is_committed_before_the_next_inference(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where checkpoints have triggers, a round is committed before the model is asked again."""
    if _asks_after_a_round(state, seen, "triggers"):
        committed = any(c.trigger == "ToolResultsCommitted" for c in state.since_answer)
        yield held_or(committed, "the model is asked again, yet the results of the round are not committed")


@check("STORE-6", rank=Rank.CHECKPOINT)
def the_step_is_committed_before_the_next_inference(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where checkpoints come at the end of a step, a step is committed before the model is asked again."""
    if _asks_after_a_round(state, seen, "step_end"):
        committed = any(c.trigger == "StepEnd" for c in state.since_model)
        yield held_or(committed, "the model is asked again, yet the step before is not committed")


def _asks_after_a_round(state: ObservedState, seen: GateOpened, at: str) -> bool:
    run = state.run_of(seen)
    if run is None or seen.on != "model" or not run.calls or not _stores(state) or state.life > 1:
        return False
    if run.disturbed_by(CANCEL):
        return False
    return state.policy("checkpoint.at") == at and bool((run.last_turn or {}).get("tool_calls"))


@check("STORE-7", rank=Rank.CHECKPOINT, requires="a fault", excuses=(CANCEL,))
def a_failed_commit_ends_the_run_in_Error(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A commit that failed ends the run with reason Error."""
    run = state.run_of(seen)
    if run is None or run.faulted != "store.put":
        return
    code = seen.reason.code
    yield held_or(code == "Error", f"a commit failed, yet the run ended as {code}")


@check("STORE-7", at=("model", "tool"), rank=Rank.CHECKPOINT, requires="a fault")
def a_failed_commit_is_not_swallowed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a commit that failed, the run asks nothing more of the model or of a tool."""
    run = state.run_of(seen)
    if run is None or run.faulted != "store.put" or not run.fault_alone:
        return
    what = f"call {seen.call} runs" if seen.call else "the model is asked"
    yield broken(f"a commit failed, yet {what}")


@check("STORE-16", rank=Rank.CHECKPOINT)
def checkpoints_have_their_trigger(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """Where checkpoints have triggers, each one names a trigger of the list and comes at its occasion."""
    run = state.run_of(seen)
    if run is None or state.policy("checkpoint.at") != "triggers" or run.claimed == "Created":
        return
    if seen.trigger not in TRIGGERS:
        if not _has_more_occasions(state, run):
            yield broken(f"a checkpoint was taken at {seen.trigger}, which is none of {', '.join(TRIGGERS)}")
    elif state.life == 1:
        why = _no_occasion(state, seen.trigger) or _repeats(run, seen)
        yield held_or(not why, f"{why}, yet a checkpoint {seen.trigger} was taken")


def _has_more_occasions(state: ObservedState, run: Run) -> bool:
    """Whether each result, or each decision, is an occasion too, for which no source has a name."""
    is_decided = any(call.decisions or call.has_agent for call in run.calls.values())
    keeps = is_decided and state.policy("decision.kept") in ("acceptance", None)
    return keeps or state.policy("durability") == "call"


TRIGGERS = ("UserMessage", "AssistantTurnCommitted", "ToolResultsCommitted", "RunFinished")


def _may_have_begun_again(state: ObservedState, run: Run) -> bool:
    """Whether a segment of the run may be after it: it says so, or something woke it and it need not."""
    return bool(run.finished) or (run.stirs > 1 and not state.observes("run.finished"))


def _no_occasion(state: ObservedState, trigger: str) -> str:
    """Why there is certainly no occasion for a checkpoint of this trigger."""
    run = state.run
    if run is None:
        return ""
    if (
        trigger == "UserMessage"
        and run.steps
        and not (run.disturbed_by(INPUT) or _may_have_begun_again(state, run))
    ):
        return "the model has been asked and nothing came from the user since"
    if trigger == "AssistantTurnCommitted" and any(c.trigger == trigger for c in state.since_model):
        return "the newest turn of the model is committed already"
    if trigger == "ToolResultsCommitted" and not any(run.every_call):
        return "no tool of the run was asked for"
    return ""


def _repeats(run: Run, seen: Checkpointed) -> str:
    """Why a checkpoint right after another has no occasion: nothing was shown in between."""
    last = run.segment[-1] if run.segment else None
    return f"nothing has happened since {seen.trigger} was stored" if last == seen else ""


@check("STORE-18", at=("AssistantTurnCommitted",), rank=Rank.CHECKPOINT)
def a_turn_that_failed_is_not_committed(state: ObservedState, seen: Checkpointed) -> CheckResults:
    """Where checkpoints have triggers, an inference that failed or was cancelled commits no turn."""
    asked = state.last_model_gate
    if not _counts_turns(state) or asked is None:
        return
    failed = asked.outcome is None or asked.outcome["kind"] != "turn"
    yield held_or(not failed, "the newest inference gave no turn, yet one was committed")


@counts("STORE-18")
def a_turn_that_failed_was_not_committed(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Counts the inferences that failed or were cancelled and committed no turn."""
    asked = state.last_model_gate
    if _counts_turns(state) and asked is not None and (asked.outcome or {}).get("kind") != "turn":
        yield HELD


def _counts_turns(state: ObservedState) -> bool:
    return state.policy("checkpoint.at") == "triggers" and state.life == 1


@check("STORE-15", rank=Rank.CHECKPOINT)
def a_runtime_without_a_store_stores_nothing(
    state: ObservedState, seen: Checkpointed | GateOpened
) -> CheckResults:
    """Where there is no store, nothing becomes durable."""
    if isinstance(seen, Checkpointed) or seen.on == "store.put":
        yield broken(f"the runtime says that it has no store, yet it shows {_what_is_stored(seen)}")


def _what_is_stored(seen: Checkpointed | GateOpened) -> str:
    return "a checkpoint" if isinstance(seen, Checkpointed) else "a store.put gate"


@counts("STORE-15")
def a_run_ends_without_a_store(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """Counts the segments of a runtime without a store."""
    yield HELD
