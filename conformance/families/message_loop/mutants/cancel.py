"""Cancellation faults: a cancel is ignored, handled in part, or treated as something else."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.message_loop.mutants.mutant import Undeclared
from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.hooking import Occasion
from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.records import Call, PassRecord, Reason, Round
from runlock.machines.message_loop.runtime.responding import ResponseStream
from runlock.machines.message_loop.runtime.scopes import ScopeStopped


@fault("CANCEL-1", also=("LOOP-4", "LOOP-5", "LOOP-12", "LOOP-16", "ROUND-1"))
class AsksOnAfterACancel(MessageLoop):
    """Sends one more request after a round was cancelled."""

    async def carry_all(self, p: PassRecord, r: Round) -> None:
        try:
            await super().carry_all(p, r)
        except ScopeStopped:
            async for _ in self.world.stream(self.last_request, p.stage):
                pass
            raise

    async def open_stream(
        self, p: PassRecord, request: dict[str, Any], streams: list[ResponseStream]
    ) -> ResponseStream:
        self.last_request = request
        return await super().open_stream(p, request, streams)


@fault("CANCEL-2", "was cancelled, yet it ended as Error")
class CallsACancelAnError(MessageLoop):
    """Ends a cancelled turn with the reason Error."""

    def final_reason(self, reason: Reason) -> Reason:
        return Reason("Error", "cancelled") if reason.code == "Cancelled" else reason


@fault("CANCEL-3", also=("CANCEL-1",))
class IsDeafWhilePrompting(MessageLoop):
    """Ignores a cancel while a prompt is open."""

    async def cancel(self) -> None:
        if not self.prompts:
            await super().cancel()


@fault("CANCEL-4", also=("WIRE-8",))
class CancelsWhatIsOver(MessageLoop):
    """Appends to the history when a finished turn is cancelled."""

    async def cancel(self) -> None:
        if self.turn.status.is_final:
            self.history.append({"role": "user", "text": "cancelled"})
            self.world.message(self.history[-1], "session", None)
        await super().cancel()


@fault("CANCEL-5", "ran at the cancel, yet it was not given up", also=("CANCEL-1",))
class DrainsInSecret(Undeclared):
    """Lets running tools finish at a cancel, but declares that it aborts them."""

    follows = {"cancel.inflight": "drain"}


@fault("CANCEL-6", "was given up, yet its result is error")
class TakesAnAbortForAFailure(MessageLoop):
    """Records an error result for a call that was aborted."""

    def abort(self, p: PassRecord, call: Call) -> None:
        super().abort(p, call)
        if call.attempts:
            call.result = ("error", "the tool failed")


@fault("CANCEL-7", "results before a cancel are kept, yet")
class DropsFinishedResults(Undeclared):
    """Drops the results of calls that finished before a cancel, but declares that it keeps them."""

    follows = {"cancel.results": "dropped"}


@fault("CANCEL-8", "was cancelled, yet call", policies={"round.executor": "sequential"}, also=("CANCEL-1",))
class RunsOneMoreCall(MessageLoop):
    """Runs a call that was queued when the turn was cancelled."""

    async def execute(self, p: PassRecord, r: Round, call: Call, occasion: Occasion) -> None:
        try:
            await super().execute(p, r, call, occasion)
        except ScopeStopped:
            following = r.calls[r.calls.index(call) + 1 :]
            for other in following[:1]:
                await self.world.tool(other.id, other.name, other.args, p.stage)
            raise


@fault("CANCEL-9", "was cancelled, yet Rendered was published", also=("WIRE-9", "LOOP-10"))
class RendersWhatWasCancelled(MessageLoop):
    """Renders a cancelled turn."""

    async def run_pass(self, p: PassRecord) -> Reason | None:
        reason = await super().run_pass(p)
        if reason is not None and reason.code == "Cancelled":
            self.hand_over(p, "cancelled")
        return reason


@fault("CANCEL-10")
class TellsAbortedFromDenied(Undeclared):
    """Uses the same text for aborted and denied calls, but declares different texts."""

    follows = {"told": "alike"}


@fault(
    "CANCEL-23", "after the cancel, yet its result is cancelled",
    policies={"cancel.inflight": "drain", "cancel.results": "dropped"},
)  # fmt: skip
class DropsWhatDrained(MessageLoop):
    """Drops the results of tools that ended by themselves after a cancel."""

    def drop_finished(self, p: PassRecord, r: Round) -> None:
        for call in r.calls:
            call.drained = False
        super().drop_finished(p, r)
