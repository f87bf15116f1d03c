"""What the kit knows of a runtime, and what can be asked of it (see the package for the theory)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, Self, TypeVar, cast

from runlock.conformance.families.lifecycle.messages import (
    Checkpointed,
    Exchanged,
    GateOpened,
    Handshake,
    Prompted,
    Scenario,
)
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, Disturbance
from runlock.conformance.families.lifecycle.state.inputs import Input
from runlock.conformance.families.lifecycle.state.records import (
    Decided,
    Grant,
    ObservedCall,
    ObservedGate,
    Run,
    ThreadEdit,
)
from runlock.conformance.families.lifecycle.state.watchers import Audience
from runlock.conformance.protocol import Message, Observation, Report

Feature = Literal[
    "a stop condition", "calls", "a wait", "a decision", "a cancel", "a crash", "a watcher", "a plugin",
    "a fault", "an edit", "an input", "a run within a call", "a broken stream", "a call that breaks off",
]  # fmt: skip
"""Features of a scenario; a check that requires one is skipped until it has occurred."""

Look = TypeVar("Look", bound=Callable[..., Any])


def once(look: Look) -> Look:
    """Cache until the state changes.  The function must not read a policy."""

    @wraps(look)
    def looked(state: Knowledge, *of: object) -> Any:
        known, key = state.known, (look, *map(id, of))
        if key not in known:
            known[key] = look(state, *of)
        return known[key]

    return cast("Look", looked)


@dataclass(slots=True)
class StateVolatile:
    """The gates at which the runtime waits, and who watches it: a crash takes this away."""

    open_gates: Sequence[ObservedGate] = ()  # the oldest first
    audience: Audience = field(default_factory=Audience)


class Knowledge(ABC):
    """What was sent and shown in one scenario so far, and what follows from it; the fold takes it forward."""

    prompts_at_crash = 0  # how many prompts there were at the last crash

    def __init__(self, handshake: Handshake, policies: Mapping[str, Any], scenario: Scenario) -> None:
        self.handshake = handshake
        self.policies: Mapping[str, Any] = dict(policies)
        self.features: frozenset[Feature] = frozenset(["a stop condition"] if scenario.agent.stop else [])
        self.kinds = frozenset(handshake.observes)  # of observations that the SUT shows
        self.scenario = scenario
        self.has_expiries = any(tool.expires_ms for tool in scenario.tools)
        self.tools = {tool.name: tool for tool in scenario.tools}
        self.runs: dict[str, Run] = {}
        self.run: Run | None = None  # the newest run of the thread
        self.nested: dict[str, Self] = {}  # the runs within calls, by their ids
        self.waited_at_crash: dict[str, frozenset[str]] = {}  # the runs within that did, and for which calls
        self.crashed_at = 0  # the stimulus before the last crash
        self.depth = 0  # how many calls its own runs are within
        self.gates: dict[str, ObservedGate] = {}
        self.life = 1
        self.stimuli = 0
        self.quiescent = True
        self.last_settled = 0  # the stimulus whose answer was the last quiescent one
        self.settled_before = True  # whether the SUT was quiescent when the newest stimulus came
        self.alone = True  # whether the newest stimulus was no race
        self.recovered_from: Any = None
        self.recovered_run: str | None = None
        self.now_ms = 0
        self.refused_whole = False  # whether the newest stimulus was turned down as a whole
        self.since_model: list[Checkpointed] = []  # checkpoints since the last model gate opened
        self.since_answer: list[Checkpointed] = []  # checkpoints since a tool or the model answered last
        self.newest: list[tuple[str, Mapping[str, Any]]] = []
        self.decision_ids: dict[str, Decided] = {}
        self.unplaced: list[Decided] = []  # decisions for calls that the run did not have when they came
        self.grants: list[Grant] = []  # decisions that stand for later calls, the oldest first
        self.handed_over: Counter[str] = Counter()  # how often each decision was sent
        self.dispositions: defaultdict[str, list[str]] = defaultdict(list)  # what was told of each decision
        self.forgotten: set[str] = set()  # ids of decisions that a crash may have taken away
        self.checkpoints: list[Checkpointed] = []
        self.messages: list[Message] = []
        self.exchanges: list[Exchanged] = []  # over AG-UI, the oldest first
        self.prompts: list[Prompted] = []  # over ACP, the oldest first
        self.kept_before = (0, 0)  # how many checkpoints and messages the lives before have shown
        self.stores_numbers = False  # whether a checkpoint has said which suspension of a call it holds
        self.inputs: list[str] = []  # what the user said, and may have been taken
        self.refused_inputs: list[str] = []  # and what a run that waited certainly turned down
        self.given: list[Input] = []  # every input for a run, in the order of sending
        self.last_model_gate: ObservedGate | None = None
        self.edits: list[ThreadEdit] = []  # of the thread, the oldest first
        self.as_shown: Sequence[Message] = ()  # the newest history, with its edits
        self.shown_at = ""  # the gate at which it was
        self.last_edit: ThreadEdit | None = None  # that the newest inference showed, and nothing has declared
        self.shown: list[Observation] = []  # since the newest stimulus
        self.known: dict[tuple[Any, ...], Any] = {}  # what was looked up since it took something in
        self.volatile = StateVolatile()  # what a crash takes away

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the cache, whose keys are object identities."""
        return {**vars(self), "known": {}}

    @property
    def open_gates(self) -> Sequence[ObservedGate]:
        """The gates at which the runtime waits, the oldest first."""
        own = self.volatile.open_gates
        if not self.nested:
            return own
        return [*own, *(gate for inner in self.nested.values() for gate in inner.open_gates)]

    @property
    def audience(self) -> Audience:
        """Who watches."""
        return self.volatile.audience

    @property
    def is_watched(self) -> bool:
        """Whether there is a watcher, and it is certain which."""
        return self.audience.watcher is not None and self.audience.is_sure

    def observes(self, kind: str) -> bool:
        """Whether the SUT said that it shows this kind."""
        return kind in self.kinds

    @property
    def tells_ends(self) -> bool:
        """Whether the SUT shows that a run is over; else one that is over looks like one that hangs."""
        return self.observes("run.status") or self.observes("run.finished")

    def policy(self, key: str) -> Any:
        """The value of a policy, or None while it is open."""
        return self.policies.get(key)

    def under(self, policies: Mapping[str, Any]) -> Self:
        """The same state, read under other policies."""
        view = object.__new__(type(self))
        vars(view).update(vars(self), policies=policies)
        return view

    def call_of(self, seen: Observation) -> ObservedCall | None:
        """The call that an observation speaks of."""
        call: str | None = vars(seen).get("call")  # pydantic is slow to say that there is no such field
        run = self.run_of(seen) if call is not None else None
        return run.calls.get(call) if run is not None and call is not None else None

    def entering(self, seen: GateOpened) -> ObservedCall | None:
        """The call whose body is being entered, if its id leaves no doubt which call it is."""
        call = self.call_of(seen)
        return call if seen.on == "tool" and call is not None and not call.is_unclear else None

    def entered(self, seen: GateOpened) -> ObservedCall | None:
        """As `entering`, also where an edit has made the call one of another tool."""
        call = self.call_of(seen)
        return call if seen.on == "tool" and call is not None and not call.duplicate_id else None

    def run_of(self, seen: Observation) -> Run | None:
        """The run that an observation speaks of."""
        return self.runs.get(seen.run or "") or self.run

    def is_excused(self, kinds: Collection[Disturbance], *seen: Observation) -> bool:
        """Whether one of these disturbances has met the run that an observation speaks of, or the newest."""
        run = self.run_of(seen[0]) if seen else self.run
        return run is not None and run.disturbed_by(*kinds)

    def gates_of(self, run: Run) -> list[ObservedGate]:
        """The gates at which a run waits, and those within its calls."""
        return [gate for gate in self.open_gates if run.id in (gate.run, gate.of)]

    def scene_of(self, gate: ObservedGate) -> Scenario:
        """What the run at a gate starts from."""
        path = f"{gate.run}/"
        inner = next((one for name, one in self.nested.items() if path.startswith(f"{name}/")), None)
        return self.scenario if inner is None else inner.scene_of(gate)

    def is_committing(self, run: Run | None = None) -> bool:
        """Whether a commit is under way: of this run, or of any."""
        gates = self.open_gates if run is None else self.gates_of(run)
        return any(gate.on == "store.put" for gate in gates)

    def durable(self, run: Run) -> Checkpointed | None:
        """The newest checkpoint of a run."""
        return next((c for c in reversed(self.checkpoints) if c.run in (None, run.id)), None)

    def can_come_back(self, run: Run) -> bool:
        """Whether a run may be recovered: something of it is durable, or that is for its runtime to know."""
        unseen = self.handshake.control.store == "own" and not self.observes("checkpoint")
        return unseen or self.durable(run) is not None

    def may_end_by_a_block(self, run: Run) -> bool:
        """Whether a call of the run was blocked, and that may end it, though a sibling is still at work."""
        return run.is_blocked and self.policy("round.block") != "fail_call"

    def gate(self, ref: str) -> ObservedGate | None:
        """The open gate of that id, or of that name (`model`, `tool:c1`), the oldest first."""
        known = self.gates.get(ref)
        if known is not None and known.is_open:
            return known
        return next((gate for gate in self.open_gates if ref in (gate.ref, gate.id)), None)

    def is_whole(self, run: Run, call: ObservedCall, durability: str) -> bool:
        """Whether the call has answered, and so has all that its loss would be measured in."""
        unsure = (
            call.is_unclear or call.raced or call.decisions or not all(gate.alone for gate in call.entries)
        )
        broken = run.disturbed_by(CANCEL, FAULT, CRASH)
        if call.result is None or unsure or broken or self.is_committing():
            return False
        if durability == "call":
            return self.settled_before
        round_ = [other for other in run.calls.values() if other.step == call.step]
        waited = durability == "step" and any(other.may_have_waited for other in round_)
        return durability in ("round", "step") and call.step < run.steps and not waited

    def add_feature(self, what: Feature) -> None:
        """The feature has occurred in the scenario."""
        if what not in self.features:
            self.features |= {what}

    def shut(self, gate: ObservedGate) -> None:
        """The runtime does not wait at the gate any more."""
        self.volatile.open_gates = [one for one in self.volatile.open_gates if one is not gate]

    @abstractmethod
    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something; the runs within calls are taken forward by this too."""

    @abstractmethod
    def read(self, seen: Observation) -> Observation:
        """An observation as checks are given it."""

    @abstractmethod
    def observe(self, seen: Observation) -> None:
        """The SUT shows something."""

    @abstractmethod
    def report(self, report: Report) -> None:
        """The answer is complete."""
