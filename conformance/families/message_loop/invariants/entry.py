"""AUTH, GATE, ONCE: what a call needs before its tool is entered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from runlock.conformance.families.message_loop.invariants.authority import (
    approval_of,
    arguments_of,
    nobody_is_there,
    on_tokens,
    prompt_verdict,
    rewrites,
    standing,
    token_uses,
)
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import GateOpened
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedCall
from runlock.conformance.family.invariant import Invariant, check, counts, held_or, ranked
from runlock.conformance.family.rank import Rank

Flaw = tuple[str, str]
"""The clause that an entry breaks, and why."""

NO_FLAW: Final[Flaw] = ("", "")


def flaw_of(state: ObservedState, call: ObservedCall) -> Flaw:
    """Why a call may not be entered now: the most telling clause first."""
    if call.is_malformed:
        return "AUTH-40", f"{named(call)} has arguments that are no JSON, yet its tool was entered"
    if call.tool is None:
        return "AUTH-40", f"{named(call)} names a tool that does not exist, yet it was entered"
    if (guard := call.guard_denial) is not None:
        return "AUTH-8", f"guard {guard.opened.hook} denied {named(call)}, yet its tool was entered"
    if approval_of(state, call):
        return NO_FLAW
    return _unapproved(state, call)


def _unapproved(state: ObservedState, call: ObservedCall) -> Flaw:
    verdict = prompt_verdict(state, call)
    if verdict == "deny":
        return "GATE-2", f"{named(call)} was denied at prompt {call.prompts[-1].id}, yet its tool was entered"
    if verdict in ("defer", "gone", "given up"):
        clause = "AUTH-62" if call.path.is_driven else "AUTH-47"
        return clause, f"the prompt about {named(call)} was not answered, yet its tool was entered"
    if call.prompts:
        return "AUTH-1", f"{named(call)} was entered before its prompt {call.prompts[-1].id} was answered"
    return _unasked(state, call)


def _unasked(state: ObservedState, call: ObservedCall) -> Flaw:
    """Why a call without any prompt may not run."""
    need = "is outside the envelope of its stage" if call.path.is_driven else "needs a person's approval"
    if call.path.is_driven and token_uses(call):
        ran, denied = on_tokens(state, call), on_tokens(state, call, denied_too=True)
        used = listed(one.id for one in denied)
        return (
            "AUTH-6" if len(ran) >= token_uses(call) else "AUTH-29",
            f"the tokens for {call.name} were used up by {used}, yet {named(call)} ran without one",
        )
    if nobody_is_there(state):
        return "AUTH-17", f"{named(call)} {need} and nobody can be asked, yet its tool was entered"
    if state.grants:
        grant = next((one for one in state.grants if one.name == call.name), state.grants[-1])
        return "AUTH-15", (
            f"{named(call)} {need}; the {grant.scope} grant for call {grant.call.id} does not cover it, "
            "yet its tool was entered"
        )
    if not call.path.is_driven and _some_stage_allows(state, call):
        return "AUTH-19", (
            f"{named(call)} needs a person's approval, since no stage drives, yet its tool was entered"
        )
    if (other := _allowed_other(call)) is not None:
        return "AUTH-12", (
            f"{named(call)} {need} and was not asked about; only call {other.id} was allowed, "
            "yet its tool was entered"
        )
    if call.tool is not None and call.tool.origin == "remote":
        return "AUTH-21", f"{named(call)} of a remote tool {need} and nobody approved it, yet it was entered"
    return "AUTH-1", f"{named(call)} {need} and nothing approved it, yet its tool was entered"


def _some_stage_allows(state: ObservedState, call: ObservedCall) -> bool:
    driver = state.scenario.driver
    return driver is not None and any(call.name in stage.allowed_tools for stage in driver.stages.values())


def _allowed_other(call: ObservedCall) -> ObservedCall | None:
    """Another call of the turn whose prompt was allowed."""
    others = (one for one in call.path.turn.every_call() if one is not call)
    return next((one for one in others if _was_allowed(one)), None)


def _was_allowed(call: ObservedCall) -> bool:
    answers = (gate for prompt in call.prompts for gate in prompt.answers)
    return any(gate.answered_with == "allow" for gate in answers)


def entering(state: ObservedState, seen: GateOpened) -> ObservedCall | None:
    """The call whose tool is entered, if it is one that can be told apart."""
    call = state.call_of(seen)
    return call if call is not None and not call.doubled else None


def _entry_check(
    clause: str, relevant: Callable[[ObservedState, ObservedCall], bool]
) -> Callable[..., CheckResults]:
    def check(state: ObservedState, seen: GateOpened) -> CheckResults:
        call = entering(state, seen)
        if call is None:
            return
        found, reason = flaw_of(state, call)
        if found == clause:
            yield broken(reason)
        elif not found and relevant(state, call):
            yield HELD

    return check


def a_call_without_its_grant_does_not_run(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose grant was denied or not given does not run, in any mode."""
    call = entering(state, seen)
    if call is not None and call.path.is_driven and call.prompts:
        verdict = prompt_verdict(state, call)
        mode = state.scenario.mode
        why = f"the grant for {named(call)} was not given, yet its tool was entered in mode {mode}"
        yield held_or(verdict not in ("deny", "defer", "gone", "given up"), why)


