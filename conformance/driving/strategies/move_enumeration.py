"""Enumerates the enabled moves at a point of a schedule within a small scope, the simplest first.

The classes of action are those of the random walks, with every choice that they make tried in turn, so
that a new class is included automatically.  Equivalent choices are made once: the name of a call, which
of several tools that are declared alike, a payload of a kind that was tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from runlock.conformance.family.parts import Actions
from runlock.conformance.family.races import meets
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move, race


@dataclass(frozen=True, slots=True)
class Scope:
    """The bounds of the enumeration; up to `uneven` moves of a schedule may be races or preempt the runtime.

    With `one_order`, only one order of two commuting stimuli is continued.
    """

    calls: int = 2
    turns: tuple[int, ...] = (0, 1, 2, 3)
    uneven: int = 1
    is_pruned: bool = True
    one_order: bool = False


@dataclass(frozen=True, slots=True)
class EnabledMove:
    """One move, the id counters after it, and whether it is a race or limited in turns.

    It `stands_for` this many moves, including itself, that differ only in names.
    """

    move: Move
    counts: Mapping[str, int] = field(default_factory=dict)
    is_uneven: bool = False
    stands_for: int = 1


def enabled_moves(actions: Actions, context: Any, scope: Scope, uneven: int = 0) -> list[EnabledMove]:
    """Every single stimulus at this point, each once, after a number of uneven moves."""
    plain = list(_distinct(_plain(actions, context, scope)))
    return plain if uneven >= scope.uneven else [*plain, *_in_few_turns(plain, context, scope)]


def pairs(actions: Actions, context: Any, scope: Scope, uneven: int = 0) -> list[EnabledMove]:
    """Every two stimuli that can be sent at once at this point, after a number of uneven moves."""
    return [] if uneven >= scope.uneven else list(_distinct(_races(actions, context, scope)))


def _plain(actions: Actions, context: Any, scope: Scope) -> Iterator[EnabledMove]:
    if not context.state.quiescent:
        yield EnabledMove(Move("settle", {}), context.counts)
    for enumeration in actions.enumerations.values():
        yield from enumeration(context, scope, is_race=False)
    for name in actions.table:
        if name not in actions.enumerations and name not in actions.not_enumerated:
            yield from actions.reduced(every(actions, name, context), context, scope)


def _distinct(options: Iterable[EnabledMove]) -> Iterator[EnabledMove]:
    seen: set[str] = set()
    for option in options:
        key = repr(option.move)
        if key not in seen:
            seen.add(key)
            yield option


# --- every choice of a class --------------------------------------------------------------------


class ChoiceSequence:
    """A chooser that follows a choice sequence, then makes the simplest choices; `turned` is the next
    sequence."""

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

    def next_sequence(self) -> list[int] | None:
        """The next sequence: advances the last choice that has another option."""
        for at in range(len(self.made) - 1, -1, -1):
            made, options = self.made[at]
            if made + 1 < options:
                return [*(before for before, _ in self.made[:at]), made + 1]
        return None


def every(actions: Actions, name: str, context: Any) -> Iterator[EnabledMove]:
    """All proposals of a class of action, over all the choices that it makes."""
    limits = {count: tried.get(name, 1) for count, tried in actions.long_lists.items()}
    setting: list[int] | None = []
    while setting is not None:
        choices = ChoiceSequence(setting, limits)
        trial = context.aside()
        move = actions.table[name](trial, choices)
        if move is not None:
            yield EnabledMove(move, trial.counts)
        setting = choices.next_sequence()


# --- uneven moves -------------------------------------------------------------------------------


def _in_few_turns(plain: Sequence[EnabledMove], context: Any, scope: Scope) -> Iterator[EnabledMove]:
    """Each move with a small limit of turns, so that the next one may arrive while the runtime is working."""
    if context.handshake.control.step != "turns":
        return
    for option in plain:
        if option.move.method != CRASH_AND_RECOVER:
            for turns in scope.turns:
                yield replace(option, move=replace(option.move, turns=turns), is_uneven=True)


def _races(actions: Actions, context: Any, scope: Scope) -> Iterator[EnabledMove]:
    """Two stimuli that arrive before the runtime runs again, in both orders."""
    if "deliver" not in context.handshake.stimuli:
        return
    for first in _racing(actions, context, scope):
        after_first = actions.new_context(context.state, dict(first.counts))
        for second in _racing(actions, after_first, scope):
            if not meets(second.move, [first.move]):
                both = first.stands_for * second.stands_for
                yield EnabledMove(race([first.move, second.move]), second.counts, True, both)


def _racing(actions: Actions, context: Any, scope: Scope) -> Iterator[EnabledMove]:
    for name in actions.racers:
        enumeration = actions.enumerations.get(name)
        if enumeration is None:
            yield from _distinct(every(actions, name, context))
        else:
            yield from enumeration(context, scope, is_race=True)
