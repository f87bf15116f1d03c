"""What a call may run on: which approvals it has, and which authorities it must pass.

Every function answers from witnessed facts.  Where a policy is open, the answer is the widest that any of
its values allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runlock.conformance.families.message_loop.messages import StageSpec
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    Grant,
    ObservedCall,
    ObservedExecution,
    ObservedGate,
    ObservedPrompt,
)


def execution_of(call: ObservedCall) -> ObservedExecution | None:
    """The stage execution that drives a call, if one does."""
    path = call.path
    return path.turn.executions.get(path.stage) if path.stage is not None else None


def stage_spec(call: ObservedCall) -> StageSpec | None:
    """The stage that drives a call, if one does."""
    execution = execution_of(call)
    return execution.spec if execution is not None else None


def decides(state: ObservedState) -> bool:
    """Whether the state machine judges each call at its own gate."""
    driver = state.scenario.driver
    return driver is not None and driver.decides


def in_envelope(state: ObservedState, call: ObservedCall) -> bool:
    """Whether the driving stage has allowed the call in advance."""
    if decides(state):
        return bool(call.judged) and call.judged[-1].answered_with == "approve"
    spec = stage_spec(call)
    return spec is not None and call.name in spec.allowed_tools


def mode_lets_pass(state: ObservedState, call: ObservedCall) -> bool:
    """Whether the security mode asks no one about the call."""
    scenario = state.scenario
    return scenario.mode == "yolo" or (scenario.mode == "allowlist" and call.name in scenario.allowlist)


def passes_unasked(state: ObservedState, call: ObservedCall) -> bool:
    """Whether the envelope or the mode lets the call pass."""
    return in_envelope(state, call) if call.path.is_driven else mode_lets_pass(state, call)


def token_uses(call: ObservedCall) -> int:
    """How many uses the tokens of its stage have for its tool."""
    spec = stage_spec(call)
    return sum(token.uses for token in spec.grants if token.tool == call.name) if spec is not None else 0


def on_tokens(state: ObservedState, call: ObservedCall, *, denied_too: bool = False) -> list[ObservedCall]:
    """The other calls of its stage execution that certainly used a token for its tool."""
    execution = execution_of(call)
    paths = execution.passes if execution is not None else []
    others = (one for path in paths for one in path.every_call() if one is not call)
    return [one for one in others if one.name == call.name and _used_a_token(state, one, denied_too)]


def _used_a_token(state: ObservedState, call: ObservedCall, denied_too: bool) -> bool:
    approved_first = state.policy("guard.place") == "after_approval"  # else the denial spared the token
    ran = bool(call.entries) or (denied_too and approved_first and call.guard_denial is not None)
    return ran and not in_envelope(state, call) and not call.prompts and not standing(state, call)


def tokens_left(state: ObservedState, call: ObservedCall) -> int:
    """How many uses are left for a call; one that is spent by a denied call counts where that is declared."""
    spent_on_denied = state.policy("grant.spent") == "approval"
    return token_uses(call) - len(on_tokens(state, call, denied_too=spent_on_denied))


def standing(state: ObservedState, call: ObservedCall) -> list[Grant]:
    """The standing grants that may cover a call, under the policies as far as they are known."""
    return [grant for grant in state.grants if covers(state, grant, call)]


def covers(state: ObservedState, grant: Grant, call: ObservedCall) -> bool:
    """Whether a standing grant may cover a call."""
    if grant.call is call or grant.name != call.name or not _reaches(grant, call):
        return False
    scopes = state.policy("grant.scopes")
    if scopes is not None and grant.scope not in scopes:
        return False
    match = state.policy("grant.match")
    return match != "call" and (match != "arguments" or grant.args in arguments_of(call))


def _reaches(grant: Grant, call: ObservedCall) -> bool:
    if grant.scope == "session":
        return True
    return grant.turn is call.path.turn and grant.stage == call.path.stage


def arguments_of(call: ObservedCall) -> list[Any]:
    """The arguments that a call had at any time: the model's, and what transforms made of them."""
    return [call.args, *(args for args in rewritten_arguments(call))]


