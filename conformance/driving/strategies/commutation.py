"""Two orders of two stimuli: whether a runtime answers both alike, so that one of them may stand for both.

No table says which stimuli are independent: a runtime that errs may keep any two of them apart.  So each pair
is asked of the runtime itself, at the point where it is met: both orders are played, and each stimulus has to
be answered the same in both; then both go on, on the plainest way, to the end of the run, and have to show
the same.  What such a pair leads to in the one order, it is then taken to lead to in the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.session_snapshot import Bookmark
from runlock.conformance.driving.strategies.move_enumeration import Scope, menu
from runlock.conformance.driving.tally import Tally
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move

APART: Final = ("deliver", "settle", "run.start", CRASH_AND_RECOVER)
"""What has no other order: a race has it within, and a new life or a new run begins behind all else."""

NAMING: Final = ("watcher", "outcome", "decisions")
"""Parameters that hold names."""

Answer = dict[str, Any]


def is_second(moves: Sequence[Move]) -> bool:
    """Whether the last two moves may also come in the other order, and that is the one to go on from."""
    if len(moves) < 2 or any(one.method in APART or one.turns is not None for one in moves[-2:]):
        return False
    first, second = map(_place, moves[-2:])
    return second < first


def _place(move: Move) -> str:
    """What a move is but for the names that the kit makes up as it goes, which follow the order."""
    params = {
        key: value for key, value in move.params.items() if key not in ("watcher", "outcome", "decisions")
    }
    outcome = move.params.get("outcome", {})
    asked = [call["name"] for call in outcome.get("tool_calls", ())]
    decided = [
        (one["call"], one["action"], one.get("payload"), one.get("suspension"))
        for one in move.params.get("decisions", ())
    ]
    return json.dumps([move.method, params, outcome.get("kind"), asked, decided], sort_keys=True)


def are_alike(
    bench: Bench,
    scenario: Scenario,
    moves: Sequence[Move],
    scope: Scope,
    tally: Tally,
    *,
    behind: Bookmark | None = None,
) -> bool:
    """Whether the last two moves have the same answers, and lead to the same end, in both their orders.

    What comes before them is not judged again if they are played `behind` a bookmark.
    """
    *before, first, second = moves
    told = _told(bench, scenario, _Way(moves, scope, behind), tally)
    if told is None:
        return False
    other = _told(bench, scenario, _Way([*before, second, first], scope, behind), tally)
    if other is None:
        return False
    at = len(before)
    other[at], other[at + 1] = other[at + 1], other[at]
    return told == other


def _told(bench: Bench, scenario: Scenario, way: _Way, tally: Tally) -> list[Answer] | None:
    """What each stimulus of a way led to, to the end of its run; nothing if it is none of the search."""
    session = bench.judged(scenario, way, tally)
    is_tried = session is not None and session.violation is None and way.is_on_the_menu
    return list(_answers(session)) if session is not None and is_tried else None


class _Way:
    """Sends these moves, sees to it that the last two are on the menu, and goes on to the end of the run."""

    def __init__(self, moves: Sequence[Move], scope: Scope, behind: Bookmark | None) -> None:
        self.moves = moves
        self.scope = scope
        self.behind = behind
        self.is_on_the_menu = True

    def __call__(self, session: Session) -> None:
        session.play(self.moves[:-2], self.behind)
        for move in self.moves[-2:]:
            self.is_on_the_menu &= self._offers(session, move)
            session.play([move])
        self.is_on_the_menu &= session.sent == [*self.moves]
        session.drain()
        session.close()

    def _offers(self, session: Session, move: Move) -> bool:
        actions = session.family.actions
        offered = menu(actions, actions.new_context(session.state), self.scope, self.scope.uneven)
        return session.state.quiescent and _place(move) in {_place(option.move) for option in offered}


def _answers(session: Session) -> Iterator[Answer]:
    """The answer to each stimulus, with gates by what waits at them and not by their ids."""
    names: dict[str, str] = {}
    shown: list[Any] = []
    for record in session.trace.records:
        ((key, value),) = record.items()
        if key == "observation":
            shown.append(_named(session, value, names))
        elif key == "report":
            yield {"shown": shown, **value}
            shown = []


def _named(session: Session, seen: Mapping[str, Any], names: dict[str, str]) -> Mapping[str, Any]:
    if seen.get("kind") == "gate.open":
        names[seen["gate"]] = session.family.line_formats.gate_name(seen)
    return {**seen, "gate": names.get(seen["gate"])} if "gate" in seen else seen