def a_call_runs_on_an_approval_of_its_own(state: ObservedState, seen: GateOpened) -> CheckResults:
    """No call runs without an approval that was for it."""
    call = entering(state, seen)
    if call is not None:
        _, reason = flaw_of(state, call)
        yield held_or(not reason, reason)


def _on_a_token(state: ObservedState, call: ObservedCall) -> bool:
    return approval_of(state, call) == "token"


def _by_answer(state: ObservedState, call: ObservedCall) -> bool:
    return approval_of(state, call) == "answer"


def _by_standing(state: ObservedState, call: ObservedCall) -> bool:
    return approval_of(state, call) == "standing"


def _is_remote(state: ObservedState, call: ObservedCall) -> bool:
    return call.tool is not None and call.tool.origin == "remote"


def _is_idle(state: ObservedState, call: ObservedCall) -> bool:
    return not call.path.is_driven and state.scenario.driver is not None


def _never(state: ObservedState, call: ObservedCall) -> bool:
    return False


@counts("AUTH-8")
def a_denied_call_did_not_run(state: ObservedState) -> CheckResults:
    """Counts the calls that a guard denied and that have not run."""
    for call in state.run.every_call() if state.run is not None else ():
        if call.guard_denial is not None and not call.entries:
            yield HELD


@counts("GATE-2")
def a_rejected_call_did_not_run(state: ObservedState) -> CheckResults:
    """Counts the calls that a person denied and that have not run."""
    for call in state.run.every_call() if state.run is not None else ():
        if prompt_verdict(state, call) == "deny" and not call.entries:
            yield HELD


@counts("AUTH-17")
def an_unanswered_call_did_not_run(state: ObservedState) -> CheckResults:
    """Counts the calls that no one could be asked about and that have not run."""
    for call in state.run.every_call() if state.run is not None else ():
        unanswered = prompt_verdict(state, call) in ("defer", "gone")
        unasked = call.is_usable and not call.prompts and nobody_is_there(state)
        if not call.entries and (unanswered or (unasked and not approval_of(state, call))):
            yield HELD


def a_deferred_call_did_not_run(driven: bool) -> Callable[..., CheckResults]:
    """Counts the calls whose prompt was not answered and that have not run."""

    def check(state: ObservedState) -> CheckResults:
        for call in state.run.every_call() if state.run is not None else ():
            unanswered = prompt_verdict(state, call) in ("defer", "gone")
            if unanswered and not call.entries and call.path.is_driven == driven:
                yield HELD

    return check


@counts("AUTH-40")
def an_unusable_call_did_not_run(state: ObservedState) -> CheckResults:
    """Counts the calls that cannot run and that have not."""
    for call in state.run.every_call() if state.run is not None else ():
        if (call.is_malformed or call.tool is None) and not call.entries:
            yield HELD


