"""Environment actions: answers of tools, people, hooks, state machine, context, assertions and store."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.message_loop.actions.context import Action, Stage, release, release_one
from runlock.conformance.families.message_loop.state.records import ObservedGate
from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.trace.moves import Move


def tool_answers(kind: str) -> Action:
    """Builds the action in which a tool gives this kind of answer."""

    def answer(stage: Stage, chooser: Chooser) -> Move | None:
        """A tool answers."""
        field = "content" if kind in ("ok", "error", "activity") else "message"
        gates = stage.gates("tool")
        if not gates or not stage.handshake.takes("tool", kind):
            return None
        gate = pick(chooser, gates)
        words = f"<{kind} {gate.opened.call} {stage.fresh('a')}>"
        return Move("gate.release", {"gate": gate.ref, "outcome": {"kind": kind, field: words}})

    return answer


def prompt_allows(scope: str) -> Action:
    """Builds the action in which a person allows a call, for itself or for a wider scope."""

    def answer(stage: Stage, chooser: Chooser) -> Move | None:
        """A person allows a call."""
        if scope != "once" and scope not in stage.handshake.grants:
            return None
        gates = [gate for gate in stage.gates("prompt") if scope != "stage" or gate.opened.stage is not None]
        return release_one(stage, chooser, gates, {"kind": "allow", "scope": scope})

    return answer


def prompt_answers(kind: str) -> Action:
    """Builds the action in which a person denies a call, or defers."""

    def answer(stage: Stage, chooser: Chooser) -> Move | None:
        """A person answers."""
        return release(stage, chooser, "prompt", {"kind": kind})

    return answer


def _hooks(stage: Stage, role: str | None = None) -> list[ObservedGate]:
    return [gate for gate in stage.gates("hook") if role is None or gate.opened.role == role]


def hook_continues(stage: Stage, chooser: Chooser) -> Move | None:
    """A hook lets the stage go on."""
    return release(stage, chooser, "hook", {"kind": "continue"})


def guard_denies(stage: Stage, chooser: Chooser) -> Move | None:
    """A guard denies."""
    return release_one(
        stage, chooser, _hooks(stage, "guard"), {"kind": "deny", "message": "the guard says no"}
    )


def transform_rewrites(stage: Stage, chooser: Chooser) -> Move | None:
    """A transform rewrites what it was shown."""
    return _rewrites(stage, chooser, "transform")


def observer_answers(stage: Stage, chooser: Chooser) -> Move | None:
    """An observer answers deny or rewrite, which its role does not allow."""
    gates = _hooks(stage, "observer")
    if chooser.choose(2) and gates and stage.handshake.takes("hook", "deny"):
        return release_one(stage, chooser, gates, {"kind": "deny", "message": "the observer says no"})
    return _rewrites(stage, chooser, "observer")


def _rewrites(stage: Stage, chooser: Chooser, role: str) -> Move | None:
    gates = _hooks(stage, role)
    if not gates or not stage.handshake.takes("hook", "rewrite"):
        return None
    gate = pick(chooser, gates)
    choices = rewrites_of(gate, stage.fresh("rewrite"))
    if not choices:
        return None
    return Move(
        "gate.release", {"gate": gate.ref, "outcome": {"kind": "rewrite", "data": pick(chooser, choices)}}
    )


def rewrites_of(gate: ObservedGate, words: str) -> list[dict[str, Any]]:
    """The rewrites that a hook may make of the data that it was shown."""
    shown, data = gate.opened, gate.opened.data or {}
    if shown.at == "RECEIVE_INPUT":
        return [{"input": words}]
    if shown.at in ("STREAM_RESPONSE", "RENDER"):
        return [{"text": f"{words} "}]
    if shown.at == "TOOL_CALL" and shown.point == "post":
        return [{"content": words}, {"status": "error", "content": words}]
    if shown.at == "TOOL_CALL":
        args = data.get("args")
        return [{"args": {**(args if isinstance(args, dict) else {}), "v": words}}]
    messages = data.get("messages")
    added = [{"messages": [*messages, {"role": "user", "text": words}]}] if isinstance(messages, list) else []
    return [{"system": words}, *added]


def hook_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """A hook breaks."""
    return release(stage, chooser, "hook", {"kind": "fault", "message": "the hook broke"})


def machine_judges(kind: str) -> Action:
    """The state machine approves a call, or finds it outside the envelope."""

    def answer(stage: Stage, chooser: Chooser) -> Move | None:
        """The state machine approves a call, or finds it outside the envelope."""
        return release(stage, chooser, "sm", {"kind": kind})

    return answer


def context_comes(stage: Stage, chooser: Chooser) -> Move | None:
    """A provider gives slices within its budget."""
    return _slices(stage, chooser, chooser.choose(3), over=False)


def context_is_too_much(stage: Stage, chooser: Chooser) -> Move | None:
    """A provider gives more than its budget."""
    return _slices(stage, chooser, 2, over=True)


def _slices(stage: Stage, chooser: Chooser, count: int, *, over: bool) -> Move | None:
    gates = stage.gates("context")
    if not gates or not stage.handshake.takes("context", "slices"):
        return None
    gate = pick(chooser, gates)
    budget = gate.opened.budget or 1
    size = (budget * 3) // 4 if over else max(1, budget // 4)
    slices = [f"[{stage.fresh('slice')}]".ljust(size, ".")[: max(size, 1)] for _ in range(count)]
    return Move("gate.release", {"gate": gate.ref, "outcome": {"kind": "slices", "slices": slices}})


def context_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """A provider breaks."""
    return release(stage, chooser, "context", {"kind": "fault", "message": "the provider broke"})


def assertion_is_ok(stage: Stage, chooser: Chooser) -> Move | None:
    """The assertion accepts the transcript, and gives the slot."""
    return release(stage, chooser, "assert", {"kind": "ok", "slot": {"n": stage.fresh("slot")}})


def assertion_retries(stage: Stage, chooser: Chooser) -> Move | None:
    """The assertion wants another attempt."""
    return release(stage, chooser, "assert", {"kind": "retry"})


def assertion_fails(stage: Stage, chooser: Chooser) -> Move | None:
    """The assertion fails."""
    return release(stage, chooser, "assert", {"kind": "fail", "message": "not done"})


def store_takes(stage: Stage, chooser: Chooser) -> Move | None:
    """The store takes a commit."""
    return release(stage, chooser, "store.put", {"kind": "ok"})


def store_breaks(stage: Stage, chooser: Chooser) -> Move | None:
    """The store does not take a commit."""
    return release(stage, chooser, "store.put", {"kind": "fault", "message": "the store broke"})
