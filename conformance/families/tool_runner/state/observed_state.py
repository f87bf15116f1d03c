"""The fold of one scenario's trace; nothing here judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

from runlock.conformance.families.tool_runner.messages import (
    USER_VERBS,
    Delta,
    RunnerGate,
    RunnerHandshake,
    RunnerScenario,
    RunnerTurn,
)
from runlock.conformance.families.tool_runner.state.records import Act, Gate, Iteration, Phase, Response, Run
from runlock.conformance.families.tool_runner.state.shown import SHOWN
from runlock.conformance.protocol import Observation, Report
from runlock.spec.model import load_spec

MAY_BE_REFUSED: Final = ("runner.again", "cancel", *USER_VERBS)
MOVES_NOTHING: Final = ("inspect", "settle", "clock.advance")
Versions = Mapping[str, frozenset[int]]
"""The tools of a set, and the versions that each may have."""


class ObservedRunner:
    """The fold of one scenario's trace; `stimulus`, `observe` and `report` take it forward."""

    def __init__(
        self, handshake: RunnerHandshake, policies: Mapping[str, Any], scenario: RunnerScenario
    ) -> None:
        self.handshake = handshake
        self.policies: Mapping[str, Any] = dict(policies)
        self.scenario = scenario
        self.kinds = frozenset(handshake.observes)
        self.features: frozenset[str] = frozenset()
        self.stimuli = 0
        self.quiescent = True
        self.settled_before = True  # whether the runner was quiescent when the newest stimulus came
        self.alone = True  # whether the newest stimulus was no race
        self.parts: list[tuple[str, Mapping[str, Any]]] = []  # of the newest stimulus
        self.window = 0  # a window begins with a stimulus at quiescence, and ends at the next quiescence
        self.sent_in: Counter[int] = Counter()  # by window: how many stimuli were sent that move the runner
        self.sent: list[
            tuple[int, int, int, str]
        ] = []  # window, stimulus, place and method of what may be refused
        self.gates: dict[str, Gate] = {}
        self.open_gates: Sequence[Gate] = ()
        self.runs: dict[str, Run] = {}
        self.run: Run | None = None
        self.input = ""
        self.iterations: list[Iteration] = []
        self.turns = 0  # received
        self.faults = 0  # requests that failed
        self.params_set: dict[str, Any] = {}
        self.first_params: Mapping[str, Any] | None = None
        self.tools: Versions = {tool.name: frozenset({1}) for tool in scenario.tools if tool.offered}
        self.defined: dict[str, frozenset[int]] = {tool.name: frozenset({1}) for tool in scenario.tools}
        self.given: set[str] = {tool.name for tool in scenario.tools if tool.offered}
        self.tools_changed = False
        self.ill_formed = False
        self.early_yield: Gate | None = None  # of a stream whose request has not been seen yet
        self.taken_up: Run | None = None  # the newest run that `runner.again` asked for
        self.late_cancel = False  # the newest stimulus is the cancel of a run that is Done
        self.shown = 0  # observations since the newest stimulus
        self.known: dict[Any, Any] = {}  # what was worked out since it took something in

    # -- what it knows

    def policy(self, key: str) -> Any:
        """The value of a policy, or None while it is open."""
        return self.policies.get(key)

    def values(self, key: str) -> tuple[str, ...]:
        """The values that a policy may have."""
        value = self.policy(key)
        return (value,) if value is not None else tuple(load_spec("tool-runner").policy(key).values)

    def under(self, policies: Mapping[str, Any]) -> ObservedRunner:
        """The same state, read under other policies; it shares everything else and must not be changed."""
        other = copy(self)
        other.policies, other.known = policies, {}
        return other

    def observes(self, kind: str) -> bool:
        """Whether the runner shows this kind."""
        return kind in self.kinds

    @property
    def shows_ends(self) -> bool:
        """Whether the runner shows that a run is over; else one that is over looks like one that hangs."""
        return self.observes("run.finished") or self.observes("run.status")

    @property
    def iteration(self) -> Iteration | None:
        """The newest iteration."""
        return self.iterations[-1] if self.iterations else None

    @property
    def yielded(self) -> Gate | None:
        """The open yield."""
        return next((gate for gate in self.open_gates if gate.on == "yield"), None)

    @property
    def limit(self) -> int | None:
        """The limit of the scenario; 0 is for `limit.zero` to say."""
        return self.scenario.runner.max_iterations

    def gate(self, ref: str) -> Gate | None:
        """The open gate of that id or name, the oldest first."""
        known = self.gates.get(ref)
        if known is not None and known.is_open:
            return known
        return next((gate for gate in self.open_gates if gate.ref == ref), None)

    def run_of(self, seen: Observation) -> Run | None:
        """The run that an observation is about."""
        return self.runs.get(seen.run or "") or self.run

    @property
    def is_cancelled(self) -> bool:
        """Whether a cancel was sent to the runner."""
        return any(run.cancel_at is not None for run in self.runs.values())

    def met_a_race(self, window: int) -> bool:
        """Whether something was sent in a window that the runner may have acted on in any order."""
        return self.sent_in[window] > 1

    # -- what it takes in

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something."""
        self.stimuli += 1
        self.window += self.quiescent
        self.settled_before, self.quiescent = self.quiescent, False
        self.parts = [(method, params)]
        if method == "deliver":
            self.parts = [(part["method"], part["params"]) for part in params["stimuli"]]
        self.alone = len(self.parts) == 1 and self.settled_before
        self.late_cancel, self.shown = False, 0
        self.sent_in[self.window] += sum(name not in MOVES_NOTHING for name, _ in self.parts)
        for place, (name, inner) in enumerate(self.parts):
            if name in MAY_BE_REFUSED:
                self.sent.append((self.window, self.stimuli, place, name))
            self._sent(name, inner, place)
        self.known.clear()

    def observe(self, seen: Observation) -> None:
        """The runner shows something."""
        fold = SHOWN.get(type(seen))
        if fold is not None:
            fold(self, seen)
        self.shown += 1
        self.known.clear()

    def report(self, report: Report) -> None:
        """The answer is complete; its observations were taken in before."""
        self.known.clear()
        self.quiescent = report.quiescent
        for refusal in report.refused:
            self._turned_down(refusal.stimulus)
        if report.quiescent:
            for run in self.runs.values():
                run.cancel_settled = run.cancel_settled or run.cancel_at is not None
            if self.run is not None and not self.open_gates and not self.shows_ends:
                self.run.gone_quiet = True

    def _turned_down(self, place: int) -> None:
        """Forget what the runner did not take."""
        iteration = self.iteration
        refused = [one for one in self.sent if one[0] == self.window and one[2] == place]
        if not refused:
            return
        _, at, _, method = refused[-1]  # an answer before quiescence may be too early to tell of it
        if method == "runner.again" and self.run is not None:
            self._not_taken_up(self.run)
        elif method == "cancel" and self.run is not None and self.run.cancel_at == at:
            self.run.cancel_at = None
        elif iteration is not None and method in USER_VERBS:
            iteration.acts = [a for a in iteration.acts if (a.at, a.part) != (at, place)]
            kept = (one for one in iteration.responses if not (one.is_pending and one.at == at))
            iteration.responses = list(kept)
            self._count_tools()

    def _not_taken_up(self, run: Run) -> None:
        run.refused = True
        if self.iteration is not None:
            self.iteration.taken_up_at = self.iteration.retried_at = None
        self.run = run.before or run

    # -- what the kit sends

    def _sent(self, method: str, params: Mapping[str, Any], place: int) -> None:
        if method == "run.start":
            self._begin(Run(params["run"], self.stimuli), params["input"])
        elif method == "runner.again":
            self._again(params["run"])
        elif method == "gate.release":
            self._released(self.gates[params["gate"]], params["outcome"])
        elif method == "cancel":
            self._cancelled(params["run"])
        elif method in USER_VERBS:
            self._acted(method, params, place)

    def _begin(self, run: Run, words: str = "") -> None:
        self.runs[run.id], self.run = run, run
        self.input = self.input or words

    def _again(self, run_id: str) -> None:
        before, iteration = self.run, self.iteration
        run = Run(run_id, self.stimuli, is_again=True, after="end", before=before)
        if before is not None and before.left_at is not None and iteration is not None:
            run.after, iteration.taken_up_at = "break", self.stimuli
        elif iteration is not None and (iteration.fault or (before is not None and _is_error(before))):
            run.after, iteration.retried_at = "fault", self.stimuli
        self._begin(run)
        self.taken_up = run
        self.features |= {"again"}

    def _cancelled(self, run_id: str) -> None:
        run = self.runs.get(run_id)
        if run is None or run.is_done:
            self.late_cancel = self.alone
            return
        run.cancel_at = run.cancel_at or self.stimuli
        run.cancelled_in = self.window
        self.features |= {"cancel"}
        iteration = self.iteration
        if iteration is not None:
            iteration.with_user_at_cancel = iteration.yielded is not None and iteration.turn is not None
            iteration.cancelled_in = self.window

    def _acted(self, method: str, params: Mapping[str, Any], place: int) -> None:
        iteration = self.iteration
        if iteration is None or iteration.yielded is None:
            return
        self.features |= {"an act"}
        making = iteration.pending_response is not None
        done = sum(not one.is_pending for one in iteration.responses)
        if method == "runner.respond":
            response = Response(
                self.stimuli, self.window, len(iteration.acts), after_cancel=self.is_cancelled
            )
            iteration.responses.append(response)
            return
        iteration.acts.append(Act(method, params, self.stimuli, self.window, place, making, done))
        if method == "runner.set":
            self.params_set.update(params.get("params") or {})
        elif method == "runner.tools":
            self.tools_changed = True
            self._count_tools()

    def _count_tools(self) -> None:
        """Work out the set of tools from the request of this iteration and what the user did since."""
        iteration = self.iteration
        assert iteration is not None
        tools = dict(iteration.tools)
        for act in iteration.acts:
            if act.method == "runner.tools":
                for name in act.params.get("remove") or ():
                    tools.pop(name, None)
                for name in act.params.get("add") or ():
                    tools[name] = self._version(name, tools)
        self.tools = tools

    def _version(self, name: str, tools: Versions) -> frozenset[int]:
        """The versions that a tool may have now: a name that was removed before may count on, or not."""
        known = self.defined.get(name, frozenset({1}))
        if name in tools:
            found = frozenset(version + 1 for version in tools[name])
        else:
            found = known | {version + 1 for version in known} if name in self.given else known
        self.defined[name] = known | found
        self.given.add(name)
        return found

    def _released(self, gate: Gate, outcome: Mapping[str, Any]) -> None:
        iteration = self.iteration
        if outcome["kind"] == "delta":
            assert iteration is not None
            iteration.deltas.append((Delta.model_validate(outcome), self.stimuli))
            self.features |= {"a stream"}
            return
        gate.outcome, gate.released_at, gate.released_in = outcome, self.stimuli, self.window
        self.shut(gate)
        if iteration is None:
            return
        if gate.on == "model" and gate is iteration.request:
            self._answered(iteration, outcome)
        elif gate.on == "yield" and gate is not self.early_yield:
            self.went_on(iteration, gate)

    def went_on(self, iteration: Iteration, gate: Gate) -> None:
        """The user resumed, or left the loop."""
        iteration.whole_at_resume = iteration.turn is not None
        if gate.kind == "break":
            iteration.left_at, iteration.left_in = gate.released_at, gate.released_in
            if self.run is not None:
                self.run.left_at = gate.released_at
        else:
            iteration.resumed_at = gate.released_at

    def _answered(self, iteration: Iteration, outcome: Mapping[str, Any]) -> None:
        if outcome["kind"] == "fault":
            iteration.fault = True
            self.faults += 1
            return
        iteration.turn, iteration.turn_in = RunnerTurn.model_validate(outcome), self.window
        self.turns += 1

    def take_back(self, gate: Gate) -> None:
        """The runner had given the gate up before it was released: the release came late, and was dropped."""
        kind, gate.outcome = gate.kind, None
        iteration = self.iteration
        if iteration is None:
            return
        if gate is iteration.request and kind == "turn":
            iteration.turn = iteration.turn_in = None
            iteration.whole_at_resume = False
            self.turns -= 1
        elif gate is iteration.request and kind == "fault":
            iteration.fault = False
            self.faults -= 1
        elif gate.on == "yield" and gate in iteration.yields:
            iteration.resumed_at = iteration.left_at = iteration.left_in = None
            if self.run is not None:
                self.run.left_at = None

    def shut(self, gate: Gate) -> None:
        """The runner waits at a gate no longer."""
        self.open_gates = [one for one in self.open_gates if one is not gate]

    # -- where an iteration stands

    def is_early(self, seen: RunnerGate) -> bool:
        """Whether a yield is that of a stream whose request opens right after it."""
        last = self.iteration
        over = last is None or last.fault or bool(last.request.gone) or last.retried_at is not None
        over = over or (last is not None and last.turn is not None and last.goes_on)
        return over and self.scenario.runner.stream and seen.message is None and self.early_yield is None

    def phase(self, iteration: Iteration) -> tuple[Phase, int | None]:
        """When in an iteration something happens now, and for which response."""
        if iteration.yielded is not None:
            pending = iteration.pending_response
            return ("yield", None) if pending is None else ("response", iteration.responses.index(pending))
        if self._reads_on(iteration):
            return "yield", None
        if iteration.goes_on:
            return "handling", None
        if iteration.left_at is not None:
            return "left", None
        return "request", None

    def _reads_on(self, iteration: Iteration) -> bool:
        """Whether a call may start from a stream that had not ended at the resume, or a break in a race."""
        runner = self.scenario.runner
        is_over = iteration.end_events if runner.read == "all" else iteration.turn is not None
        if not runner.stream or is_over:
            return False
        raced = iteration.left_at == self.stimuli and not self.alone
        return (iteration.goes_on or raced) and "streaming" in self.values("tools.start")


def _is_error(run: Run) -> bool:
    reason = run.ended or run.claimed_reason
    return reason is not None and reason.code == "Error"
