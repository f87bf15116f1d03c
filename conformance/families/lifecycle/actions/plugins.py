"""Plugins let go on, or act, where a hook is open to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runlock.conformance.families.lifecycle.actions.context import (
    Action,
    Stage,
    offered,
    release,
)
from runlock.conformance.families.lifecycle.state.records import ObservedGate
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.trace.moves import Move

HOOK_ANSWERS: Final[Mapping[str, tuple[str, ...]]] = {
    "RunStart": ("rewrite",),
    "BeforeInference": ("rewrite", "skip_inference", "terminate"),
    "AfterInference": ("rewrite", "terminate"),
    "ToolGate": ("rewrite",),
    "BeforeToolExecute": ("block",),
    "AfterToolExecute": ("rewrite",),
}
"""What a plugin may do at a phase, other than letting it go on."""


def hook_continues(stage: Stage, chooser: Chooser) -> Move | None:
    """A plugin does nothing."""
    return release(stage, chooser, "hook", {"kind": "continue"})


def hook_acts(kind: str) -> Action:
    """A plugin asks for the end, skips the inference, or puts something else in place of what it is shown."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        gates = [gate for gate in stage.gates("hook") if kind in _answers_at(stage, gate)]
        if not gates or not offered(stage, "hook", kind):
            return None
        gate = pick(chooser, gates)
        outcome: dict[str, Any] = {"kind": kind}
        if kind == "rewrite":
            outcome["data"] = _rewritten(stage, gate)
        return Move("gate.release", {"gate": gate.ref, "outcome": outcome})

    return act


def _answers_at(stage: Stage, gate: ObservedGate) -> tuple[str, ...]:
    at = gate.opened.at or ""
    if at == "BeforeInference" and stage.state.policy("phases") == "nine":
        return ("rewrite",)  # an inference is skipped by a plugin of eight phases alone
    return HOOK_ANSWERS.get(at, ())


def _rewritten(stage: Stage, gate: ObservedGate) -> dict[str, Any]:
    at, shown = gate.opened.at, gate.opened.data or {}
    if at in ("RunStart", "ToolGate"):
        return {"state": {"set_up": stage.fresh("u")}}
    if at == "BeforeInference":
        return {"system": f"be brief ({stage.fresh('p')})", "params": {"temperature": 0}}
    if at == "AfterInference":
        calls = shown.get("tool_calls")
        return {"tool_calls": calls[:-1] if isinstance(calls, list) else []}
    return {"content": f"<rewritten {stage.fresh('w')}>"}
