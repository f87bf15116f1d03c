"""Wrong checkpoints: late, missing, incomplete, or not believed."""

from __future__ import annotations

from typing import Any, ClassVar

from runlock.conformance.family.made import fault
from runlock.conformance.protocol import Control
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Reason
from runlock.machines.lifecycle.runtime.world import WorldFault

Ending = tuple[str, Reason | None] | None
"""The status and the reason that a run is about to take, if it is to take another."""

NO_STORE = {"control": Control(settle="exact", clock="virtual", step="turns", store="none")}


@fault("STORE-1", "yet it is stored as", also=("STORE-17",))
class TrimsTheThread(Runtime):
    """Stores only the newest messages of the thread."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        kept = self.state.messages
        self.state.messages = kept[-3:]
        try:
            await super().commit(trigger, cause, **rest)
        finally:
            self.state.messages = kept


@fault("STORE-2", "ended as Suspended, yet")
class AnnouncesBeforeItStores(Runtime):
    """Announces that it waits before that is durable."""

    async def _suspend(self) -> Segment:
        pending = tuple(call.id for call in self.state.in_status("Suspended"))
        self.observe("run.finished", reason={"code": "Suspended"}, pending=list(pending))
        return await super()._suspend()


@fault("STORE-2", "tells of an end, yet")
class TellsBeforeItStores(Runtime):
    """Tells the watcher that it waits before that is durable."""

    async def _suspend(self) -> Segment:
        pending = [call.id for call in self.state.in_status("Suspended")]
        self.publish("run.finished", reason={"code": "Suspended"}, pending=pending)
        return await super()._suspend()


@fault("STORE-3", "the checkpoint RunFinished was not forced", profile="tirea")
class DoesNotForceTheEnd(Runtime):
    """Writes the last checkpoint without force."""

    async def commit(self, trigger: str, cause: str, *, force: bool = False, ending: Any = None) -> None:
        await super().commit(trigger, cause, force=False, ending=ending)


@fault("STORE-4", "yet the turn that asked for it is not committed", profile="tirea", also=("FLOW-14",))
class RunsToolsBeforeTheTurnIsStored(Runtime):
    """Runs the tools of a turn that is not committed."""

    async def commit_at(self, trigger: str, cause: str) -> None:
        if trigger != "AssistantTurnCommitted":
            await super().commit_at(trigger, cause)


@fault(
    "STORE-5", "yet the results of the round are not committed", profile="tirea", also=("FLOW-20", "FLOW-40")
)
class AsksBeforeTheRoundIsStored(Runtime):
    """Asks the model again before the results of the round are committed."""

    async def commit_at(self, trigger: str, cause: str) -> None:
        if cause != "round":
            await super().commit_at(trigger, cause)


@fault("STORE-6", "yet the step before is not committed", also=("STORE-19",))
class SkipsTheEndOfAStep(Runtime):
    """Asks the model again before the step is committed."""

    async def _step_end(self) -> None:
        self._end_step()


@fault("STORE-19", "fires after StepEnd, yet the step was not stored there")
class StoresTheLastStepAfterTheRun(Runtime):
    """Stores the last step only once the run has ended."""

    late = False

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        if trigger == "StepEnd" and cause == "step" and self.state.turn_was_last:
            self.late = True
            return
        if self.late:
            self.late = False
            await super().commit("StepEnd", "step")
        await super().commit(trigger, cause, **rest)


@fault("STORE-7", "a commit failed, yet", also=("STORE-6",))
class SwallowsAFailedCommit(Runtime):
    """Goes on when the store does not take a checkpoint."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        try:
            await super().commit(trigger, cause, **rest)
        except WorldFault:
            return


@fault("STORE-8", "Succeeded")
class StoresFailuresAsSuccesses(Runtime):
    """Stores a failed call as one that succeeded."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        failed = self.state.in_status("Failed")
        for call in failed:
            call.status = "Succeeded"
        try:
            await super().commit(trigger, cause, **rest)
        finally:
            for call in failed:
                call.status = "Failed"


@fault("STORE-9", "yet the checkpoint does not hold it")
class MissesTheLastCall(Runtime):
    """Leaves the last suspended call out of the checkpoint."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        suspended = self.state.in_status("Suspended")
        kept = dict(self.state.calls)
        if len(suspended) > 1:
            del self.state.calls[suspended[-1].id]
        try:
            await super().commit(trigger, cause, **rest)
        finally:
            self.state.calls = {**kept, **self.state.calls}


@fault("STORE-10", "and not for which reason")
class ForgetsTheReason(Runtime):
    """Stores that the run is over or waits, and not why."""

    def to_store(self, ending: Ending) -> dict[str, Any]:
        state = super().to_store(ending)
        return {**state, "run": {**state["run"], "reason": None}}


