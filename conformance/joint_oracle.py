"""The conformance relation: what a runtime shows is explained by a joint state, and so is that it rests.

This is ioco with quiescence over the joint charts: whatever came before, every observation has to be one
that some joint state leads to, and a runtime that settles has to stand in one from which nothing is due.
What the charts do not speak of (an id that stands for two calls, a store that fails, input for a run that
waits) ends the following of a run; nothing is judged of it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from interlock.conformance.account import Account
from interlock.conformance.joint_charts import Label, Way
from interlock.conformance.joint_states import Given, Hypothesis, JointStates, Sets, TooMany
from interlock.conformance.joint_world import (
    ANSWERS,
    BROKEN,
    as_stored,
    left_to_it,
    may_end,
    supposed_policies,
)
from interlock.conformance.oracle import RESUME_GATE, Judgement
from interlock.conformance.protocol import (
    CallMoved,
    Checkpointed,
    DecisionTaken,
    GateOpened,
    Observation,
    Report,
    ResumeEntered,
    RunMoved,
    SegmentEnded,
)
from interlock.conformance.subjects import WORKING_GATES, Gate, Run
from interlock.machines.explore.facts import is_over, is_running
from interlock.machines.explore.terms import NOT_ASKED

SEEN_CLAUSE: Final = "RUN-31"
REST_CLAUSE: Final = "RUN-32"

CHECKED_BY_JOINT_STATES: Final = frozenset({SEEN_CLAUSE, REST_CLAUSE})
"""The clauses that following the joint states judges."""

SHOWN: Final = {"run.status": "run", "call.status": "call", "resume": "gate"}
"""By which kind of observation a subject of the joint charts shows its moves."""

CALLS_MAX: Final = 5
"""With more live calls at once, too many joint states explain too little."""

WAYS_SAID: Final = 6


class JointOracle:
    """Follows one scenario; ask it about each answer before the account takes its observations in."""

    def __init__(self, account: Account, applies: Mapping[str, bool]) -> None:
        self.account = account
        self.states: JointStates | None = None  # nothing while no run is followed
        self.run = ""
        self.names: list[str] = []  # the calls, each at its place
        self.shown = frozenset(SHOWN[kind] for kind in SHOWN if account.observes(kind))
        asked = any(applies.get(clause, True) for clause in (SEEN_CLAUSE, REST_CLAUSE))
        self.can_follow = asked and {"model", "tool"} <= set(account.handshake.gates)
        self.lost: set[tuple[str, str]] = set()  # decisions that a crash may have left: the call, and what
        self._allowed: dict[tuple[str, int | None, str], bool] = {}  # until something comes, or a gate opens
        self.why_not = ""  # why a run is not followed any more

    # -- what comes from outside

    def answered(self, report: Report) -> None:
        """The newest stimulus has its answer: what it gave is given, but for what was turned down."""
        if not self.can_follow:
            return
        self._allowed.clear()
        down = set(_turned_down(report))
        whole = {one.stimulus for one in report.refused if one.decision is None}
        with self._following():
            self._withdraw(down, is_any=bool(whole) and not self.account.settled_before)
            for index, (method, params) in enumerate(self.account.newest):
                if index not in whole or not self.account.settled_before:
                    self._stimulus(method, params, down)

    @contextmanager
    def _following(self) -> Iterator[None]:
        """Follow on, or give it up."""
        try:
            yield
        except TooMany:
            self._give_up("too many joint states explain what was seen")

    def _withdraw(self, down: set[str], *, is_any: bool) -> None:
        """Of what was given earlier, some is turned down only now; `is_any` if it is not said what."""
        sent = [self.account.decision_ids[one] for one in down if one in self.account.decision_ids]
        gone = {
            Given(frozenset({f"decide {one.action}"}), self.names.index(one.call))
            for one in sent
            if one.call in self.names and one.at != self.account.stimuli
        }

        def without(one: Hypothesis) -> Iterator[Hypothesis]:
            yield one
            left = () if is_any else tuple(given for given in one.inbox if given not in gone)
            if left != one.inbox:
                yield one._replace(inbox=left)

        if gone or is_any:
            self._change(without)

    def _give_up(self, why: str) -> None:
        self.states, self.why_not = None, why

    def _stimulus(self, method: str, params: Mapping[str, Any], down: set[str]) -> None:
        if method == "run.start":
            self._begin(params)
        run = self.account.runs.get(self.run)
        if self.states is None or run is None:
            return
        if method == "gate.release":
            self._released(run, params)
        elif method == "decide":
            for raw in params["decisions"]:
                if raw["id"] not in down:
                    self._decided(run, raw)
        elif method == "cancel":
            sure = run.cancel_at == self.account.stimuli and run.cancel_alone
            self._give(Given(frozenset({"cancel"})), surely=sure)
        elif method == "run.input":
            self._give_up("input came while the run was under way")
        elif method == "recover":
            self._recovered(run)

    def _begin(self, params: Mapping[str, Any]) -> None:
        self.run, self.names, self.lost = params["run"], [], set()
        if params.get("decisions"):
            self._give_up("the run began with decisions")
            return
        settled, left = supposed_policies(self.account.policies)
        self.states = JointStates(settled, left, self.shown, self._allows)

    def _released(self, run: Run, params: Mapping[str, Any]) -> None:
        gate, outcome = self.account.gates.get(params["gate"]), params["outcome"]
        if gate is None or gate.run != run.id:
            return
        kind, data = outcome["kind"], outcome.get("data") or {}
        if gate.on == "store.put" and kind != "ok":
            self._give_up("the store failed")
        elif gate.on == "hook" and (kind == "skip_inference" or "tool_calls" in data):
            self._give_up("a plugin took the place of the model")
        elif gate.on == "model" and kind == "turn":
            self._asked(run, [raw["id"] for raw in outcome.get("tool_calls", [])])
        elif gate.on == "model":
            self._give(Given(frozenset({"end Error"})), surely=False)
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
        if len(set(ids)) != len(ids) or any(run.calls[one].doubled for one in ids if one in run.calls):
            self._give_up("an id stands for two calls")
            return
        kept = [
            place for place, name in enumerate(self.names) if name not in ids and not self._is_over(place)
        ]
        if len(kept) + len(ids) > CALLS_MAX:
            self._give_up(f"more than {CALLS_MAX} calls are live")
            return
        self.names = [*(self.names[place] for place in kept), *ids]
        self._change(lambda one: [_placed(one, kept, len(ids))])
        self._give(Given(frozenset({"calls" if ids else "no calls"})))

    def _is_over(self, place: int) -> bool:
        return all(is_over(one.calls[place]) for one in self.states or ())

    def _decided(self, run: Run, raw: Mapping[str, Any]) -> None:
        if raw["call"] not in self.names:
            return
        call = run.calls[raw["call"]]
        newest = call.decisions[-1] if call.decisions else None
        meets = newest is not None and newest.id == raw["id"] and newest.answers is call
        given = Given(frozenset({f"decide {raw['action']}"}), self.names.index(raw["call"]))
        self._give(given, surely=meets and self.account.alone)

    def _give(self, given: Given, *, surely: bool = True) -> None:
        def get(one: Hypothesis) -> Iterator[Hypothesis]:
            yield one._replace(inbox=(*one.inbox, given))
            if not surely:
                yield one

        self._change(get)

    def _change(self, change: Callable[[Hypothesis], Iterable[Hypothesis]]) -> None:
        if self.states is not None:
            self.states.change(change)

    def _recovered(self, run: Run) -> None:
        """The run begins again as it was stored; what was given since may be known to it, or lost."""
        stored = self.account.recovered_from
        if not isinstance(stored, dict) or self.states is None:
            self._give_up("it is not seen what was stored")
            return
        self.lost = {(call.id, one.action) for call in run.calls.values() for one in call.decisions}
        if run.cancel_at is not None:
            self.lost.add(("", "cancel"))
        calls = stored.get("calls") or {}
        self.names = [name for name in calls if name in run.calls]
        statuses = [calls[name].get("status") for name in self.names]
        status = (stored.get("run") or {}).get("status")
        if len(self.names) > CALLS_MAX or any(run.calls[name].doubled for name in self.names):
            self._give_up("too many calls were stored")
            return
        self.states.begin_again(lambda joint: as_stored(joint, str(status), statuses))

    # -- what the outside world lets be

    def _allows(self, way: Way, one: Hypothesis) -> bool:
        """Whether a way may be gone for which no answer was given."""
        asked = (way.cue, way.call, one.calls[way.call].status if way.call is not None else "")
        known = self._allowed.get(asked)
        if known is None:
            known = self._allowed[asked] = self._is_allowed(*asked)
        return known

    def _is_allowed(self, cue: str, place: int | None, status: str) -> bool:
        run = self.account.runs.get(self.run)
        if cue == "may" or run is None:
            return run is not None
        if cue.startswith("end "):
            return may_end(self.account, run, cue.removeprefix("end "))
        if place is None:
            return cue == "cancel" and ("", cue) in self.lost
        name = self.names[place]
        if cue.startswith("decide "):
            return (name, cue.removeprefix("decide ")) in self.lost
        return cue in left_to_it(self.account, run.calls.get(name), status)

    # -- what it shows

    def judge(self, seen: Observation) -> Iterator[Judgement]:
        """Yield whether some joint state explains what the runtime shows."""
        if self.states is None or seen.run not in (None, self.run):
            return
        if isinstance(seen, GateOpened):
            self._allowed.clear()
        before = dict(self.states.sets)
        with self._following():
            self._see(seen)
        if self.states is None or self.states.sets == before:
            return
        if self.states.sets:
            yield Judgement(SEEN_CLAUSE)
            return
        shown, _ = self._ahead_of(before)
        because = f"no joint state explains that {_words(seen)}; what they lead to is: {_listed(shown)}"
        yield Judgement(SEEN_CLAUSE, because)

    def _ahead_of(self, before: Sets) -> tuple[set[str], set[str]]:
        """What the last joint states that explained what was seen lead to, and what is due there."""
        assert self.states is not None
        self.states.sets = before
        shown, due = self.states.ahead(self._is_held)
        self._give_up("nothing explains what was seen")
        return {self._said(label) for label in shown}, due

    def _see(self, seen: Observation) -> None:
        assert self.states is not None
        states, place = self.states, self._place(seen)
        if isinstance(seen, RunMoved):
            states.see(Label("run", None, seen.to))
        elif isinstance(seen, CallMoved) and place is not None:
            states.see(Label("call", place, seen.to))
        elif isinstance(seen, ResumeEntered):
            self._station(seen.state)
        elif isinstance(seen, GateOpened) and seen.on == "model":
            states.hold(lambda one: one.control.work == "model")
        elif isinstance(seen, GateOpened) and seen.on == "tool" and place is not None:
            states.hold(lambda one: one.calls[place].status == "Running")
        elif isinstance(seen, SegmentEnded):
            code = seen.reason.code
            states.hold(
                lambda one: one.control.reason == code and one.control.work not in ("ending", "round")
            )
        elif isinstance(seen, GateOpened | Checkpointed) and self._is_snapshot(seen):
            state = seen.state if isinstance(seen.state, dict) else {}
            states.hold(self._stored_in(state))

    def _place(self, seen: Observation) -> int | None:
        call = getattr(seen, "call", None)
        return self.names.index(call) if call in self.names else None

    def _station(self, state: str) -> None:
        assert self.states is not None
        if state == RESUME_GATE.initial or RESUME_GATE.is_final(state):
            self.states.hold(lambda one: not one.control.gate)
        else:
            self.states.see(Label("gate", None, state))

    def _is_snapshot(self, seen: GateOpened | Checkpointed) -> bool:
        """Whether what is stored was taken down just now: before it waits for the store, if it does."""
        if isinstance(seen, GateOpened):
            return seen.on == "store.put"
        return "store.put" not in self.account.handshake.gates

    def _stored_in(self, state: Mapping[str, Any]) -> Callable[[Hypothesis], bool]:
        """Whether a checkpoint holds what is so; the end, and a wait, are durable before they are told."""
        run, calls = (state.get("run") or {}).get("status"), state.get("calls") or {}
        stored = [(place, calls[name]["status"]) for place, name in enumerate(self.names) if name in calls]

        def holds(one: Hypothesis) -> bool:
            is_run = run in (None, one.control.run, AHEAD.get(one.control.work))
            return is_run and all(one.calls[place].status == status for place, status in stored)

        return holds

    def settled(self) -> Iterator[Judgement]:
        """Yield whether some joint state explains that the runtime rests."""
        gates = [gate.on for gate in self.account.open_gates]
        if self.states is None or not set(gates) <= set(WORKING_GATES):
            return
        before = dict(self.states.sets)
        with self._following():
            self._rest(set(gates))
        if self.states is None:
            return
        if self.states.sets:
            yield Judgement(REST_CLAUSE)
            return
        shown, due = self._ahead_of(before)
        because = f"no joint state explains that the runtime rests; due is: {_listed(due or shown)}"
        yield Judgement(REST_CLAUSE, because)

    def _rest(self, gates: set[str]) -> None:
        """Where the model is asked its gate is open, and where a tool executes, the gate of its call."""
        assert self.states is not None
        executing = {gate.opened.call for gate in self.account.open_gates if gate.on == "tool"}

        def may_rest(one: Hypothesis) -> bool:
            running = (name for name, call in zip(self.names, one.calls, strict=True) if is_running(call))
            at_work = one.control.work not in ("done", "model")
            waits = one.control.work != "model" or "model" in gates
            return waits and not (at_work and any(name not in executing for name in running))

        self.states.rest(self._is_held, may_rest)

    def _is_held(self, way: Way, one: Hypothesis) -> bool:
        """Whether a call may be held up: calls of a round, and replays, may go one after the other."""
        return way.call is not None and bool(self.account.open_gates)

    def _said(self, label: Label) -> str:
        subject = {"run": "the run", "gate": "the resume gate"}.get(label.of)
        return f"{subject or f'call {self.names[label.call or 0]}'} {label.to}"


AHEAD: Final = {"closing": "Done", "suspending": "Waiting"}
"""What a checkpoint says of the run before the run does, by what it is at."""


def _turned_down(report: Report) -> Iterator[str]:
    yield from (one.decision for one in report.refused if one.decision is not None)
    for seen in report.observations:
        if isinstance(seen, DecisionTaken) and seen.disposition in ("refused", "ignored"):
            yield seen.decision


def _placed(one: Hypothesis, kept: list[int], asked: int) -> Hypothesis:
    """A hypothesis with some of its calls, and new ones behind them."""
    places: dict[int | None, int | None] = {None: None, **{was: now for now, was in enumerate(kept)}}
    return Hypothesis(
        one.control,
        (*(one.calls[place] for place in kept), *(NOT_ASKED,) * asked),
        tuple(label._replace(call=places[label.call]) for label in one.owed if label.call in places),
        tuple(given._replace(call=places[given.call]) for given in one.inbox if given.call in places),
    )


def _listed(ways: Collection[str]) -> str:
    """The ways in words, those that end something behind the others, and not too many of them."""
    ordered = sorted(ways, key=lambda way: (way.endswith("Cancelled"), way))
    more = len(ordered) - WAYS_SAID
    said = [*ordered[:WAYS_SAID], *([f"{more} more"] if more > 0 else [])]
    return ", ".join(said) or "nothing"


def _words(seen: Observation) -> str:
    match seen:
        case RunMoved(to=to):
            return f"the run became {to}"
        case CallMoved(call=call, to=to):
            return f"call {call} became {to}"
        case ResumeEntered(state=state):
            return f"the resume gate was at {state}"
        case GateOpened(on="model"):
            return "the model was asked"
        case GateOpened(on="tool", call=call):
            return f"the tool of call {call} was entered"
        case SegmentEnded(reason=reason):
            return f"the segment ended as {reason.code}"
    return "this was stored"
