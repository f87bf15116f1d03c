"""What the charts of rounds allow: followed over gates, answers and decisions, where no status names a state.

Each follower yields the clause that closes its chart, and whether it holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Final

from runlock.conformance.families.lifecycle.messages import CallMoved, DecisionTaken, GateOpened, SegmentEnded
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.coverage import Trails
from runlock.conformance.protocol import Observation
from runlock.machines.lifecycle.charts.concurrent_round import Barrier, ConcurrentTask, Dispatcher
from runlock.machines.lifecycle.charts.tool_execution import ThreeStages, TwoPhases
from runlock.machines.table import (
    Cursor,
    Refused,
    Row,
    Table,
    compile_chart,
)

PHASES: Final = compile_chart(TwoPhases)
STAGES: Final = compile_chart(ThreeStages)
TASKS: Final = compile_chart(ConcurrentTask)
DISPATCHER: Final = compile_chart(Dispatcher)
BARRIER: Final = compile_chart(Barrier)

FOLLOWED: Final = frozenset(
    clause for table in (PHASES, STAGES, TASKS, DISPATCHER, BARRIER) for clause in table.closed.values()
)
"""The clauses that the followers judge."""

SHOWN: Final = {
    PHASES: ("ROUND-24", "ROUND-25"),
    STAGES: ("ROUND-44", "ROUND-46", "ROUND-47", "ROUND-48"),
    TASKS: tuple(row.clause for row in TASKS.rows),
    DISPATCHER: ("ROUND-70", "ROUND-72", "ROUND-73"),
    BARRIER: ("ROUND-80",),
}
"""The arrows of each chart that a follower sees being taken."""

LAST: Final = ("ROUND-72", "ROUND-73")
"""Arrows after which a follower looks no further."""

TELLING: Final = (GateOpened, CallMoved, DecisionTaken, SegmentEnded)
"""The kinds of observation that tell where a round stands."""

SETTLED_ENDS: Final = ("NaturalEnd", "BehaviorRequested", "Stopped")


class RoundFollowers:
    """Follows the rounds of one scenario; ask it about each observation before the state takes it in."""

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.followers = (SerialRound(state, trails), Tasks(state, trails), Batches(state, trails))

    def judge(self, seen: Observation) -> Iterator[ClauseResult]:
        """Yield what the charts of rounds say of an observation."""
        for follower in self.followers:
            yield from follower.judge(seen)
        yield from _barrier(self.state, seen, self.trails)


def _onto(trails: Trails, table: Table, who: Hashable) -> Callable[[Row], None]:
    """Records the transitions of an object that begins its life cycle now."""
    trails.lose(table, who)
    return partial(trails.take, table, who)  # no lambda, which could not be pickled


def _calm_round(run: Run | None) -> tuple[Run, list[ObservedCall]] | None:
    """The newest round of a run, if nothing but verdicts, answers and decisions has touched it."""
    if run is None or run.disturbed_by(CANCEL, FAULT, CRASH, INPUT):
        return None
    calls = [call for call in run.calls.values() if call.step == run.steps]
    certain = bool(calls) and not any(call.is_unclear or call.raced for call in calls)
    return (run, calls) if certain else None


class SerialRound:
    """Follows interception and execution of a round up to the first decision about a call of it."""

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.of: tuple[str, int] | None = None
        self.cursor = Cursor(PHASES)

    def judge(self, seen: Observation) -> Iterator[ClauseResult]:
        """A gate of a call moves its round."""
        if not isinstance(seen, GateOpened) or seen.on not in ("permission", "tool"):
            return
        found, call = _calm_round(self.state.run), self.state.call_of(seen)
        if found is None or call not in found[1] or any(other.decisions for other in found[1]):
            return
        self._turn_to(*found)
        yield from self._judged(*found, call) if seen.on == "permission" else self._entered(call)

    def _turn_to(self, run: Run, calls: list[ObservedCall]) -> None:
        if self.of != (run.id, run.steps):
            table = STAGES if self.state.policy("phases") == "nine" else PHASES
            declared = all(self.state.policy(key) is not None for key in ("phases", "round.executor"))
            on_move = _onto(self.trails, table, None) if declared else None
            self.of, self.cursor = (run.id, run.steps), Cursor(table, on_move)

    def _judged(self, run: Run, calls: list[ObservedCall], call: ObservedCall) -> Iterator[ClauseResult]:
        table = self.cursor.table
        asked = [gate.call for gate in self.state.gates_of(run) if gate.on == "permission"]
        other = next((one for one in asked if one is not call and one in calls), None)
        if other is not None and table is STAGES:
            why = f"call {call.id} is judged while call {other.id} has no verdict yet"
            yield clause_result(table.closed[table.initial], why)
            return
        if self.cursor.state != table.initial:
            answer = self.cursor.would("judge_again")
            if isinstance(answer, Refused):
                why = f"call {call.id} is judged while its round executes, in {self.cursor.state}"
                yield clause_result(table.closed[table.initial], why)
                return
            self.cursor.send("judge_again")
        yield ClauseResult(table.closed[table.initial])

    def _entered(self, call: ObservedCall) -> Iterator[ClauseResult]:
        row = self.state.policy("round.executor") == "sequential"
        if self.cursor.state == STAGES.initial:
            self.cursor.send("all_judged")
        if not isinstance(self.cursor.would("one_by_one"), Refused):
            self.cursor.send("one_by_one" if row else "as_a_batch")
        yield ClauseResult(self.cursor.table.closed[self.cursor.table.initial])


def _is_concurrent(state: ObservedState) -> bool:
    parallel = state.policy("round.executor") == "parallel"
    return parallel and bool(state.policy("decision.window") == "immediate")


class Tasks:
    """Follows the task of each call, from its interception to its end."""

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.cursors: dict[ObservedCall, Cursor] = {}

    def judge(self, seen: Observation) -> Iterator[ClauseResult]:
        """A status moves the task; a permission gate belongs into its interception, or its replay."""
        run, call = self.state.run_of(seen), self.state.call_of(seen)
        if (
            run is None
            or call is None
            or call.is_unclear
            or run.disturbed_by(CRASH)
            or not _is_concurrent(self.state)
        ):
            return
        cursor = self.cursors.get(call)
        if cursor is None:
            cursor = self.cursors[call] = Cursor(TASKS, _onto(self.trails, TASKS, call))
        if isinstance(seen, GateOpened) and seen.on == "permission":
            right = cursor.state in ("Intercept", "Replay")
            why = f"the task of call {call.id} is in {cursor.state}, yet its permission is asked"
            yield clause_result(TASKS.closed[cursor.state], "" if right else why)
        elif isinstance(seen, CallMoved) and seen.to != call.claimed:
            yield from self._move(cursor, call, seen.to)

    def _move(self, cursor: Cursor, call: ObservedCall, to: str) -> Iterator[ClauseResult]:
        event = _task_event(cursor.state, to)
        if event is None:
            return
        answer = cursor.would(event)
        if isinstance(answer, Refused):
            yield clause_result(TASKS.closed[cursor.state], f"call {call.id} became {to}, yet {answer}")
            return
        cursor.send(event)
        yield ClauseResult(TASKS.closed[answer.row.source])


def _task_event(state: str, to: str) -> str | None:
    """The event of a task that a status of its call stands for."""
    if to == "Running":
        return "allow" if state != "Replay" else None  # a replay that says that it runs
    return {"New": None, "Suspended": "hold", "Resuming": "wake"}.get(to, "finish")


class Batches:
    """Follows the dispatcher: each decision of a batch is dealt with once."""

    def __init__(self, state: ObservedState, trails: Trails) -> None:
        self.state = state
        self.trails = trails
        self.dealt_with: Counter[str] = Counter()
        self.life = state.life

    def judge(self, seen: Observation) -> Iterator[ClauseResult]:
        """A disposition takes one decision out of what was handed over."""
        if not isinstance(seen, DecisionTaken) or not _is_concurrent(self.state):
            return
        if self.life != self.state.life:  # what was not seen acknowledged may come again
            self.life, self.dealt_with = self.state.life, Counter()
        cursor, decision = Cursor(DISPATCHER, _onto(self.trails, DISPATCHER, None)), seen.decision
        if self.state.nested and not self.state.handed_over[decision]:
            return  # it was for a call within a call
        if self.dealt_with[decision] < self.state.handed_over[decision]:
            cursor.send("batch")
        if seen.disposition != "buffered":
            self.dealt_with[decision] += 1
        event = "dispatch" if seen.disposition == "accepted" else "nobody"
        state, refused = cursor.state, isinstance(cursor.would(event), Refused)
        if not refused:
            cursor.send(event)
        why = f"decision {decision} was dealt with already, yet it was {seen.disposition} once more"
        yield clause_result(DISPATCHER.closed[state], why if refused else "")


def _barrier(state: ObservedState, seen: Observation, trails: Trails) -> Iterator[ClauseResult]:
    """The barrier of a concurrent round is passed by its last call."""
    ends = isinstance(seen, SegmentEnded) and seen.reason.code in SETTLED_ENDS
    asks = isinstance(seen, GateOpened) and seen.on == "model"
    found = _calm_round(state.run_of(seen)) if (ends or asks) and _is_concurrent(state) else None
    if found is None:
        return
    live = [call for call in found[1] if not _is_over(call)]
    cursor = Cursor(BARRIER, _onto(trails, BARRIER, None))
    cursor.send("task_over", {"all_terminal": not live})
    passed = cursor.is_final
    what = "the run ended" if ends else "the model is asked"
    why = "" if passed else f"call {live[0].id} was not over, yet {what}"
    yield clause_result(BARRIER.closed[cursor.state], why)


def _is_over(call: ObservedCall) -> bool:
    """Whether the call came to its end by itself, and was not closed by the end of the run.

    One that shows no status may have come to it without a sign: decided, for want of a tool, or at its limit.
    """
    last = call.entries[-1] if call.entries else None
    timed_out = last is not None and last.has_timed_out
    given_up = last is not None and last.gone is not None and not timed_out
    unsigned = bool(call.decisions) or call.tool is None or timed_out
    return not given_up and (call.is_final or (call.claimed is None and not call.executing and unsigned))
