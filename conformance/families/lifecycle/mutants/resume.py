"""Wrong passes through the resume gate: stations that are left out, taken too early, or taken for others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Decision


@fault(
    "RESUME-1",
    "nothing had arrived, yet the pass did not end",
    profile="tirea",
    also=(
        "RESUME-2",
        "RESUME-3",
        "RESUME-20",
    ),
)
class SaysNothingOfAnEmptyPass(Runtime):
    """A pass to which nothing came does not end: the next one begins."""

    arrived = False

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        self.arrived = True
        return super().receive(decisions)

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "NoDecision" or not self.leaves_out():
            super().gate_state(state, decision)
        if state in ("NoDecision", "CommitReplay"):
            self.arrived = False

    def leaves_out(self) -> bool:
        """Whether this end is not announced."""
        return not (self.arrived or self.state.early)


@fault(
    "RESUME-2", "met no call that waits, yet the pass did not end", profile="tirea-stream", also=("RESUME-1",)
)
class SaysNothingOfAVainPass(SaysNothingOfAnEmptyPass):
    """A pass whose decisions meet no call does not end: the next one begins."""

    def leaves_out(self) -> bool:
        return self.arrived or bool(self.state.early)


@fault("RESUME-3", "yet the pass went on to NoDecision", profile="tirea")
class LooksAwayAtTheStart(Runtime):
    """The pass at the start of a segment sees no decision, and the one after it finds it."""

    async def apply_decisions(self, cause: str) -> None:
        if cause == "run_start":
            self.gate_state("DrainDecisionChannel")
            self.gate_state("NoDecision")
            self._suspensions = {call.id: call.suspension for call in self.state.calls.values()}
        else:
            await super().apply_decisions(cause)


@fault("RESUME-4", "yet ResolveDecision led to Replay", profile="tirea")
class ReplaysBeforeItPersists(Runtime):
    """Passes from resolving a decision straight to its replay."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "PersistResumeDecision":
            super().gate_state(state, decision)


@fault("RESUME-5", "became Resuming at ResolveDecision", profile="tirea")
class ActsBeforeItPersists(Runtime):
    """A decided call is Resuming before its decision is written down."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state == "PersistResumeDecision" and decision is not None and decision.action == "resume":
            super().move_call(self.state.calls[decision.call], "resume")
        super().gate_state(state, decision)

    def move_call(self, call: Call, event: str) -> None:
        if event != "resume" or call.status != "Resuming":
            super().move_call(call, event)


@fault("RESUME-6", "yet its replay took the branch ReplayResume", profile="tirea")
class TakesARefusalForAnApproval(Runtime):
    """A refusal takes the resuming branch, though its call is cancelled."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        super().gate_state("ReplayResume" if state == "ReplayCancel" else state, decision)


@fault("RESUME-7", "yet its replay took the branch ReplayCancel", profile="tirea")
class TakesAnApprovalForARefusal(Runtime):
    """An approval takes the cancelling branch, though its call runs."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        super().gate_state("ReplayCancel" if state == "ReplayResume" else state, decision)


@fault("RESUME-8", "yet ReplayCancel led to ExecuteReplayedTool", profile="tirea")
class PassesTheToolToCancel(Runtime):
    """The cancelling branch goes through the station at which tools are entered."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        super().gate_state(state, decision)
        if state == "ReplayCancel":
            super().gate_state("ExecuteReplayedTool", decision)


@fault("RESUME-9", "yet ReplayResume led to", profile="tirea")
class ClearsBeforeItRuns(Runtime):
    """The resuming branch leaves out the station at which the call runs again."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "ExecuteReplayedTool":
            super().gate_state(state, decision)


@fault("RESUME-10", "is Succeeded, yet its replay led to SetNextSuspended", profile="tirea")
class HoldsWhatIsOver(Runtime):
    """A replay that is over is recorded as one that waits again."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        call = None if decision is None else self.state.calls[decision.call]
        if state == "ClearResolved" and call is not None and call.status == "Succeeded":
            super().gate_state("SetNextSuspended", decision)
        super().gate_state(state, decision)


@fault("RESUME-11", "is Suspended again, yet its replay led to", profile="tirea")
class ForgetsTheNewWait(Runtime):
    """A replay that is held again is cleared without its new suspension."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "SetNextSuspended":
            super().gate_state(state, decision)


@fault("RESUME-12", "yet SetNextSuspended led to", profile="tirea")
class KeepsTheOldDecision(Runtime):
    """Once the new suspension is recorded, the decision that led to it is not cleared."""

    waits_again = False

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "ClearResolved" or not self.waits_again:
            super().gate_state(state, decision)
        self.waits_again = state == "SetNextSuspended"


@fault("RESUME-10", "was cleared, yet the checkpoint holds it", profile="tirea", also=("RESUME-12",))
class StoresWhatWasCleared(Runtime):
    """Keeps in its checkpoints the decisions that were cleared."""

    cleared: Mapping[str, Any] = {}

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state == "ClearResolved" and decision is not None:
            self.cleared = {**self.cleared, decision.call: asdict(decision)}
        super().gate_state(state, decision)

    def to_store(self, ending: Any) -> dict[str, Any]:
        state = super().to_store(ending)
        return {**state, "decisions": {**self.cleared, **state["decisions"]}}


@fault("RESUME-12", "was cleared, yet the checkpoint holds it", profile="tirea")
class StoresWhatLedToANewWait(StoresWhatWasCleared):
    """Keeps in its checkpoints the decisions that were cleared because their calls wait anew."""

    def to_store(self, ending: Any) -> dict[str, Any]:
        waits = {call.id for call in self.state.in_status("Suspended")}
        self.cleared = {call: decision for call, decision in self.cleared.items() if call in waits}
        return super().to_store(ending)


@fault("RESUME-13", "yet ClearResolved led to CommitReplay", profile="tirea")
class PublishesNothing(Runtime):
    """A cleared decision leads to the commit without a snapshot."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "SnapshotIfStateChanged":
            super().gate_state(state, decision)


@fault("RESUME-14", "a pass resolved a decision, yet", profile="tirea", also=("FLOW-3",))
class CommitsNoRefusal(Runtime):
    """A pass that only refused leaves no checkpoint."""

    refused = False

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        super().gate_state(state, decision)
        if state in ("ReplayCancel", "ReplayResume"):
            self.refused = state == "ReplayCancel"

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        if cause in ("replay", "run_start") and trigger == "ToolResultsCommitted" and self.refused:
            return
        await super().commit(trigger, cause, **rest)


@fault("RESUME-20", "was entered at ResolveDecision", profile="tirea")
class SkipsTheDrain(Runtime):
    """A pass for which a decision is ready begins with that decision."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "DrainDecisionChannel" or not self.ready():
            super().gate_state(state, decision)