def rewritten_arguments(call: ObservedCall) -> Iterator[Any]:
    """The arguments that transforms gave the call, oldest first."""
    for gate in rewrites(call):
        data = (gate.answer or {}).get("data") or {}
        if "args" in data:
            yield data["args"]


def rewrites(call: ObservedCall) -> list[ObservedGate]:
    """The transforms that rewrote the call before its execution."""
    found = (gate for gate in call.hook_gates("pre") if gate.opened.role == "transform")
    return [gate for gate in found if gate.answered_with == "rewrite"]


def last_prompt(call: ObservedCall) -> ObservedPrompt | None:
    """The newest prompt about a call."""
    return call.prompts[-1] if call.prompts else None


def verdict_of(state: ObservedState, prompt: ObservedPrompt) -> str:
    """What a prompt came to: allow, deny, defer, gone, given up, unclear, or nothing while it is open.

    Its gates may close without an answer because everybody who was asked went away, or because something
    else made the question void: the end of the turn, or a denial that reaches the round.
    """
    if any(state.may_be_lost(gate) for gate in prompt.answers):
        return "unclear"
    verdict = prompt.verdict(state.policy("prompt.defer"))
    void = any(gate.closed_at and not _had_gone(state, gate) for gate in prompt.gates)
    if verdict == "gone" and void:
        return "given up"
    if verdict == "defer" and void and state.policy("prompt.defer") != "answers":
        return "unclear"  # someone might still have answered when the question became void
    return verdict


def _had_gone(state: ObservedState, gate: ObservedGate) -> bool:
    """Whether the interactor of a gate had left when the gate was closed."""
    left = state.gone_in.get(gate.opened.interactor or "")
    return left is not None and left <= gate.closed_in


def prompt_verdict(state: ObservedState, call: ObservedCall) -> str:
    """What the newest prompt about a call came to."""
    prompt = last_prompt(call)
    return verdict_of(state, prompt) if prompt is not None else ""


def is_waiting(state: ObservedState, prompt: ObservedPrompt) -> bool:
    """Whether a prompt certainly waits for someone who is there, so that nothing has answered it."""
    there = any(gate.is_open and gate.opened.interactor not in state.gone_in for gate in prompt.gates)
    return there and verdict_of(state, prompt) == ""


def was_allowed(state: ObservedState, call: ObservedCall) -> bool:
    """Whether the newest prompt about a call was answered with allow, or may have been."""
    prompt = last_prompt(call)
    if prompt is None:
        return False
    verdict = verdict_of(state, prompt)
    return verdict == "allow" or (verdict == "unclear" and _may_allow(state, prompt))


def _may_allow(state: ObservedState, prompt: ObservedPrompt) -> bool:
    """Whether an allow may be the answer that counts: what came before it was a deferral, or may be lost."""
    for gate in prompt.answers:
        if gate.answered_with == "allow":
            return True
        if gate.answered_with == "deny" and not state.may_be_lost(gate):
            return False
    return False


def approval_of(state: ObservedState, call: ObservedCall) -> str:
    """What approved the call, or an empty string: envelope, token, mode, answer, standing."""
    if passes_unasked(state, call):
        return "envelope" if call.path.is_driven else "mode"
    if was_allowed(state, call):
        return "answer"
    if call.path.is_driven and tokens_left(state, call) > 0:
        return "token"
    return "standing" if standing(state, call) else ""


def interactors_for(state: ObservedState, window: int) -> set[str]:
    """The interactors that were active throughout a window."""
    return {one for one in state.active if state.gone_in.get(one) != window}


def nobody_is_there(state: ObservedState) -> bool:
    """Whether no interactor is active, and none went away in this window."""
    return not state.active and state.window not in state.gone_in.values()
