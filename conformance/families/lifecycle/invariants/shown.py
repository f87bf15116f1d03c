"""SHOWN: those who decide are shown a call as it stands, and as it was shown it runs."""

from __future__ import annotations

from runlock.conformance.families.lifecycle.messages import CallShown, GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.records import Decided, Form, ObservedCall, Run, ShownForm
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, held_or
from runlock.conformance.family.rank import Rank


@check("SHOWN-1", rank=Rank.SHOWN, requires="a wait")
def a_call_that_waits_has_been_shown(state: ObservedState) -> CheckResults:
    """At rest, each call that waits was shown since its wait began; what a crash met was shown before it."""
    run = state.run
    if run is None or run.is_done or not state.observes("call.shown") or state.gates_of(run):
        return
    for call in run.calls.values():
        if call.waits and not (call.duplicate_id or call.raced or call.has_agent):
            right = any(_is_of_this_wait(state, run, call, one) for one in call.shown)
            again = " again" if call.shown else ""
            yield held_or(right, f"call {call.id} waits{again}, and that was shown to no one")


def _is_of_this_wait(state: ObservedState, run: Run, call: ObservedCall, shown: ShownForm) -> bool:
    """Whether a call was shown in its present wait, or for it, before its status was told."""
    told = state.observes("call.status") and shown.suspension == call.suspensions
    has_moved = (shown.entries, shown.verdicts) != (len(call.entries), len(call.judged))
    return bool(run.crashes) or told or not has_moved


@check("SHOWN-2", rank=Rank.SHOWN)
def what_is_shown_is_the_call(state: ObservedState, seen: CallShown) -> CheckResults:
    """What is shown is the tool and the arguments as the model gave them, or as an approval edited them."""
    call = state.call_of(seen)
    if call is None or call.duplicate_id:
        return
    form = Form(seen.name, seen.args)
    forms = [*call.forms, *_payloads(call), *_forms_after_a_crash(state, call)]
    right = call.breaks_off or any(form.is_like(one) for one in forms)  # what is made of it is for CUT
    yield HELD if right else broken(f"call {call.id} is {forms[-1]}, yet it was shown as {form}")


def _forms_after_a_crash(state: ObservedState, call: ObservedCall) -> list[Form]:
    """What an edit makes of the call where a crash cost the edits before it."""
    return [call.forms[0].edited(one.edit or {}) for one in call.edits] if state.life > 1 else []


def _payloads(call: ObservedCall) -> list[Form]:
    """What the call may be where a decision was its arguments."""
    is_meant = call.tool is not None and call.tool.resume_mode == "pass_to_tool"
    return [Form(call.name, decided.payload) for decided in call.approvals] if is_meant else []


@check("SHOWN-3", at=("tool",), rank=Rank.OTHER)
def an_approved_call_runs_as_it_was_shown(state: ObservedState, seen: GateOpened) -> CheckResults:
    """An approved call runs with the tool and the arguments that were shown last before its approval."""
    call = state.entered(seen)
    if call is None or not call.shown:
        return
    decided = call.acting_on(seen)
    before = _shown_for(call, decided) if decided is not None else None
    if decided is None or before is None or decided.edit or _is_the_arguments(state, call):
        return
    form = Form(seen.name, seen.args)
    right = form.is_like(before.form)
    said = f"decision {decided.id} approved call {call.id} as {before.form}"
    yield held_or(right, f"{said}, yet it runs as {form}")


def _shown_for(call: ObservedCall, decided: Decided) -> ShownForm | None:
    """What was shown last before a decision that came, by itself, in that very wait."""
    before = [one for one in call.shown if one.at < decided.at]
    met = decided.alone and not decided.early and before and before[-1].entries == decided.entries_before
    return before[-1] if met else None


def _is_the_arguments(state: ObservedState, call: ObservedCall) -> bool:
    """Whether a decision may be the arguments of the call, now that it may be one of another tool."""
    tools = (call.tool, *(state.tools.get(form.name or "") for form in call.forms))
    return any(tool is not None and tool.resume_mode != "replay" for tool in tools)
