"""What the kit knows of a runner, and what can be asked of it (see the package for the theory)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Self

from runlock.conformance.families.tool_runner.messages import RunnerGate, RunnerHandshake, RunnerScenario
from runlock.conformance.families.tool_runner.state.records import (
    Iteration,
    ObservedGate,
    Phase,
    Run,
    Versions,
)
from runlock.conformance.protocol import Observation
from runlock.spec.model import load_spec


class Knowledge:
    """What was sent and shown in one scenario so far, and what follows from it; the fold takes it forward."""

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
        self.sent: list[tuple[int, int, int, str]] = []  # may be refused: window, stimulus, place, method
        self.gates: dict[str, ObservedGate] = {}
        self.open_gates: Sequence[ObservedGate] = ()
        self.runs: dict[str, Run] = {}
        self.run: Run | None = None
        self.input = ""
        self.iterations: list[Iteration] = []
        self.turns = 0  # received
        self.faults = 0  # requests that failed
        self.first_params: Mapping[str, Any] | None = None
        self.tools: Versions = {tool.name: frozenset({1}) for tool in scenario.tools if tool.offered}
        self.defined: dict[str, frozenset[int]] = {tool.name: frozenset({1}) for tool in scenario.tools}
        self.given: set[str] = {tool.name for tool in scenario.tools if tool.offered}
        self.tools_changed = False
        self.early_yield: ObservedGate | None = None  # of a stream whose request has not been seen yet
        self.taken_up: Run | None = None  # the newest run that `runner.again` asked for
        self.late_cancel = False  # the newest stimulus is the cancel of a run that is Done
        self.shown = 0  # observations since the newest stimulus
        self.known: dict[Any, Any] = {}  # what was worked out since it took something in

    @property
    def params_set(self) -> dict[str, Any]:
        """The params that the user set, as far as the runner took them."""
        acts = (act for iteration in self.iterations for act in iteration.acts)
        return {key: value for act in acts for key, value in (act.params.get("params") or {}).items()}

    def policy(self, key: str) -> Any:
        """The value of a policy, or None while it is open."""
        return self.policies.get(key)

    def values(self, key: str) -> tuple[str, ...]:
        """The values that a policy may have."""
        value = self.policy(key)
        return (value,) if value is not None else tuple(load_spec("tool-runner").policy(key).values)

    def under(self, policies: Mapping[str, Any]) -> Self:
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
    def yielded(self) -> ObservedGate | None:
        """The open yield."""
        return next((gate for gate in self.open_gates if gate.on == "yield"), None)

    @property
    def limit(self) -> int | None:
        """The limit of the scenario; 0 is for `limit.zero` to say."""
        return self.scenario.runner.max_iterations

    def gate(self, ref: str) -> ObservedGate | None:
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

    def shut(self, gate: ObservedGate) -> None:
        """The runner waits at a gate no longer."""
        self.open_gates = [one for one in self.open_gates if one is not gate]

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
