"""STORE: checkpoints come at their occasions, in order, and hold what has happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.conformance.account import Account
from interlock.conformance.invariants.kinds import HELD, Invariant, Judgements
from interlock.conformance.protocol import FINAL_CALL_STATUSES, Checkpointed, GateOpened, SegmentEnded
from interlock.conformance.subjects import Call


def _stores(account: Account) -> bool:
    return account.observes("checkpoint") and account.handshake.control.store != "none"


def messages_only_grow(account: Account, seen: Checkpointed) -> Judgements:
    """From checkpoint to checkpoint messages are only added; only a placeholder gives way to its result."""
    earlier = next((c for c in reversed(account.checkpoints) if c.state and c.run == seen.run), None)
    if earlier is None or seen.state is None or account.life > 1:
        return
    before, after = _messages(earlier.state), _messages(seen.state)
    for index, message in enumerate(before):
        if index >= len(after):
            yield f"the thread had {len(before)} messages when it was stored, yet {len(after)} are stored now"
            return
        if not _succeeds(message, after[index]):
            was, now = _brief(message), _brief(after[index])
            yield f"message {index + 1} was stored as {was}, yet it is stored as {now} now"
            return
    yield HELD


def _messages(state: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
    messages = (state or {}).get("messages") or []
    return [m for m in messages if isinstance(m, Mapping)]


def _succeeds(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    same = all(before.get(key) == after.get(key) for key in ("role", "call", "text"))
    replaced = before.get("status") == "pending" and before.get("call") == after.get("call")
    return same or (replaced and after.get("role") == "tool")


def _brief(message: Mapping[str, Any]) -> str:
    return f"{message.get('role')} {str(message.get('text'))[:30]!r}"


def the_end_is_durable_before_it_is_announced(account: Account, seen: SegmentEnded) -> Judgements:
    """The end of a segment is announced only after the checkpoint that holds it."""
    run = account.run_of(seen)
    if run is None or not _stores(account) or run.faulted == "store.put":
        return
    right = "Waiting" if seen.reason.code == "Suspended" else "Done"
    newest = next((c for c in reversed(account.checkpoints) if c.run in (None, run.id)), None)
    if newest is None:
        yield f"the segment ended as {seen.reason.code}, yet nothing of the run is durable"
    elif newest.state is not None:
        stored = (newest.state.get("run") or {}).get("status")  # type: ignore[union-attr]
        yield (
            HELD
            if stored == right
            else (f"the segment ended as {seen.reason.code}, yet the newest checkpoint says {stored}")
        )


def the_last_checkpoint_is_forced(account: Account, seen: SegmentEnded) -> Judgements:
    """Where checkpoints have triggers, a segment's last one is RunFinished, and it is forced."""
    run = account.run_of(seen)
    if run is None or not _stores(account) or account.policy("checkpoint.at") != "triggers":
        return
    if run.faulted == "store.put" or not account.checkpoints:
        return
    newest = account.checkpoints[-1]
    if newest.trigger != "RunFinished":
        yield f"the segment ended as {seen.reason.code}, yet its last checkpoint is {newest.trigger}"
    else:
        yield HELD if newest.force is not False else "the checkpoint RunFinished was not forced"


def the_turn_is_durable_before_its_tools(account: Account, seen: GateOpened) -> Judgements:
    """Where checkpoints have triggers, the assistant's turn is committed before a tool of it runs."""
    run, call = account.run_of(seen), account.call_of(seen)
    if run is None or call is None or seen.on not in ("tool", "permission") or account.life > 1:
        return
    if not _stores(account) or account.policy("checkpoint.at") != "triggers" or call.step != run.steps:
        return
    if run.cancel_at is not None:
        return
    committed = any(c.trigger == "AssistantTurnCommitted" for c in account.since_model)
    yield HELD if committed else f"call {call.id} runs, yet the turn that asked for it is not committed"


def the_round_is_committed_before_the_next_inference(account: Account, seen: GateOpened) -> Judgements:
    """Where checkpoints have triggers, a round is committed before the model is asked again."""
    if _asks_after_a_round(account, seen, "triggers"):
        committed = any(c.trigger == "ToolResultsCommitted" for c in account.since_answer)
        yield (
            HELD if committed else "the model is asked again, yet the results of the round are not committed"
        )


def the_step_is_committed_before_the_next_inference(account: Account, seen: GateOpened) -> Judgements:
    """Where checkpoints come at the end of a step, a step is committed before the model is asked again."""
    if _asks_after_a_round(account, seen, "step_end"):
        committed = any(c.trigger == "StepEnd" for c in account.since_model)
        yield HELD if committed else "the model is asked again, yet the step before is not committed"


