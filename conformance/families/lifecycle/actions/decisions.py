"""Someone decides: about one call or several, in time or not, rightly or not."""

from __future__ import annotations

from typing import Any, Final

from runlock.conformance.families.lifecycle.actions.context import Action, Stage
from runlock.conformance.families.lifecycle.messages.stimuli import ABANDONED
from runlock.conformance.families.lifecycle.state.nesting import leaves
from runlock.conformance.families.lifecycle.state.records import ObservedCall
from runlock.conformance.family.chooser import Chooser, chance, pick
from runlock.conformance.trace.moves import Move

PAYLOADS: Final[tuple[Any, ...]] = ("approved", None, False, 0, "", {"v": "changed"}, [1, 2])

ELSEWHERE: Final = "elsewhere:"
"""What stands before the call of a decision that comes on another thread."""


def _decide(stage: Stage, decisions: list[dict[str, Any]]) -> Move:
    run = stage.state.run
    assert run is not None
    return stage.request("decide", {"run": run.id, "decisions": decisions})


def _decision(stage: Stage, chooser: Chooser, call: str, action: str) -> dict[str, Any]:
    decision = {"id": stage.fresh("d"), "call": call, "action": action}
    if action == "resume" and stage.handshake.decisions.payload:
        decision["payload"] = pick(chooser, PAYLOADS)
    if action == "cancel" and stage.handshake.decisions.abandon and chance(chooser, 2):
        decision["payload"] = ABANDONED
    return decision


def decide_one(action: str) -> Action:
    """Someone decides about a call that waits."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        waiting = stage.waiting()
        if not waiting or not stage.may_decide():
            return None
        return _decide(stage, [_decision(stage, chooser, pick(chooser, waiting).id, action)])

    return act


def decide_all(stage: Stage, chooser: Chooser) -> Move | None:
    """Someone decides about all calls that wait, in one batch and any order."""
    waiting = stage.waiting()
    if len(waiting) < 2 or not stage.may_decide():
        return None
    ordered = waiting[::-1] if chance(chooser, 2) else waiting
    actions = [pick(chooser, ("resume", "resume", "cancel")) for _ in ordered]
    return _decide(
        stage, [_decision(stage, chooser, c.id, action) for c, action in zip(ordered, actions, strict=True)]
    )


def decide_anything(stage: Stage, chooser: Chooser) -> Move | None:
    """Someone decides about any call: one that is over, executing, not asked for, or waiting."""
    run = stage.state.run
    if run is None or not stage.may_decide():
        return None
    names = [*(call.id for call in leaves(stage.state, run)), "nobody", *_elsewhere(stage)]
    return _decide(
        stage, [_decision(stage, chooser, pick(chooser, names), pick(chooser, ("resume", "cancel")))]
    )


def _elsewhere(stage: Stage) -> list[str]:
    """The calls of earlier runs, and what waits as another thread would name it."""
    if not stage.handshake.decisions.elsewhere:
        return []
    earlier = [run for run in stage.state.runs.values() if run is not stage.state.run]
    former = [call.id for run in earlier for call in run.calls.values()]
    return [*former, *(f"{ELSEWHERE}{call.id}" for call in stage.waiting())]


def decide_twice(stage: Stage, chooser: Chooser) -> Move | None:
    """A decision that was sent before is sent again, id and all."""
    run = stage.state.run
    sent = [d for c in run.every_call for d in c.decisions if not d.repeats] if run is not None else []
    if not sent or not stage.may_decide() or not stage.handshake.decisions.ids:
        return None
    again = sent[-1]
    decision = {"id": again.id, "call": again.call, "action": again.action, "payload": again.payload}
    if again.edit:
        decision = {**decision, "edit": dict(again.edit)}
    if again.scope:
        decision = {**decision, "scope": again.scope}
    return _decide(stage, [decision])


def edit(stage: Stage, chooser: Chooser) -> Move | None:
    """Someone approves a call that waits, and changes its arguments or its tool."""
    waiting = [call for call in stage.waiting() if _runs_again(call)]
    if not waiting or not stage.may_decide() or not stage.handshake.decisions.edit:
        return None
    return _decide(stage, [_edited(stage, chooser, pick(chooser, waiting))])


def edit_stale(stage: Stage, chooser: Chooser) -> Move | None:
    """Someone edits a call that is over, or one in a suspension that is."""
    run, taken = stage.state.run, stage.handshake.decisions
    if run is None or not stage.may_decide() or not taken.edit:
        return None
    past = [c for c in run.calls.values() if c.suspensions > (1 if c.waits else 0) and _runs_again(c)]
    past = past if taken.suspensions else [call for call in past if call.is_final]
    if not past:
        return None
    suspension = {"suspension": 1} if taken.suspensions else {}
    return _decide(stage, [{**_edited(stage, chooser, pick(chooser, past)), **suspension}])


def _runs_again(call: ObservedCall) -> bool:
    return call.tool is not None and call.tool.resume_mode == "replay"


def _edited(stage: Stage, chooser: Chooser, call: ObservedCall) -> dict[str, Any]:
    taken = stage.handshake.decisions.edit
    edited: dict[str, Any] = {}
    if "args" in taken:
        said = f"<edited {stage.fresh('e')}>"
        edited["args"] = {"k": call.id} if chance(chooser, 4) else {"k": call.id, "v": said}
    if "name" in taken and not stage.state.has_expiries and ("args" not in taken or chance(chooser, 3)):
        tools = [tool for tool in stage.state.scenario.tools if tool.agent is None]
        others = [tool.name for tool in tools if tool.name != call.name]
        edited["name"] = pick(chooser, (*others, "no-such-tool"))
    return {"id": stage.fresh("d"), "call": call.id, "action": "resume", "edit": edited}


def decide_stale(stage: Stage, chooser: Chooser) -> Move | None:
    """A decision for a suspension that is over."""
    if stage.run is None or not stage.may_decide() or not stage.handshake.decisions.suspensions:
        return None
    past = [c for c in stage.run.calls.values() if c.suspensions > (1 if c.waits else 0)]
    if not past:
        return None
    decision = _decision(stage, chooser, pick(chooser, past).id, pick(chooser, ("resume", "cancel")))
    return _decide(stage, [{**decision, "suspension": 1}])


def decide_with_a_bad_one(stage: Stage, chooser: Chooser) -> Move | None:
    """A good decision in one batch with one for a call that no one asked for."""
    waiting = stage.waiting()
    if not waiting or not stage.may_decide():
        return None
    good = _decision(stage, chooser, pick(chooser, waiting).id, "resume")
    bad = _decision(stage, chooser, "nobody", "resume")
    return _decide(stage, [bad, good] if chance(chooser, 2) else [good, bad])


def grant(stage: Stage, chooser: Chooser) -> Move | None:
    """Someone approves a call that waits, and with it calls that are asked for later."""
    own = stage.run.calls.values() if stage.run is not None else ()
    waiting = [call for call in own if call.waits and not call.has_agent and _runs_again(call)]
    scopes = [scope for scope in stage.handshake.grants if scope != "once"]
    if not waiting or not scopes or not stage.may_decide():
        return None
    decision = _decision(stage, chooser, pick(chooser, waiting).id, "resume")
    return _decide(stage, [{**decision, "scope": pick(chooser, scopes)}])


def revoke(stage: Stage, chooser: Chooser) -> Move | None:
    """The grants for a tool are revoked."""
    tools = list(dict.fromkeys(grant.call.name for grant in stage.state.grants))
    if not tools or "grant.revoke" not in stage.handshake.stimuli:
        return None
    return Move("grant.revoke", {"tool": pick(chooser, tools)})
