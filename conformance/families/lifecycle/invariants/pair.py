"""PAIR and ROUND: at every inference the history is one that a model's API takes, and nothing is missing.

What counts is the history that the model receives, not the one that is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.lifecycle.invariants.payload_modes import spelled, spells
from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message


@dataclass(slots=True)
class Pairing:
    """Which calls of a history have their result where it belongs."""

    paired: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    orphaned: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)


def pair(messages: Sequence[Message]) -> Pairing:
    """Walk a history: results follow the turn that asked for them, each once, before anything else."""
    pairing = Pairing()
    asked: dict[str, int] = {}
    for message in messages:
        if message.role == "tool":
            call = message.call or "(none)"
            if call in asked:
                asked[call] += 1
            elif call in pairing.paired:
                pairing.duplicates.append(call)
            else:
                pairing.orphaned.append(call)
        elif message.role in ("user", "assistant"):
            _close(asked, pairing)
            asked = {call.id: 0 for call in message.tool_calls}
    _close(asked, pairing)
    return pairing


def _close(asked: dict[str, int], pairing: Pairing) -> None:
    for call, results in asked.items():
        target = pairing.missing if results == 0 else pairing.paired if results == 1 else pairing.duplicates
        target.append(call)


@once
def _histories(state: ObservedState, seen: GateOpened) -> Sequence[tuple[Run, Pairing]]:
    run = state.run_of(seen)
    if run is None or seen.on != "model" or seen.messages is None:
        return ()
    shown = state.as_shown if state.shown_at == seen.gate else seen.messages
    return ((run, pair(shown)),)


@check("PAIR-2", at=("model",), rank=Rank.LOST)
def no_result_is_orphaned(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before an inference, each result of the history follows the turn that asked for it."""
    is_compacted = any(edit.why == "compaction" for edit in state.edits)
    after = "; the thread was compacted" if is_compacted else ""
    for _, pairing in _histories(state, seen):
        for call in pairing.orphaned:
            why = f"the model was shown a result for call {call}, which no turn right before it asked for"
            yield broken(why + after)
        if pairing.paired and not pairing.orphaned:
            yield HELD