def _asks_after_a_round(account: Account, seen: GateOpened, at: str) -> bool:
    run = account.run_of(seen)
    if run is None or seen.on != "model" or not run.calls or not _stores(account) or account.life > 1:
        return False
    if run.cancel_at is not None:
        return False
    return account.policy("checkpoint.at") == at and bool((run.last_turn or {}).get("tool_calls"))


def a_failed_commit_ends_the_run_in_Error(account: Account, seen: SegmentEnded) -> Judgements:
    """A commit that failed ends the run with reason Error."""
    run = account.run_of(seen)
    if run is None or run.faulted != "store.put" or run.cancel_at:
        return
    code = seen.reason.code
    yield HELD if code == "Error" else f"a commit failed, yet the run ended as {code}"


def a_failed_commit_is_not_swallowed(account: Account, seen: GateOpened) -> Judgements:
    """After a commit that failed, the run asks nothing more of the model or of a tool."""
    run = account.run_of(seen)
    if run is None or run.faulted != "store.put" or seen.on not in ("model", "tool") or not run.fault_alone:
        return
    what = f"call {seen.call} runs" if seen.call else "the model is asked"
    yield f"a commit failed, yet {what}"


def _calls_stored(account: Account, seen: Checkpointed | GateOpened) -> Mapping[str, Any] | None:
    """The calls that are being stored, where they are taken down: a store that is held has them earlier."""
    held = "store.put" in account.scenario.hold
    if isinstance(seen, GateOpened) != held or (isinstance(seen, GateOpened) and seen.on != "store.put"):
        return None
    calls = (seen.state or {}).get("calls")
    return calls if isinstance(calls, dict) else None


def a_checkpoint_holds_every_live_call(account: Account, seen: Checkpointed | GateOpened) -> Judgements:
    """A checkpoint holds every call of the run that is not over."""
    run, calls = account.run_of(seen), _calls_stored(account, seen)
    if run is None or calls is None:
        return
    for call in run.calls.values():
        known_live = call.claimed is not None and call.claimed not in FINAL_CALL_STATUSES
        # at the end of a step, sources ask for the calls that wait and leave open what was held back
        unnamed = account.policy("checkpoint.at") != "triggers" and call.claimed == "New"
        if known_live and not (call.doubled or unnamed):
            stored = call.id in calls
            yield HELD if stored else f"call {call.id} is {call.claimed}, yet the checkpoint does not hold it"


def a_checkpoint_says_what_happened(account: Account, seen: Checkpointed | GateOpened) -> Judgements:
    """The status that a checkpoint gives a call follows from what was seen of that call."""
    run, calls = account.run_of(seen), _calls_stored(account, seen)
    if run is None or calls is None or run.cancel_at or run.crashes:
        return
    for call_id, stored in calls.items():
        call = run.calls.get(call_id)
        if call is None or call.doubled or not isinstance(stored, dict):
            continue
        status = str(stored.get("status"))
        why = _contradiction(call, status)
        yield HELD if not why else f"the checkpoint says that call {call_id} {_is(status)}, yet {why}"


def _is(status: str) -> str:
    return status if status in ("Succeeded", "Failed") else f"is {status}"


def _contradiction(call: Call, status: str) -> str:
    answer = call.last_answer
    if status in FINAL_CALL_STATUSES and call.executing:
        return "its body is executing"
    if status == "Succeeded" and answer is not None and answer["kind"] == "error":
        return "its tool answered with an error"
    if status == "Failed" and answer is not None and answer["kind"] in ("ok", "warning"):
        return f"its tool answered {answer['kind']}"
    if status == "Suspended" and call.result is not None:
        return f"its tool answered {call.result['kind']}"
    return ""


INVARIANTS = (
    Invariant("STORE-7", a_failed_commit_is_not_swallowed, GateOpened),
    Invariant("STORE-7", a_failed_commit_ends_the_run_in_Error, SegmentEnded),
    Invariant("STORE-1", messages_only_grow, Checkpointed),
    *(
        Invariant(clause, check, kind)
        for clause, check in (
            ("STORE-9", a_checkpoint_holds_every_live_call),
            ("STORE-8", a_checkpoint_says_what_happened),
        )
        for kind in (Checkpointed, GateOpened)
    ),
    Invariant("STORE-4", the_turn_is_durable_before_its_tools, GateOpened),
    Invariant("STORE-5", the_round_is_committed_before_the_next_inference, GateOpened),
    Invariant("STORE-6", the_step_is_committed_before_the_next_inference, GateOpened),
    Invariant("STORE-3", the_last_checkpoint_is_forced, SegmentEnded),
    Invariant("STORE-2", the_end_is_durable_before_it_is_announced, SegmentEnded),
)
