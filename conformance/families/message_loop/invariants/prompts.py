"""AUTH: when people are asked, about what, how many of them, and in which order."""

from __future__ import annotations

from runlock.conformance.families.message_loop.invariants.authority import (
    arguments_of,
    decides,
    execution_of,
    in_envelope,
    interactors_for,
    is_waiting,
    mode_lets_pass,
    passes_unasked,
    rewrites,
    standing,
    token_uses,
    verdict_of,
)
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import GateOpened, Published
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedCall,
    ObservedPass,
    ObservedPrompt,
    ObservedTurn,
)
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank


def prompting(state: ObservedState, seen: GateOpened) -> ObservedCall | None:
    """The call of a prompt that opens with this gate; None for a further gate of an open prompt."""
    call = state.call_of(seen)
    if call is None or not call.is_usable or any(prompt.id == seen.prompt for prompt in call.prompts):
        return None
    return call


@check("AUTH-31", at=("prompt",), rank=Rank.OTHER)
def a_prompt_names_its_call(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A prompt names the call, the tool and the arguments that it is about."""
    path = state.path_of(seen)
    call = state.call_of(seen)
    if path is None or any(one.doubled for one in path.every_call()):
        return
    if call is None:
        if not any(request.is_streaming for request in path.requests):
            yield broken(f"prompt {seen.prompt} is about call {seen.call}, which the model did not ask for")
        return
    known = seen.name == call.name and seen.args in arguments_of(call)
    shown = f"{seen.name} with {quoted(seen.args)}"
    asked = f"{call.name} with {quoted(call.args)}"
    yield held_or(known, f"prompt {seen.prompt} shows {shown} for call {call.id}, which is {asked}")


@check("AUTH-3", at=("prompt",), rank=Rank.OTHER)
def the_mode_gate_is_silent_in_a_stage(state: ObservedState, seen: GateOpened) -> CheckResults:
    """While a stage drives, no prompt is the mode gate's."""
    call = prompting(state, seen)
    if call is not None and call.path.is_driven:
        yield held_or(
            seen.ask != "mode", f"stage {call.path.stage} drives, yet the mode gate asks about {named(call)}"
        )


@check("AUTH-3", at=("ToolCallModeInvoked",), rank=Rank.LOST)
def no_mode_is_invoked_in_a_stage(state: ObservedState, seen: Published) -> CheckResults:
    """While a stage drives, the mode gate judges no call."""
    turn = state.turn_of(seen)
    if turn is not None and turn.is_driven and seen.watcher is None:
        yield broken(f"a stage drives turn {turn.id}, yet ToolCallModeInvoked was published in it")


@check("AUTH-19", at=("prompt", "sm"), rank=Rank.CONSENT)
def an_idle_state_machine_asks_nobody(state: ObservedState, seen: GateOpened) -> CheckResults:
    """In a chat turn the state machine asks for no grant and judges no call."""
    turn = state.turn_of(seen)
    if turn is None or turn.is_driven or state.scenario.driver is None:
        return
    speaks = seen.on == "sm" or seen.ask == "grant"
    what = "judged a call" if seen.on == "sm" else "asked for a grant"
    yield held_or(not speaks, f"no stage drives turn {turn.id}, yet the state machine {what}")


@check("AUTH-4", at=("prompt", "tool"), rank=Rank.LOST)
def a_call_in_the_envelope_asks_nobody(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call inside the envelope of the driving stage asks no one."""
    call = state.call_of(seen)
    if call is None or not call.is_usable or not call.path.is_driven or not in_envelope(state, call):
        return
    by = "the state machine approved it" if decides(state) else "the stage allows its tool"
    yield held_or(seen.on != "prompt", f"{named(call)} is inside the envelope ({by}), yet people are asked")


@check("AUTH-5", at=("prompt",), rank=Rank.LOST)
def a_call_that_a_token_fits_asks_nobody(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call outside the envelope asks for a grant only where no token fits."""
    call = prompting(state, seen)
    execution = execution_of(call) if call is not None else None
    if call is None or execution is None or in_envelope(state, call):
        return
    others = [one for path in execution.passes for one in path.every_call() if one is not call]
    claimed = sum(one.name == call.name for one in others)
    again = bool(call.prompts) or bool(rewrites(call))
    left = token_uses(call) - claimed
    yield held_or(
        left <= 0 or again, f"a token for {call.name} is left, yet people are asked about {named(call)}"
    )


@check("AUTH-16", at=("prompt",), rank=Rank.OTHER)
def the_mode_asks_for_what_it_must(state: ObservedState, seen: GateOpened) -> CheckResults:
    """yolo asks no one, and allowlist asks for no tool that is on the list."""
    call = prompting(state, seen)
    if call is None or call.path.is_driven or seen.ask != "mode":
        return
    mode = state.scenario.mode
    why = "asks nobody" if mode == "yolo" else f"lets {call.name} pass"
    yield held_or(
        not mode_lets_pass(state, call), f"mode {mode} {why}, yet people are asked about {named(call)}"
    )


@check("AUTH-10", at=("prompt",), rank=Rank.OTHER)
def prompts_come_one_at_a_time(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The prompts of a pass come one at a time, in call order."""
    call = prompting(state, seen)
    if call is None:
        return
    others = [one for one in call.path.every_call() if one is not call]
    waiting = next((one for one in others if any(is_waiting(state, p) for p in one.prompts)), None)
    if waiting is not None:
        yield broken(f"the prompt about call {waiting.id} is open, yet people are asked about {named(call)}")
        return
    later = [one for one in call.request.calls if one.prompts and one.index > call.index]
    again = bool(call.prompts) or bool(rewrites(call))
    yield held_or(
        not later or again,
        f"call {listed(one.id for one in later)} was asked about before {named(call)}, which comes first",
    )


@check("AUTH-24", at=("prompt",), rank=Rank.OTHER)
def sibling_prompts_wait_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Where siblings share one line, no prompt opens while one of a sibling is open."""
    call = prompting(state, seen)
    if call is None or call.path.turn.kind != "group" or state.policy("prompt.siblings") != "one":
        return
    if state.policy("prompt.line") != "serial":
        return  # prompts that are open together stand in no line
    others = [one for one in call.path.turn.every_call() if one.path.stage != call.path.stage]
    waiting = next((one for one in others if any(is_waiting(state, p) for p in one.prompts)), None)
    about = f"call {waiting.id} of stage execution {waiting.path.stage}" if waiting is not None else ""
    yield held_or(
        waiting is None, f"the prompt about {about} is open, yet people are asked about {named(call)}"
    )


@check("AUTH-24", rank=Rank.LOST)
def siblings_wait_for_no_prompt_of_another(state: ObservedState) -> CheckResults:
    """Where each sibling has its own line, none waits for the prompt of another one."""
    turn = state.run
    if turn is None or turn.kind != "group" or state.policy("prompt.siblings") != "each":
        return
    waiting = [prompt for prompt in _open_prompts(turn) if is_waiting(state, prompt)]
    for path in turn.passes:
        other = next((one for one in waiting if one.call is not None and one.call.path is not path), None)
        if other is None or not _has_unasked_calls(turn, path):
            continue
        right = any(gate.path is path for gate in turn.open_gates())
        yield held_or(
            right, f"{path.label} waits for prompt {other.id}, which is about a call of its sibling"
        )


def _has_unasked_calls(turn: ObservedTurn, path: ObservedPass) -> bool:
    """Whether calls of the last response of a pass are neither asked about nor settled."""
    calls = path.sent[-1].calls if path.sent and not turn.executions[path.stage or ""].asserts else []
    return any(call.is_usable and not call.prompts and not call.entries and not call.hooks for call in calls)


@check("AUTH-11", at=("prompt",), rank=Rank.LOST)
def a_prompt_goes_to_active_interactors(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A prompt goes to interactors that are active, and to each of them once."""
    call = state.call_of(seen)
    if call is None or seen.interactor is None or state.gone_in.get(seen.interactor) == state.window:
        return
    asked = [gate for prompt in call.prompts if prompt.id == seen.prompt for gate in prompt.gates]
    if any(gate.opened.interactor == seen.interactor for gate in asked):
        yield broken(f"prompt {seen.prompt} was put to {seen.interactor} twice")
    else:
        yield held_or(
            seen.interactor in state.active,
            f"prompt {seen.prompt} was put to {seen.interactor}, who is not active",
        )


def _open_prompts(turn: ObservedTurn | None) -> list[ObservedPrompt]:
    return [prompt for prompt in turn.prompts() if prompt.is_open] if turn is not None else []


@check("AUTH-11", rank=Rank.LOST)
def a_prompt_goes_to_all_at_once(state: ObservedState) -> CheckResults:
    """A prompt that is open was put to every active interactor."""
    for prompt in _open_prompts(state.run):
        if prompt.answers:
            continue
        asked = {gate.opened.interactor for gate in prompt.gates}
        missing = sorted(interactors_for(state, prompt.gates[0].window) - asked)
        yield held_or(not missing, f"prompt {prompt.id} is open, and was not put to {listed(missing)}")


@check("AUTH-11", rank=Rank.LOST)
def the_other_gates_of_an_answered_prompt_close(state: ObservedState) -> CheckResults:
    """Once a prompt has its first answer, the gates of the other interactors are closed."""
    for prompt in state.run.prompts() if state.run is not None else ():
        firm = prompt.first_firm
        if firm is None or len(prompt.gates) < 2 or verdict_of(state, prompt) == "unclear":
            continue
        left = [gate.opened.interactor for gate in prompt.gates if gate.is_open]
        by = f"{firm.opened.interactor} answered prompt {prompt.id} with {firm.answered_with}"
        yield held_or(not left, f"{by}, yet it still waits for {listed(left)}")


@check("AUTH-25", rank=Rank.LOST)
def a_deferral_counts_as_declared(state: ObservedState) -> CheckResults:
    """A deferral by one of several interactors is the answer, or the others may still answer."""
    policy = state.policy("prompt.defer")
    for prompt in state.run.prompts() if state.run is not None and policy is not None else ():
        answers = prompt.answers
        first = answers[0] if answers else None
        if first is None or len(prompt.gates) < 2 or first.answered_with not in ("defer", "fault"):
            continue
        if len(answers) > 1 or first.released_in != state.window or not state.is_clean(state.window):
            continue  # later the prompt may be void for another reason
        rest = [g for g in prompt.gates if g is not first and g.opened.interactor not in state.gone_in]
        left = [gate.opened.interactor for gate in rest if gate.is_open]
        who = f"{first.opened.interactor} deferred prompt {prompt.id}"
        if policy == "answers":
            yield held_or(not left, f"{who}, which is the answer, yet it still waits for {listed(left)}")
        elif rest:
            closed = [gate.opened.interactor for gate in rest if gate.closed_at]
            yield held_or(not closed, f"{who}, and the others may answer, yet {listed(closed)} was given up")


@check("AUTH-17", rank=Rank.LOST)
def a_prompt_that_nobody_can_answer_is_over(state: ObservedState) -> CheckResults:
    """A prompt does not wait for interactors that have gone away."""
    for prompt in _open_prompts(state.run):
        waited = {gate.opened.interactor for gate in prompt.gates if gate.is_open}
        if waited & set(state.gone_in):
            there = waited - set(state.gone_in)
            yield held_or(
                bool(there), f"prompt {prompt.id} waits for {listed(sorted(map(str, waited)))}, who went away"
            )


@check("AUTH-22", at=("prompt",), rank=Rank.LOST)
def approvals_stand_where_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Approvals come before any call of the round runs, each before its own call, or while one runs."""
    call = prompting(state, seen)
    place = state.policy("prompt.place")
    if call is None or place is None or rewrites(call):
        return
    entered = [one.id for one in call.request.calls if one.entries]
    executing = [one.id for one in call.request.calls if any(gate.is_open for gate in one.entries)]
    if place == "first":
        yield held_or(
            not entered,
            f"call {listed(entered)} of the round ran before people were asked about {named(call)}",
        )
    elif place == "interleaved" and state.policy("prompt.line") != "serial":
        return  # prompts that are open together cannot each wait for the calls before their own
    elif place == "interleaved":
        yield held_or(
            not executing, f"people are asked about {named(call)} while call {listed(executing)} runs"
        )
    elif executing:
        yield HELD


@check("AUTH-22", rank=Rank.LOST)
def an_approved_call_need_not_wait(state: ObservedState) -> CheckResults:
    """Where approvals stand with their calls, an approved call runs before the next one is asked about."""
    place = state.policy("prompt.place")
    if place not in ("interleaved", "overlapped") or state.scenario.hooks_at("TOOL_CALL", "pre"):
        return
    for prompt in _open_prompts(state.run):
        call = prompt.call
        if call is None or any(gate.is_open for one in call.request.calls for gate in one.entries):
            continue
        ready = [one for one in call.request.calls if one.index < call.index and _is_ready(state, one)]
        yield held_or(
            not ready,
            f"{named(call)} is asked about while call {listed(one.id for one in ready)} is approved and idle",
        )


def _is_ready(state: ObservedState, call: ObservedCall) -> bool:
    approved = passes_unasked(state, call) or any(
        verdict_of(state, prompt) == "allow" for prompt in call.prompts
    )
    return call.is_usable and approved and not call.entries and not _waits_its_turn(state, call)


def _waits_its_turn(state: ObservedState, call: ObservedCall) -> bool:
    """Whether calls may run one by one, and an earlier one is still being asked about."""
    earlier = [one for one in call.request.calls if one.index < call.index]
    is_asked = any(prompt.is_open for one in earlier for prompt in one.prompts)
    return is_asked and state.policy("round.executor") != "parallel"


@check("AUTH-23", rank=Rank.LOST)
def parallel_prompts_are_open_together(state: ObservedState) -> CheckResults:
    """Where prompts are parallel, the prompts of a round are open together."""
    if state.scenario.hooks_at("TOOL_CALL", "pre") or decides(state):
        return
    for prompt in _open_prompts(state.run):
        call = prompt.call
        if call is None or any(one.answers for other in call.request.calls for one in other.prompts):
            continue
        unasked = [one for one in call.request.calls if one is not call and _needs_a_prompt(state, one)]
        missing = [one.id for one in unasked if not one.prompts]
        if unasked:
            yield held_or(not missing, f"{named(call)} is asked about, and call {listed(missing)} is not")


def _needs_a_prompt(state: ObservedState, call: ObservedCall) -> bool:
    covered = passes_unasked(state, call) or standing(state, call) or token_uses(call)
    return call.is_usable and not covered


@check("AUTH-18", at=("sm",), rank=Rank.LOST)
def the_state_machine_is_asked_once(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The state machine is asked in TOOL_CALL alone, once for each call, again only after a rewrite."""
    call = state.call_of(seen)
    path = state.path_of(seen)
    if path is None or not path.is_driven or (call is not None and call.doubled):
        return
    if call is None:
        yield broken(f"the state machine is asked about {seen.call}, which is no call of a complete response")
        return
    again = bool(rewrites(call)) and state.policy("rewrite.place") in (None, "asked_again")
    yield held_or(not call.judged or again, f"the state machine was asked about {named(call)} already")
