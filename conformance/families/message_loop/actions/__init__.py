"""Classes of action: what the environment may do next, one function for each class.

An action looks at the observed state and proposes a move, or None where it is not enabled.  They are many
and small, so that a search can switch whole classes off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.conformance.families.message_loop.actions import model, session, world
from runlock.conformance.families.message_loop.actions.context import Action, Stage
from runlock.conformance.families.message_loop.actions.enumeration import (
    FIRST,
    LISTS,
    asks,
    in_a_turn,
    starts,
)
from runlock.conformance.family.parts import Actions
from runlock.conformance.family.races import RACES, racing

__all__ = ["ACTIONS", "LOOP_ACTIONS", "Stage"]

RACERS: Final = (
    "model_asks", "model_ends", "model_says", "tool_ok", "tool_error", "prompt_allow", "prompt_deny",
    "prompt_defer", "hook_continues", "guard_denies", "cancel", "interactor_goes",
)  # fmt: skip
"""Classes of action that may occur together, two or three in one race."""

TABLE: Final[dict[str, Action]] = {
    "start": session.start,
    "model_asks": model.model_asks,
    "model_asks_for_one_kind": model.model_asks_for_one_kind,
    "model_ends": model.model_ends,
    "model_says": model.model_says,
    "model_begins_a_call": model.model_begins_a_call,
    "model_is_terminal": model.model_is_terminal,
    "model_errs": model.model_errs,
    "model_repeats_an_id": model.model_repeats_an_id,
    "model_breaks": model.model_breaks,
    **{f"tool_{kind}": world.tool_answers(kind) for kind in ("ok", "error", "raise", "fault", "activity")},
    "prompt_allow": world.prompt_allows("once"),
    "prompt_allow_stage": world.prompt_allows("stage"),
    "prompt_allow_session": world.prompt_allows("session"),
    "prompt_deny": world.prompt_answers("deny"),
    "prompt_defer": world.prompt_answers("defer"),
    "hook_continues": world.hook_continues,
    "guard_denies": world.guard_denies,
    "transform_rewrites": world.transform_rewrites,
    "observer_answers": world.observer_answers,
    "hook_breaks": world.hook_breaks,
    "machine_approve": world.machine_judges("approve"),
    "machine_out": world.machine_judges("out"),
    "context_comes": world.context_comes,
    "context_is_too_much": world.context_is_too_much,
    "context_breaks": world.context_breaks,
    "assertion_is_ok": world.assertion_is_ok,
    "assertion_retries": world.assertion_retries,
    "assertion_fails": world.assertion_fails,
    "store_takes": world.store_takes,
    "store_breaks": world.store_breaks,
    "cancel": session.cancel,
    "late_answer": session.late_answer,
    "interactor_goes": session.interactor_goes,
    "watch": session.watch,
    "unwatch": session.unwatch,
    "settle": session.settle,
    "time_passes": session.time_passes,
    "look": session.look,
}

ACTIONS: Final[Mapping[str, Action]] = {**TABLE, RACES: racing(TABLE, RACERS)}
"""Every class of action by name, in a fixed order."""

PREFIXES: Final = {
    "model_": "model", "tool_": "tool", "prompt_": "prompt", "hook_": "hook", "guard_": "hook",
    "transform_": "hook", "observer_": "hook", "machine_": "sm", "context_": "context",
    "assertion_": "assert", "store_": "store.put",
}  # fmt: skip
"""Gate kinds by the prefix of the class name: an action with this prefix releases such a gate."""

GATES: Final[Mapping[str, str]] = {
    name: gate for name in TABLE for prefix, gate in PREFIXES.items() if name.startswith(prefix)
}
"""The kind of gate that a class of action releases."""

RELEASING: Final = (*(name for name in GATES if not name.startswith(("model_", "context_"))), "late_answer")
"""Classes of action that answer one of several gates, which a search tries one after the other."""

PLAIN: Final = (
    "start", "model_asks", "model_ends", "tool_ok", "prompt_allow", "hook_continues", "machine_approve",
    "context_comes", "assertion_is_ok", "store_takes",
)  # fmt: skip
"""Classes of action without which no turn can finish."""


def _met(stage: Stage) -> set[str]:
    """The prerequisites that hold now: the kinds of the open gates."""
    return {gate.on for gate in stage.state.open_gates}


LOOP_ACTIONS: Final = Actions(
    table=ACTIONS,
    new_context=Stage,
    racers=RACERS,
    prerequisites=GATES,
    gates=GATES,
    met=_met,
    weights={
        "start": 6, "model_asks": 6, "model_ends": 4, "tool_ok": 8, "prompt_allow": 6, "hook_continues": 12,
        "context_comes": 6, "store_takes": 10, "assertion_is_ok": 3, "machine_approve": 3, RACES: 2,
    },
    always=PLAIN,
    telling=(*PLAIN, "prompt_deny", "prompt_defer", "transform_rewrites", "guard_denies", "cancel"),
    enumerations={"start": starts, "model_asks": asks},
    not_enumerated=(
        RACES, "settle", "look", "time_passes", "model_asks_for_one_kind", "watch", "unwatch",
    ),
    long_lists={length: {**FIRST, **dict.fromkeys(RELEASING, length)} for length in LISTS},
    reduced=in_a_turn,
)  # fmt: skip
