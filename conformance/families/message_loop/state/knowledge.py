"""What the kit knows of a message loop, and what can be asked of it (see the package for the theory)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

from runlock.conformance.families.message_loop.messages import Handshake, Message, Published, Scenario
from runlock.conformance.families.message_loop.state.records import (
    Grant,
    ObservedCall,
    ObservedGate,
    ObservedPass,
    ObservedTurn,
)
from runlock.conformance.protocol import Observation


class Knowledge:
    """What was sent and shown in one scenario so far, and what follows from it; the fold takes it forward."""

    def __init__(self, handshake: Handshake, policies: Mapping[str, Any], scenario: Scenario) -> None:
        self.handshake = handshake
        self.scenario = scenario
        self.policies: Mapping[str, Any] = dict(policies)
        self.stimuli = 0
        self.quiescent = True
        self.clock = 0
        self.window = 0
        self.stimuli_in: Counter[int] = Counter()  # how many each window holds
        self.turns: dict[str, ObservedTurn] = {}
        self.run: ObservedTurn | None = None
        self.gates: dict[str, ObservedGate] = {}
        self.grants: list[Grant] = []
        self.active = list(scenario.interactors)  # interactors
        self.gone_in: dict[str, int] = {}  # interactor: the window in which it went
        self.watchers: dict[str, tuple[int, bool]] = {}  # since when, and whether it fails
        self.unwatched: dict[str, tuple[int, int]] = {}  # watchers that went: from when to when
        self.watched: list[tuple[int, Published]] = []  # what watchers got
        self.published: list[tuple[int, Published]] = []  # what the kit got
        self.session: list[Message] = []  # the session history, as it was announced
        self.stored: Any = None  # the session history of the last checkpoint
        self.late: list[tuple[int, Mapping[str, Any]]] = []  # late answers: the stimulus, what it was
        self.cancels_what_is_over = False  # whether the last stimulus is a cancel of a turn that is over
        self.last_method = ""
        self.last_params: Mapping[str, Any] = {}
        self.last_refused: list[Any] = []
        self.is_looking = False
        self.shown_last: list[Observation] = []  # in the answer to the last stimulus
        self.features: frozenset[str] = frozenset()

    # What shared code asks.

    @property
    def open_gates(self) -> list[ObservedGate]:
        """Every open gate, oldest first."""
        return [gate for gate in self.gates.values() if gate.is_open]

    def policy(self, key: str) -> Any:
        """The value of a policy, or None while it is open."""
        return self.policies.get(key)

    def under(self, policies: Mapping[str, Any]) -> Self:
        """The same state, read under other policies."""
        view = object.__new__(type(self))
        vars(view).update(vars(self), policies=policies)
        return view

    def gate(self, ref: str) -> ObservedGate | None:
        """The open gate of that id or name, the oldest first."""
        for gate in self.open_gates:
            if ref in (gate.id, gate.ref):
                return gate
        return None

    # What checks ask.

    def observes(self, kind: str) -> bool:
        """Whether the runtime shows observations of this kind."""
        return kind in self.handshake.observes

    def shows(self, event: str) -> bool:
        """Whether it publishes events of this name."""
        return self.handshake.shows(event)

    def is_clean(self, window: int) -> bool:
        """Whether the window holds one stimulus alone."""
        return self.stimuli_in[window] == 1

    def cancel_is_clean(self, turn: ObservedTurn) -> bool:
        """Whether the cancel met a turn at rest, and no race."""
        return turn.cancel_is_clean and self.is_clean(turn.cancelled_in)

    def may_be_lost(self, gate: ObservedGate) -> bool:
        """Whether its answer may have been lost, in one window, to a cancel or to who gave it going away."""
        if not gate.released_in:
            return False
        went = self.gone_in.get(gate.opened.interactor or "")
        return gate.released_in in (gate.turn.cancelled_in, went)

    def raced(self, gate: ObservedGate) -> bool:
        """Whether something else that was sent in the same window may have ended the turn first."""
        return not self.is_clean(gate.released_in)

    def turn_of(self, seen: Observation) -> ObservedTurn | None:
        """The turn that an observation belongs to."""
        return self.turns.get(seen.run) if seen.run is not None else self.run

    def turns_before(self, turn: ObservedTurn) -> list[ObservedTurn]:
        """The turns before a turn, oldest first."""
        return [one for one in self.turns.values() if one.number < turn.number]

    def path_of(self, seen: Any) -> ObservedPass | None:
        """The pass that a gate, an event or a message belongs to."""
        turn = self.turn_of(seen)
        return turn.path(seen.stage) if turn is not None else None

    def call_of(self, seen: Any, call: str | None = None) -> ObservedCall | None:
        """The call that an observation is about: the newest of its id in the pass.

        It may be one that is not complete, and so not there yet.
        """
        wanted = call if call is not None else seen.call
        turn = self.turn_of(seen)
        if turn is None or wanted is None:
            return None
        paths = [turn.path(seen.stage)] if seen.stage is not None or turn.kind == "chat" else turn.passes
        for path in reversed(paths):
            if path is None or (path.request is not None and wanted in path.request.begun):
                continue
            if wanted in path.calls:
                return path.calls[wanted]
        return None
