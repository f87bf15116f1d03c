"""Races: two or three moves that are delivered before the runtime runs again, for any family's actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.family.chooser import Chooser, pick
from runlock.conformance.family.parts import Action, Actions
from runlock.conformance.protocol import Handshake
from runlock.conformance.trace.moves import Move, race

RACES: Final = "races"
"""The class of action that combines others."""


def racing(table: Mapping[str, Action], racers: Sequence[str]) -> Action:
    """The action that proposes two or three moves of these classes at once."""

    def races(context: Any, chooser: Chooser) -> Move | None:
        """Two or three stimuli arrive before the runtime runs again."""
        if "deliver" not in context.handshake.stimuli:
            return None
        wanted = [table[pick(chooser, racers)] for _ in range(2 + chooser.choose(2))]
        moves: list[Move] = []
        for action in wanted:
            move = action(context, chooser)
            if move is not None and not meets(move, moves):
                moves.append(move)
        return race(moves) if len(moves) > 1 else None

    return races


def may_race(actions: Actions, handshake: Handshake, is_enabled: Callable[[str], bool]) -> bool:
    """Whether two moves can be delivered at once, given which classes are enabled."""
    if "deliver" not in handshake.stimuli:
        return False
    racers = filter(is_enabled, actions.racers)
    apart = {actions.gates.get(name, name) for name in racers}  # a gate is released once
    return len(apart) > 1


def meets(move: Move, moves: list[Move]) -> bool:
    """Whether a move of the race already releases the gate of this one."""
    return "gate" in move.params and any(move.params["gate"] == other.params.get("gate") for other in moves)
