"""The monitor that compares a trace with the joint model (see the package for the theory).

Every observation has to be an output of some hypothesis, and at a quiescent point some hypothesis has to have
no transition due.  What the charts do not describe (one id for two calls, a store that fails, input for a run
that waits) ends the comparison; nothing more is judged of that run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from runlock.conformance.families.lifecycle.invariants.thread import messages_of
from runlock.conformance.families.lifecycle.joint.cues import DECISIONS, Cue
from runlock.conformance.families.lifecycle.joint.environment import (
    ANSWERS,
    BROKEN,
    entered,
    supposed_policies,
    world_of,
)
from runlock.conformance.families.lifecycle.joint.events import (
    Asked,
    Asking,
    Begins,
    BeginsAgain,
    Ended,
    Executing,
    Gets,
    HasShut,
    Loses,
    Rests,
    Shows,
    ShowsWhere,
    Stored,
)
from runlock.conformance.families.lifecycle.joint.explanation import expected, shown, untold
from runlock.conformance.families.lifecycle.joint.hypotheses import Given, TooMany, World
from runlock.conformance.families.lifecycle.joint.labels import Label
from runlock.conformance.families.lifecycle.joint.states import (
    Ahead,
    Event,
    JointStates,
    Sets,
)
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    CallShown,
    Checkpointed,
    DecisionTaken,
    GateOpened,
    MessageAppended,
    PhaseEntered,
    Published,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.monitors.status_charts import RESUME_GATE
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL
from runlock.conformance.families.lifecycle.state.records import WORKING_GATES, Gate, Run
from runlock.conformance.family.clause_result import ClauseResult, clause_result
from runlock.conformance.family.coverage import Trails
from runlock.conformance.family.monitor import Monitor
from runlock.conformance.protocol import GateClosed, Observation, Report
from runlock.machines.lifecycle.joint.facts import is_over

SEEN_CLAUSE: Final = "RUN-31"
REST_CLAUSE: Final = "RUN-32"

CHECKED_BY_JOINT_STATES: Final = frozenset({SEEN_CLAUSE, REST_CLAUSE})
"""The clauses that following the joint states judges."""

CALLS_MAX: Final = 5
"""With more live calls at once, too many joint states explain too little."""

ASKS: Final = ShowsWhere(Asking())
SHUTS: Final = ShowsWhere(HasShut())

PASSING: Final = (PhaseEntered, MessageAppended, Published, DecisionTaken, CallShown)
"""The kinds of observation that show no joint state, and are seen often."""

TOO_MANY: Final = "too many joint states explain what was seen"

NEVER_WAS: Final = "nothing of it outlived a crash, so that it never was"


class JointOracle(Monitor):
    """Compares one scenario with the joint model."""

    clauses = CHECKED_BY_JOINT_STATES
    says = "what it shows, and that it rests, follows the joint charts of run, calls and gate"
    rests_on_silence = frozenset({REST_CLAUSE})
    explains = True

    def __init__(self, state: ObservedState, trails: Trails, applies: Mapping[str, bool]) -> None:
        self.state = state
        self.states: JointStates | None = None  # nothing while no run is followed
        self.run = ""
        self.names: list[str] = []  # the calls, each at its place
        self.shown = frozenset(_subjects_shown(state))
        asked = any(applies.get(clause, True) for clause in (SEEN_CLAUSE, REST_CLAUSE))
        self.can_follow = asked and {"model", "tool"} <= set(state.handshake.gates)
        self.lost: set[tuple[str, str]] = set()  # what a crash may have lost: the call, and the cue
        self._world: World | None = None  # until something comes, or a gate opens or is given up
        self.why_not = ""  # why a run is not followed any more

    # -- what comes from outside

    def answered(self, report: Report) -> None:
        """The newest stimulus has its answer: what it gave is given, but for what was turned down."""
        if not self.can_follow:
            return
        self._world = None
        down = set(_turned_down(report))
        whole = {one.stimulus for one in report.refused if one.decision is None}
        try:
            self._withdraw(down, is_any=bool(whole) and not self.state.settled_before)
            for index, (method, params) in enumerate(self.state.newest):
                if index not in whole or not self.state.settled_before:
                    self._stimulus(method, params, down)
        except TooMany:
            self._give_up(TOO_MANY)

    def _withdraw(self, down: set[str], *, is_any: bool) -> None:
        """Of what was given earlier, some is turned down only now; `is_any` if it is not said what."""
        sent = [self.state.decision_ids[one] for one in down if one in self.state.decision_ids]
        gone = frozenset(
            Given(frozenset({DECISIONS[one.action]}), self.names.index(one.call))
            for one in sent
            if one.call in self.names and one.at != self.state.stimuli
        )
        if gone or is_any:
            self._meet(Loses(None if is_any else gone))

    def _give_up(self, why: str) -> None:
        self.states, self.why_not = None, why

    def _stimulus(self, method: str, params: Mapping[str, Any], down: set[str]) -> None:
        if method == "run.start":
            self._begin(params)
        run = self.state.runs.get(self.run)
        if self.states is None or run is None:
            return
        if method == "gate.release":
            self._released(run, params)
        elif method == "decide":
            for raw in params["decisions"]:
                if raw["id"] not in down:
                    self._decided(run, raw)
        elif method == "cancel":
            self._cancelled(run)
        elif method == "run.input":
            self._give_up("input came while the run was under way")
        elif method == "recover":
            self._recovered(run)

    def _cancelled(self, run: Run) -> None:
        is_stored = self.state.policy("decision.kept") == "acceptance"
        if is_stored and any(call.decisions and call.waits for call in run.calls.values()):
            self._give_up("a cancel came while a decision was stored, before it could act")
            return
        sure = run.cancel_at == self.state.stimuli and run.cancel_alone
        self._give(Given(frozenset({Cue.CANCEL})), surely=sure)

    def _begin(self, params: Mapping[str, Any]) -> None:
        self.run, self.names, self.lost = params["run"], [], set()
        if params.get("decisions"):
            self._give_up("the run began with decisions")
            return
        settled, left = supposed_policies(self.state.policies)
        self.states = JointStates(settled, left, self.shown)
        self._meet(Begins())

    def _released(self, run: Run, params: Mapping[str, Any]) -> None:
        gate, outcome = self.state.gates.get(params["gate"]), params["outcome"]
        if gate is None or gate.run != run.id:
            return
        kind, data = outcome["kind"], outcome.get("data") or {}
        if gate.on == "store.put" and kind != "ok":
            self._give_up("the store failed")
        elif gate.on == "apply" and kind != "ok":
            self._give_up("results could not be applied")
        elif gate.on == "hook" and (kind == "skip_inference" or "tool_calls" in data):
            self._give_up("a plugin took the place of the model")
        elif gate.on == "model" and kind == "turn":
            self._asked(run, [raw["id"] for raw in outcome.get("tool_calls", [])])
        elif gate.on == "model":
            self._give(Given(frozenset({Cue.END_ERROR})), surely=False)
        elif gate.on in ANSWERS and gate.opened.call in self.names:
            self._answered_call(gate, kind)

    def _answered_call(self, gate: Gate, kind: str) -> None:
        """A tool, or who permits it, has answered for a call; a permission leaves the rest to the runtime."""
        known = ANSWERS[gate.on].get(kind)
        if known is not None or kind not in ("allow", "activity"):
            given = Given(frozenset(known or BROKEN), self.names.index(str(gate.opened.call)))
            self._give(given, surely=known is not None)

    def _asked(self, run: Run, ids: list[str]) -> None:
        """The model's turn: calls that it asks for get places, those that are over give theirs up."""
        if len(set(ids)) != len(ids) or any(run.calls[one].is_unclear for one in ids if one in run.calls):
            self._give_up("an id stands for two calls")
            return
        kept = [
            place for place, name in enumerate(self.names) if name not in ids and not self._is_over(place)
        ]
        if len(kept) + len(ids) > CALLS_MAX:
            self._give_up(f"more than {CALLS_MAX} calls are live")
            return
        self.names = [*(self.names[place] for place in kept), *ids]
        self._meet(Asked(tuple(kept), len(ids)))
        self._give(Given(frozenset({Cue.CALLS if ids else Cue.NO_CALLS})))

    def _is_over(self, place: int) -> bool:
        return all(is_over(one.calls[place]) for one in self.states or ())

    def _decided(self, run: Run, raw: Mapping[str, Any]) -> None:
        if raw["call"] not in self.names:
            return
        if (raw.get("edit") or {}).get("name") is not None:
            self._give_up("a call was edited to another tool")
            return
        call = run.calls[raw["call"]]
        newest = call.decisions[-1] if call.decisions else None
        meets = newest is not None and newest.id == raw["id"] and newest.answers is call
        given = Given(frozenset({DECISIONS[raw["action"]]}), self.names.index(raw["call"]))
        self._give(given, surely=meets and self.state.alone)

    def _give(self, given: Given, *, surely: bool = True) -> None:
        self._meet(Gets(given, surely))

    def _meet(self, event: Event) -> None:
        if self.states is not None:
            self.states.meet(event)

    def _recovered(self, run: Run) -> None:
        """The run begins again as it was stored; what was given since may be known to it, or lost."""
        stored = self.state.recovered_from if isinstance(self.state.recovered_from, dict) else {}
        status = (stored.get("run") or {}).get("status")
        in_messages = {name: {"status": "New"} for name in _in_the_message_alone(stored)}
        every = {**in_messages, **(stored.get("calls") or {})}.items()
        calls = {name: call.get("status") for name, call in every if name in run.calls}
        if status is None or None in calls.values():
            self._give_up("it is not seen what was stored")
        elif len(calls) > CALLS_MAX or any(run.calls[name].is_unclear for name in calls):
            self._give_up("too many calls were stored")
        else:
            self.names, self.lost = list(calls), set(_given_to(run))
            self._meet(BeginsAgain(status, tuple(calls.values())))

    # -- what it shows

    def observe(self, seen: Observation) -> Iterator[ClauseResult]:
        """Yield whether some joint state explains what the runtime shows."""
        if isinstance(seen, PASSING) or self.states is None or seen.run not in (None, self.run):
            return
        beyond = self._beyond_the_charts(seen)
        if beyond:
            self._give_up(beyond)
            return
        before = self.states.sets
        self._follow(self._event_of(seen))
        if isinstance(seen, (GateOpened, GateClosed)):
            self._world = None
        if self.states is None or self.states.sets is before or self.states.sets == before:
            return
        if self.states.sets:
            yield ClauseResult(SEEN_CLAUSE)
            return
        ahead = self._ahead_of(before)
        why = f"no joint state explains that {shown(seen)}; {expected(ahead, self.names)}"
        yield clause_result(SEEN_CLAUSE, why)

    def _beyond_the_charts(self, seen: Observation) -> str:
        """What the runtime may do by right, and no chart of the sources draws."""
        run, handshake = self.state.runs.get(self.run), self.state.handshake
        if run is None:
            return NEVER_WAS
        if handshake.profile == "core" and self._goes_on_during(run, seen):
            return "a runtime of the core alone goes on during a wait in a way of its own"
        if isinstance(seen, ResumeEntered) and _goes_by_turns(run, seen):
            return "decisions that were drained together go through the resume gate by turns"
        drains = self.state.policies.get("cancel.inflight") != "abort"
        if isinstance(seen, ResumeEntered) and run.cancel_at and drains:
            return "a replay drains in a run that is cancelled"
        if isinstance(seen, ResumeEntered) and self._breaks(run):
            return "a replay goes on in a run that breaks"
        return ""

    def _breaks(self, run: Run) -> bool:
        """Whether something has broken, or was blocked, that may end the run."""
        policies = self.state.policies
        raised = run.faulted == "raise" and policies.get("tool.raises") != "failed_call"
        blocked = run.is_blocked and policies.get("round.block") != "fail_call"
        return run.faulted in ("permission", "tool") or raised or blocked

    def _goes_on_during(self, run: Run, seen: Observation) -> bool:
        """Whether a parked run asks the model during a wait, or a run at work replays two calls at once."""
        if isinstance(seen, GateOpened) and seen.on == "model":
            parks = self.state.policies.get("waiting") == "parked"
            return parks and any(call.waits for call in run.calls.values())
        asked = any(gate.on == "model" for gate in self.state.gates_of(run))
        resumes = isinstance(seen, CallMoved) and seen.to == "Resuming" and asked
        return resumes and any(call.executing and call.decisions for call in run.calls.values())

    def _follow(self, event: Event | None) -> None:
        if event is not None and self.states is not None:
            try:
                self.states.meet(event, self._lets_be())
            except TooMany:
                self._give_up(TOO_MANY)

    def _lets_be(self) -> World:
        if self._world is None:
            self._world = world_of(self.state, self.state.runs[self.run], self.names, self.lost)
        return self._world

    def _ahead_of(self, before: Sets) -> Ahead:
        """What was ahead when something was last explained; nothing is followed any more."""
        assert self.states is not None  # only what is followed can be unexplained
        self.states.sets = before
        ahead = self.states.ahead(self._lets_be(), are_held=bool(self.state.open_gates))
        self._give_up("nothing explains what was seen")
        return ahead

    def _event_of(self, seen: Observation) -> Event | None:
        if isinstance(seen, RunMoved):
            return _moved("run", None, seen.to)
        place = self._place(seen)
        if isinstance(seen, CallMoved) and place is not None:
            return _moved("call", place, seen.to)
        if isinstance(seen, ResumeEntered) and "gate" in self.shown:
            return _station(seen.state)
        if isinstance(seen, GateOpened) and seen.on == "model":
            return ASKS
        if isinstance(seen, GateOpened) and seen.on == "tool" and place is not None:
            return ShowsWhere(Executing(place))
        if isinstance(seen, SegmentEnded):
            return ShowsWhere(Ended(seen.reason.code))
        if isinstance(seen, (GateOpened, Checkpointed)) and self._is_snapshot(seen):
            return ShowsWhere(self._stored(seen.state if isinstance(seen.state, dict) else {}))
        return None

    def _place(self, seen: Observation) -> int | None:
        call = vars(seen).get("call")  # pydantic is slow to say that there is no such field
        return self.names.index(call) if call in self.names else None

    def _is_snapshot(self, seen: GateOpened | Checkpointed) -> bool:
        """Whether what is stored was taken down just now: before it waits for the store, if it does."""
        if isinstance(seen, GateOpened):
            return seen.on == "store.put"
        return "store.put" not in self.state.handshake.gates

    def _stored(self, state: Mapping[str, Any]) -> Stored:
        run, calls = (state.get("run") or {}).get("status"), state.get("calls") or {}
        statuses = (
            (place, calls[name].get("status")) for place, name in enumerate(self.names) if name in calls
        )
        return Stored(run, tuple((place, status) for place, status in statuses if status is not None))

    def at_rest(self) -> Iterator[ClauseResult]:
        """Yield whether some joint state explains that the runtime rests."""
        gates = [gate.on for gate in self.state.open_gates]
        if self.states is None or not set(gates) <= set(WORKING_GATES):
            return
        if self.run not in self.state.runs:
            self._give_up(NEVER_WAS)
            return
        before = self.states.sets
        self._follow(Rests("model" in gates, entered(self.state, self.names), bool(gates)))
        if self.states is None:
            return
        if self.states.sets:
            yield ClauseResult(REST_CLAUSE)
            return
        ahead = self._ahead_of(before)
        why = f"no joint state explains that the runtime rests; {untold(ahead, self.names)}"
        yield clause_result(REST_CLAUSE, why)


