"""Wrong waits: a parked run that does not wake, wakes in the wrong order, or leaves too early or too late."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from runlock.conformance.families.lifecycle.mutants.cancel import DoesNotHearACancelWhileWaiting
from runlock.conformance.families.lifecycle.mutants.derive import TakesOneDecisionForAll
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.ledger import RunCancelled
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Decision
from runlock.machines.lifecycle.runtime.world import WorldFault


@fault("DECIDE-40", "arrived, yet nothing has moved")
class SleepsOn(Runtime):
    """A single decision does not wake it, though it takes that."""

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        many = len(decisions) > 1 or len(self.state.in_status("Suspended")) > 1
        if self.active or self.state.status != "Waiting" or many:
            return await super().decide(decisions)
        for decision, why in self.receive(decisions):
            self.world.refuse(why, decision.id)
        return None


@fault("DECIDE-41", "yet that has not been made known")
class SaysItAfterwards(Runtime):
    """Makes a decision known only when it has been replayed."""

    def dispose(self, decision: Decision, disposition: str) -> None:
        if disposition != "accepted":
            super().dispose(decision, disposition)

    async def _replay_batch(self, batch: Sequence[Decision]) -> None:
        await super()._replay_batch(batch)
        for decision in batch:
            super().dispose(decision, "accepted")


@fault("DECIDE-42", "decided with it, is Suspended")
class ReplaysOneByOne(Runtime):
    """Prepares and replays the decisions of a batch one after the other."""

    async def _replay_batch(self, batch: Sequence[Decision]) -> None:
        for decision in batch:
            await super()._replay_batch([decision])


@fault("DECIDE-43", "is suspended any more, yet the model is not asked", also=("PROGRESS-1",))
class LosesTheWakeUp(Runtime):
    """When the last call of a batch has been replayed, nothing goes on."""

    async def _replay_batch(self, batch: Sequence[Decision]) -> None:
        await super()._replay_batch(batch)
        if len(batch) > 1 and not self.state.in_status("Suspended"):
            await asyncio.get_running_loop().create_future()


@fault("DECIDE-44", "is still suspended, yet the model is asked", also=("DERIVE-5",))
class LeavesTheWaitAfterAPart(TakesOneDecisionForAll):
    """Leaves the wait as soon as one of several suspended calls was replayed."""


@fault("DECIDE-45", "cancelled while it was parked, yet it still waits", also=("CANCEL-2", "CANCEL-5"))
class ParksDeaf(DoesNotHearACancelWhileWaiting):
    """Does not hear a cancel while it is parked."""


@fault("DECIDE-46", "was replayed, yet it waits again")
class ParksAgainOnACancel(Runtime):
    """A cancel in a replay gives that up, and the run goes on waiting for the other calls."""

    async def _resume(self) -> Segment:
        try:
            return await super()._resume()
        except RunCancelled:
            if not self.state.in_status("Suspended"):
                raise
            self.cancelling = False
            for call in self.state.in_status("Running", "Resuming"):
                self.settle(call, "cancel", "cancelled", "aborted")
            return await self._suspend()


@fault("DECIDE-47", "broke in the wait, yet")
class OutlivesABrokenReplay(Runtime):
    """A replay that breaks costs its call, and the run goes on."""

    async def _replay_one(self, decision: Decision) -> None:
        try:
            await super()._replay_one(decision)
        except WorldFault as fault:
            call = self.state.calls[decision.call]
            self.settle(call, "fail", "error", str(fault))
            self.record([call])


@fault("DECIDE-50", "nobody decided anything about the parked run, yet", also=("DERIVE-3", "ROUND-32"))
class TiresOfWaiting(Runtime):
    """Gives up what waits when some time has passed."""

    def _handed_out(self, segment: Segment) -> Segment:
        if self.state.status == "Waiting":
            asyncio.get_running_loop().call_later(0.5, self._tire)
        return segment

    def _tire(self) -> None:
        if self.state.status == "Waiting" and not self.active:
            for call in self.state.in_status("Suspended"):
                self.move_call(call, "cancel")
                self.answer(call, "cancelled", "nobody decided")
