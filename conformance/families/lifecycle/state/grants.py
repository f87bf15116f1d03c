"""Standing grants, and what they cover.

A decision that names a scope also approves calls that the model asks for later.  Whether a grant covers a
call is certain only if the grant was seen to act; a crash leaves open whether it is kept.  A call that is
certainly covered is, to all checks but those of GRANT, one whose tool needs no approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

from runlock.conformance.families.lifecycle.state.knowledge import Knowledge
from runlock.conformance.families.lifecycle.state.records import (
    Decided,
    Grant,
    ObservedCall,
    is_alike,
)
from runlock.conformance.text import quoted

OWN: Final = "is for this call"


class Cover(IntEnum):
    """Whether a standing grant covers a call."""

    NO = 0
    OPEN = 1
    YES = 2


def granted(state: Knowledge, decided: Decided, call: ObservedCall) -> None:
    """A decision that names a scope was sent."""
    if decided.scope is None or decided.action != "resume" or decided.repeats:
        return
    state.grants.append(Grant(decided, call, decided.scope, state.life, state.depth))


def revoked(state: Knowledge, params: Mapping[str, Any]) -> None:
    """The grants for a tool were revoked: calls that were asked for before may still run on them."""
    for grant in state.grants:
        if grant.call.name == params["tool"] or grant.decided.edit:
            grant.revoked_at = grant.revoked_at or state.stimuli
            grant.is_surely_revoked = grant.is_surely_revoked or state.alone
            grant.checkpoints = len(state.checkpoints)
    for run in state.runs.values():
        for call in run.calls.values():
            if call.is_granted and call.name == params["tool"] and not call.entries:
                call.may_be_granted = True


def asked_under_grants(state: Knowledge, call: ObservedCall) -> None:
    """The model asked for a call: does a grant cover it?"""
    covered = cover(state, call)
    call.may_be_granted = covered is Cover.OPEN
    call.is_granted = covered is Cover.YES
    if call.is_granted and call.tool is not None and call.tool.permission == "ask":
        call.tool = call.tool.model_copy(update={"permission": "allow"})


def verdict_under_grants(call: ObservedCall | None, outcome: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the permission hook says of a call: a grant answers for it where it would have the call wait."""
    is_answered = call is not None and call.is_granted and outcome["kind"] == "suspend"
    return {"kind": "allow"} if is_answered else outcome


def grants_crashed(state: Knowledge) -> None:
    """A crash may cost grants, and the revocation of one that no checkpoint has followed."""
    for grant in state.grants:
        is_stored = len(state.checkpoints) > grant.checkpoints
        grant.is_surely_revoked = grant.is_surely_revoked and is_stored
    for run in state.runs.values():
        for call in run.calls.values():
            call.may_be_granted = call.may_be_granted or call.is_granted


def cover(state: Knowledge, call: ObservedCall) -> Cover:
    """Whether a standing grant covers a call, under the policies as far as they are known."""
    return max((_covers(state, grant, call) for grant in state.grants), default=Cover.NO)


def covering(state: Knowledge, call: ObservedCall) -> Grant | None:
    """A grant that certainly covers a call."""
    return next((one for one in state.grants if _covers(state, one, call) is Cover.YES), None)


def _covers(state: Knowledge, grant: Grant, call: ObservedCall) -> Cover:
    if call.tool is None or misfit(state, grant, call) or is_revoked(grant, call):
        return Cover.NO
    return Cover.YES if _is_sure(state, grant, call) else Cover.OPEN


def is_revoked(grant: Grant, call: ObservedCall) -> bool:
    """Whether a grant had certainly been revoked when the model asked for a call."""
    return grant.is_surely_revoked and call.asked_at > (grant.revoked_at or call.asked_at)


def misfit(state: Knowledge, grant: Grant, call: ObservedCall) -> str:
    """Why a grant does not cover a call, whether or not it was revoked; empty if it may."""
    match, scopes = state.policy("grant.match"), state.policy("grant.scopes")
    if grant.decided.turned_down:
        return "was not accepted"
    if grant.call is call:
        return OWN
    if grant.decided.edit:
        return ""
    if grant.call.name != call.name:
        return f"is for the tool {grant.call.name}"
    if grant.scope not in (state.handshake.grants if scopes is None else scopes):
        return "stands for one call"
    if grant.scope == "run" and grant.call.run != call.run and grant.depth == state.depth:
        return f"is for run {grant.call.run}"
    if match == "call":
        return "covers no later call"
    if match == "arguments" and not is_alike(grant.call.args, call.args):
        return f"is for the arguments {quoted(grant.call.args)}"
    is_older = call.asked_at < grant.decided.at and grant.depth == state.depth
    return "came after the model had asked for the call" if is_older else ""


def _is_sure(state: Knowledge, grant: Grant, call: ObservedCall) -> bool:
    """Whether a grant that fits was certainly given for calls like this, before the model asked for it."""
    decided, given, tool = grant.decided, grant.call, grant.call.tool
    is_taken = decided.answers is given and not (decided.unsure or decided.stale or decided.edit)
    has_acted = decided.entries_before == 0 and len(given.entries) > 0
    is_plain = tool is not None and tool.resume_mode == "replay" and not given.is_unclear
    is_here = grant.life == state.life == call.life and grant.depth == state.depth
    is_later = call.asked_at > decided.at and state.policy("grant.match") is not None
    fits = is_taken and has_acted and is_plain and is_here and is_later and not call.duplicate_id
    return fits and grant.revoked_at is None
