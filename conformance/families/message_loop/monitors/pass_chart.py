"""Checks each pass against the chart of its stages, by its StagePreFired events and its end.

An observation that no transition explains violates the clause that closes the chart.  The violation is
reported only after the runtime is idle, so that a check that names the cause comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from runlock.conformance.families.message_loop.messages import Published, TurnEnded
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import ObservedTurn
from runlock.conformance.family.chart_monitor import NO_DETOURS, Detour, Detours, Follower, Reading
from runlock.conformance.family.clause_result import ClauseResult
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.invariant import broken
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import Observation
from runlock.machines.message_loop.charts.stages import Pass
from runlock.machines.table import Table, compile_chart

TABLE: Final[Table] = compile_chart(Pass)
BOUND: Final = "its bound"
SENT_AGAIN: Final[Detours] = frozenset(
    {Detour("STREAM_RESPONSE", "SEND_REQUEST"), Detour("SEND_REQUEST", "SEND_REQUEST")}
)
"""Extra transitions of a resent request, for a runtime that announces its stages again."""

READING: Final = Reading(
    TABLE,
    enters={
        **{stage: (stage,) for stage in (
            "RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER",
        )},
        "Rendered": ("NaturalEnd",),
        "Finished": ("NaturalEnd",),
        "Bounded": (BOUND,),
        "Blocked": ("Blocked",),
        "Cancelled": ("Cancelled",),
        "Failed": ("Error",),
    },
)  # fmt: skip


class PassChart(Monitor):
    """Checks every pass of a scenario against the chart of its stages."""

    clauses: ClassVar[frozenset[str]] = frozenset(
        {*(row.clause for row in TABLE.rows), *TABLE.closed.values()}
    )

    reads = (Published, TurnEnded)

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.passes: dict[tuple[str, Any], Follower] = {}  # by turn and correlationId

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Record the start of a stage, or the end of a chat turn."""
        turn = self.state.turn_of(seen)
        if turn is None:
            return
        if isinstance(seen, Published) and seen.watcher is None and seen.name == "StagePreFired":
            yield from self._see(turn, seen.get("correlationId"), str(seen.get("stage")))
        elif isinstance(seen, TurnEnded) and turn.kind == "chat" and turn.reason is None:
            ids = [key for key in self.passes if key[0] == turn.id]
            if ids and not _may_end_anywhere(turn, seen):
                yield from self._see(turn, ids[-1][1], BOUND if seen.reason.is_bound else seen.reason.code)

    def _see(self, turn: ObservedTurn, correlation: Any, label: str) -> Iterator[ClauseResult]:
        who = (turn.id, correlation)
        follower = self.passes.setdefault(who, Follower(READING))
        failed = any(request.has_failed for path in turn.passes for request in path.sent)
        detours = SENT_AGAIN if failed else NO_DETOURS
        if not follower.after(label, detours):
            wanted = ", ".join(follower.right(detours)) or "nothing"
            reason = (
                f"after {follower.last or 'the beginning'} a pass goes on with {wanted}, and not with {label}"
            )
            yield ClauseResult(READING.closed, broken(reason), is_deferred=True)
            follower.lose()
            return
        follower.see(label, detours)
        rows = [row for row in follower.taken if row is not None]
        self.trails.take(TABLE, who, *rows)
        yield ClauseResult(READING.closed)
        yield from (ClauseResult(row.clause) for row in rows)


def _may_end_anywhere(turn: ObservedTurn, seen: TurnEnded) -> bool:
    """Whether the end reason does not tell the stage: a denial by a person may be reported as a cancel."""
    return seen.reason.code == "Cancelled" and not turn.cancelled_at
