"""Classes of action: what the outside world may do next, one function for each class.

An action looks at what is known, chooses, and proposes a move, or nothing where there is no occasion for
it.  Actions do not ask whether a move is legal: the judge knows.  They are many and small so that a
search can switch whole classes off, which finds more than any mixture of all of them does.

`stage` is what they look at, `table` names them all; between the two is a file for each part of the world.
"""

from typing import Final

from runlock.conformance.families.lifecycle.actions.context import Stage
from runlock.conformance.families.lifecycle.actions.decisions import PAYLOADS
from runlock.conformance.families.lifecycle.actions.enumeration import asks, without_renamings
from runlock.conformance.families.lifecycle.actions.registry import (
    ACTIONS,
    ALWAYS,
    GATE_OF,
    NEEDS,
    RACERS,
    SELDOM,
    TELLING,
    WEIGHTS,
    at_hand,
)
from runlock.conformance.family.parts import Actions

__all__ = ["ACTIONS", "LIFECYCLE_ACTIONS", "NEEDS", "PAYLOADS", "RACERS", "Stage", "at_hand"]

NOT_ENUMERATED: Final = (
    "model_asks_for_one_kind", "model_stops_short", "model_streams", "races", "settle", "kill", "edit",
    "edit_stale", "grant", "revoke",
)  # fmt: skip
"""Classes that an exhaustive search leaves out."""

LIFECYCLE_ACTIONS: Final = Actions(
    table=ACTIONS,
    new_context=Stage,
    racers=RACERS,
    prerequisites=NEEDS,
    gates=GATE_OF,
    met=at_hand,
    weights=WEIGHTS,
    always=ALWAYS,
    seldom=SELDOM,
    telling=TELLING,
    enumerations={"model_asks": asks},
    not_enumerated=NOT_ENUMERATED,
    long_lists={len(PAYLOADS): {"approve": 3}},
    reduced=without_renamings,
)
