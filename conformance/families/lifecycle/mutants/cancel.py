"""Wrong cancels: not heard, heard twice, or taken for something else."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from runlock.conformance.families.lifecycle.mutants.mutant import NO_PROFILE
from runlock.conformance.families.lifecycle.variants.parts import shielded
from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.ledger import RunCancelled
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Reason
from runlock.machines.lifecycle.runtime.world import Answer


@fault("CANCEL-1", "the run was cancelled, yet a model gate opened", also=("PHASE-71",))
class AsksOnAfterACancel(Runtime):
    """Gives up the running tools on a cancel, and goes back to the model."""

    async def _tool_round(self, calls: list[Call]) -> None:
        try:
            await super()._tool_round(calls)
        except RunCancelled:
            for call in self.state.live():
                self.move_call(call, "cancel")
                self.answer(call, "cancelled", "aborted")
            self.cancelling = False
            await self.world.infer(self.state.messages, self.state.step + 1)
            raise


@fault(
    "CANCEL-1",
    "the run was cancelled, yet",
    policies={"cancel.inflight": "drain"},
    also=("CANCEL-2", "RUN-7", "DECIDE-46"),
)
class AsksOnOneStepAfterACancel(Runtime):
    """A cancel that comes while tools run is looked at only after the next inference."""

    later = False

    async def cancel(self) -> Segment | None:
        running = self.state.in_status("Running")
        if running and self.active:
            self.later = True
            return None
        return await super().cancel()

    async def _step(self) -> None:
        await super()._step()
        if self.later:
            self.later, self.cancelling = False, True
            raise RunCancelled


@fault("CANCEL-2", "the run was cancelled, yet it ended as Error", also=("RUN-10",))
class CallsACancelAnError(Runtime):
    """A cancelled run ends as Error."""

    async def _end(self, reason: Reason) -> Segment:
        return await super()._end(Reason("Error", "cancelled") if reason.code == "Cancelled" else reason)


@fault(
    "CANCEL-3",
    "cancelled while it waited, yet it still waits",
    profile="tirea",
    also=("CANCEL-2", "CANCEL-5"),
)
class DoesNotHearACancelWhileWaiting(Runtime):
    """No one listens for the cancel while the run waits."""

    async def cancel(self) -> Segment | None:
        return await super().cancel() if self.active else None


@fault("CANCEL-4", "the run was Done when it was cancelled, yet it showed run.status")
class CancelsTheDone(Runtime):
    """A cancel of a run that is Done ends it once more."""

    async def cancel(self) -> Segment | None:
        if self.state.status == "Done":
            self.observe("run.status", **{"from": "Done"}, to="Done", reason={"code": "Cancelled"})
            return None
        return await super().cancel()


@fault("CANCEL-2", "nothing of it is under way, yet it is not Done")
class LosesACancelWhileItStores(Runtime):
    """Does not hear a cancel that comes while the store holds the run that is about to wait."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        await super().commit(trigger, cause, **rest)
        if cause == "suspend":
            self.cancelling = False


@fault("CANCEL-4", "which nobody cancelled, ended as Cancelled")
class CancelsTheNext(Runtime):
    """The signal of a cancel that comes when its run is Done stays, and ends the next run."""

    stays = False

    async def cancel(self) -> Segment | None:
        self.stays = self.state.status == "Done"
        return await super().cancel()

    async def _step(self) -> None:
        await super()._step()
        if self.stays:
            self.stays = False
            raise RunCancelled


@fault("CANCEL-5", "the cancel aborts, yet call")
class DrainsInsteadOfAborting(Runtime):
    """Waits for running tools on a cancel, though it says that it aborts them."""

    @property
    def drains(self) -> bool:
        return True


@fault("CANCEL-5", "the cancel drains, yet the body of call", policies={"cancel.inflight": "drain"})
class AbortsInsteadOfDraining(Runtime):
    """Gives running tools up on a cancel, though it says that it lets them end."""

    @property
    def drains(self) -> bool:
        return False


@fault("CANCEL-6", "was given up, yet it Failed")
class FailsTheAborted(Runtime):
    """A call that was given up on a cancel is Failed."""

    async def execute(self, call: Call, resume: Resume) -> None:
        try:
            await super().execute(call, resume)
        except RunCancelled:
            self.settle(call, "fail", "error", "aborted")
            raise


@fault("CANCEL-7", "which is kept, yet the model was not shown that")
class DropsWhatItShouldKeep(OtherPolicies, Runtime):
    """Drops the results of a cancelled round, though it says that it keeps them."""

    follows = {"cancel.results": "dropped"}


@fault("CANCEL-7", "which is dropped, yet the model was shown that", profile="tirea")
class KeepsWhatItShouldDrop(OtherPolicies, Runtime):
    """Keeps the results of a cancelled round, though it says that it drops them."""

    follows = {"cancel.results": "kept"}


@fault("RUN-35", "the run is Done, yet the gate tool:", declare=NO_PROFILE)
class LeavesToolsAtWork(Runtime):
    """Is Done after a cancel while its tools go on."""

    async def outside(self, waiting: Coroutine[Any, Any, Any], drains: bool = False) -> Any:
        goes_on = drains and not self._is_called_off
        return await super().outside(shielded(waiting) if goes_on else waiting, drains)


class HearsLateAnswers(Runtime):
    """Still listens to a tool that ignores its abort when the run has ended."""

    async def _try(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        if self.tools[call.name]["abort"] is None:
            return await super()._try(call, args, resume)
        body = asyncio.ensure_future(self.world.execute(call.id, call.name, args, resume))
        body.add_done_callback(lambda _: self._answered(call, body))
        answer: Answer = await self.outside(shielded(body), drains=True)
        return answer

    def _answered(self, call: Call, body: asyncio.Future[Answer]) -> None:
        if self.state.status == "Done" and not body.cancelled() and body.exception() is None:
            self.take_late(call, body.result())

    def take_late(self, call: Call, answer: Answer) -> None:
        """What becomes of an answer that comes when the run is Done."""


@fault("CANCEL-9", "answered after its run had ended, yet it showed message")
class WritesLateAnswers(HearsLateAnswers):
    """Writes what an aborted tool answers behind the end of its run."""

    def take_late(self, call: Call, answer: Answer) -> None:
        self.answer(call, "ok", answer.content)


@fault("CANCEL-9", "answered after its run had ended, yet a model gate opened")
class AsksWithALateAnswer(HearsLateAnswers):
    """Asks the model when an aborted tool answers, though the run has ended."""

    def take_late(self, call: Call, answer: Answer) -> None:
        self.asking = asyncio.ensure_future(self.world.infer(self.state.messages, self.state.step + 1))


@fault("CANCEL-9", "had been cancelled, yet the model is shown that")
class PutsLateAnswersIntoTheThread(HearsLateAnswers):
    """Puts what an aborted tool answers in the place of its cancelled result."""

    def take_late(self, call: Call, answer: Answer) -> None:
        for message in self.state.messages:
            if message.get("call") == call.id:
                message["text"] = answer.content
