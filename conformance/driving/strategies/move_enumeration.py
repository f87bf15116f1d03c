"""The menu: every move that a small scope allows at a point of a schedule, the plainest first.

The classes of action are those of the walks, with every choice that they make tried in turn, so that a
class that is added there is on the menu as well.  Choices of which one stands for all are made once: the
name of a call, which tool of several that are declared alike, a payload of a kind that was tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from runlock.conformance.family.family import Actions
from runlock.conformance.family.races import meets
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move, race


@dataclass(frozen=True, slots=True)
class Scope:
    """How much is on the menu; `uneven` moves of a schedule may be races or find the runtime at work.

    With `one_order`, what two stimuli lead to is tried in one of their orders, where both are answered alike.
    """

    calls: int = 2
    turns: tuple[int, ...] = (0, 1, 2, 3)
    uneven: int = 1
    is_pruned: bool = True
    one_order: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """One move, how far each kind of id is used after it, and whether it is a race or bounded in turns.

    It `stands_for` so many moves that differ from it by names alone, itself among them.
    """

    move: Move
    counts: Mapping[str, int] = field(default_factory=dict)
    is_uneven: bool = False
    stands_for: int = 1


def menu(actions: Actions, context: Any, scope: Scope, uneven: int = 0) -> list[Option]:
    """Every single stimulus at this point, each once, after so many uneven moves."""
    plain = list(_distinct(_plain(actions, context, scope)))
    return plain if uneven >= scope.uneven else [*plain, *_in_few_turns(plain, context, scope)]


def pairs(actions: Actions, context: Any, scope: Scope, uneven: int = 0) -> list[Option]:
    """Every two stimuli that can be sent at once at this point, after so many uneven moves."""
    return [] if uneven >= scope.uneven else list(_distinct(_races(actions, context, scope)))


def _plain(actions: Actions, context: Any, scope: Scope) -> Iterator[Option]:
    if not context.state.quiescent:
        yield Option(Move("settle", {}), context.counts)
    for enumeration in actions.enumerations.values():
        yield from enumeration(context, scope, is_race=False)
    for name in actions.table:
        if name not in actions.enumerations and name not in actions.not_enumerated:
            yield from actions.reduced(every(actions, name, context), context, scope)


def _distinct(options: Iterable[Option]) -> Iterator[Option]:
    seen: set[str] = set()
    for option in options:
        key = repr(option.move)
        if key not in seen:
            seen.add(key)
            yield option


# --- every choice of a class --------------------------------------------------------------------


class Dial:
    """A chooser that makes the choices it is set to, then the plainest; `turned` is the next setting."""

    def __init__(self, setting: Sequence[int], limits: Mapping[int, int] = MappingProxyType({})) -> None:
        self.setting = setting
        self.limits = limits  # how many choices are tried, by the length of their list
        self.made: list[tuple[int, int]] = []

    def choose(self, count: int) -> int:
        options = min(count, self.limits.get(count, count))
        at = len(self.made)
        made = self.setting[at] if at < len(self.setting) else 0
        self.made.append((made, options))
        return made

    def turned(self) -> list[int] | None:
        """The setting after this one: the last choice that has another option takes it."""
        for at in range(len(self.made) - 1, -1, -1):
            made, options = self.made[at]
            if made + 1 < options:
                return [*(before for before, _ in self.made[:at]), made + 1]
        return None


def every(actions: Actions, name: str, context: Any) -> Iterator[Option]:
    """What a class of action may propose, over all the choices that it makes."""
    limits = {count: tried.get(name, 1) for count, tried in actions.long_lists.items()}
    setting: list[int] | None = []
    while setting is not None:
        dial = Dial(setting, limits)
        trial = context.aside()
        move = actions.table[name](trial, dial)
        if move is not None:
            yield Option(move, trial.counts)
        setting = dial.turned()


# --- uneven moves -------------------------------------------------------------------------------


def _in_few_turns(plain: Sequence[Option], context: Any, scope: Scope) -> Iterator[Option]:
    """Each move with so few turns that the next one may meet the runtime at work."""
    if context.handshake.control.step != "turns":
        return
    for option in plain:
        if option.move.method != CRASH_AND_RECOVER:
            for turns in scope.turns:
                yield replace(option, move=replace(option.move, turns=turns), is_uneven=True)


def _races(actions: Actions, context: Any, scope: Scope) -> Iterator[Option]:
    """Two things that happen before the runtime runs again, in both orders."""
    if "deliver" not in context.handshake.stimuli:
        return
    for first in _racing(actions, context, scope):
        after_first = actions.new_context(context.state, dict(first.counts))
        for second in _racing(actions, after_first, scope):
            if not meets(second.move, [first.move]):
                both = first.stands_for * second.stands_for
                yield Option(race([first.move, second.move]), second.counts, True, both)


def _racing(actions: Actions, context: Any, scope: Scope) -> Iterator[Option]:
    for name in actions.racers:
        enumeration = actions.enumerations.get(name)
        if enumeration is None:
            yield from _distinct(every(actions, name, context))
        else:
            yield from enumeration(context, scope, is_race=True)
