"""Tours: schedules that make for one goal each, an arrow of a chart or two of them in a row.

The charts say where to go: from where a call or a run stands, the shortest way to the goal names the next
event, a table names the classes of action that cause it, and the state says which of them has an
occasion now.  Where none has, the plainest action moves the run on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.session import Session
from runlock.conformance.driving.shards import SHARDS
from runlock.conformance.driving.strategies.random_walk import with_turns
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.actions import ACTIONS, Stage
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.families.lifecycle.monitors.coverage_targets import covered
from runlock.conformance.families.lifecycle.monitors.derived_statuses import status_of
from runlock.conformance.families.lifecycle.monitors.status_charts import (
    CALLS,
    RESUME_GATE,
    RUNS,
    RUNS_WITH_CREATED,
    Oracle,
)
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.family.chooser import (
    Chooser,
    Seeded,
    chance,
    pick,
)
from runlock.conformance.family.coverage import Coverage, Goal
from runlock.conformance.trace.moves import Move
from runlock.machines.table import Row, Table

TOURED: Final = {table.name: table for table in (RUNS, RUNS_WITH_CREATED, CALLS, RESUME_GATE)}
MOVES_MAX: Final = 30
DRAWS_MAX: Final = 8
"""Maximum redraws of a class of action whose proposal concerns another call."""

PATIENCE: Final = 5
"""Maximum moves for one call before the others have their turn."""

CAUSES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "call": {
        "start": ("permission_allow",),
        "suspend": ("permission_suspend", "tool_pending"),
        "succeed": ("permission_set_result", "tool_ok", "tool_warning"),
        "fail": ("permission_block", "tool_error", "tool_raise", "model_errs"),
        "cancel": ("reject", "cancel"),
        "resume": ("approve",),
        "provide": ("permission_set_result",),
    },
    "run": {
        "Waiting failed": ("store_breaks", "cancel"),
        "begin": ("store_takes",),
        "suspend": ("permission_suspend", "tool_pending"),
        "resume": ("approve", "reject"),
        "natural_end": ("model_ends",),
        "behavior_requested": ("hook_terminate", "hook_skip_inference"),
        "stopped": ("time_passes",),
        "blocked": ("permission_block",),
        "cancelled": ("cancel",),
        "failed": ("model_breaks", "tool_fault", "store_breaks"),
        "rejected": ("store_breaks",),
    },
    "resume gate": {
        "cancel": ("reject",),
        "resume": ("approve",),
        "finished": ("tool_ok",),
        "resuspended": ("tool_pending", "permission_suspend"),
    },
}
"""By the subject of a chart: which classes of action cause an event, perhaps in one state alone.

