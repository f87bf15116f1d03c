"""Classes of action: what the model, the tools and the user may do next, one function for each class.

An action looks at the observed state and proposes a move, or None where it is not enabled.  They are many
and small, so that a search can switch whole classes off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.conformance.families.tool_runner.actions import model, user, world
from runlock.conformance.families.tool_runner.actions.context import Action, Stage
from runlock.conformance.family.parts import Actions
from runlock.conformance.family.races import RACES, racing

__all__ = ["ACTIONS", "RUNNER_ACTIONS", "Stage"]

RACERS: Final = (
    "model_asks", "model_ends", "tool_ok", "tool_error", "tool_raise", "resume", "push_note", "push_turn",
    "set_params", "set_messages", "cancel", "leave", "change_tools_add", "respond",
)  # fmt: skip
"""Classes of action that may occur together, two or three in one race."""

TABLE: Final[dict[str, Action]] = {
    "start": world.start,
    "model_asks": model.model_asks,
    "model_ends": model.model_ends,
    "model_stops": model.model_stops,
    "model_pauses": model.model_pauses,
    "model_errs": model.model_errs,
    "model_breaks": model.model_breaks,
    "model_gives_a_piece": model.model_gives_a_piece,
    **{f"tool_{kind}": world.tool_answers(kind) for kind in ("ok", "error", "raise", "fault")},
    "resume": user.resume,
    "leave": user.leave,
    "push_note": user.push_note,
    "push_turn": user.push_turn,
    "push_turn_and_response": user.push_turn_and_response,
    "push_turn_response_and_note": user.push_turn_response_and_note,
    "push_turn_and_note": user.push_turn_and_note,
    "push_foreign_turn": user.push_foreign_turn,
    "push_ill_formed": user.push_ill_formed,
    "set_params": user.set_params,
    "set_messages": user.set_messages,
    "respond": user.respond,
    **{f"change_tools_{kind}": user.change_tools(kind) for kind in ("add", "remove", "replace")},
    "again": user.again,
    "cancel": world.cancel,
    "settle": world.settle,
    "time_passes": world.time_passes,
    "look": world.look,
}

ACTIONS: Final[Mapping[str, Action]] = {**TABLE, RACES: racing(TABLE, RACERS)}
"""Every class of action by name, in a fixed order."""

GATES: Final[Mapping[str, str]] = {
    **{name: "model" for name in TABLE if name.startswith("model_")},
    **{name: "tool" for name in TABLE if name.startswith("tool_")},
    "resume": "yield",
    "leave": "yield",
}
"""The kind of gate that a class of action releases."""

ACTS: Final = (
    "respond",
    *(name for name in TABLE if name.startswith(("push_", "set_", "change_tools_"))),
)
"""Classes of action that need an open yield."""


def _met(stage: Stage) -> set[str]:
    """The prerequisites that hold now: the kinds of the open gates."""
    return {gate.on for gate in stage.state.open_gates}


RUNNER_ACTIONS: Final = Actions(
    table=ACTIONS,
    new_context=Stage,
    racers=RACERS,
    prerequisites={**GATES, **dict.fromkeys(ACTS, "yield")},
    gates=GATES,
    met=_met,
    weights={"start": 6, "model_asks": 8, "tool_ok": 8, "resume": 12, "races": 2, "model_gives_a_piece": 4},
    always=("start", "model_asks", "tool_ok", "resume"),
    telling=("start", "model_asks", "tool_ok", "tool_error", "resume", "push_note", "respond"),
    not_enumerated=(RACES, "settle", "look"),
)
