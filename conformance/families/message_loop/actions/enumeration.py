"""Moves that a search tries: every combination of tools, and one of several that differ only in names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from typing import Any, Final

from runlock.conformance.driving.strategies.move_enumeration import EnabledMove, Scope
from runlock.conformance.families.message_loop.actions.context import Stage
from runlock.conformance.families.message_loop.actions.model import asked, response
from runlock.conformance.families.message_loop.actions.session import beginnings
from runlock.conformance.trace.moves import Move

LISTS: Final = (3, 5)
"""The lengths of the lists of which a search tries the first choices alone, unless the class is named."""

FIRST: Final = {"context_comes": 2, "model_errs": 2}
"""Classes that try the first two choices of such a list."""


def asks(context: Stage, scope: Scope, *, is_race: bool) -> Iterator[EnabledMove]:
    """Responses of the model with one call and more; the calls of one ask for tools in their listed order."""
    names = [tool.name for tool in context.scenario.tools if tool.offered]
    for gate in context.gates("model"):
        for count in range(1, (1 if is_race else scope.calls) + 1):
            for tools in combinations_with_replacement(names, count):
                if not _is_redundant(tools, names, scope):
                    trial = context.aside()
                    calls = [asked(trial.fresh("c"), tool) for tool in tools]
                    yield EnabledMove(response(gate, "", calls), trial.counts)


def _is_redundant(tools: tuple[str, ...], names: list[str], scope: Scope) -> bool:
    """Whether these are several calls without the first tool, when a search is pruned."""
    return scope.is_pruned and len(tools) > 1 and names[0] not in tools


def in_a_turn(options: Iterable[EnabledMove], context: Stage, scope: Scope) -> Iterator[EnabledMove]:
    """The options without interactors that leave between two turns, when a search is pruned."""
    for option in options:
        if not scope.is_pruned or context.turn is not None or option.move.method != "interactor.gone":
            yield option


def starts(context: Stage, scope: Scope, *, is_race: bool) -> Iterator[EnabledMove]:
    """One turn of each kind: a chat turn, the first stage, and a group with its join."""
    if context.turn is not None or (context.state.run is not None and not context.takes("run.again")):
        return
    trial = context.aside()
    run = trial.fresh("r")
    kinds: dict[str, dict[str, Any]] = {}
    for beginning in beginnings(trial, run):
        kind = next(iter(beginning))
        if kind not in kinds or beginning.get("join"):
            kinds[kind] = beginning
    for beginning in kinds.values():
        yield EnabledMove(Move("run.start", {"run": run, **beginning}), trial.counts)
