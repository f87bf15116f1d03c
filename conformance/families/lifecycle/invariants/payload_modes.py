"""DECIDE: what a decision means for its call: run again, stand for its result, or be its arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Decided, ObservedCall, Run, is_alike
from runlock.conformance.family.invariant import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    check,
    counts,
    held_or,
)
from runlock.conformance.family.rank import Rank


@check("DECIDE-6", at=("tool",), rank=Rank.OTHER, requires="a decision")
def the_payload_arrives(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A replay gets the payload that was decided; false, 0, an empty text and null are payloads too."""
    call = state.entering(seen)
    if call is None or call.tool is None:
        return
    payloads = _payloads(call)
    if seen.resume is not None and payloads:
        acting = _acting(call, seen) or payloads
        right = any(_same(seen.resume.payload, payload) for payload in acting)
        said = f"call {call.id} was decided with payload {spelled(acting[-1])}"
        yield HELD if right else broken(f"{said}, yet its replay got {spelled(seen.resume.payload)}")
    if payloads and not payloads[-1]:
        yield from _arguments(state, call, seen, payloads)


@check("DECIDE-17", at=("tool",), rank=Rank.OTHER)
def the_payload_is_the_arguments(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where the decision is to be the arguments, the tool is executed with it."""
    call = state.entering(seen)
    if call is not None:
        payloads = _payloads(call)
        if payloads and payloads[-1]:
            yield from _arguments(state, call, seen, payloads)


def _payloads(call: ObservedCall) -> list[Any]:
    return [decided.payload for decided in call.approvals if not decided.stale]


def _acting(call: ObservedCall, seen: GateOpened) -> list[Any]:
    """The payload of the decision on which the gate opens, if it names one that is known."""
    return [one.payload for one in call.approvals if seen.resume and one.id == seen.resume.decision]


def _arguments(
    state: ObservedState, call: ObservedCall, seen: GateOpened, payloads: list[Any]
) -> CheckResults:
    modes = state.policies.get("decision.modes") or ()  # undeclared, a payload may mean anything
    meant = call.tool is not None and call.tool.resume_mode == "pass_to_tool" and "pass_to_tool" in modes
    if not meant or seen.args is None:
        return
    acting = _acting(call, seen) or payloads
    right = any(_carries(seen.args, payload) for payload in acting)
    said = f"call {call.id} was decided with payload {spelled(acting[-1])} for its arguments"
    yield HELD if right else broken(f"{said}, yet it ran with {spelled(seen.args)}")


@check("DECIDE-8", at=("tool",), rank=Rank.OTHER)
def a_decision_used_as_result_executes_nothing(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where the decision is the result, the tool is not executed on it."""
    call = state.entering(seen)
    if call is None or call.tool is None or call.tool.resume_mode != "use_as_result":
        return
    decided = [d for d in call.approvals if d.answers is call and len(call.entries) == d.entries_before]
    if decided:
        yield broken(
            f"decision {decided[-1].id} is to be the result of call {call.id}, yet its tool was executed"
        )


@counts("DECIDE-8", requires="a decision")
def a_decision_used_as_result_has_executed_nothing(state: ObservedState) -> CheckResults:
    """Counts the calls whose decision was their result and whose tool has not been executed."""
    run = state.run
    for call, _ in _used_as_results(run) if run is not None else ():
        if not call.waits:
            yield HELD


@check("DECIDE-6", at=("model",), rank=Rank.OTHER, requires="a decision")
def an_empty_payload_is_the_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where the decision is the result, the model sees its payload, be it false or 0."""
    for decided, found in _results_shown(state, seen):
        if not decided.payload:
            yield found


@check("DECIDE-18", at=("model",), rank=Rank.OTHER)
def a_decision_used_as_result_is_the_result(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where the decision is to be the result, it is what the model is shown as the result of that call."""
    for decided, found in _results_shown(state, seen):
        if decided.payload:
            yield found


def _results_shown(state: ObservedState, seen: GateOpened) -> Iterator[tuple[Decided, CheckResult]]:
    """The decisions that are results, and whether the model is shown them."""
    run = state.run_of(seen)
    if run is None or seen.on != "model" or seen.messages is None:
        return
    for call, decided in _used_as_results(run):
        results = [m for m in seen.messages if m.role == "tool" and m.call == call.id]
        texts = [m.text for m in results if m.status != "pending" or call.claimed == "Succeeded"]
        if decided.payload not in ("", None) and (texts or call.claimed == "Succeeded"):
            right = any(spells(text, decided.payload) for text in texts)
            said = f"decision {decided.id} gave call {call.id} the result {spelled(decided.payload)}"
            shown = spelled(texts[-1]) if texts else "nothing"
            yield decided, HELD if right else broken(f"{said}, yet the model was shown {shown}")


def _used_as_results(run: Run) -> Iterator[tuple[ObservedCall, Decided]]:
    for call in run.calls.values():
        if call.tool is not None and call.tool.resume_mode == "use_as_result" and not call.entries:
            taken = [d for d in call.approvals if d.answers is call]
            if len(taken) == 1 and len(call.decisions) == 1 and call.claimed in (None, "Succeeded"):
                yield call, taken[0]


@check("DECIDE-7", at=("tool",), rank=Rank.OTHER)
def the_arguments_of_the_model_are_executed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The arguments that the model gave are those that the body gets."""
    call = state.entering(seen)
    if call is not None and not call.approvals:
        yield from _kept(call, seen)


@check("DECIDE-21", at=("tool",), rank=Rank.OTHER)
def a_replay_has_the_arguments_of_the_model(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where the decision lets the call run again, it runs with the arguments that the model gave."""
    call = state.entering(seen)
    if call is not None and call.approvals and call.tool is not None and call.tool.resume_mode == "replay":
        yield from _kept(call, seen)


def _kept(call: ObservedCall, seen: GateOpened) -> CheckResults:
    if call.tool is None or seen.args is None:
        return
    given = seen.args
    if isinstance(given, dict):  # what the model left out may be there as null
        given = {key: value for key, value in given.items() if value is not None or key in call.args}
    right = _same(given, dict(call.args)) or any(is_alike(seen.args, form.args) for form in call.forms[1:])
    yield (
        HELD
        if right
        else broken(
            f"call {call.id} has arguments {spelled(call.args)}, yet it ran with {spelled(seen.args)}"
        )
    )


@check("DECIDE-21", rank=Rank.OTHER, requires="a decision")
def a_replay_is_an_execution(state: ObservedState) -> CheckResults:
    """Where the decision lets the call run again, the call does not succeed without that."""
    run = state.run
    for call in run.calls.values() if run is not None else ():
        approved = [d for d in call.approvals if d.answers is call]
        asks = call.tool is not None and call.tool.permission == "ask" and call.tool.resume_mode == "replay"
        if asks and approved and call.claimed == "Succeeded" and len(call.decisions) == 1:
            executed = len(call.entries) > approved[0].entries_before
            why = f"decision {approved[0].id} lets call {call.id} run, yet it Succeeded without"
            yield held_or(executed or call.is_unclear, why)


def _same(left: Any, right: Any) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def _carries(args: Any, payload: Any) -> bool:
    values = args.values() if isinstance(args, dict) else ()
    return _same(args, payload) or any(_same(value, payload) for value in values)


def spells(text: str, payload: Any) -> bool:
    """Whether a text holds a value, in any form that JSON allows."""
    if isinstance(payload, str):
        return payload in text or json.dumps(payload) in text
    return any(_bare(form) in _bare(text) for form in (json.dumps(payload), str(payload)))


def _bare(text: str) -> str:
    """A text without its blanks, of which each writer of JSON leaves others."""
    return "".join(text.split())


def spelled(value: Any) -> str:
    """A value as a sentence quotes it."""
    shown = json.dumps(dict(value) if isinstance(value, dict) else value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
