"""What the kit knows: every gate, call, decision and claim of a scenario, folded from its trace.

Two kinds of fact are kept apart.  *Witnessed* facts the kit caused or saw at a gate: a body was entered,
an answer was given, a decision was sent.  *Claims* are what the runtime says of itself: statuses,
dispositions, checkpoints.  Nothing here judges; the invariants and the oracle do, and they read this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Literal, TypeVar, cast

from interlock.conformance.protocol import (
    CallMoved,
    Checkpointed,
    DecisionTaken,
    GateClosed,
    GateOpened,
    Handshake,
    Message,
    MessageAppended,
    Observation,
    PhaseEntered,
    Published,
    Refusal,
    ResumeEntered,
    RunMoved,
    Scenario,
    SegmentEnded,
    StreamClosed,
)
from interlock.conformance.subjects import WORKING_GATES, Audience, Call, Decided, Gate, Run, Station

CameTo = Literal["calls", "a wait", "a decision", "a cancel", "a crash", "a watcher"]
"""What a scenario may come to; before it does, much need not be looked at."""

Look = TypeVar("Look", bound=Callable[..., Any])


def once(look: Look) -> Look:
    """Look once, and again when the account has taken something in; for looks that ask for no policy."""

    @wraps(look)
    def looked(account: Account, *of: object) -> Any:
        known, key = account.known, (look, *map(id, of))
        if key not in known:
            known[key] = look(account, *of)
        return known[key]

    return cast("Look", looked)


class Account:
    """The fold of one scenario's trace; `stimulus`, `observe` and `report` take it forward."""

    def __init__(self, handshake: Handshake, policies: Mapping[str, Any], scenario: Scenario) -> None:
        self.handshake = handshake
        self.policies = dict(policies)
        self.came_to: frozenset[CameTo] = frozenset()
        self.asked: set[str] = set()  # policies that somebody has read since this was emptied
        self.scenario = scenario
        self.tools = {tool.name: tool for tool in scenario.tools}
        self.runs: dict[str, Run] = {}
        self.run: Run | None = None  # the newest run of the thread
        self.gates: dict[str, Gate] = {}
        self.life = 1
        self.stimuli = 0
        self.quiescent = True
        self.last_settled = 0  # the stimulus whose answer was the last quiescent one
        self.settled_before = True  # whether the SUT was quiescent when the newest stimulus came
        self.alone = True  # whether the newest stimulus was no race
        self.recovered_from: Any = None
        self.now_ms = 0
        self.refused_whole = False  # whether the newest stimulus was turned down as a whole
        self.since_model: list[Checkpointed] = []  # checkpoints since the last model gate opened
        self.since_answer: list[Checkpointed] = []  # checkpoints since a tool or the model answered last
        self.newest: list[tuple[str, Mapping[str, Any]]] = []
        self.decision_ids: dict[str, Decided] = {}
        self.handed_over: Counter[str] = Counter()  # how often each decision was sent
        self.dispositions: defaultdict[str, list[str]] = defaultdict(list)  # what was told of each decision
        self.forgotten: set[str] = set()  # ids of decisions that a crash may have taken away
        self.checkpoints: list[Checkpointed] = []
        self.messages: list[Message] = []
        self.last_model_gate: Gate | None = None
        self.audience = Audience()
        self.shown: list[Observation] = []  # since the newest stimulus
        self.known: dict[tuple[Any, ...], Any] = {}  # what was looked up since it took something in
        self.open_gates: Sequence[Gate] = ()  # at which the SUT waits, oldest first

    def __getstate__(self) -> dict[str, Any]:
        """All of it but what was looked up, which goes by who somebody is and not by what is known of him."""
        return {**vars(self), "known": {}}

    # -- what it knows

    def observes(self, kind: str) -> bool:
        """Whether the SUT said that it shows this kind."""
        return kind in self.handshake.observes

    def policy(self, key: str) -> Any:
        """The value of a policy, or nothing while it is open."""
        self.asked.add(key)
        return self.policies.get(key)

    def call_of(self, seen: Observation) -> Call | None:
        """The call that an observation speaks of."""
        call: str | None = vars(seen).get("call")  # pydantic is slow to say that there is no such field
        run = self.run_of(seen) if call is not None else None
        return run.calls.get(call) if run is not None and call is not None else None

    def entering(self, seen: GateOpened) -> Call | None:
        """The call whose body is being entered, if its id leaves no doubt which call it is."""
        call = self.call_of(seen)
        return call if seen.on == "tool" and call is not None and not call.doubled else None

    def run_of(self, seen: Observation) -> Run | None:
        """The run that an observation speaks of."""
        return self.runs.get(seen.run or "") or self.run

    def gates_of(self, run: Run) -> list[Gate]:
        """The gates at which a run waits."""
        return [gate for gate in self.open_gates if gate.run == run.id]

    def durable(self, run: Run) -> Checkpointed | None:
        """The newest checkpoint of a run."""
        return next((c for c in reversed(self.checkpoints) if c.run in (None, run.id)), None)

    def can_come_back(self, run: Run) -> bool:
        """Whether a run may be recovered: something of it is durable, or that is for its runtime to know."""
        unseen = self.handshake.control.store == "own" and not self.observes("checkpoint")
        return unseen or self.durable(run) is not None

    def gate(self, ref: str) -> Gate | None:
        """The open gate of that id, or of that name (`model`, `tool:c1`), the oldest first."""
        known = self.gates.get(ref)
        if known is not None and known.is_open:
            return known
        return next((gate for gate in self.open_gates if gate.ref == ref), None)

    def _comes_to(self, what: CameTo) -> None:
        if what not in self.came_to:
            self.came_to |= {what}

    # -- stimuli

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.stimuli += 1
        self.settled_before, self.quiescent = self.quiescent, False
        parts = (
            [(part["method"], part["params"]) for part in params["stimuli"]]
            if method == "deliver"
            else [(method, params)]
        )
        self.alone = len(parts) == 1 and self.settled_before
        self.refused_whole = False
        self.newest = parts
        self.shown = []
        self.audience.activities = []
        for run in self.runs.values():
            run.claims_before = len(run.claims)
        for name, inner in parts:
            fold = _STIMULUS_FOLDS.get(name)
            if fold is not None:
                fold(self, inner)
        self.known.clear()

    def _started(self, params: Mapping[str, Any]) -> None:
        self.run = self.runs[params["run"]] = Run(
            params["run"],
            began_alone=self.alone,
            began_at_ms=self.now_ms,
            answered_at_ms=self.now_ms,
            turned_at_ms=self.now_ms,
            said=params["input"],
        )
        self._decisions(params)

    def _released(self, params: Mapping[str, Any]) -> None:
        gate = self.gates.get(params["gate"])
        if gate is None or not gate.is_open:
            return
        if params["outcome"]["kind"] == "activity":  # it tells something, and stays at work
            self.audience.activities.append(params["outcome"].get("content"))
            return
        gate.outcome, gate.alone = params["outcome"], self.alone
        self._shut(gate)
        if gate.on in ("model", "tool"):
            self.since_answer = []
        run = self.runs[gate.run]
        kind = gate.outcome["kind"]
        if kind in ("pending", "suspend"):
            self._comes_to("a wait")
        if kind in ("fault", "raise"):
            run.faulted, run.fault_alone = gate.on if kind == "fault" else "raise", self.alone
        if kind in ("fault", "block") and gate.on in ("tool", "permission") and self.alone:
            run.broke_at = gate
        run.answered_at_ms = self.now_ms
        if gate.on == "hook":
            self._plugin_acted(run, gate, gate.outcome)
        if gate.on == "model":
            run.turned_at_ms = self.now_ms
            usage = gate.outcome.get("usage", {})
            run.tokens += usage.get("input", 0) + usage.get("output", 0)
            run.texts.append(gate.outcome.get("text", ""))
            run.last_turn, run.turn_alone = gate.outcome, self.alone
            run.taken_out, run.left_in = set(), set()
            if kind == "turn":
                self._asked(run, gate.outcome.get("tool_calls", []))

    def _shut(self, gate: Gate) -> None:
        self.open_gates = [one for one in self.open_gates if one is not gate]

    def _asked(self, run: Run, asked: Sequence[Mapping[str, Any]]) -> None:
        if asked:
            self._comes_to("calls")
        for index, raw in enumerate(asked):
            call_id = raw["id"]
            former = run.calls.get(call_id)
            doubled = any(other["id"] == call_id for other in asked[:index])
            if doubled:
                run.calls[call_id].doubled = True
                continue
            call = Call(
                id=call_id,
                name=raw["name"],
                args=raw.get("args", {}),
                run=run.id,
                step=run.steps,
                tool=self.tools.get(raw["name"]),
                life=self.life,
                raced=not self.alone,
            )
            if former is not None:
                call.doubled = former.doubled or not former.is_final
                run.former_calls.append(run.calls.pop(call_id))
            run.calls[call_id] = call

    def _plugin_acted(self, run: Run, gate: Gate, outcome: Mapping[str, Any]) -> None:
        if outcome["kind"] in ("terminate", "skip_inference"):
            run.faulted, run.fault_alone = "plugin", self.alone
        data = outcome.get("data") or {}
        if gate.opened.at == "AfterInference" and "tool_calls" in data:
            self._calls_left(run, data["tool_calls"])
        elif gate.opened.at == "AfterToolExecute" and "content" in data:
            call = run.calls.get(gate.opened.call or "")
            if call is not None and call.entries and call.entries[-1].outcome is not None:
                call.entries[-1].outcome = {**call.entries[-1].outcome, "content": data["content"]}

    def _calls_left(self, run: Run, left: list[Mapping[str, Any]]) -> None:
        """Of a turn, a plugin left these calls: the others were never asked for."""
        run.left_in = {call["id"] for call in left}
        run.taken_out = {call.id for call in run.calls.values() if call.step == run.steps} - run.left_in
        for call in run.taken_out:
            del run.calls[call]
        self._asked(run, [call for call in left if call["id"] not in run.calls])
        run.last_turn = {**(run.last_turn or {}), "tool_calls": left}
        run.turn_alone = run.turn_alone and self.alone

    def _watched(self, params: Mapping[str, Any]) -> None:
        """Somebody comes to watch, by a stimulus of its own or in one request with another."""
        watcher, run = params.get("watcher"), self.run
        if watcher is None:
            return
        self._comes_to("a watcher")
        waits = run is not None and not run.is_done and not run.segment_open
        came = "first" if not self.audience.gone else "back" if waits else "anew"
        if self.audience.watcher is not None:
            came = "in place of another"
        if params.get("decisions"):
            came = "with a decision"
        self.audience.comes(watcher, params.get("stream") or "native", came, self.alone)

    def _unwatched(self, _params: Mapping[str, Any]) -> None:
        self._comes_to("a watcher")
        self.audience.comes(None, "native", "nobody", self.alone)

    def _decisions(self, params: Mapping[str, Any]) -> None:
        self._watched(params)
        run = self.runs.get(params["run"])
        decisions = params.get("decisions", ())
        if run is not None:
            run.stirs += max(1, len(decisions))
        for raw in decisions:
            self._decided(run, raw, len(decisions))

    def _decided(self, run: Run | None, raw: Mapping[str, Any], batch: int) -> None:
        self._comes_to("a decision")
        call = run.calls.get(raw["call"]) if run is not None else None
        suspension = raw.get("suspension")
        decided = Decided(
            raw["id"], raw["call"], raw["action"], raw.get("payload"), suspension, self.stimuli, self.alone,
            batch=batch,
        )  # fmt: skip
        self.handed_over[decided.id] += 1
        decided.unsure = raw["id"] in self.forgotten
        known = self.decision_ids.get(raw["id"])
        decided.repeats = known is not None and not (known.turned_down or decided.unsure)
        if call is None:
            decided.stale = self.alone
        else:
            current = suspension is None or suspension == call.suspensions
            over = call.is_final or (run is not None and run.is_done)
            past = suspension is not None and suspension < call.suspensions + (0 if call.waits else 1)
            if call.claimed is None and run is not None and run.crashes:
                past = False  # nothing has said yet how often it was suspended in this life
            decided.stale = self.alone and (over or past)
            decided.entries_before, decided.in_suspension = len(call.entries), call.suspensions
            if run is not None and self.alone:
                self._place(decided, run, call)
            standing = any(_stands(d, call) for d in call.decisions)
            # an inbox may know the id of a decision that it ignored, and want another
            known_id = decided.repeats or (known is not None and known.disposition == "ignored")
            if call.waits and current and not (over or known_id or standing) and self.settled_before:
                decided.answers = call
            call.decisions.append(decided)
        if not decided.repeats:
            self.decision_ids[decided.id] = decided

    def _place(self, decided: Decided, run: Run, call: Call) -> None:
        """What the run was at when a decision came that met no race."""
        on = {gate.on for gate in self.gates_of(run)}
        decided.early = call.claimed in ("New", "Running") and decided.suspension is None
        decided.at_rest = not (on or run.segment_open)
        decided.at_work = bool(on & {"model", "tool"}) and "store.put" not in on
        decided.segment = len(run.finished)
        executing = (c for c in run.calls.values() if c.executing and not c.decisions and c.step == call.step)
        decided.beside = next((c.id for c in executing if c is not call), None)

    def _cancelled(self, params: Mapping[str, Any]) -> None:
        self._comes_to("a cancel")
        run = self.runs.get(params["run"])
        if run is None:
            return
        run.stirs += 1
        run.was_sent_cancel = True
        if run.cancel_at is None and not run.is_done:
            committing = any(gate.on == "store.put" for gate in self.open_gates)
            run.cancel_at, run.cancel_alone = self.stimuli, self.alone and not committing
            run.cancel_met = self.stimuli if self.alone else None
            run.cancel_status = run.claimed or ("Running" if run.segment_open else "Waiting")
            run.cut_off = _cut_off(run) if run.cancel_alone else []
            replayed = (c for c in run.calls.values() if c.executing and run.is_replaying(c))
            run.cancel_in_replay = next(replayed, None) if run.cancel_alone else None

    def _new_input(self, params: Mapping[str, Any]) -> None:
        self._decisions(params)
        run = self.runs.get(params["run"])
        if run is not None:
            run.stirs += 1
            run.had_input = True
            if self.alone and not (run.segment_open or self.gates_of(run) or params.get("decisions")):
                self._put_aside(run, params["input"])

    def _put_aside(self, run: Run, text: str) -> None:
        run.input_at, run.input_text = self.stimuli, text
        for call in run.calls.values():
            if call.waits:
                call.input_at = self.stimuli

    def _time_passed(self, params: Mapping[str, Any]) -> None:
        self.now_ms += params["ms"]

    def _crashed(self, _params: Mapping[str, Any]) -> None:
        self._comes_to("a crash")
        self.life += 1
        self.audience = Audience()
        self.forgotten |= self.decision_ids.keys()
        for gate in self.open_gates:
            gate.gone = "crash"
        self.open_gates = ()
        for run in self.runs.values():
            run.paid_for = [call for call in run.calls.values() if self.is_whole(run, call)]
            run.crashes += 1
            run.segment.clear()
            run.claimed = run.faulted = run.cancel_at = run.broke_at = None
            run.stations = []
            run.cancel_settled = False
            for call in run.calls.values():
                call.claimed = None
                call.listed_pending = False
                call.suspensions = 0
                call.lost_entries, call.lost_verdicts = len(call.entries), len(call.judged)
                for decided in call.decisions:
                    decided.unsure, decided.answers = True, None

    def is_whole(self, run: Run, call: Call) -> bool:
        """Whether the call has answered, and so has all that its loss is declared to be measured in."""
        durability, storing = self.policy("durability"), any(g.on == "store.put" for g in self.open_gates)
        unsure = call.doubled or call.raced or call.decisions or not all(gate.alone for gate in call.entries)
        if call.result is None or unsure or storing or run.crashes or run.cancel_at or run.faulted:
            return False
        if durability == "call":
            return self.settled_before
        round_ = [other for other in run.calls.values() if other.step == call.step]
        waited = durability == "step" and any(other.suspensions for other in round_)
        return durability in ("round", "step") and call.step < run.steps and not waited

    def _recovered(self, params: Mapping[str, Any]) -> None:
        run = self.runs.get(params["run"])
        durable = self.durable(run) if run is not None else None
        own = durable.state if durable is not None and self.handshake.control.store == "own" else None
        self.recovered_from = params.get("store") or own  # a store of its own has what it said is durable
        stored = (self.recovered_from or {}).get("calls", {})
        if run is not None:
            for call in run.calls.values():
                found = stored.get(call.id) if isinstance(stored, dict) else None
                kept = found if isinstance(found, dict) else {}
                call.suspensions = kept.get("suspension") or 0
                call.listed_pending = kept.get("status") == "Suspended"
            run.stirs += 1
            run.segment_open = True

    # -- observations

    def observe(self, seen: Observation) -> None:
        """The SUT shows something."""
        run = self.runs.get(seen.run or "")
        if run is not None and run.seen_at_ms is None:
            run.seen_at_ms = self.now_ms
        if run is not None:
            run.segment.append(seen)
        fold = _OBSERVATION_FOLDS.get(type(seen))
        if fold is not None:
            fold(self, seen)
        self.shown.append(seen)
        self.known.clear()

    def _gate_opened(self, seen: GateOpened) -> None:
        run = self.runs.get(seen.run or "") or self.run
        if run is None:
            return
        gate = Gate(seen.gate, seen.on, run.id, seen, self.life, at=self.stimuli)
        self.gates[seen.gate] = gate
        self.open_gates = [*self.open_gates, gate]
        if seen.on in WORKING_GATES or seen.on == "hook":
            run.segment_open = True
        if seen.on == "model":
            run.steps += 1
            run.faulted = None
            self.last_model_gate = gate
            self.since_model = []
        if seen.call is not None:
            gate.call = run.calls.get(seen.call)
        if seen.on == "hook":
            run.hooks.append(gate)
        elif gate.call is not None:
            gate.call.listed_pending = False
            (gate.call.entries if seen.on == "tool" else gate.call.judged).append(gate)

    def _gate_closed(self, seen: GateClosed) -> None:
        gate = self.gates.get(seen.gate)
        if gate is not None and gate.outcome is None:
            gate.gone = seen.because or "given up"
            self._shut(gate)
        elif gate is not None:
            gate.outcome, gate.gone = None, seen.because or "given up"

    def _run_moved(self, seen: RunMoved) -> None:
        run = self.runs.get(seen.run or "")
        if run is None:
            return
        run.claimed = seen.to
        run.claims.append(seen.to)
        if seen.to == "Running":
            run.segment_open = True
        elif seen.to == "Waiting":
            self._comes_to("a wait")

    def _call_moved(self, seen: CallMoved) -> None:
        run = self.runs.get(seen.run or "")
        call = run.calls.get(seen.call) if run is not None else None
        if call is None:
            return
        call.before_claim, call.claimed = call.claimed, seen.to
        call.claims.append(seen.to)
        if seen.to == "Suspended":
            self._comes_to("a wait")
            call.entries_when_suspended = len(call.entries)
            call.suspensions = seen.suspension or call.suspensions + (call.before_claim != "Suspended")

    def _segment_ended(self, seen: SegmentEnded) -> None:
        run = self.runs.get(seen.run or "")
        if run is None:
            return
        run.finished.append(seen)
        run.segment.clear()
        run.stations = []
        if seen.reason.code == "Suspended":
            self._comes_to("a wait")
        if seen.reason.code == "Suspended" and "cancel.waiting" not in self.handshake.stimuli:
            run.cancel_at = None  # it came to wait before the cancel reached it, and hears none there
        run.segment_open = False
        for call in run.calls.values():
            newly = call.id in seen.pending and not call.listed_pending
            if newly and not self.observes("call.status"):
                call.suspensions += 1
            call.listed_pending = call.id in seen.pending

    def _disposed(self, seen: DecisionTaken) -> None:
        self.dispositions[seen.decision].append(seen.disposition)
        sent = [decided for decided in self._all_sent() if decided.id == seen.decision]
        if not sent:
            return
        taken = seen.disposition in ("accepted", "buffered")
        undisposed = [decided for decided in sent if decided.disposition is None]
        if taken:
            decided = undisposed[0] if undisposed else sent[0]
        else:
            decided = undisposed[-1] if undisposed else sent[-1]
        decided.disposition = seen.disposition
        decided.turned_down = not taken

    def _checkpointed(self, seen: Checkpointed) -> None:
        self.checkpoints.append(seen)
        self.since_model.append(seen)
        self.since_answer.append(seen)

    def _phase_entered(self, seen: PhaseEntered) -> None:
        run = self.runs.get(seen.run or "")
        if run is not None:
            run.phases.append(seen)

    def _station_reached(self, seen: ResumeEntered) -> None:
        run = self.runs.get(seen.run or "")
        if run is not None:
            run.stations.append(Station(seen, self.stimuli, len(self.checkpoints)))

    def _appended(self, seen: MessageAppended) -> None:
        self.messages.append(seen.message)

    def _published(self, seen: Published) -> None:
        if seen.watcher == self.audience.watcher:
            self.audience.told.append(seen)

    def _stream_closed(self, seen: StreamClosed) -> None:
        if seen.watcher == self.audience.watcher:
            self.audience.answered = self.audience.came == "with a decision" and len(self.audience.gone) > 0
            self.audience.comes(None, "native", "nobody", self.audience.is_sure)

    # -- reports

    def report(self, quiescent: bool, refused: list[Refusal]) -> None:
        """The answer is complete."""
        self.quiescent = quiescent
        self.known.clear()
        for refusal in refused:
            self._refused(refusal)
        if quiescent:
            self.last_settled = self.stimuli
            self.audience.possible = {self.audience.watcher}
            for run in self.runs.values():
                run.cancel_settled = run.cancel_settled or run.cancel_at is not None

    def _refused(self, refusal: Refusal) -> None:
        self.refused_whole = self.refused_whole or refusal.decision is None
        if refusal.decision is not None:
            self._turn_down(refusal.decision)
        if refusal.stimulus >= len(self.newest):
            return
        method, params = self.newest[refusal.stimulus]
        if refusal.decision is None and self.settled_before:
            for raw in params.get("decisions", ()):
                self._turn_down(raw["id"])
        elif refusal.decision is None:  # it may speak of an earlier stimulus that had no turn until now
            for decided in self._all_sent():
                decided.unsure = decided.unsure or decided.at > self.last_settled
        run = self.runs.get(params.get("run", ""))
        if method == "recover" and run is not None and self.durable(run) is None:  # so it never was
            del self.runs[run.id]
            self.run = next(reversed(self.runs.values()), None)
        certain = refusal.decision is None and self.settled_before
        if method == "cancel" and certain and run is not None and run.cancel_at == self.stimuli:
            run.cancel_at = None

    def _turn_down(self, decision: str) -> None:
        """Of a decision that was sent more than once, the newest one was turned down."""
        sent = [d for d in self._all_sent() if d.id == decision]
        if sent:
            sent[-1].turned_down = True

    def _all_sent(self) -> Iterator[Decided]:
        for run in self.runs.values():
            for call in run.every_call:
                yield from call.decisions