@check("PAIR-3", at=("model",), rank=Rank.LOST)
def no_call_has_two_results(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before an inference, no call of the history has two visible results."""
    for _, pairing in _histories(state, seen):
        for call in pairing.duplicates:
            if not _is_doubled(state, call):
                yield broken(f"the model was shown two results for call {call}")
        if pairing.paired and not pairing.duplicates:
            yield HELD


@check("ROUND-3", at=("model",), rank=Rank.LOST, requires="calls")
def a_repeated_id_gives_one_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Two calls with one id in one turn never give two visible results under that id."""
    for run, pairing in _histories(state, seen):
        for call in pairing.duplicates:
            if _is_doubled(state, call):
                yield broken(
                    f"the id {call} was asked for twice, and the model was shown two results under it"
                )
        for call_view in run.calls.values():
            if call_view.duplicate_id and call_view.id in pairing.paired:
                yield HELD


def _is_doubled(state: ObservedState, call_id: str) -> bool:
    return any(
        call.duplicate_id for run in state.runs.values() for call in run.every_call if call.id == call_id
    )


# --- what the results say -----------------------------------------------------------------------


def _token(call: ObservedCall) -> str | None:
    """What the tool of a call answered, if it answered with a text of the kit's."""
    content = call.result.get("content") if call.result is not None else None
    return content if isinstance(content, str) and content else None


@once
def _finished(state: ObservedState) -> list[tuple[Run, ObservedCall, str]]:
    """The calls of the thread whose tool answered, where nothing may have taken the answer away."""
    return [one for run in state.runs.values() for one in _finished_of(run, _bound_to_stay(state, run))]


def _bound_to_stay(state: ObservedState, run: Run) -> Iterable[ObservedCall]:
    """The calls whose answers nothing may take away: of a run that was cancelled, those that it drains."""
    if run.disturbed_by(CRASH):
        return ()
    if run.cancel_at is None:
        return run.every_call
    declared = state.policy("cancel.inflight"), state.policy("cancel.results")
    return () if run.disturbed_by(FAULT) or declared != ("drain", "kept") else run.left_to_drain


def _finished_of(run: Run, calls: Iterable[ObservedCall]) -> Iterator[tuple[Run, ObservedCall, str]]:
    ids = Counter(call.id for call in run.every_call)
    for call in calls:
        token = _token(call)
        if token is not None and ids[call.id] == 1 and not (call.is_unclear or _raced(run, call)):
            yield run, call, token


def _raced(run: Run, call: ObservedCall) -> bool:
    """Whether the answer came while the run, or the call at a time limit, may have ended already."""
    raced = [gate for gate in call.entries if not gate.alone]
    return bool(raced) and (_ended_early(run) or any(gate.answered_ms > gate.at_ms for gate in raced))


def _ended_early(run: Run) -> bool:
    return run.ended is not None and run.ended.code in ("Error", "Blocked")


def _shown(seen: GateOpened, call: ObservedCall) -> list[str]:
    return [m.text for m in seen.messages or () if m.role == "tool" and m.call == call.id]


@check("PAIR-4", at=("model",), rank=Rank.SHOWN, requires="calls")
def no_finished_result_is_lost(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a tool answered is what the model is shown for that call, from the next inference on."""
    if seen.messages is None:
        return
    for run, call, token in _finished(state):
        if _failing_sibling(state, run, call) is None and _swapped_with(state, seen, call) is None:
            lost = _lost(seen, call, token)
            yield held_or(not lost, lost)


def _lost(seen: GateOpened, call: ObservedCall, token: str) -> str:
    """How the model is shown something else than the answer of a tool, or an empty string."""
    texts = _shown(seen, call)
    if any(token in text for text in texts):
        return ""
    instead = f"it was shown {texts[-1][:60]!r}" if texts else "it was shown nothing"
    return f"the tool of call {call.id} answered {token!r}, yet the model was not shown that: {instead}"


@check("ROUND-2", at=("model",), rank=Rank.LOST, requires="calls")
def results_carry_their_own_ids(state: ObservedState, seen: GateOpened) -> CheckResults:
    """In any order in which calls finish, each result stands under the id of its own call."""
    if seen.messages is None:
        return
    for _, call, token in _finished(state):
        other = _swapped_with(state, seen, call)
        if other is not None:
            yield broken(f"the model was shown the result of call {other.id} under call {call.id}")
        elif any(token in text for text in _shown(seen, call)):
            yield HELD


def _swapped_with(state: ObservedState, seen: GateOpened, call: ObservedCall) -> ObservedCall | None:
    """The other call whose answer stands under this call's id."""
    texts = _shown(seen, call)
    own = _token(call)
    if own is None or any(own in text for text in texts):
        return None
    for _, other, token in _finished(state):
        if other is not call and any(token in text for text in texts):
            return other
    return None


@check("PAIR-5", at=("model",), rank=Rank.LOST)
def a_placeholder_stands_for_what_waits(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a run goes on during the suspension of a call, the model is shown a placeholder for it."""
    run = state.run_of(seen)
    if run is None or state.policy("round.mixed") != "continue" or seen.messages is None:
        return
    for call in run.calls.values() if seen.on == "model" else ():
        if call.claimed == "Suspended" and not call.is_unclear:
            shown = bool(_shown(seen, call))
            yield held_or(shown, f"call {call.id} waits, yet the model was shown nothing in its place")


@check("PAIR-1", at=("model",), rank=Rank.LOST)
def every_call_has_its_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before an inference, each call of the history has a visible result after its turn."""
    for _, pairing in _histories(state, seen):
        yield from (HELD for _ in pairing.paired)
        for call in pairing.missing:
            if call not in pairing.orphaned:
                yield broken(f"the model was shown call {call} without a result")


@check("PAIR-5", at=("model",), rank=Rank.LOST, requires="a wait")
def a_result_takes_the_place_of_its_placeholder(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where a run went on during the suspension of a call, its result is shown once it is there."""
    if seen.messages is None or state.policy("round.mixed") != "continue":
        return
    for _, call, token in _finished(state):
        if call.suspensions:
            statuses = {m.status for m in seen.messages if m.role == "tool" and m.call == call.id}
            yield held_or(
                statuses != {"pending"},
                f"the tool of call {call.id} answered {token!r}, yet its placeholder still stands",
            )


@check("ROUND-1", at=("model",), rank=Rank.LOST, requires="calls")
def a_failure_costs_no_sibling_its_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The failure of one call does not cost another call of the round its result."""
    if seen.messages is None:
        return
    for run, call, token in _finished(state):
        sibling = _failing_sibling(state, run, call)
        if sibling is not None and _swapped_with(state, seen, call) is None:
            lost = _lost(seen, call, token)
            yield held_or(not lost, f"call {sibling.id} failed, and {lost}")


def _failing_sibling(state: ObservedState, run: Run, call: ObservedCall) -> ObservedCall | None:
    """The call of the same round that failed as a tool may; a tool that throws may also end the run."""
    failures = ("error", "raise") if state.policy("tool.raises") == "failed_call" else ("error",)
    for other in run.every_call:
        if other is not call and other.step == call.step:
            answer = other.last_answer
            if (
                other.tool is None
                or other.last_verdict == "block"
                or (answer is not None and answer["kind"] in failures)
            ):
                return other
    return None


@check("PAIR-6", at=("model",), rank=Rank.SHOWN, requires="calls", excuses=(CANCEL, FAULT, CRASH))
def every_success_was_given(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that the model is shown as a success was executed, or a decision or a check gave its result."""
    run = state.run_of(seen)
    if run is None or run.hooks:
        return
    ids = Counter(call.id for other in state.runs.values() for call in other.every_call)
    for call in run.calls.values():
        if ids[call.id] > 1:
            continue  # the success may be that of another call of this id
        shown = [m for m in seen.messages or () if m.role == "tool" and m.call == call.id]
        told = call.claimed is not None and bool(call.approvals)  # by its status, of which DECIDE-21 speaks
        if call.tool is None or call.is_unclear or all(m.status != "ok" for m in shown):
            continue
        if call.result is not None and call.result["kind"] == "error":
            yield broken(f"the tool of call {call.id} answered error, yet the model is shown success")
        elif not told:
            yield held_or(
                _was_given(call), f"call {call.id} was not executed, yet the model is shown success"
            )


@check("PAIR-6", at=("model",), rank=Rank.SHOWN, requires="calls")
def no_success_is_made_up(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No call is shown as a success that no tool, check or decision can have given."""
    shown = {m.call for m in seen.messages or () if m.role == "tool" and m.status == "ok"}
    ids = Counter(call.id for run in state.runs.values() for call in run.every_call)
    for run in state.runs.values():
        for call in run.every_call:
            is_known = not call.is_unclear and ids[call.id] == 1 and not run.hooks
            if is_known and call.id in shown and not _can_have_been_given(call):
                yield broken(f"nobody gave call {call.id} a result, yet the model is shown success")


def _can_have_been_given(call: ObservedCall) -> bool:
    """Whether its tool or the permission check gave a success, in any life, or a decision may have."""
    given = {gate.outcome["kind"] for gate in (*call.entries, *call.judged) if gate.outcome is not None}
    return bool(call.approvals) or bool(given & {"ok", "warning", "set_result"})


@check("PAIR-6", at=("model",), rank=Rank.SHOWN, requires="calls")
def a_provided_result_is_shown(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A success that the permission check gave is shown with the result that it gave, and with no other."""
    for call, content in _provided(state) if seen.messages is not None else ():
        results = [m for m in seen.messages or () if m.role == "tool" and m.call == call.id]
        texts = [m.text for m in results if m.status in ("ok", None)]
        if texts:
            said = f"the permission check gave call {call.id} the result {spelled(content)}"
            right = any(spells(text, content) for text in texts)
            yield HELD if right else broken(f"{said}, yet the model was shown {spelled(texts[-1])}")


@once
def _provided(state: ObservedState) -> list[tuple[ObservedCall, Any]]:
    """The calls whose result the permission check gave, if nothing can have changed or lost it."""
    ids = Counter(call.id for run in state.runs.values() for call in run.every_call)
    return [
        (call, content)
        for run in state.runs.values()
        if not (run.was_sent_cancel or run.disturbed_by(FAULT, CRASH) or run.hooks or _ended_early(run))
        for call in run.every_call
        if ids[call.id] == 1 and (content := _given_by_the_check(call)) not in (None, "")
    ]


def _given_by_the_check(call: ObservedCall) -> Any:
    told = call.claimed in (None, "Succeeded") and not (call.is_unclear or call.raced or call.result)
    last = call.judged[-1] if call.judged else None
    if last is None or last.outcome is None or not (told and last.alone):
        return None
    return last.outcome.get("content") if last.outcome["kind"] == "set_result" else None


def _was_given(call: ObservedCall) -> bool:
    by_a_decision = call.tool is not None and call.tool.resume_mode == "use_as_result" and call.decisions
    by_the_check = any(gate.outcome and gate.outcome["kind"] == "set_result" for gate in call.judged)
    return bool(call.entries or by_a_decision or by_the_check)
