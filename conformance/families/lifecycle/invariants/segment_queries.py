"""What a run has shown in its segment so far, as the checks of phases and flow read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runlock.conformance.families.lifecycle.invariants.selectors import name_of
from runlock.conformance.families.lifecycle.messages import (
    CallMoved,
    Checkpointed,
    GateOpened,
    MessageAppended,
    PhaseEntered,
    SegmentEnded,
)
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.state.disturbances import CANCEL, CRASH, FAULT, INPUT
from runlock.conformance.families.lifecycle.state.records import ObservedCall, Run
from runlock.conformance.protocol import Observation

CALL_PHASES = ("ToolGate", "BeforeToolExecute", "AfterToolExecute")
TRIGGERS = ("UserMessage", "AssistantTurnCommitted", "ToolResultsCommitted", "RunFinished")

Followed = PhaseEntered | GateOpened | SegmentEnded | Checkpointed | CallMoved | MessageAppended


def followed(state: ObservedState, seen: Followed) -> Run | None:
    """The run, if its phases can be followed: they are shown, and so are its segments; no life was lost."""
    run = state.run_of(seen)
    has_one_segment = state.policies.get("waiting") == "parked"
    is_told = state.observes("phase") and (has_one_segment or state.observes("run.finished"))
    return run if run is not None and not run.disturbed_by(CRASH) and is_told else None


def is_cut_short(state: ObservedState, run: Run) -> bool:
    """Whether something from outside the flow may end the run wherever it stands."""
    blocked = state.policy("round.block") != "fail_call" and any(
        gate.outcome is not None and gate.outcome["kind"] == "block"
        for call in run.every_call
        for gate in call.judged
    )
    return bool(run.disturbed_by(CANCEL, FAULT, INPUT) or state.scenario.agent.stop or blocked)


def requires(run: Run, *phases: str) -> Sequence[Observation]:
    """What the segment has shown after the newest of these phases, or all of it."""
    shown = run.segment
    for at in range(len(shown) - 1, -1, -1):
        seen = shown[at]
        if isinstance(seen, PhaseEntered) and seen.phase in phases:
            return shown[at + 1 :]
    return shown


def is_among(one: Observation, shown: Sequence[Observation]) -> bool:
    """Whether this very observation is among what was shown, and not one that only looks like it."""
    return any(other is one for other in reversed(shown))


def may_hold_back(state: ObservedState) -> bool:
    """Whether calls may be left behind by their round, and run when the wait is over."""
    parallel = state.policy("round.executor") == "parallel"
    return not parallel and state.policy("round.rest") != "failed"


def has_fired(shown: Sequence[Observation], *phases: str) -> bool:
    """Whether one of these phases is among what was shown."""
    return any(isinstance(seen, PhaseEntered) and seen.phase in phases for seen in shown)


def stored(shown: Sequence[Observation], trigger: str = "", cause: str | None = None) -> int:
    """Where the newest checkpoint at a named trigger is among what was shown, or -1."""
    for at in range(len(shown) - 1, -1, -1):
        seen = shown[at]
        if isinstance(seen, Checkpointed) and seen.trigger in TRIGGERS:
            right = trigger in ("", seen.trigger) and (cause is None or seen.cause in (None, cause))
            if right:
                return at
    return -1


def asked_for(run: Run) -> list[ObservedCall]:
    """The calls of the newest turn of which it is certain that they make a round."""
    if not run.turn_alone or (run.last_turn or {}).get("kind") != "turn":
        return []
    return [
        call for call in run.calls.values() if call.step == run.steps and not (call.is_unclear or call.raced)
    ]


def asked_for_nothing(run: Run) -> bool:
    """Whether the newest turn certainly asked for no call, and was whole."""
    turn = run.last_turn
    asked = turn is None or turn["kind"] != "turn" or bool(turn.get("tool_calls"))
    return run.turn_alone and not asked and not stops_short(turn)


def stops_short(turn: Mapping[str, Any] | None) -> bool:
    """Whether a turn ended before the model was done: what follows one without calls is not said."""
    return (turn or {}).get("stop") in ("length", "refusal", "pause")


def may_be_a_replay(run: Run, seen: PhaseEntered) -> bool:
    """Whether a phase may belong to the replay of a call, which is a pass of its own."""
    if seen.phase not in CALL_PHASES:
        return False
    call = run.calls.get(seen.call or "")
    if call is None:
        return any(other.decisions or other.is_unclear for other in run.every_call)
    return bool(call.decisions) or call.is_unclear or call.step != run.steps


# --- the view that tables of rules read ---------------------------------------------------------


@dataclass(frozen=True)
class Segment:
    """What a segment has shown so far, and what it is about to show."""

    state: ObservedState
    run: Run
    seen: Followed

    @property
    def name(self) -> str:
        """The phase, the trigger or the gate that is about to be shown, or the reason of the end."""
        return name_of(self.seen)

    @property
    def named(self) -> str | None:
        """The call that is spoken of."""
        return vars(self.seen).get("call")

    @property
    def is_cut(self) -> bool:
        """Whether something from outside the flow may end the run wherever it stands."""
        return is_cut_short(self.state, self.run)

    @property
    def is_a_replay(self) -> bool:
        """Whether the phase may belong to the replay of a call."""
        return isinstance(self.seen, PhaseEntered) and may_be_a_replay(self.run, self.seen)

    @property
    def cause(self) -> str | None:
        """What a checkpoint is for."""
        return self.seen.cause if isinstance(self.seen, Checkpointed) else None

    @property
    def framing(self) -> str:
        """The two newest phases that no replay has fired."""
        own = [phase.phase for phase in self.run.phases if not may_be_a_replay(self.run, phase)]
        return " and ".join(own[-2:]) or "no phase"

    @property
    def last(self) -> str:
        """The newest phase of the run."""
        return self.run.phases[-1].phase

    def declares(self, policy: str, value: str) -> bool:
        """Whether the runtime declares this."""
        return bool(self.state.policy(policy) == value)

    def shown(self, since: str = "") -> Sequence[Observation]:
        """What the segment has shown, or what it has shown since this phase was entered last."""
        return requires(self.run, since) if since else self.run.segment

    def fired(self, *phases: str, since: str = "") -> bool:
        """Whether one of these phases was shown since that one was entered last, or in the segment."""
        return has_fired(self.shown(since), *phases)

    def stored(self, trigger: str, cause: str | None = None, since: str = "") -> bool:
        """Whether such a checkpoint was shown since this phase was entered last, or in the segment."""
        return stored(self.shown(since), trigger, cause) >= 0

    def has_asked(self, since: str) -> bool:
        """Whether the model was asked since this phase was entered last."""
        return any(isinstance(one, GateOpened) and one.on == "model" for one in self.shown(since))


def segments(state: ObservedState, seen: Followed) -> Iterator[Segment]:
    """The segment, if it can be followed."""
    run = followed(state, seen)
    if run is not None:
        yield Segment(state, run, seen)
