"""Wrong runs: ends that are not ends, and reports that do not agree."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason


@fault("RUN-20", "the run is Done, yet")
class AsksOnWhenDone(Runtime):
    """Asks the model once more after the run is Done."""

    async def _end(self, reason: Reason) -> Segment:
        segment = await super()._end(reason)
        if reason.code == "NaturalEnd":
            await self.world.infer(self.state.messages, self.state.step + 1)
        return segment


@fault("RUN-21", "yet it finished again")
class FinishesTwice(Runtime):
    """Announces its end itself, and then again."""

    async def _end(self, reason: Reason) -> Segment:
        segment = await super()._end(reason)
        self.observe("run.finished", reason=segment.reason.to_wire(), pending=[])
        return segment


@fault("RUN-22", "which leaves the run Done, yet its status is Running")
class NeverSaysDone(Runtime):
    """Finishes naturally and leaves its status at Running."""

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        if event != "natural_end":
            super().move_run(event, reason)
        else:
            self.state.status = "Done"


@fault("RUN-23", "is Suspended, yet the end of the segment does not name it", also=("NEST-1",))
class NamesOnlyTheFirst(Runtime):
    """Names one pending call where several wait."""

    async def _suspend(self) -> Segment:
        segment = await super()._suspend()
        return Segment(segment.reason, segment.pending[:1]) if segment.pending else segment


@fault("RUN-3", "asked for nothing more, yet the run ended as BehaviorRequested")
class CallsEveryEndABehavior(Runtime):
    """Takes a natural end for one that a plugin asked for."""

    async def _end(self, reason: Reason) -> Segment:
        return await super()._end(Reason("BehaviorRequested") if reason.code == "NaturalEnd" else reason)


@fault("RUN-8", "gate broke, yet the run ended as Stopped")
class CallsAFaultStopped(Runtime):
    """Takes an error of the model or of the tool executor for a stop condition."""

    storing = False

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        self.storing = True
        await super().commit(trigger, cause, **rest)
        self.storing = False

    async def _end(self, reason: Reason) -> Segment:
        if reason.code == "Error" and not self.storing:
            reason = Reason("Stopped", reason.detail, stop="max_rounds")
        return await super()._end(reason)


@fault("RUN-19", "last reported Waiting, yet it is said to move from Running")
class ForgetsWhereItWas(Runtime):
    """Says of each move of the run that it came from Running."""

    def say_run(self, target: str, reason: Reason | None = None) -> None:
        if self.state.status == "Waiting":
            self.state.status = "Running"
        super().say_run(target, reason)


@fault("RUN-14", "was Done, which is final, yet it became Running")
class RisesFromDone(Runtime):
    """Becomes Running again after it was Done."""

    async def _end(self, reason: Reason) -> Segment:
        segment = await super()._end(reason)
        self.say_run("Running")
        self.state.status = "Done"
        return segment


@fault("RUN-16", "was Waiting, which leads to Running, Done, yet it became Created")
class GoesBackToCreated(Runtime):
    """Goes back to Created when it is decided."""

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        if event == "resume":
            self.say_run("Created")
            self.say_run("Running")
        else:
            super().move_run(event, reason)


@fault("RUN-15", "was Running, which leads to Waiting, Done, yet it became Created")
class StartsOver(Runtime):
    """Goes back to Created on its way to waiting."""

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        if event == "suspend":
            self.say_run("Created")
            self.say_run("Running")
        super().move_run(event, reason)


@fault("RUN-33", "the run is Waiting, yet a look at it shows Running")
class LooksBusy(Runtime):
    """An inspection of a run that waits shows one that is Running."""

    def look(self) -> dict[str, Any]:
        seen = super().look()
        return {**seen, "status": "Running"} if seen["status"] == "Waiting" else seen


@fault("RUN-33", "yet a look at it shows Suspended")
class LooksAsIfItWaited(Runtime):
    """An inspection of a run that is over shows the reason of its last wait."""

    waited: Any = None

    def look(self) -> dict[str, Any]:
        seen = super().look()
        self.waited = self.waited or seen["reason"]
        return {**seen, "reason": self.waited}


@fault("RUN-17", "was Created, which leads to", profile="awaken-9")
class WaitsBeforeItStarts(Runtime):
    """Waits between Created and Running."""

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        if event == "begin":
            self.say_run("Waiting")
            self.say_run("Running")
        else:
            super().move_run(event, reason)


@fault(
    "RUN-24",
    "ended as Blocked, which is not among the declared reasons",
    profile="tirea",
    also=("FLOW-11", "FLOW-18", "RUN-28"),
)
class BlocksForAFault(Runtime):
    """Takes what broke in its surroundings for a block."""

    async def _end(self, reason: Reason) -> Segment:
        return await super()._end(Reason("Blocked", reason.detail) if reason.code == "Error" else reason)


@fault("RUN-25", "the first status of the run is Created, not Running")
class CreatesInSecret(Runtime):
    """Is Created before it is Running, though it says that it knows no such status."""

    async def _begin(self, text: str, decisions: Sequence[Decision]) -> Segment:
        self.observe("run.status", **{"from": None}, to="Created", reason=None)
        return await super()._begin(text, decisions)


@fault("RUN-26", "yet no checkpoint of it has been taken", profile="awaken-9")
class RunsBeforeItIsStored(Runtime):
    """Is Running before anything says that it was created."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        if trigger != "RunCreated":
            await super().commit(trigger, cause, **rest)


@fault("RUN-27", "live calls are closed at the end, yet call")
class LeavesWhatItShouldClose(OtherPolicies, Runtime):
    """Leaves live calls as they are when the run ends, though it says that it closes them."""

    follows = {"end.live": "left"}


@fault("RUN-27", "live calls are left at the end, yet call", policies={"end.live": "left"})
class ClosesWhatItShouldLeave(OtherPolicies, Runtime):
    """Closes live calls when the run ends, though it says that it leaves them."""

    follows = {"end.live": "closed"}


@fault("RUN-30", "yet the run is reported not at all")
class WorksUnseen(Runtime):
    """Says nothing of its status before it is Waiting or Done."""

    def say_run(self, target: str, reason: Reason | None = None) -> None:
        if target == "Running" and self.state.status is None:
            self.state.status = target
        else:
            super().say_run(target, reason)


@fault("RUN-29", "when everything was sent again", also=("CALL-2",))
class DecidesByChance(Runtime):
    """Every second life of it suspends calls that no one has to approve."""

    lives = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        DecidesByChance.lives += 1
        self.is_odd = DecidesByChance.lives % 2 == 1

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        return ("suspend", None) if self.is_odd and resume is None and kind == "allow" else (kind, content)


@fault("RUN-36", "the run was over, yet at scenario.close a task is still alive")
class LeavesATask(Runtime):
    """Starts a task at the end of a run, which waits for ever."""

    async def _end(self, reason: Reason) -> Segment:
        self.left = asyncio.ensure_future(asyncio.Event().wait())
        return await super()._end(reason)
