"""Cancellation faults: work goes on after the abort signal, or stops where it must not."""

from __future__ import annotations

import asyncio

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.tool_runner.runtime.core import CancelledRun
from runlock.machines.tool_runner.runtime.history import Call, Message
from runlock.machines.tool_runner.runtime.pieces import Pieces
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Runner

SEQUENTIAL_DRAIN = {"round.executor": "sequential", "cancel.inflight": "drain"}


@fault("CANCEL-1", "run was cancelled")
class AsksAfterACancel(Runner):
    """A cancel stops the tools but not the loop."""

    async def after_resume(self) -> None:
        try:
            await super().after_resume()
        except CancelledRun:
            self.is_cancelled, self.at = False, "Settled"


@fault("CANCEL-2", "run was cancelled, and ended with reason NaturalEnd")
class TakesACancelForAnEnd(Runner):
    """A cancelled run ends with the reason NaturalEnd."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, "NaturalEnd" if reason == "Cancelled" else reason, *facts)


@fault("CANCEL-2", "nothing of it is under way, and it did not end")
class LeavesAReaderWaiting(Runner):
    """The stream of a request that a cancel gave up does not end: a user who reads it waits for ever."""

    def _end_stream(self, pieces: Pieces, request: asyncio.Future[None]) -> None:
        if not request.cancelled():
            super()._end_stream(pieces, request)


@fault("CANCEL-4", "user had the turn at the cancel and resumed, and", policies={"cancel.handed_over": "run"})
class DropsWhatWasHandedOver(Runner):
    """Calls of a turn that the user had at the cancel do not run, though the runner declares that they do."""

    def place_turn(self) -> None:
        super().place_turn()
        if self.is_cancelled:
            self.end("cancel", "Cancelled")

    async def after_resume(self) -> None:
        if not self.is_cancelled:
            await super().after_resume()
        else:
            self.place_turn()


@fault(
    "CANCEL-4",
    "run was cancelled while the user had the turn, and",
    policies={"cancel.handed_over": "not_run"},
)
class RunsWhatWasHandedOver(OtherPolicies, Runner):
    """Calls of a turn that the user had at the cancel run, though the runner declares that they do not."""

    follows = {"cancel.handed_over": "run"}


@fault("CANCEL-5", "was given up though it is to end", policies={"cancel.inflight": "drain"})
class AbortsWhatDrains(Runner):
    """A cancel aborts running tools, though the runner declares that they drain."""

    def cancel(self) -> None:
        super().cancel()
        for body in list(self.running):
            body.cancel()


@fault("CANCEL-5", "run was cancelled, and tool", policies={"cancel.inflight": "abort"})
class DrainsWhatIsAborted(OtherPolicies, Runner):
    """Running tools finish after a cancel, though the runner declares that it aborts them."""

    follows = {"cancel.inflight": "drain"}


@fault("CANCEL-6", "a response was asked for after the cancel, and", also=("CANCEL-7",))
class RespondsAfterACancel(Runner):
    """A response requested after a cancel runs tools."""

    async def respond(self) -> list[Message] | None:
        was, self.is_cancelled = self.is_cancelled, False
        results = await super().respond()
        self.is_cancelled = was or self.is_cancelled
        return results


@fault("CANCEL-7", "was entered a second time", policies={"cancel.handed_over": "run"})
class EntersAgainAfterACancel(Runner):
    """Calls of a response that a cancel aborted run again after the resume."""

    def may_enter(self, call: Call, the_round: Round) -> bool:
        return the_round.began_cancelled or super().may_enter(call, the_round)


@fault(
    "CANCEL-8",
    "run was cancelled while a response was made, and",
    or_says=("run was cancelled during its round",),
    policies=SEQUENTIAL_DRAIN,
)
class GoesThroughWithTheRound(Runner):
    """Queued calls of a round start although the run was cancelled."""

    def may_enter(self, call: Call, the_round: Round) -> bool:
        return call["id"] not in self.iteration.entered
