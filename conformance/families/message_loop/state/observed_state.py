"""The observed state of a message loop: the fold of one scenario's trace.

Theory.  A message loop is a walk through six stages, and none of them can be seen.  What can be seen are
two kinds of things, and the state keeps them apart.

*Facts* are what the kit witnessed because it was there.  A gate is a fact: the runtime came to the outside
world, showed what it came with, and waits until the kit releases it.  Out of gates alone the state builds
its records.  A *turn* begins with the kit's `run.start`.  A *pass* is the chat turn, or one attempt of a
stage execution; an `assert` gate that is released with `retry` begins the next one.  A *request* begins
with the first gate of its COMPOSE_REQUEST (a context provider, a hook) or, where there is none, with its
model gate; a model gate that opens after one that failed before its first delta is the same request, sent
again.  A *response* is complete when the kit releases its model gate with a turn, and from then on its
*calls* exist; a call id that a later response uses is a new call.  Prompts, guards, verdicts of the state
machine and tool entries are filed under their call, in the order in which the gates opened.

*Claims* are what the runtime says of itself: events, messages, statuses, the reason of the end, the answer
to `inspect`.  They are kept apart from the facts and never change them, so that a check can hold one against
the other.

Time is an ordinal: each stimulus and each observation takes the next number.  Two things that happened
without the runtime having come to rest in between lie in one *window*; nothing may be concluded from the
order of two stimuli in one window, since a runtime may take them in any order.  A stimulus that is the only
one in its window is *clean*.

Three things take what they seem to give.  A release in the same window as a cancel may be lost without a
`gate.closed`, if the runtime was cancelled between the answer and its next step.  A gate that was released
and then closed gave nothing: the answer came too late.  A second answer to a prompt in the same delivery is
late as well, even where its gate does not close.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from runlock.conformance.families.message_loop.messages import (
    Handshake,
    Message,
    Published,
    Report,
    Scenario,
)
from runlock.conformance.families.message_loop.state.naming import gate_name
from runlock.conformance.families.message_loop.state.observations import take_in
from runlock.conformance.families.message_loop.state.records import Call, Gate, Grant, Pass, Turn
from runlock.conformance.families.message_loop.state.stimuli import sent
from runlock.conformance.protocol import Observation


class ObservedState:
    """The fold of one scenario's trace: what was sent, and what the runtime showed."""

    def __init__(self, handshake: Handshake, policies: Mapping[str, Any], scenario: Scenario) -> None:
        self.handshake = handshake
        self.scenario = scenario
        self.policies: Mapping[str, Any] = dict(policies)
        self.stimuli = 0
        self.quiescent = True
        self.clock = 0
        self.window = 0
        self.stimuli_in: Counter[int] = Counter()  # how many each window holds
        self.turns: dict[str, Turn] = {}
        self.run: Turn | None = None
        self.gates: dict[str, Gate] = {}
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
    def open_gates(self) -> list[Gate]:
        """Every open gate, oldest first."""
        return [gate for gate in self.gates.values() if gate.is_open]

    def policy(self, key: str) -> Any:
        """The value of a policy, or None while it is open."""
        return self.policies.get(key)

    def under(self, policies: Mapping[str, Any]) -> ObservedState:
        """The same state, read under other policies."""
        view = object.__new__(ObservedState)
        vars(view).update(vars(self), policies=policies)
        return view

    def gate(self, ref: str) -> Gate | None:
        """The open gate of that id or name, the oldest first."""
        for gate in self.open_gates:
            if ref in (gate.id, gate.ref):
                return gate
        return None

    def is_excused(self, kinds: Any, *seen: Observation) -> bool:
        """No check of this family excuses a disturbance by its kind."""
        return False

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        """The kit sends something; a look at the turn moves nothing."""
        self.stimuli += 1
        self.is_looking = method == "inspect"
        if self.is_looking:
            return
        if self.quiescent:
            self.window += 1
        self.last_method, self.last_params, self.shown_last = method, params, []
        over = self.turns.get(params["run"]) if method == "cancel" else None
        self.cancels_what_is_over = over is not None and over.is_done
        parts: Iterable[Mapping[str, Any]] = [{"method": method, "params": params}]
        for part in params["stimuli"] if method == "deliver" else parts:
            self.clock += 1
            self.stimuli_in[self.window] += 1
            sent(self, part["method"], part["params"])
        self.quiescent = False

    def observe(self, seen: Observation) -> None:
        """The runtime shows something."""
        self.clock += 1
        self.shown_last.append(seen)
        take_in(self, seen)

    def report(self, report: Report) -> None:
        """The answer is complete; its observations were taken in before."""
        self.quiescent = report.quiescent
        if not self.is_looking:
            self.last_refused = list(report.refused)

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

    def cancel_is_clean(self, turn: Turn) -> bool:
        """Whether the cancel met a turn at rest, and no race."""
        return turn.cancel_is_clean and self.is_clean(turn.cancelled_in)

    def may_be_lost(self, gate: Gate) -> bool:
        """Whether its answer may have been lost, in one window, to a cancel or to who gave it going away."""
        if not gate.released_in:
            return False
        went = self.gone_in.get(gate.opened.interactor or "")
        return gate.released_in in (gate.turn.cancelled_in, went)

    def raced(self, gate: Gate) -> bool:
        """Whether something else that was sent in the same window may have ended the turn first."""
        return not self.is_clean(gate.released_in)

    def turn_of(self, seen: Observation) -> Turn | None:
        """The turn that an observation belongs to."""
        return self.turns.get(seen.run) if seen.run is not None else self.run

    def turns_before(self, turn: Turn) -> list[Turn]:
        """The turns before a turn, oldest first."""
        return [one for one in self.turns.values() if one.number < turn.number]

    def path_of(self, seen: Any) -> Pass | None:
        """The pass that a gate, an event or a message belongs to."""
        turn = self.turn_of(seen)
        return turn.path(seen.stage) if turn is not None else None

    def call_of(self, seen: Any, call: str | None = None) -> Call | None:
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

    def gate_name(self, opened: Any) -> str:
        """The name of a gate in schedules."""
        return gate_name(opened)
