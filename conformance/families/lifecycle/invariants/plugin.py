"""What plugins do at their phases: an end that they ask for comes, and what they rewrite counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    GateOpened,
    MessageAppended,
    PhaseEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH
from runlock.conformance.families.lifecycle.state.records import ObservedGate, Run
from runlock.conformance.family.invariant import (
    HELD,
    CheckResults,
    Invariant,
    broken,
    check,
    counts,
    held_or,
    ranked,
)
from runlock.conformance.family.rank import Rank
from runlock.conformance.protocol import Message

ENDS = ("terminate", "skip_inference")


def _asked_for_the_end(run: Run | None, at: str, *kinds: str) -> bool:
    """Whether a plugin asked for the end of the run at this phase, and nothing else did."""
    if (
        run is None
        or run.faulted != "plugin"
        or not run.fault_alone
        or run.disturbed_by(CANCEL)
        or not run.hooks
    ):
        return False
    gate = run.hooks[-1]
    return gate.opened.at == at and gate.outcome is not None and gate.outcome["kind"] in (kinds or ENDS)


@check("RUN-4", rank=Rank.STATUS, requires="a plugin")
def a_plugin_ends_the_run(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """A run that a plugin ends has the reason BehaviorRequested."""
    run = state.run_of(seen)
    if _asked_for_the_end(run, "BeforeInference") or _asked_for_the_end(run, "AfterInference"):
        right = seen.reason.code == "BehaviorRequested"
        yield held_or(right, f"a plugin asked for the end, yet the run ended as {seen.reason.code}")


def _before_inference(state: ObservedState, seen: GateOpened | SegmentEnded, kind: str) -> CheckResults:
    if not _asked_for_the_end(state.run_of(seen), "BeforeInference", kind):
        return
    if isinstance(seen, SegmentEnded):
        yield HELD
    elif seen.on == "model":
        done = "asked for the end" if kind == "terminate" else "skipped the inference"
        yield broken(f"a plugin {done} at BeforeInference, yet the model is asked")


def an_end_before_inference_asks_no_model(
    state: ObservedState, seen: GateOpened | SegmentEnded
) -> CheckResults:
    """A plugin that asks for the end before inference ends the run without asking the model."""
    yield from _before_inference(state, seen, "terminate")


def a_skipped_inference_asks_no_model(state: ObservedState, seen: GateOpened | SegmentEnded) -> CheckResults:
    """A plugin that skips the inference ends its step before the model is asked."""
    yield from _before_inference(state, seen, "skip_inference")


def an_end_after_inference_runs_no_tool(
    state: ObservedState, seen: GateOpened | SegmentEnded
) -> CheckResults:
    """A plugin that asks for the end after inference ends the run without the tools of that turn."""
    run, call = state.run_of(seen), state.call_of(seen)
    if run is None or not _asked_for_the_end(run, "AfterInference"):
        return
    if isinstance(seen, SegmentEnded):
        yield HELD
    elif call is not None and call.step == run.steps and seen.on in ("tool", "permission"):
        yield broken(
            f"a plugin asked for the end at AfterInference, yet a {seen.on} gate of call {call.id} opens"
        )


@check("PHASE-45", at=("RunEnd",), rank=Rank.PHASE, requires="a plugin")
def an_end_after_inference_comes_after_the_step(state: ObservedState, seen: PhaseEntered) -> CheckResults:
    """Where a step ends before its tools, an end asked for after inference comes after StepEnd."""
    run = state.run_of(seen)
    if run is None or not _asked_for_the_end(run, "AfterInference"):
        return
    ended = bool(run.phases) and run.phases[-1].phase == "StepEnd"
    yield held_or(ended, "a plugin asked for the end at AfterInference, and RunEnd fires before StepEnd")


@check("FLOW-24", at=("BehaviorRequested",), rank=Rank.PHASE, excuses=(CRASH,))
def an_end_that_was_asked_for_passes_run_end(state: ObservedState, seen: SegmentEnded) -> CheckResults:
    """An end that a plugin asked for passes RunEnd."""
    run = state.run_of(seen)
    if run is None:
        return
    passed = bool(run.phases) and run.phases[-1].phase == "RunEnd"
    yield held_or(passed, "a plugin asked for the end, and the run ended without RunEnd")


@check("PHASE-80", at=("hook",), rank=Rank.OTHER, requires="a plugin", excuses=(CRASH,))
def what_was_set_up_is_found_again(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A plugin finds in every later phase of a run what it set up in RunStart."""
    run = state.run_of(seen)
    if run is None or seen.at == "RunStart":
        return
    set_up = next((gate for gate in reversed(run.hooks) if gate.opened.at == "RunStart"), None)
    if set_up is None or _rewritten(set_up) is None:
        return
    left, found = (_rewritten(set_up) or {}).get("state"), (seen.data or {}).get("state")
    yield held_or(found == left, f"a plugin set up {left!r} in RunStart, yet at {seen.at} it finds {found!r}")