def _cut_off(run: Run) -> list[Call]:
    """The calls of the newest round that have answered, while it still executes and none of it waits."""
    newest = [call for call in run.calls.values() if call.step == run.steps]
    plain = not any(call.doubled or call.raced or call.decisions or call.suspensions for call in newest)
    executing = any(call.executing for call in newest)
    return [call for call in newest if call.result is not None] if plain and executing else []


def _stands(decided: Decided, call: Call) -> bool:
    """Whether the call has taken this decision, or may have, and nothing has happened to it since."""
    if decided.turned_down or decided.stale:
        return False
    if decided.answers is call:
        return len(call.entries) == decided.entries_before and call.suspensions == decided.in_suspension
    return decided.unsure or call.suspensions == decided.in_suspension + 1


_STIMULUS_FOLDS: dict[str, Any] = {
    "run.start": Account._started,
    "gate.release": Account._released,
    "decide": Account._decisions,
    "cancel": Account._cancelled,
    "run.input": Account._new_input,
    "watch": Account._watched,
    "unwatch": Account._unwatched,
    "clock.advance": Account._time_passed,
    "crash": Account._crashed,
    "recover": Account._recovered,
}

_OBSERVATION_FOLDS: dict[type[Observation], Any] = {
    GateOpened: Account._gate_opened,
    GateClosed: Account._gate_closed,
    RunMoved: Account._run_moved,
    CallMoved: Account._call_moved,
    SegmentEnded: Account._segment_ended,
    DecisionTaken: Account._disposed,
    Checkpointed: Account._checkpointed,
    MessageAppended: Account._appended,
    PhaseEntered: Account._phase_entered,
    Published: Account._published,
    StreamClosed: Account._stream_closed,
    ResumeEntered: Account._station_reached,
}