def _goes_by_turns(run: Run, seen: ResumeEntered) -> bool:
    """Whether another decision of the same pass is on its way through the resume gate."""
    others = {one.entered.decision: one.entered.state for one in run.this_pass() if one.entered.decision}
    return any(one != seen.decision and at != "CommitReplay" for one, at in others.items())


def _subjects_shown(state: ObservedState) -> Iterator[str]:
    """The subjects whose moves are shown; only a run that is entered anew has the resume gate."""
    if state.observes("run.status"):
        yield "run"
    if state.observes("call.status"):
        yield "call"
    if state.observes("resume") and state.policy("waiting") == "reentered":
        yield "gate"


def _in_the_message_alone(stored: Mapping[str, Any]) -> list[str]:
    """The calls of the newest turn that a checkpoint holds in its message and nowhere else."""
    messages = messages_of(stored) or []
    turns = [at for at, message in enumerate(messages) if message.role == "assistant"]
    since = messages[turns[-1] :] if turns else []
    answered = {message.call for message in since}
    return [call.id for message in since for call in message.tool_calls if call.id not in answered]


def _given_to(run: Run) -> Iterator[tuple[str, str]]:
    """What was given to a run and its calls: the call, and the cue."""
    for call in run.calls.values():
        yield from ((call.id, DECISIONS[one.action]) for one in call.decisions)
    if run.disturbed_by(CANCEL):
        yield "", Cue.CANCEL


@cache
def _moved(of: str, call: int | None, to: str) -> Event:
    return Shows(Label(of, call, to))


def _station(state: str) -> Event:
    is_shut = state == RESUME_GATE.initial or RESUME_GATE.is_final(state)
    return SHUTS if is_shut else _moved("gate", None, state)


def _turned_down(report: Report) -> Iterator[str]:
    """The decisions that an answer turns down; one that it took first may have acted in between."""
    taken = set()
    yield from (one.decision for one in report.refused if one.decision is not None)
    for seen in report.observations:
        if isinstance(seen, DecisionTaken) and seen.disposition not in ("refused", "ignored"):
            taken.add(seen.decision)
        elif isinstance(seen, DecisionTaken) and seen.decision not in taken:
            yield seen.decision