def _rewritten(gate: ObservedGate) -> dict[str, object] | None:
    """What the plugin put in place of what it was shown, if it did."""
    outcome = gate.outcome
    return dict(outcome.get("data") or {}) if outcome is not None and outcome["kind"] == "rewrite" else None


@check("PHASE-81", at=("model",), rank=Rank.OTHER, requires="a plugin", excuses=(CRASH,))
def the_model_is_asked_as_rewritten(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a plugin changes in BeforeInference is what the model is asked with."""
    run = state.run_of(seen)
    if run is None or not run.hooks:
        return
    gate = run.hooks[-1]
    left = _rewritten(gate) if gate.opened.at == "BeforeInference" else None
    if left is None:
        return
    for name, asked in (("system", seen.system), ("params", seen.params)):
        if name in left:
            right = left[name] == asked
            yield (
                HELD
                if right
                else broken(f"a plugin made {name} {left[name]!r}, yet the model is asked with {asked!r}")
            )


@check("PHASE-92", at=("model",), rank=Rank.OTHER, requires="a plugin", excuses=(CRASH,))
def the_model_is_offered_what_plugins_left(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The tools that a plugin leaves in BeforeInference are those that the model is offered."""
    run = state.run_of(seen)
    if run is None or not run.hooks:
        return
    gate = run.hooks[-1]
    left = _rewritten(gate) if gate.opened.at == "BeforeInference" else None
    if left is not None and "tools" in left:
        offered = [*state.tools] if seen.tools is None else seen.tools
        why = f"a plugin left the tools {left['tools']!r}, yet the model is offered {offered!r}"
        yield held_or(left["tools"] == offered, why)


@check("PHASE-82", rank=Rank.CONSENT, requires="a plugin")
def a_call_that_was_taken_out_does_not_come(
    state: ObservedState, seen: CallMoved | GateOpened
) -> CheckResults:
    """The calls of a round are those that plugins left of the answer."""
    run = state.run_of(seen)
    if run is None or seen.call is None or not (run.taken_out or seen.call in run.left_in):
        return
    out = seen.call in run.taken_out
    yield held_or(not out, f"a plugin took call {seen.call} out of the answer, yet the runtime carries it on")


@check("PHASE-82", at=("model",), rank=Rank.CONSENT, requires="a plugin")
def a_call_that_was_taken_out_is_not_shown(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The model is not shown a call that a plugin took out of its answer, nor a result for it."""
    run = state.run_of(seen)
    if run is None or not run.taken_out or seen.messages is None:
        return
    since = list(seen.messages)[len(_shown_at_the_turn(state)) :]
    shown = {call.id for one in since for call in one.tool_calls} | {one.call for one in since}
    for call in sorted(run.taken_out):
        why = f"a plugin took call {call} out of the answer, yet the model is shown it"
        yield broken(why) if call in shown else HELD


def _shown_at_the_turn(state: ObservedState) -> Sequence[Message]:
    """The history with which the model was asked for the answer out of which calls were taken."""
    gate = state.last_model_gate
    return (gate.opened.messages or ()) if gate is not None else ()


@check("PHASE-83", at=("tool",), rank=Rank.SHOWN, requires="a plugin")
def a_result_is_shown_as_rewritten(state: ObservedState, seen: MessageAppended) -> CheckResults:
    """What a plugin does with a result is done before anyone else sees the result."""
    run, message = state.run_of(seen), seen.message
    if run is None or message.role != "tool" or message.status != "ok":
        return
    left = _rewritten_result(run, message.call)
    if left is not None:
        right = str(left) in message.text
        yield held_or(
            right, f"a plugin made the result of call {message.call} {left!r}, yet it is {message.text!r}"
        )


def _rewritten_result(run: Run, call: str | None) -> object | None:
    at_call = [g for g in run.hooks if g.opened.at == "AfterToolExecute" and g.opened.call == call]
    left = _rewritten(at_call[-1]) if at_call and at_call[-1].life == (run.crashes + 1) else None
    return left.get("content") if left is not None else None


def _verdict_that_came_late(run: Run | None, call: str | None) -> ObservedGate | None:
    """The hook at which a plugin tried to block a call that was judged before, if it has not run since."""
    if run is None or run.disturbed_by(CANCEL, CRASH):
        return None
    hooks = [gate for gate in run.hooks if gate.opened.at == "BeforeToolExecute" and gate.opened.call == call]
    late = hooks[-1] if hooks else None
    return late if late is not None and (late.outcome or {}).get("kind") == "block" else None


@check("PHASE-84", seeing=(CallMoved,), rank=Rank.CONSENT, requires="a plugin")
@counts("PHASE-84", seeing=(GateOpened,), at=("tool",), requires="a plugin")
def a_block_that_comes_late_blocks_nothing(
    state: ObservedState, seen: CallMoved | GateOpened
) -> CheckResults:
    """In nine phases a plugin that blocks a call in BeforeToolExecute changes nothing, as it was judged."""
    late, call = _verdict_that_came_late(state.run_of(seen), seen.call), state.call_of(seen)
    if late is None or call is None or call.is_unclear or any(gate.at >= late.at for gate in call.entries):
        return
    if isinstance(seen, GateOpened):
        yield HELD
    elif seen.to in ("Failed", "Succeeded", "Suspended"):
        yield broken(f"a plugin blocked call {call.id} in BeforeToolExecute, and the call became {seen.to}")


@check("PHASE-89", at=("hook",), rank=Rank.CONSENT, requires="a plugin", excuses=(CRASH,))
def a_judgement_sets_no_state(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A plugin's state is after ToolGate what it was before, whatever it left: judging has no effect."""
    run = state.run_of(seen)
    if run is None or not run.hooks:
        return
    last = next((gate for gate in reversed(run.hooks) if gate.opened.at in ("RunStart", "ToolGate")), None)
    left = _rewritten(last) if last is not None and last.opened.at == "ToolGate" else None
    if left is None or last is None:
        return
    before, found = (last.opened.data or {}).get("state"), (seen.data or {}).get("state")
    why = (
        f"a plugin put {left.get('state')!r} into its state at ToolGate, and at {seen.at} it finds {found!r}"
    )
    yield held_or(found == before, why)


def ends(clause: str, check: Callable[..., CheckResults], *gates: str) -> tuple[Invariant, Invariant]:
    """What shows whether a plugin was heard: one of these gates would not open, and the segment ends."""
    return (
        Invariant(clause, check, GateOpened, at=gates, requires="a plugin"),
        Invariant(clause, check, SegmentEnded, requires="a plugin", only_counts=True),
    )


INVARIANTS = ranked(
    Rank.CONSENT,
    *ends("FLOW-9", an_end_before_inference_asks_no_model, "model"),
    *ends("PHASE-42", a_skipped_inference_asks_no_model, "model"),
    *ends("FLOW-15", an_end_after_inference_runs_no_tool, "tool", "permission"),
    *ends("PHASE-44", an_end_after_inference_runs_no_tool, "tool", "permission"),
)
