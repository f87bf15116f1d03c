"""The life of a decision: sent, placed in what the run was at, taken or turned down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runlock.conformance.families.lifecycle.messages import DecisionTaken
from runlock.conformance.families.lifecycle.state.fold.inputs import input_refused
from runlock.conformance.families.lifecycle.state.fold.watchers import watched
from runlock.conformance.families.lifecycle.state.grants import granted
from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.nesting import is_within
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run
from runlock.conformance.protocol import Refusal


def decisions_sent(state: Knowledge, params: Mapping[str, Any]) -> None:
    """Decisions come, by themselves or with something else."""
    watched(state, params)
    run = state.runs.get(params["run"])
    decisions = params.get("decisions", ())
    if run is not None:
        run.stirs += max(1, len(decisions))
    for raw in decisions:
        if not is_within(state, run, raw["call"]):
            _decided(state, run, raw, len(decisions))


def _decided(state: Knowledge, run: Run | None, raw: Mapping[str, Any], batch: int) -> None:
    state.add_feature("a decision")
    if raw.get("edit"):
        state.add_feature("an edit")
    call = run.calls.get(raw["call"]) if run is not None else None
    decided = Decided(
        raw["id"], raw["call"], raw["action"], raw.get("payload"), raw.get("suspension"), state.stimuli,
        state.alone, batch=batch, edit=raw.get("edit"), is_expiry=raw.get("by") == "clock",
        scope=raw.get("scope"),
    )  # fmt: skip
    state.handed_over[decided.id] += 1
    known = state.decision_ids.get(raw["id"])
    lost = known is not None and _may_not_be_taken(state, run, known)
    decided.unsure = raw["id"] in state.forgotten or lost
    sent_anew = known is None or known.turned_down or decided.unsure or decided.is_expiry
    decided.repeats = not sent_anew
    if run is None or call is None:
        decided.stale = state.alone
        state.unplaced.append(decided)
    else:
        # an inbox may know the id of a decision that it ignored, and want another
        is_known = decided.repeats or (known is not None and known.disposition == "ignored")
        _reaches(state, decided, run, call, is_known=is_known)
        granted(state, decided, call)
    if not decided.repeats:
        state.decision_ids[decided.id] = decided


def _may_not_be_taken(state: Knowledge, run: Run | None, decided: Decided) -> bool:
    """Whether nothing shows that it was taken, and another came with it or its call did not surely wait."""
    is_shown = state.observes("decision") or state.policy("decision.early") == "buffer"
    if decided.answers is None and not is_shown:
        return True
    call = run.calls.get(decided.call) if run is not None else None
    others = (one for one in call.decisions if one is not decided) if call is not None else ()
    return decided.disposition is None and any(one.at == decided.at for one in others)


def _reaches(state: Knowledge, decided: Decided, run: Run, call: ObservedCall, *, is_known: bool) -> None:
    """The call that a decision is for: does it come too late for it, and does the call wait for it?"""
    suspension = decided.suspension
    current = suspension is None or suspension == call.suspensions
    over = call.is_final or run.is_done
    past = suspension is not None and suspension < call.suspensions + (0 if call.waits else 1)
    if call.claimed is None and run.crashes:
        past = False  # nothing has said yet how often it was suspended in this life
    decided.stale = state.alone and (over or past)
    if decided.edit and decided.edit.get("name") not in (None, call.name):
        call.is_renamed = True
    decided.entries_before, decided.in_suspension = len(call.entries), call.suspensions
    if state.alone:
        _place(state, decided, run, call)
    standing = any(stands(d, call) for d in call.decisions)
    if call.waits and current and not (over or is_known or standing) and state.settled_before:
        decided.answers = call
    call.decisions.append(decided)


def _place(state: Knowledge, decided: Decided, run: Run, call: ObservedCall) -> None:
    """What the run was at when a decision came that met no race."""
    on = {gate.on for gate in state.gates_of(run)}
    decided.early = call.claimed in ("New", "Running") and decided.suspension is None
    decided.at_rest = not (on or run.segment_open)
    decided.at_work = bool(on & {"model", "tool"}) and "store.put" not in on
    decided.segment = len(run.finished)
    executing = (c for c in run.calls.values() if c.executing and not c.decisions and c.step == call.step)
    decided.busy_sibling = next((c.id for c in executing if c is not call), None)


def stands(decided: Decided, call: ObservedCall) -> bool:
    """Whether the call has taken this decision, or may have, and nothing has happened to it since."""
    if decided.turned_down or decided.stale:
        return False
    untouched = len(call.entries) == decided.entries_before and call.suspensions == decided.in_suspension
    if decided.answers is call:
        return untouched
    raced = untouched and not decided.alone  # it may have met the call in its wait
    return decided.unsure or raced or call.suspensions == decided.in_suspension + 1


def disposed(state: Knowledge, seen: DecisionTaken) -> None:
    """The SUT says what it does with a decision."""
    state.dispositions[seen.decision].append(seen.disposition)
    sent = [decided for decided in _all_sent(state) if decided.id == seen.decision]
    if not sent:
        return
    taken = seen.disposition in ("accepted", "buffered")
    undisposed = [decided for decided in sent if decided.disposition is None]
    if taken:
        decided = undisposed[0] if undisposed else sent[0]
    else:
        decided = undisposed[-1] if undisposed else sent[-1]
    decided.disposition = seen.disposition
    decided.checkpoints = len(state.checkpoints)
    decided.turned_down = not taken


def turned_down(state: Knowledge, refusal: Refusal) -> None:
    """A stimulus, or one decision in it, was turned down."""
    state.refused_whole = state.refused_whole or refusal.decision is None
    if refusal.decision is not None:
        _turn_down(state, refusal.decision)
    if refusal.stimulus >= len(state.newest):
        return
    method, params = state.newest[refusal.stimulus]
    if refusal.decision is None and state.settled_before:
        for raw in params.get("decisions", ()):
            _turn_down(state, raw["id"])
    elif refusal.decision is None:  # it may speak of an earlier stimulus that had no turn until now
        for decided in _all_sent(state):
            decided.unsure = decided.unsure or decided.at > state.last_settled
    if method == "run.input" and refusal.decision is None:
        input_refused(state, refusal)
    run = state.runs.get(params.get("run", ""))
    if method == "recover" and run is not None and state.durable(run) is None:  # so it never was
        del state.runs[run.id]
        state.run = next(reversed(state.runs.values()), None)
    certain = refusal.decision is None and state.settled_before
    if method == "cancel" and certain and run is not None and run.cancel_at == state.stimuli:
        run.volatile.cancel_at = None
    if method == "run.input" and certain and run is not None and run.input_at == state.stimuli:
        state.inputs.remove(params["input"])
        state.refused_inputs.append(params["input"])


def _turn_down(state: Knowledge, decision: str) -> None:
    """Of a decision that was sent more than once, the newest one was turned down."""
    sent = [d for d in _all_sent(state) if d.id == decision]
    if sent:
        sent[-1].turned_down = True


def _all_sent(state: Knowledge) -> Iterator[Decided]:
    yield from state.unplaced
    for run in state.runs.values():
        for call in run.every_call:
            yield from call.decisions
