"""The menu: every move that a small scope allows at a point of a schedule, the plainest first.

The classes of action are those of the walks, with every choice that they make tried in turn, so that a
class that is added there is on the menu as well.  Choices of which one stands for all are made once: the
name of a call, which tool of several that are declared alike, a payload of a kind that was tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Final

from runlock.conformance.families.lifecycle.actions import (
    ACTIONS,
    PAYLOADS,
    RACERS,
    Stage,
    meets,
)
from runlock.conformance.families.lifecycle.messages import ToolSpec
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move, race

LEFT_OUT: Final = ("model_asks", "model_asks_for_one_kind", "races", "settle", "kill")
"""Classes that are put on the menu in a way of their own, and the one that costs a process."""

PAYLOADS_TRIED: Final = {"approve": 3}
"""So many payloads are tried there, `null` and `false` among them; everywhere else the plainest."""


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


def menu(stage: Stage, scope: Scope, uneven: int = 0) -> list[Option]:
    """Every single stimulus at this point, each once, after so many uneven moves."""
    plain = list(_distinct(_plain(stage, scope)))
    return plain if uneven >= scope.uneven else [*plain, *_in_few_turns(plain, stage, scope)]


def pairs(stage: Stage, scope: Scope, uneven: int = 0) -> list[Option]:
    """Every two stimuli that can be sent at once at this point, after so many uneven moves."""
    return [] if uneven >= scope.uneven else list(_distinct(_races(stage, scope)))


def _plain(stage: Stage, scope: Scope) -> Iterator[Option]:
    if not stage.state.quiescent:
        yield Option(Move("settle", {}), stage.counts)
    yield from _asks(stage, scope)
    for name in ACTIONS:
        if name not in LEFT_OUT:
            yield from _allowed(every(name, stage), stage, scope)


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

    def __init__(self, setting: Sequence[int], payloads: int) -> None:
        self.setting = setting
        self.payloads = payloads
        self.made: list[tuple[int, int]] = []

    def choose(self, count: int) -> int:
        options = min(count, self.payloads) if count == len(PAYLOADS) else count
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


def every(name: str, stage: Stage) -> Iterator[Option]:
    """What a class of action may propose, over all the choices that it makes."""
    setting: list[int] | None = []
    while setting is not None:
        dial = Dial(setting, PAYLOADS_TRIED.get(name, 1))
        trial = replace(stage, counts=dict(stage.counts))
        move = ACTIONS[name](trial, dial)
        if move is not None:
            yield Option(move, trial.counts)
        setting = dial.turned()


# --- turns of the model -------------------------------------------------------------------------


def _asks(stage: Stage, scope: Scope) -> Iterator[Option]:
    """One call and more in any mixture of tools; three of one tool, and three of three."""
    tools = stage.state.scenario.tools
    some = range(len(tools))
    for count in range(1, scope.calls + 1):
        yield from _allowed((_ask(stage, asked) for asked in product(some, repeat=count)), stage, scope)
    threes = [*([tool] * 3 for tool in some), *([some[:3]] if len(tools) > 2 else [])]
    yield from _allowed((_ask(stage, asked) for asked in threes), stage, scope)


def _ask(stage: Stage, asked: Sequence[int]) -> Option:
    trial = replace(stage, counts=dict(stage.counts))
    move = ACTIONS["model_asks"](trial, Dial([len(asked) - 1, *asked], 1))
    return Option(move or Move("settle", {}), trial.counts)


def _allowed(options: Iterable[Option], stage: Stage, scope: Scope) -> Iterator[Option]:
    """Of turns that differ by a name alone, one; without pruning all, under both orders of the names."""
    for option in options:
        if option.move.method == "settle":
            continue
        calls = option.move.params.get("outcome", {}).get("tool_calls", ())
        if not scope.is_pruned:
            yield option
            yield from _renamed(option, calls)
        elif _is_first_of_its_kind([call["name"] for call in calls], stage.state.scenario):
            orders = 1 + sum(1 for _ in _renamed(option, calls))
            yield replace(option, stands_for=orders * _renamings(calls, stage.state.scenario))


def _is_first_of_its_kind(names: Sequence[str], scenario: Scenario) -> bool:
    """Whether of tools that are declared alike the first is asked for first, then the second."""
    return all(name == left[0] for name, left in _choices(names, scenario))


def _renamings(calls: Sequence[Mapping[str, Any]], scenario: Scenario) -> int:
    """How many turns there are that differ from this one by which of several like tools it asks for."""
    return prod(len(left) for _, left in _choices([call["name"] for call in calls], scenario))


def _choices(names: Sequence[str], scenario: Scenario) -> Iterator[tuple[str, list[str]]]:
    """Each tool of a turn when it is first asked for, and the tools like it that were not asked for yet."""
    met: list[str] = []
    for name in names:
        kind = next((tool for tool in scenario.tools if tool.name == name), None)
        if kind is None or name in met:
            continue
        alike = [tool.name for tool in scenario.tools if _kind(tool, scenario) == _kind(kind, scenario)]
        yield name, [one for one in alike if one not in met]
        met.append(name)


def _kind(tool: ToolSpec, scenario: Scenario) -> tuple[str, bool]:
    named = any(condition.tool_name == tool.name for condition in scenario.agent.stop)
    return _but_for_its_name(tool), named


@lru_cache(maxsize=100)
def _but_for_its_name(tool: ToolSpec) -> str:
    return repr(tool.model_copy(update={"name": ""}))


def _renamed(option: Option, calls: Sequence[Mapping[str, Any]]) -> Iterator[Option]:
    if len({call["id"] for call in calls}) < 2:
        return
    backwards = [
        {**call, "id": other["id"], "args": other["args"]}
        for call, other in zip(calls, reversed(calls), strict=True)
    ]
    outcome = {**option.move.params["outcome"], "tool_calls": backwards}
    yield replace(option, move=replace(option.move, params={**option.move.params, "outcome": outcome}))


# --- uneven moves -------------------------------------------------------------------------------


def _in_few_turns(plain: Sequence[Option], stage: Stage, scope: Scope) -> Iterator[Option]:
    """Each move with so few turns that the next one may meet the runtime at work."""
    if stage.handshake.control.step != "turns":
        return
    for option in plain:
        if option.move.method != CRASH_AND_RECOVER:
            for turns in scope.turns:
                yield replace(option, move=replace(option.move, turns=turns), is_uneven=True)


def _races(stage: Stage, scope: Scope) -> Iterator[Option]:
    """Two things that happen before the runtime runs again, in both orders."""
    if "deliver" not in stage.handshake.stimuli:
        return
    for first in _racing(stage, scope):
        for second in _racing(replace(stage, counts=dict(first.counts)), scope):
            if not meets(second.move, [first.move]):
                both = first.stands_for * second.stands_for
                yield Option(race([first.move, second.move]), second.counts, True, both)


def _racing(stage: Stage, scope: Scope) -> Iterator[Option]:
    for name in RACERS:
        if name != "model_asks":
            yield from _distinct(every(name, stage))
        elif stage.gates("model"):
            alone = range(len(stage.state.scenario.tools))
            yield from _allowed((_ask(stage, [tool]) for tool in alone), stage, scope)
