"""The walk: a schedule made move by move, over a random part of the classes of action (swarm)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from runlock.conformance.driving.session import Session
from runlock.conformance.families.lifecycle.actions import ACTIONS, Stage, with_turns
from runlock.conformance.family.chooser import Chooser, chance, pick

MOVES_MAX: Final = 24

LIKELY: Final[Mapping[str, int]] = {
    "start": 8,
    "model_asks": 6,
    "model_asks_for_one_kind": 3,
    "tool_ok": 5,
    "tool_pending": 2,
    "permission_allow": 4,
    "store_takes": 8,
    "approve": 4,
    "races": 3,
    "hook_continues": 8,
}
"""How much likelier than others these classes are, so that most schedules get somewhere."""

SELDOM: Final[Mapping[str, int]] = {"kill": 40}
"""Classes that cost much, a new process at least: one of so many schedules has them."""

ALWAYS: Final = ("start", "model_asks", "tool_ok", "store_takes", "permission_allow", "hook_continues")
"""Classes without which hardly any schedule gets anywhere: they are never switched off."""


def swarm(chooser: Chooser) -> list[str]:
    """A part of the classes of action; each of the others is in it as often as not."""
    kept = [name for name in ACTIONS if name in ALWAYS or chance(chooser, SELDOM.get(name, 2))]
    return [name for name in kept for _ in range(LIKELY.get(name, 1))]


def walk(session: Session, chooser: Chooser) -> None:
    """Take a walk on an open scenario, give the run whatever it still waits for, and close."""
    walk_over(session, chooser, swarm(chooser))


def walk_over(session: Session, chooser: Chooser, names: Sequence[str]) -> None:
    """Take a walk over these classes of action; one that stands there twice is twice as likely."""
    stage = Stage(session.state)
    for _ in range(MOVES_MAX):
        if session.violation is not None:
            break
        proposed = ACTIONS[pick(chooser, names)](stage, chooser)
        if proposed is not None:
            session.send(with_turns(proposed, stage, chooser))
    finish(session, stage, chooser)


def finish(session: Session, stage: Stage, chooser: Chooser) -> None:
    """Drain the run, and now and then begin the next one on the thread, which sees what was left behind."""
    session.drain()
    if session.violation is None and chance(chooser, 3):
        move = ACTIONS["start"](stage, chooser)
        if move is not None:
            session.send(move)
            session.drain()
    session.close()
