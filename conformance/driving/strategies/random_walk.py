"""Random walks: each schedule is made move by move, over a random subset of the classes of action (swarm)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runlock.conformance.driving.bench import ERRORS_MAX, Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.tally import Tally
from runlock.conformance.family.chooser import Chooser, Seeded, chance, pick
from runlock.conformance.family.parts import Actions
from runlock.conformance.protocol import (
    Handshake,
)
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move

MOVES_MAX: Final = 24

TURNS_MAX: Final = 7
"""Upper bound, exclusive, on the turns of a move with a limit."""


def swarm(actions: Actions, chooser: Chooser) -> list[str]:
    """A random subset of the classes of action; each class is included with probability one half."""
    kept = [
        name
        for name in actions.table
        if name in actions.always or chance(chooser, actions.seldom.get(name, 2))
    ]
    kept = kept or list(actions.table)  # a family may have no class that is always on
    return [name for name in kept for _ in range(actions.weights.get(name, 1))]


def walk(session: Session, chooser: Chooser) -> None:
    """Walk on an open scenario, give the run everything that it still waits for, and close."""
    walk_over(session, chooser, swarm(session.family.actions, chooser))


def walk_over(session: Session, chooser: Chooser, names: Sequence[str]) -> None:
    """Walk over these classes of action; one that is listed twice is twice as likely."""
    context = session.family.actions.new_context(session.state)
    for _ in range(MOVES_MAX):
        if session.violation is not None:
            break
        proposed = session.family.actions.table[pick(chooser, names)](context, chooser)
        if proposed is not None:
            session.send(with_turns(proposed, session.handshake, chooser))
    session.wind_up()
    session.close()


def with_turns(move: Move, handshake: Handshake, chooser: Chooser) -> Move:
    """The move, sometimes with a limit of turns, so that the next one arrives while the runtime works."""
    if handshake.control.step != "turns" or move.method == CRASH_AND_RECOVER:
        return move
    return Move(move.method, move.params, chooser.choose(TURNS_MAX)) if chance(chooser, 4) else move


def run_shard(bench: Bench, shard: int, schedules: int, seed: int) -> Tally:
    """Run one shard: walks with their own seeds, each in the next scenario."""
    tally = Tally()
    for index in range(schedules):
        scenario = bench.scenarios[(shard + index) % len(bench.scenarios)]
        chooser = Seeded(seed, shard, index)
        bench.play(scenario, lambda session, chooser=chooser: walk(session, chooser), tally)  # type: ignore[misc]
        if len(tally.troubles) >= ERRORS_MAX:
            break
    return tally
