"""Every class of action by its name, and what is made of several of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from runlock.conformance.families.lifecycle.actions.answers import (
    permission_answers,
    store_breaks,
    store_takes,
    tool_answers,
)
from runlock.conformance.families.lifecycle.actions.context import Action, Stage
from runlock.conformance.families.lifecycle.actions.decisions import (
    decide_all,
    decide_anything,
    decide_one,
    decide_stale,
    decide_twice,
    decide_with_a_bad_one,
)
from runlock.conformance.families.lifecycle.actions.model import (
    model_asks,
    model_asks_for_one_kind,
    model_breaks,
    model_ends,
    model_errs,
)
from runlock.conformance.families.lifecycle.actions.plugins import hook_acts, hook_continues
from runlock.conformance.families.lifecycle.actions.runs import (
    cancel,
    crash,
    give_input,
    kill,
    settle,
    start,
    time_passes,
)
from runlock.conformance.families.lifecycle.actions.watchers import decide_and_watch, unwatch, watch
from runlock.conformance.family.chooser import Chooser, chance, pick
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move, race

TURNS_MAX: Final = 7


def races(stage: Stage, chooser: Chooser) -> Move | None:
    """Two or three things happen before the runtime runs again."""
    if "deliver" not in stage.handshake.stimuli:
        return None
    wanted = [ACTIONS[pick(chooser, RACERS)] for _ in range(2 + chooser.choose(2))]
    moves: list[Move] = []
    for action in wanted:
        move = action(stage, chooser)
        if move is not None and not meets(move, moves):
            moves.append(move)
    return race(moves) if len(moves) > 1 else None


def may_race(stage: Stage, has_occasion: Callable[[str], bool]) -> bool:
    """Whether two things can happen before the runtime runs again, if these classes have an occasion."""
    if "deliver" not in stage.handshake.stimuli:
        return False
    racers = filter(has_occasion, RACERS)
    apart = {GATE_OF.get(name, name) for name in racers}  # a gate is released once
    return len(apart) > 1


def meets(move: Move, moves: list[Move]) -> bool:
    """Whether the gate of a release is taken already in the race."""
    return "gate" in move.params and any(move.params["gate"] == other.params.get("gate") for other in moves)


TOOL_KINDS: Final = ("ok", "warning", "error", "raise", "fault", "pending", "activity")
VERDICTS: Final = ("allow", "block", "suspend", "set_result")

RACERS: Final = (
    "tool_ok",
    "tool_error",
    "tool_pending",
    "permission_allow",
    "permission_suspend",
    "approve",
    "reject",
    "decide_anything",
    "cancel",
    "model_ends",
    "model_asks",
    "watch",
    "unwatch",
)
"""The classes of which two or three may happen at once."""

ACTIONS: Final[dict[str, Action]] = {
    "start": start,
    "model_asks": model_asks,
    "model_asks_for_one_kind": model_asks_for_one_kind,
    "model_ends": model_ends,
    "model_errs": model_errs,
    "model_breaks": model_breaks,
    **{f"tool_{kind}": tool_answers(kind) for kind in TOOL_KINDS},
    **{f"permission_{kind}": permission_answers(kind) for kind in VERDICTS},
    "store_takes": store_takes,
    "store_breaks": store_breaks,
    "approve": decide_one("resume"),
    "reject": decide_one("cancel"),
    "decide_all": decide_all,
    "decide_anything": decide_anything,
    "decide_twice": decide_twice,
    "decide_stale": decide_stale,
    "decide_with_a_bad_one": decide_with_a_bad_one,
    "cancel": cancel,
    "give_input": give_input,
    "crash": crash,
    "kill": kill,
    "races": races,
    "settle": settle,
    "time_passes": time_passes,
    "hook_continues": hook_continues,
    **{f"hook_{kind}": hook_acts(kind) for kind in ("terminate", "skip_inference", "rewrite")},
    "watch": watch,
    "unwatch": unwatch,
    "decide_and_watch": decide_and_watch,
}
"""Every class of action by name, in a fixed order."""

FAMILIES: Final = {
    "model_": "model",
    "permission_": "permission",
    "tool_": "tool",
    "store_": "store.put",
    "hook_": "hook",
}
"""Classes of action that release a gate, by how their names begin."""

GATE_OF: Final[dict[str, str]] = {
    name: gate for name in ACTIONS for family, gate in FAMILIES.items() if name.startswith(family)
}
"""The kind of gate that a class of action releases."""

A_WAIT: Final = "a call that waits"

NEEDS: Final[dict[str, str]] = {
    **GATE_OF,
    **dict.fromkeys(("approve", "reject", "decide_all", "decide_with_a_bad_one", "decide_and_watch"), A_WAIT),
}
"""What has to be there for a class of action to have an occasion: an open gate of a kind, or a wait."""


def at_hand(stage: Stage) -> set[str]:
    """What there is of that which classes of action need."""
    waits = {A_WAIT} if stage.waiting() else set()
    return {gate.on for gate in stage.state.open_gates} | waits


def with_turns(move: Move, stage: Stage, chooser: Chooser) -> Move:
    """The move, now and then with so few turns that the next one meets the runtime at work."""
    if stage.handshake.control.step != "turns" or move.method == CRASH_AND_RECOVER:
        return move
    return Move(move.method, move.params, chooser.choose(TURNS_MAX)) if chance(chooser, 4) else move
