"""Wrong checkpoints: late, missing, incomplete, or not believed."""

from __future__ import annotations

from typing import Any

from interlock.conformance.mutants.kind import Mutant
from interlock.machines.runtime.runtime import Runtime, Segment
from interlock.machines.runtime.world import WorldFault


class TrimsTheThread(Runtime):
    """Stores only the newest messages of the thread."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        kept = self.state.messages
        self.state.messages = kept[-3:]
        try:
            await super().commit(trigger, cause, **rest)
        finally:
            self.state.messages = kept


class AnnouncesBeforeItStores(Runtime):
    """Announces that it waits before that is durable."""

    async def _suspend(self) -> Segment:
        pending = tuple(call.id for call in self.state.in_status("Suspended"))
        self.observe("run.finished", reason={"code": "Suspended"}, pending=list(pending))
        return await super()._suspend()


class DoesNotForceTheEnd(Runtime):
    """Writes the last checkpoint without force."""

    async def commit(self, trigger: str, cause: str, *, force: bool = False, ending: Any = None) -> None:
        await super().commit(trigger, cause, force=False, ending=ending)


class RunsToolsBeforeTheTurnIsStored(Runtime):
    """Runs the tools of a turn that is not committed."""

    async def commit_at(self, trigger: str, cause: str) -> None:
        if trigger != "AssistantTurnCommitted":
            await super().commit_at(trigger, cause)


class AsksBeforeTheRoundIsStored(Runtime):
    """Asks the model again before the results of the round are committed."""

    async def commit_at(self, trigger: str, cause: str) -> None:
        if cause != "round":
            await super().commit_at(trigger, cause)


class SkipsTheEndOfAStep(Runtime):
    """Asks the model again before the step is committed."""

    async def _step_end(self) -> None:
        self._end_step()


class SwallowsAFailedCommit(Runtime):
    """Goes on when the store does not take a checkpoint."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        try:
            await super().commit(trigger, cause, **rest)
        except WorldFault:
            return


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


MUTANTS: tuple[Mutant, ...] = (
    Mutant(TrimsTheThread, "STORE-1", "yet it is stored as"),
    Mutant(AnnouncesBeforeItStores, "STORE-2", "ended as Suspended, yet"),
    Mutant(DoesNotForceTheEnd, "STORE-3", "the checkpoint RunFinished was not forced", "tirea"),
    Mutant(
        RunsToolsBeforeTheTurnIsStored,
        "STORE-4",
        "yet the turn that asked for it is not committed",
        "tirea",
        also=("FLOW-14",),
    ),
    Mutant(
        AsksBeforeTheRoundIsStored,
        "STORE-5",
        "yet the results of the round are not committed",
        "tirea",
        also=("FLOW-20",),
    ),
    Mutant(SkipsTheEndOfAStep, "STORE-6", "yet the step before is not committed"),
    Mutant(SwallowsAFailedCommit, "STORE-7", "a commit failed, yet"),
    Mutant(StoresFailuresAsSuccesses, "STORE-8", "Succeeded, yet its tool answered with an error"),
    Mutant(MissesTheLastCall, "STORE-9", "yet the checkpoint does not hold it"),
)
