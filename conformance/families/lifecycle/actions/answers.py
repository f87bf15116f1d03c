"""Permission, tools and the store answer."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.lifecycle.actions.context import Action, Stage, release
from runlock.conformance.family.chooser import Chooser
from runlock.conformance.trace.moves import Move


def permission_answers(kind: str) -> Action:
    """The permission hook answers."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        outcome: dict[str, Any] = {"kind": kind}
        if kind == "set_result":
            outcome["content"] = f"<set {stage.fresh('s')}>"
        return release(stage, chooser, "permission", outcome)

    return act


def tool_answers(kind: str) -> Action:
    """A tool answers, throws, or cannot be run; what it says is said by no other answer."""

    def act(stage: Stage, chooser: Chooser) -> Move | None:
        if not stage.gates("tool"):
            return None
        said = f"<{kind} {stage.fresh('a')}>"
        outcome: dict[str, Any] = {"kind": kind, "content": said}
        if kind in ("raise", "fault"):
            outcome = {"kind": kind, "message": said}
        elif kind == "pending":
            outcome = {"kind": kind}
        elif kind == "error":
            outcome = {"kind": kind, "content": said, "message": said}
        return release(stage, chooser, "tool", outcome)

    return act


def store_takes(stage: Stage, chooser: Chooser) -> Move | None:
    """The store has it."""
    return release(stage, chooser, "store.put", {"kind": "ok"})


def store_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """The store does not take it."""
    return release(stage, chooser, "store.put", {"kind": "fault", "message": "the disk is full"})
