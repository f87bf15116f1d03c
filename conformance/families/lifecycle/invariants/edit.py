"""EDIT: an approval may change the arguments of its call, or make it a call of another tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from runlock.conformance.families.lifecycle.messages import GateOpened
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import Decided, Form, ObservedCall, is_alike
from runlock.conformance.family.invariant import HELD, CheckResults, broken, check, counts, held_or
from runlock.conformance.family.rank import Rank


@check("EDIT-1", at=("tool",), rank=Rank.OTHER, requires="an edit")
def the_edited_arguments_are_executed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that was approved with other arguments runs with exactly these."""
    call = state.entered(seen)
    decided = call.acting_on(seen) if call is not None else None
    args = (decided.edit or {}).get("args") if decided is not None else None
    if call is None or decided is None or args is None:
        return
    right = is_alike(seen.args, args)
    said = f"decision {decided.id} edited call {call.id} to {Form(seen.name, args)}"
    yield HELD if right else broken(f"{said}, yet it runs as {Form(seen.name, seen.args)}")


@check("EDIT-2", at=("tool",), rank=Rank.OTHER, requires="an edit")
def an_edit_changes_its_own_call_alone(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Arguments that one call was edited to are not those of another, also of a later one of its id."""
    call = state.entering(seen)
    if call is None or call.edits or (call.tool is not None and call.tool.resume_mode == "pass_to_tool"):
        return  # arguments that a decision may have given itself
    every = (one for run in state.runs.values() for one in run.every_call)
    others = [decided for one in every if one is not call for decided in one.edits]
    for decided in others:
        args = (decided.edit or {}).get("args")
        if args is not None and not is_alike(_but_for_its_id(args), _but_for_its_id(call.args)):
            taken = is_alike(_but_for_its_id(seen.args), _but_for_its_id(args))
            said = f"decision {decided.id} edited a call that is not this call {call.id}"
            yield broken(f"{said}, yet it runs as {Form(seen.name, seen.args)}") if taken else HELD


def _but_for_its_id(args: object) -> object:
    return {key: one for key, one in args.items() if key != "k"} if isinstance(args, Mapping) else args


@check("EDIT-3", at=("tool",), rank=Rank.OTHER, requires="an edit")
def an_edited_tool_is_gated(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call that was edited to another tool has passed that tool's own gate when it runs."""
    call = state.entered(seen)
    renaming = _renaming(call) if call is not None else None
    if call is None or renaming is None:
        return
    name = str((renaming.edit or {}).get("name"))
    said = f"decision {renaming.id} made call {call.id} one of {name}"
    if seen.name != name and call.acting_on(seen) is renaming:
        yield broken(f"{said}, yet {seen.name} is entered")
    if seen.name != name:
        return
    why = _ungated(state, call, renaming, name)
    yield held_or(not why, f"{said}, {why}, yet it was executed")


def _ungated(state: ObservedState, call: ObservedCall, renaming: Decided, name: str) -> str:
    """What the tool that a call was edited to asks for and has not had, or an empty string."""
    tool = state.tools.get(name)
    if tool is None:
        return "which is no tool"
    later = call.approvals[call.approvals.index(renaming) + 1 :]
    tells = state.observes("call.status")
    is_approved = any(not tells or one.in_suspension > renaming.in_suspension for one in later)
    if tool.permission == "ask" and not is_approved:
        return "which asks, and nobody approved that"
    asked = [gate for gate in call.judged if gate.at >= renaming.at and gate.outcome is not None]
    allowed = any((gate.outcome or {}).get("kind") == "allow" for gate in asked) or (asked and is_approved)
    if tool.permission == "gate" and not allowed:
        return "whose permission gate has not allowed that"
    return ""


def _renaming(call: ObservedCall) -> Decided | None:
    """The last approval that certainly named another tool for the call, in the life that goes on."""
    named = [one for one in call.edits if (one.edit or {}).get("name") not in (None, call.name)]
    last = named[-1] if named else None
    return last if last is not None and last.answers is call and last.alone else None


@check("EDIT-3", rank=Rank.OTHER, requires="an edit", excuses=(CRASH,))
def an_edited_tool_is_shown(state: ObservedState) -> CheckResults:
    """A call that waits after it was edited to a tool that asks was shown as a call of that tool."""
    run = state.run
    if run is None or run.is_done or not state.observes("call.shown"):
        return
    for call in run.calls.values():
        renaming = _renaming(call)
        if renaming is None or not call.waits or call.suspensions <= renaming.in_suspension:
            continue
        name = str((renaming.edit or {}).get("name"))
        shown = call.shown[-1].form.name if call.shown else "nothing"
        right = shown == name
        said = f"decision {renaming.id} made call {call.id} one of {name}"
        yield held_or(right, f"{said}, yet it was shown as {shown}")


@check("EDIT-4", rank=Rank.OTHER, requires="an edit", excuses=(CANCEL, CRASH, FAULT, INPUT))
def another_tool_is_taken_as_declared(state: ObservedState) -> CheckResults:
    """An edit to another tool is taken or refused, as edit.tool says."""
    run, policy = state.run, state.policy("edit.tool")
    if run is None or policy is None:
        return
    for call in run.calls.values():
        for decided in call.decisions:
            if _names_another_tool(call, decided) and decided.batch == 1:
                suffices = state.policy("resume") == "partial" or len(run.calls) == 1
                yield from _is_as_declared(call, decided, str(policy), suffices=suffices)


def _names_another_tool(call: ObservedCall, decided: Decided) -> bool:
    name = (decided.edit or {}).get("name")
    is_plain = decided.action == "resume" and decided.answers is call and decided.at_rest
    return is_plain and name not in (None, call.name) and call.tool is not None


def _is_as_declared(call: ObservedCall, decided: Decided, policy: str, *, suffices: bool) -> CheckResults:
    """Whether it was taken or refused; `suffices` if a decision for this call alone is one to be taken."""
    said = f"decision {decided.id} names another tool for call {call.id}"
    if policy == "refused":
        yield held_or(decided.turned_down, f"{said}, which is to be refused, yet it was taken")
    elif (
        suffices
        and call.tool is not None
        and call.tool.resume_mode == "replay"
        and not _was_renamed(call, decided)
    ):
        yield held_or(not decided.turned_down, f"{said}, which is to be taken, yet it was refused")


def _was_renamed(call: ObservedCall, decided: Decided) -> bool:
    """Whether an earlier edit had made it a call of another tool, which may not run on a decision."""
    return any(one.at < decided.at and (one.edit or {}).get("name") is not None for one in call.edits)


@check("EDIT-5", at=("tool",), rank=Rank.OTHER, requires="an edit")
def a_refused_edit_changes_nothing(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose edit was refused does not run as that would have made it."""
    call = state.entered(seen)
    if call is None or call.written is not None:  # what it makes of arguments that do not parse is its own
        return
    tool = state.tools.get(seen.name or "")
    if tool is not None and tool.resume_mode == "pass_to_tool":  # the approval may have given these arguments
        return
    for decided in call.decisions:
        if decided.edit and decided.turned_down and not decided.repeats:
            refused = call.forms[0].edited(decided.edit)
            form = Form(seen.name, seen.args)
            if any(refused.is_like(one) for one in call.forms):
                continue
            said = f"decision {decided.id} was refused, which edited call {call.id} to {refused}"
            yield held_or(not form.is_like(refused), f"{said}, yet it runs so")


@counts("EDIT-5", requires="an edit")
def a_refused_edit_has_changed_nothing(state: ObservedState) -> CheckResults:
    """Counts the calls that had a refused edit, and have not run since."""
    run = state.run
    for call in run.calls.values() if run is not None else ():
        for decided in call.decisions:
            if decided.edit and decided.turned_down and len(call.entries) == decided.entries_before:
                yield HELD


@check("EDIT-6", at=("model",), rank=Rank.OTHER, requires="an edit")
def the_history_shows_one_form_of_the_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The model is shown an edited call as it asked for it, or as the call was edited."""
    run = state.run_of(seen)
    calls = run.calls if run is not None else {}
    ids = Counter(call.id for one in state.runs.values() for call in one.every_call)
    for one in (one for message in seen.messages or () for one in message.tool_calls):
        call = calls.get(one.id)
        if call is not None and call.edits and call.entries and ids[call.id] == 1 and not call.duplicate_id:
            shown = Form(one.name, one.args)
            right = one.args == call.written or any(shown.is_like(form) for form in call.forms)
            why = f"call {call.id} was edited to {call.forms[-1]}, yet the model is shown {shown}"
            yield held_or(right, why)
