"""Wrong projections: a run whose status does not follow from its calls, or that hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason


@fault("DERIVE-1", "is executing, yet the run is Waiting")
class WaitsTooEarly(Runtime):
    """Says that it waits as soon as one call is suspended, though others still run."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        early = bool(calls) and bool(self.state.in_status("Suspended"))
        if early:
            self.say_run("Waiting")
        await super().execute_all(calls)
        if early:
            self.say_run("Running")


@fault("DERIVE-2", "is Suspended and no call is busy, yet the run is Running")
class GoesOnSilentlyAfterAPart(Runtime):
    """After a part of the decisions it waits again, and still says that it runs."""

    async def _resume(self) -> Segment | None:  # type: ignore[override]
        self.move_run("resume")
        await self.apply_decisions("replay")
        return None if self.must_wait() else await self._steps()

    async def segment(self, steps: Any) -> Any:
        self.active = True
        segment = await super().segment(steps)
        if segment is None:
            self.state.status = "Waiting"
        return segment


@fault("DERIVE-3", "the run is Waiting, yet none of its calls is Suspended", also=("DECIDE-43",))
class WaitsForNobody(Runtime):
    """After the last call was rejected it says that it waits, and does nothing."""

    async def _steps(self) -> Segment:
        rejected = self.state.in_status("Cancelled")
        await self.apply_decisions("replay")
        if self.state.in_status("Cancelled") != rejected and not self.state.in_status("Suspended"):
            self.move_run("suspend")
            await asyncio.get_running_loop().create_future()
        return await super()._steps()


@fault("DERIVE-4", "a model gate is open, yet the run is Waiting", also=("STORE-2",))
class AsksTheModelWhileItSaysWaiting(Runtime):
    """Says that it runs only once the model has answered."""

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        if event == "resume" and all(d.action == "cancel" for d in self.ready()):
            return
        super().move_run(event, reason)

    async def _step(self) -> None:
        await super()._step()
        if self.state.status == "Waiting":
            super().move_run("resume")


class GoesOnDuringAWait(Runtime):
    """Gives each call that waits a placeholder, so that the model can be asked during it."""

    def record(self, calls: Sequence[Call]) -> None:
        super().record(calls)
        for call in self.state.in_status("Suspended"):
            if self._placeholder(call) is None:
                self.answer(call, "pending", "waiting")


@fault("DERIVE-5", "still waits for a decision, yet the model was asked again", profile="awaken-concurrent")
class TakesOneDecisionForAll(GoesOnDuringAWait):
    """Goes back to the model as soon as one of several suspended calls was decided."""

    def must_wait(self) -> bool:
        over = [call for call in self.state.last_round() if call.is_final]
        return super().must_wait() and not over


@fault("DERIVE-5", "still waits for a decision, yet the model was asked again")
class AsksAtTheThirdWait(GoesOnDuringAWait):
    """Goes back to the model when a call waits for the third time."""

    def must_wait(self) -> bool:
        tired = [call for call in self.state.in_status("Suspended") if call.suspension > 2]
        return super().must_wait() and not tired


@fault("DERIVE-6", "ended as Suspended, yet call", also=("DERIVE-4", "RUN-8", "PAIR-1", "CALL-20"))
class SuspendsOverARunningCall(Runtime):
    """Goes on waiting for the other calls while the replay of a decided one still runs."""

    async def _replay_batch(self, batch: Sequence[Decision]) -> None:
        if len(self.state.in_status("Suspended")) == len(batch):
            return await super()._replay_batch(batch)
        self.left_running = asyncio.ensure_future(super()._replay_batch(batch))
        for _ in range(3):
            await asyncio.sleep(0)
        return None


@fault(
    "PROGRESS-1",
    "no gate of the run is open and no call waits for a decision",
    also=("DERIVE-2", "ROUND-31", "ROUND-32"),
)
class ForgetsToGoOn(Runtime):
    """When a round of several calls is over, nothing goes on."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        await super().execute_all(calls)
        if len(calls) > 1 and all(call.is_final for call in calls):
            await asyncio.get_running_loop().create_future()


@fault("DERIVE-7", "their results have not been shown to the model, yet the run is Done", also=("RUN-3",))
class EndsWithItsRound(Runtime):
    """Takes the end of the last call for the end of the run."""

    async def _tool_round(self, calls: list[Call]) -> None:
        await super()._tool_round(calls)
        self.state.turn_was_last = all(call.is_final for call in calls)


@fault("DERIVE-8", "waits and nothing was decided, yet the model is asked")
class AsksOnWhenNothingIsDecided(Runtime):
    """Takes a resume that brings no decision for the end of the wait."""

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        if decisions or self.active or self.state.status != "Waiting":
            return await super().decide(decisions)
        return await self.segment(self._ask_on())

    async def _ask_on(self) -> Segment:
        self.move_run("resume")
        self._leads_on = True
        return await self._steps()
