"""Turns of the model that a search tries: every mixture of tools, without renamings of one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from runlock.conformance.driving.strategies.move_enumeration import ChoiceSequence, EnabledMove, Scope
from runlock.conformance.families.lifecycle.actions.context import Stage
from runlock.conformance.families.lifecycle.actions.registry import ACTIONS
from runlock.conformance.families.lifecycle.messages import Scenario, ToolSpec
from runlock.conformance.trace.moves import Move


def asks(context: Stage, scope: Scope, *, is_race: bool) -> Iterator[EnabledMove]:
    """Turns of the model: one call and more in any mixture of tools; three of one tool, and three of three.

    In a race, each tool alone.
    """
    gates = context.gates("model")
    tools = context.tools(gates[0]) if gates else []
    some = range(len(tools))
    if is_race:
        yield from without_renamings((_ask(context, [tool]) for tool in some), context, scope)
        return
    for count in range(1, scope.calls + 1):
        yield from without_renamings(
            (_ask(context, asked) for asked in product(some, repeat=count)), context, scope
        )
    threes = [*([tool] * 3 for tool in some), *([some[:3]] if len(tools) > 2 else [])]
    yield from without_renamings((_ask(context, asked) for asked in threes), context, scope)


def _ask(context: Stage, asked: Sequence[int]) -> EnabledMove:
    trial = context.aside()
    move = ACTIONS["model_asks"](trial, ChoiceSequence([len(asked) - 1, *asked]))
    return EnabledMove(move or Move("settle", {}), trial.counts)


def without_renamings(options: Iterable[EnabledMove], context: Stage, scope: Scope) -> Iterator[EnabledMove]:
    """Of turns that differ by a name alone, one; without pruning all, under both orders of the names."""
    for option in options:
        if option.move.method == "settle":
            continue
        calls = option.move.params.get("outcome", {}).get("tool_calls", ())
        if not scope.is_pruned:
            yield option
            yield from _renamed(option, calls)
        elif _is_first_of_its_kind([call["name"] for call in calls], context.state.scenario):
            orders = 1 + sum(1 for _ in _renamed(option, calls))
            yield replace(option, stands_for=orders * _renamings(calls, context.state.scenario))


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


def _kind(tool: ToolSpec, scenario: Scenario) -> tuple[object, ...]:
    """All of a tool but its name, and whether a condition names it."""
    named = any(condition.tool_name == tool.name for condition in scenario.agent.stop)
    return tool.permission, tool.resume_mode, repr(tool.parameters), repr(tool.agent), named


def _renamed(option: EnabledMove, calls: Sequence[Mapping[str, Any]]) -> Iterator[EnabledMove]:
    if len({call["id"] for call in calls}) < 2:
        return
    backwards = [
        {**call, "id": other["id"], "args": other["args"]}
        for call, other in zip(calls, reversed(calls), strict=True)
    ]
    outcome = {**option.move.params["outcome"], "tool_calls": backwards}
    yield replace(option, move=replace(option.move, params={**option.move.params, "outcome": outcome}))