@check("ONCE-3", at=("tool",), rank=Rank.TWICE)
def a_call_is_not_entered_while_it_executes(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call is not entered while its tool is executing."""
    call = entering(state, seen)
    if call is not None:
        executing = [gate for gate in call.entries if gate.is_open]
        yield held_or(not executing, f"{named(call)} is executing, yet its tool was entered once more")


@check("ONCE-1", at=("tool",), rank=Rank.TWICE)
def a_call_is_entered_once(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call whose tool has answered is not executed again."""
    call = entering(state, seen)
    if call is not None:
        answered = [gate for gate in call.entries if not gate.is_open]
        yield held_or(not answered, f"{named(call)} was executed already, yet its tool was entered again")


@check("AUTH-13", at=("tool",), rank=Rank.OTHER)
def what_was_shown_is_what_runs(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The tool and the arguments that an approver was shown are what runs."""
    call = entering(state, seen)
    if call is None or state.policy("rewrite.place") in (None, "after_approval"):
        return
    judged = call.judged[-1].opened if call.judged and not rewrites(call) else None
    shown = call.prompts[-1].opened if call.prompts else judged
    if shown is not None and shown.args in arguments_of(call):  # if not, AUTH-31 is broken
        same = (shown.name, shown.args) == (seen.name, seen.args)
        yield held_or(
            same,
            f"the approver of {named(call)} was shown {shown.name} with {quoted(shown.args)}, "
            f"yet {seen.name} runs with {quoted(seen.args)}",
        )


@check("ROUND-2", at=("tool",), rank=Rank.LOST)
def only_a_call_that_was_asked_for_runs(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A tool is entered for a call that the model asked for."""
    path = state.path_of(seen)
    if path is None or state.call_of(seen) is not None or any(call.doubled for call in path.every_call()):
        return
    if not any(request.is_streaming for request in path.requests):
        yield broken(f"tool {seen.name} was entered for call {seen.call}, which the model did not ask for")


@check("ROUND-2", at=("tool",), rank=Rank.LOST)
def the_tool_runs_as_asked(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call runs the tool that the model asked for, and its arguments where no transform rewrote them."""
    call = entering(state, seen)
    if call is not None:
        same = seen.name == call.name and (bool(rewrites(call)) or seen.args == call.args)
        yield held_or(
            same,
            f"the model asked for {call.name} with {quoted(call.args)} as call {call.id}, "
            f"yet {seen.name} was entered with {quoted(seen.args)}",
        )


@check("HOOK-10", at=("tool",), rank=Rank.OTHER)
def a_rewrite_stays_with_its_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The arguments that a transform gave one call are not those of another one."""
    call = entering(state, seen)
    if call is None or rewrites(call):
        return
    for other in call.path.turn.every_call():
        if other is not call and rewrites(other):
            mixed = seen.args != call.args and _gave(other, seen.args)
            yield held_or(
                not mixed, f"{named(call)} runs with {quoted(seen.args)}, the rewrite of call {other.id}"
            )


def _gave(call: ObservedCall, args: Any) -> bool:
    return any(((gate.answer or {}).get("data") or {}).get("args") == args for gate in rewrites(call))


@check("AUTH-28", at=("tool",), rank=Rank.CONSENT)
def a_standing_grant_fits_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A standing grant fits each later call of its tool, calls with the same arguments, or none."""
    call = entering(state, seen)
    match = state.policy("grant.match")
    if call is None or match is None or not _by_tool(state, call):
        return
    yield held_or(
        bool(standing(state, call)),
        f"standing grants fit {'no later call' if match == 'call' else 'calls with the same arguments'}, "
        f"yet {named(call)} ran on one that was given for other arguments",
    )


def _by_tool(state: ObservedState, call: ObservedCall) -> bool:
    """Whether only a standing grant for its tool explains that it runs."""
    wide = state.under({**state.policies, "grant.match": "tool"})
    return approval_of(wide, call) == "standing"


INVARIANTS = ranked(
    Rank.CONSENT,
    Invariant("AUTH-40", _entry_check("AUTH-40", _never), GateOpened, at=("tool",)),
    Invariant("AUTH-8", _entry_check("AUTH-8", _never), GateOpened, at=("tool",)),
    Invariant("GATE-2", _entry_check("GATE-2", _never), GateOpened, at=("tool",)),
    Invariant("AUTH-7", a_call_without_its_grant_does_not_run, GateOpened, at=("tool",)),
    Invariant("AUTH-6", _entry_check("AUTH-6", _on_a_token), GateOpened, at=("tool",)),
    Invariant("AUTH-29", _entry_check("AUTH-29", _never), GateOpened, at=("tool",)),
    Invariant("AUTH-47", _entry_check("AUTH-47", _never), GateOpened, at=("tool",)),
    Invariant("AUTH-62", _entry_check("AUTH-62", _never), GateOpened, at=("tool",)),
    Invariant("AUTH-17", _entry_check("AUTH-17", _never), GateOpened, at=("tool",)),
    Invariant("AUTH-15", _entry_check("AUTH-15", _by_standing), GateOpened, at=("tool",)),
    Invariant("AUTH-19", _entry_check("AUTH-19", _is_idle), GateOpened, at=("tool",)),
    Invariant("AUTH-12", _entry_check("AUTH-12", _by_answer), GateOpened, at=("tool",)),
    Invariant("AUTH-27", _entry_check("AUTH-12", _by_answer), GateOpened, at=("tool",)),
    Invariant("AUTH-21", _entry_check("AUTH-21", _is_remote), GateOpened, at=("tool",)),
    Invariant("AUTH-1", a_call_runs_on_an_approval_of_its_own, GateOpened, at=("tool",)),
    Invariant("AUTH-47", a_deferred_call_did_not_run(False), only_counts=True),
    Invariant("AUTH-62", a_deferred_call_did_not_run(True), only_counts=True),
)
