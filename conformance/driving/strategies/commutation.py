"""Commutation test: whether two stimuli give the same answers in either order (partial-order reduction).

No table says which stimuli are independent, since a faulty runtime may distinguish any two of them.  Each
pair is tested on the runtime at the point where it occurs: both orders are run, and each stimulus must get
the same answer in both; then both are continued in the simplest way to the end of the run, and must show
the same.  If so, the continuations of one order represent those of the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.session_snapshot import SessionSnapshot
from runlock.conformance.driving.strategies.move_enumeration import Scope, enabled_moves
from runlock.conformance.driving.tally import Tally
from runlock.conformance.protocol import Scenario
from runlock.conformance.trace.moves import CRASH_AND_RECOVER, Move

APART: Final = ("deliver", "settle", "run.start", CRASH_AND_RECOVER)
"""Verbs without another order: a race contains its orders, and a restart or new run comes after the rest."""

Answer = dict[str, Any]


def is_second(moves: Sequence[Move]) -> bool:
    """Whether the last two moves may also come in the other order, which is the one to continue from."""
    if len(moves) < 2 or any(one.method in APART or one.turns is not None for one in moves[-2:]):
        return False
    first, second = map(_place, moves[-2:])
    return second < first


def _place(move: Move) -> str:
    """A move without the names that the kit generates in order."""
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


def commute(
    bench: Bench,
    scenario: Scenario,
    moves: Sequence[Move],
    scope: Scope,
    tally: Tally,
    *,
    snapshot: SessionSnapshot | None = None,
) -> bool:
    """Whether the last two moves get the same answers, and lead to the same end, in both their orders.

    The moves before them are not judged again if a snapshot is given as `snapshot`.
    """
    *before, first, second = moves
    told = _told(bench, scenario, _Way(moves, scope, snapshot), tally)
    if told is None:
        return False
    other = _told(bench, scenario, _Way([*before, second, first], scope, snapshot), tally)
    if other is None:
        return False
    at = len(before)
    other[at], other[at + 1] = other[at + 1], other[at]
    return told == other


def _told(bench: Bench, scenario: Scenario, way: _Way, tally: Tally) -> list[Answer] | None:
    """The answers to each stimulus until the end of the run; None if the search does not include this
    schedule."""
    session = bench.judged(scenario, way, tally)
    is_tried = session is not None and session.violation is None and way.is_on_the_menu
    return list(_answers(session)) if session is not None and is_tried else None


class _Way:
    """Sends these moves, checks that the last two are enabled, and continues to the end of the run."""

    def __init__(self, moves: Sequence[Move], scope: Scope, snapshot: SessionSnapshot | None) -> None:
        self.moves = moves
        self.scope = scope
        self.snapshot = snapshot
        self.is_on_the_menu = True

    def __call__(self, session: Session) -> None:
        session.play(self.moves[:-2], self.snapshot)
        for move in self.moves[-2:]:
            self.is_on_the_menu &= self._offers(session, move)
            session.play([move])
        self.is_on_the_menu &= session.sent == [*self.moves]
        session.drain()
        session.close()

    def _offers(self, session: Session, move: Move) -> bool:
        actions = session.family.actions
        offered = enabled_moves(actions, actions.new_context(session.state), self.scope, self.scope.uneven)
        return session.state.quiescent and _place(move) in {_place(option.move) for option in offered}


def _answers(session: Session) -> Iterator[Answer]:
    """The answer to each stimulus, with gates by what waits at them instead of their ids."""
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