@fault("STORE-10", "yet the segment ended as")
class StoresTheReasonOfTheWait(Runtime):
    """Stores a run that ends after a wait with the reason of that wait."""

    waited: Any = None

    def to_store(self, ending: Ending) -> dict[str, Any]:
        state = super().to_store(ending)
        self.waited = self.waited or state["run"]["reason"]
        return {**state, "run": {**state["run"], "reason": state["run"]["reason"] and self.waited}}


@fault("STORE-11", "yet the checkpoint says")
class StoresTheStepBefore(Runtime):
    """Stores the number of steps as it was before the newest one."""

    def to_store(self, ending: Ending) -> dict[str, Any]:
        state = super().to_store(ending)
        return {**state, "run": {**state["run"], "step": max(0, self.state.step - 1)}}


@fault("STORE-11", "yet the checkpoint says")
class StoresTheStepsOfOneLife(Runtime):
    """Stores the number of steps since the last crash."""

    former = 0

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.former = self.state.step

    def to_store(self, ending: Ending) -> dict[str, Any]:
        state = super().to_store(ending)
        return {**state, "run": {**state["run"], "step": self.state.step - self.former}}


class _WritesOtherwise(Runtime):
    """Writes something else of each call, or of each decision, into a checkpoint."""

    part: ClassVar[str]

    def written(self, kept: dict[str, Any]) -> dict[str, Any]:
        """What is written in the place of what belongs there."""
        raise NotImplementedError

    def to_store(self, ending: Ending) -> dict[str, Any]:
        state = super().to_store(ending)
        return {**state, self.part: {call: self.written(kept) for call, kept in state[self.part].items()}}


@fault("STORE-12", 'yet the checkpoint says resume_mode "replay"')
class ForgetsWhatADecisionMeans(_WritesOtherwise):
    """Stores every call as one that a decision will run again."""

    part = "calls"

    def written(self, kept: dict[str, Any]) -> dict[str, Any]:
        return {**kept, "resume_mode": "replay"}


@fault("STORE-12", "says that this is its suspension 1, not 2")
class CountsOneSuspension(_WritesOtherwise):
    """Stores a call that was suspended again as one that was suspended once."""

    part = "calls"

    def written(self, kept: dict[str, Any]) -> dict[str, Any]:
        return {**kept, "suspension": min(kept["suspension"], 1)}


@fault("STORE-13", "was a cancel, yet the checkpoint holds it as", profile="tirea")
class StoresEachDecisionAsAnApproval(_WritesOtherwise):
    """Stores a rejection that has not acted as an approval."""

    part = "decisions"

    def written(self, kept: dict[str, Any]) -> dict[str, Any]:
        return {**kept, "action": "resume"}


@fault("STORE-13", "has payload", profile="tirea")
class StoresNoEmptyPayload(_WritesOtherwise):
    """Stores a decision whose payload is false, 0 or empty as one without a payload."""

    part = "decisions"

    def written(self, kept: dict[str, Any]) -> dict[str, Any]:
        return {**kept, "payload": kept["payload"] or None}


@fault("STORE-13", "which has not acted, yet the checkpoint lacks it", profile="tirea")
class ForgetsDecisionsThatWait(Runtime):
    """Keeps decisions that have not acted in memory alone."""

    def to_store(self, ending: Ending) -> dict[str, Any]:
        return {**super().to_store(ending), "decisions": {}}


@fault("STORE-17", "yet the checkpoint does not hold that message")
class StoresNoThread(Runtime):
    """Stores a run without its messages."""

    def to_store(self, ending: Ending) -> dict[str, Any]:
        return {**super().to_store(ending), "messages": []}


@fault("STORE-16", "a checkpoint was taken at StepEnd", profile="tirea")
class StoresBetweenTriggers(Runtime):
    """Stores at the end of each step, in addition to the triggers."""

    def _end_step(self) -> None:
        super()._end_step()
        self.observe("checkpoint", trigger="StepEnd", cause="step", force=False, state=self.to_store(None))


@fault("STORE-16", "nothing came from the user since, yet", profile="tirea", also=("FLOW-2", "FLOW-40"))
class StoresTheUsersMessageAgain(Runtime):
    """Commits what the user said once more before each inference."""

    async def _step(self) -> None:
        if self.state.step:
            await self.commit("UserMessage", "run_start")
        await super()._step()


@fault("STORE-18", "gave no turn, yet one was committed", profile="tirea", also=("FLOW-14",))
class CommitsATurnThatFailed(Runtime):
    """Commits a turn though the model gave none."""

    async def _end(self, reason: Reason) -> Segment:
        if reason.code == "Error" and self.state.messages[-1]["role"] == "user":
            await self.commit("AssistantTurnCommitted", "step")
        return await super()._end(reason)


@fault("STORE-15", "says that it has no store, yet it shows", declare=NO_STORE)
class StoresInSecret(Runtime):
    """Stores its runs though it says that it has no store."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        await super().commit(trigger, cause, **rest)
        self.observe("checkpoint", trigger=trigger, cause=cause, state=self.to_store(None))