Events that are not listed the runtime causes itself.
"""

LEADS: Final = ("permission_suspend", "tool_pending", "model_asks")
"""What brings a call to wait, where a decision about one is wanted."""

PLAIN: Final = (
    "start", "store_takes", "hook_continues", "permission_allow", "tool_ok", "decide_all", "approve",
    "model_ends", "settle",
)  # fmt: skip
"""The plainest action that has an occasion moves a run on."""

HELD: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("New", "start"): ("allow", "gate"),
    ("New", "suspend"): ("ask", "gate"),
    ("New", "fail"): ("gate",),
    ("New", "provide"): ("gate",),
    ("New", "cancel"): ("gate",),
    ("Resuming", "suspend"): ("gate",),
    ("Resuming", "succeed"): ("gate", "ask"),
    ("Resuming", "fail"): ("gate",),
    ("Resuming", "cancel"): ("gate",),
    ("Running", "suspend"): ("ask", "gate"),
    ("Running", "blocked"): ("gate",),
}
"""Tools of which permission take a call, or a run, along an arrow; any tool for the other arrows."""

SCENES: Final[Mapping[str, tuple[str, ...]]] = {
    "Waiting stopped": ("tools-and-timeout",),
    "Waiting failed": ("tools-and-store",),
    "Created cancelled": ("tools-and-store",),
    "stopped": ("tools-and-timeout", "tools-and-max_rounds", "tools-and-token_budget"),
    "behavior_requested": ("tools-and-plugins",),
    "failed": ("tools", "tools-and-store"),
    "rejected": ("tools-and-store",),
    "begin": ("tools-and-store", "tools"),
}
"""The scenarios in which an event can happen; in the others, the plainest one."""


def goals(bench: Bench) -> list[Goal]:
    """Every two arrows in a row that the runtime can be seen to take, and the arrows that are in none."""
    charts = covered(bench.handshake, bench.policies, bench.standings, Coverage())
    found: list[Goal] = []
    for chart in charts:
        if chart.chart in TOURED:
            pairs = [(first.clause, then.clause) for first, then in chart.pairs]
            met = {clause for pair in pairs for clause in pair}
            found += [(chart.chart, (row.clause,)) for row in chart.arrows if row.clause not in met]
            found += [(chart.chart, pair) for pair in pairs]
    return found


def play_tours(bench: Bench, unit: int, tours: int, seed: int) -> Tally:
    """Play every tour of a shard; they go round the goals, and come to each in another way each time."""
    tally, every = Tally(), goals(bench)
    for number in range(unit, tours if every else 0, SHARDS):
        tour(bench, every[number % len(every)], number // len(every), Seeded(seed, SHARDS, number), tally)
    return tally


def tour(bench: Bench, goal: Goal, attempt: int, chooser: Chooser, tally: Tally) -> Session | None:
    """Play one tour, and note whether it came where it wanted."""
    rows = _rows(goal)
    scenario = _scene(bench.scenarios, rows, attempt)
    session = bench.play(
        scenario, lambda session: Tour(session, goal, chooser, is_hasty=attempt % 2 == 1).play(), tally
    )
    if session is not None:
        tally.tours_played[goal] += 1
        tally.tours_reached[goal] += is_reached(goal, session.judge.coverage)
    return session


def is_reached(goal: Goal, coverage: Coverage) -> bool:
    """Whether the arrow was taken, or the two in a row."""
    chart, clauses = goal
    if len(clauses) == 1:
        return coverage.arrows[chart, clauses[0]] > 0
    return coverage.pairs[chart, clauses[0], clauses[1]] > 0


def _rows(goal: Goal) -> tuple[Row, ...]:
    chart, clauses = goal
    return tuple(row for clause in clauses for row in TOURED[chart].rows if row.clause == clause)


def _entry(known: Mapping[str, tuple[str, ...]], row: Row) -> tuple[str, ...]:
    """What a table says of the event of an arrow: of the arrow itself, or of the event anywhere."""
    return known.get(f"{row.source} {row.event}", known.get(row.event, ()))


def _scene(scenarios: Sequence[Scenario], rows: Sequence[Row], attempt: int) -> Scenario:
    names = [name for row in reversed(rows) for name in _entry(SCENES, row)] or ["tools"]
    able = [scenario for name in names for scenario in scenarios if scenario.scenario == name]
    return able[attempt % len(able)] if able else scenarios[0]


@dataclass(slots=True)
class Lead:
    """Who is led along the chart, and the arrows that are still before it."""

    who: ObservedCall | Run | None
    way: tuple[Row, ...]


class Tour:
    """One tour under way; a hasty one also acts between the turns of the runtime."""

    def __init__(self, session: Session, goal: Goal, chooser: Chooser, *, is_hasty: bool = False) -> None:
        self.session = session
        self.goal = goal
        self.chooser = chooser
        self.is_hasty = is_hasty
        self.stage = Stage(session.state)
        self.table = TOURED[goal[0]]
        self.rows = _rows(goal)
        self.spent: dict[ObservedCall | Run | None, int] = {}
        self.before = ""  # what was sent last

    def play(self) -> None:
        """Make for the goal, give the run whatever it still waits for, and close."""
        for _ in range(MOVES_MAX):
            if self.session.violation is not None or is_reached(self.goal, self.session.judge.coverage):
                break
            move = self._next()
            if move is None:
                break
            if self.is_hasty:
                move = with_turns(move, self.session.handshake, self.chooser)
            self.session.send(move)
            self.before = move.method
        self.session.wind_up()
        self.session.close()

    def _next(self) -> Move | None:
        """What leads on towards the goal, or else moves the run on."""
        for lead in self._leads():
            move = self._towards(lead)
            if move is not None:
                self.spent[lead.who] = self.spent.get(lead.who, 0) + 1
                return move
        return self._asked_for() or self._plain()

    # -- who is led

    def _leads(self) -> list[Lead]:
        """Those who can come to the goal, the nearest first."""
        leads = [Lead(who, way) for who, state in self._standing() if (way := self._way(who, state))]
        return sorted(leads, key=lambda lead: (self.spent.get(lead.who, 0) // PATIENCE, len(lead.way)))

    def _standing(self) -> Iterator[tuple[ObservedCall | Run | None, str]]:
        run = self.stage.run
        if self.table is RESUME_GATE:
            charts = next(one for one in self.session.judge.monitors if isinstance(one, Oracle))
            state = charts.resume_gate_state
            yield None, RESUME_GATE.initial if state is None or RESUME_GATE.is_final(state) else state
        elif run is not None and self.table is CALLS:
            for call in run.calls.values():
                state = status_of(call)
                if state is not None and not call.is_unclear:
                    yield call, state
        elif run is not None:
            yield run, run.claimed or ("Running" if run.segment_open else "Waiting")

    def _way(self, who: ObservedCall | Run | None, state: str) -> tuple[Row, ...]:
        """The arrows from this state to the goal; none if the goal is out of reach."""
        last = self.session.judge.trails.last(self.table, who)
        if len(self.rows) > 1 and last == self.rows[0] and state == last.target:
            return self.rows[1:]
        to = shortest(self.table, state, self.rows[0].source)
        return () if to is None else (*to, *self.rows)

    # -- what is done

    def _towards(self, lead: Lead) -> Move | None:
        """An action that causes the next event on the way."""
        causes = (_entry(CAUSES[self.table.subject], row) for row in lead.way)
        return self._one_of(next((names for names in causes if names), ()), lead.who)

    def _one_of(self, names: Sequence[str], who: ObservedCall | Run | None) -> Move | None:
        """An action of one of these classes that concerns the run or call being steered."""
        found = [move for name in names if (move := self._drawn(name, who)) is not None]
        return pick(self.chooser, found) if found else None

    def _drawn(self, name: str, who: ObservedCall | Run | None) -> Move | None:
        if name in ("approve", "reject") and not self._may_decide(who):
            return None
        for _ in range(DRAWS_MAX):
            move = ACTIONS[name](self.stage, self.chooser)
            if move is None or self._was_just_sent(move):
                return None
            if not isinstance(who, ObservedCall) or _concerns(move, who):
                return move
        return None

    def _was_just_sent(self, move: Move) -> bool:
        """Whether it would only say again what moved nothing: the run has to go on first."""
        return move.method != "gate.release" and move.method == self.before

    def _may_decide(self, who: ObservedCall | Run | None) -> bool:
        """Whether a decision would be the first one, at a time at which it may act."""
        decided = isinstance(who, ObservedCall) and any(
            not one.turned_down and one.in_suspension == who.suspensions for one in who.decisions
        )
        return not decided and (not self.stage.state.open_gates or chance(self.chooser, 2))

    def _asked_for(self) -> Move | None:
        """A turn of the model that asks for what can be led to the goal."""
        if self.table not in (CALLS, RESUME_GATE) and not self._wants_calls():
            return None
        if self.table is RESUME_GATE:
            held = self._one_of(LEADS[:-1], None)
            if held is not None:
                return held
        if self._is_of_errors() and chance(self.chooser, 2):
            return self._drawn("model_errs", None)
        wanted = self._permissions()
        move = None
        for _ in range(DRAWS_MAX):
            move = ACTIONS["model_asks"](self.stage, self.chooser)
            if move is None or self._asks_for(move, wanted):
                break
        return move

    def _wants_calls(self) -> bool:
        """Whether a run that has no call to work on has to get one first."""
        events = {row.event for lead in self._leads() for row in lead.way}
        return bool(events & {"suspend", "blocked", "stopped"}) or "tool_fault" in self._direct()

    def _direct(self) -> tuple[str, ...]:
        return _entry(CAUSES[self.table.subject], self.rows[-1])

    def _is_of_errors(self) -> bool:
        return "model_errs" in self._direct() and self.rows[0].source == CALLS.initial

    def _permissions(self) -> Collection[str]:
        """Of which permission a tool has to be that can be led along the whole way."""
        to = shortest(self.table, self.table.initial, self.rows[0].source) or ()
        wanted = {"allow", "ask", "gate"}
        for row in (*to, *self.rows):
            wanted &= set(HELD.get((row.source, row.event), wanted))
        return wanted

    def _asks_for(self, move: Move, permissions: Collection[str]) -> bool:
        asked = move.params["outcome"].get("tool_calls", [])
        tools = [self.stage.state.tools.get(call["name"]) for call in asked]
        return any(tool is not None and tool.permission in permissions for tool in tools)

    def _plain(self) -> Move | None:
        moves = (ACTIONS[name](self.stage, self.chooser) for name in PLAIN)
        return next((move for move in moves if move is not None), None)


def _concerns(move: Move, call: ObservedCall) -> bool:
    """Whether a move is about this call, or about no call alone."""
    if "decisions" in move.params:
        return any(decision["call"] == call.id for decision in move.params["decisions"])
    return str(move.params.get("gate", "")).partition(":")[2] in ("", call.id)


def shortest(table: Table, source: str, target: str) -> tuple[Row, ...] | None:
    """The fewest arrows from one state to another; nothing if no way leads there."""
    ways: dict[str, tuple[Row, ...]] = {source: ()}
    ahead = deque([source])
    while ahead and target not in ways:
        state = ahead.popleft()
        for row in table.rows:
            if row.source == state and row.target not in ways:
                ways[row.target] = (*ways[state], row)
                ahead.append(row.target)
    return ways.get(target)
