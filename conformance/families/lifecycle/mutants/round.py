"""Wrong serial rounds: interception that stops short, execution that overtakes it, ends that do not come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume, RunBlocked
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call

ROW = {"round.executor": "sequential"}
SAYS_UNSEEN = "after it was not looked at"


class StopsLooking(Runtime):
    """Looks at no call after one of which interception has made this."""

    following: ClassVar[str] = ""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed = []
        for call in calls:
            if await self.judge(call, None):
                allowed.append(call)
            if call.status == self.following:
                break
        return allowed


@fault("ROUND-20", SAYS_UNSEEN)
class StopsLookingAfterAHold(StopsLooking):
    """Looks at no call after one that is held."""

    following = "Suspended"


@fault("ROUND-40", SAYS_UNSEEN, profile="awaken-9")
class StopsJudgingAfterAHold(StopsLooking):
    """Judges no call after one that is held."""

    following = "Suspended"


@fault("ROUND-22", SAYS_UNSEEN)
class StopsLookingAfterAResult(StopsLooking):
    """Looks at no call after one whose result is set."""

    following = "Succeeded"


@fault("ROUND-42", SAYS_UNSEEN, profile="awaken-9")
class StopsJudgingAfterAResult(StopsLooking):
    """Judges no call after one whose result is set."""

    following = "Succeeded"


@fault("ROUND-51", "has no verdict yet", profile="awaken-9")
class JudgesAllAtOnce(Runtime):
    """Asks for the permissions of all calls of a round concurrently."""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed = await asyncio.gather(*(self.judge(call, None) for call in calls))
        return [call for call, runs in zip(calls, allowed, strict=True) if runs]


@fault("ROUND-23", "was allowed, yet it Failed before it ran")
class TakesALeaveForABlock(Runtime):
    """A call that the permission hook allows is Failed."""

    async def judge(self, call: Call, resume: Resume) -> bool:
        allowed = await super().judge(call, resume)
        if allowed and resume is None and self.is_gated(call):
            self.settle(call, "fail", "error", "not on the list")
            return False
        return allowed

    def is_gated(self, call: Call) -> bool:
        """Whether the permission hook is asked about it."""
        return bool(self.tools.get(call.name, {}).get("permission") == "gate")


@fault("ROUND-43", "was allowed, yet it Failed before it ran", profile="awaken-9")
class FailsWhatTheGateAllows(TakesALeaveForABlock):
    """A call that the gate allows is Failed."""


@fault("ROUND-21", "was blocked, yet call")
class LooksAfterABlock(Runtime):
    """Looks at the calls after a blocked one that no hook is asked about."""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        try:
            return await super().judge_all(calls)
        except RunBlocked:
            for call in calls:
                if call.status == "New" and self.tools.get(call.name, {}).get("permission") == "ask":
                    await self.judge(call, None)
            raise


@fault("ROUND-41", "was blocked, yet call", profile="awaken-9")
class JudgesAfterABlock(LooksAfterABlock):
    """Judges the calls after a blocked one that no hook is asked about."""


@fault("ROUND-25", "has not been looked at")
class RunsOnTheSpot(Runtime):
    """Runs an allowed call before it looks at the next one, if a hook is to be asked about that."""

    quiet = False

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed = []
        for index, call in enumerate(calls):
            if await self.judge(call, None):
                following = [self.tools.get(other.name, {}) for other in calls[index + 1 :]]
                if any(tool.get("permission") == "gate" for tool in following):
                    await self._run_now(call)
                else:
                    allowed.append(call)
        return allowed

    async def _run_now(self, call: Call) -> None:
        self.quiet = self.policies["phases"] == "nine"  # it is not even made ready
        await self.execute(call, None)

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "BeforeToolExecute" or not self.quiet:
            super().phase(phase, call, verdict)


@fault("ROUND-24", "has not been looked at", policies=ROW)
class RunsOneOnTheSpot(RunsOnTheSpot):
    """Runs an allowed call before it looks at the next one, one after the other."""


@fault("ROUND-47", "has not been looked at", profile="awaken-9")
class RunsBeforeAllAreJudged(RunsOnTheSpot):
    """Runs an allowed call before the gate has judged the next one."""


@fault("ROUND-46", "has not been looked at", profile="awaken-9", policies=ROW, also=("PHASE-26",))
class RunsOneBeforeAllAreJudged(RunsOnTheSpot):
    """Runs an allowed call before the gate has judged the next one, one after the other."""


@fault("ROUND-44", "is made ready, yet call", profile="awaken-9", also=("PHASE-72",))
class PreparesOnTheSpot(Runtime):
    """Makes an allowed call ready before the gate has judged the next one."""

    ready_calls: frozenset[str] = frozenset()

    async def judge(self, call: Call, resume: Resume) -> bool:
        allowed = await super().judge(call, resume)
        if allowed and resume is None:
            self.phase("BeforeToolExecute", call)
            self.ready_calls |= {call.id}
        return allowed

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase == "BeforeToolExecute" and call is not None and call.id in self.ready_calls:
            self.ready_calls -= {call.id}
        else:
            super().phase(phase, call, verdict)


@fault("ROUND-45", "is made ready twice", profile="awaken-9", also=("PHASE-90",))
class PreparesTwice(Runtime):
    """Makes each call ready twice before it runs."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        super().phase(phase, call, verdict)
        if phase == "BeforeToolExecute":
            super().phase(phase, call, verdict)


@fault("ROUND-48", "has run, yet it is judged again", profile="awaken-9", also=("PHASE-88",))
class JudgesWhatHasRun(Runtime):
    """Judges a call once more after its execution."""

    async def execute(self, call: Call, resume: Resume) -> None:
        await super().execute(call, resume)
        if call.name == "gated" and resume is None:
            await self.outside(self.world.permit(call.id, call.name, call.args, None))


@fault("ROUND-26", "which is allowed, was not entered", policies=ROW, also=("ROUND-9",))
class ForgetsTheRest(Runtime):
    """Enters no call after the first one, as if that had suspended."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        await super().execute_all(calls[:1])
        for call in calls[1:]:
            self.settle(call, "fail", "error", "not executed")


@fault("ROUND-27", "suspended while it ran, yet call", policies=ROW)
class GoesOnAfterASuspension(Runtime):
    """Runs all allowed calls one after the other, though one of them has suspended."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        for call in calls:
            await self.execute(call, None)


async def _nothing() -> None:
    await asyncio.get_running_loop().create_future()


@fault("ROUND-31", "is held, yet its step is not suspended")
class HangsAtAHold(Runtime):
    """Says of no first suspension that the step is suspended, and does nothing more."""

    async def _suspend(self) -> Segment:
        if not self.state.seen_decisions:
            await self.outside(_nothing())
        return await super()._suspend()


@fault("ROUND-28", "is held, yet its step is not suspended", policies=ROW)
class HangsAtAHoldInARow(HangsAtAHold):
    """Says of no first suspension of calls in a row that the step is suspended."""


@fault("ROUND-32", "yet its step is not complete")
class HangsAfterARound(Runtime):
    """Does nothing more after a round of which nothing is held."""

    async def run_round(self, calls: Sequence[Call]) -> None:
        await super().run_round(calls)
        if not self.state.in_status("Suspended", "New"):
            await self.outside(_nothing())


@fault("ROUND-29", "yet its step is not complete", policies=ROW)
class HangsAfterARow(HangsAfterARound):
    """Does nothing more after a round of calls in a row of which nothing is held."""


@fault("ROUND-30", "is executing, yet its round is taken for over", also=("PAIR-1", "PHASE-61", "STORE-8"))
class ReturnsAtAFailure(Runtime):
    """Takes a batch for over when one of its calls has failed."""

    async def together(self, coroutines: Sequence[Any]) -> None:
        self.left = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        waiting = set(self.left)
        while waiting and not self.state.in_status("Failed"):
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        await asyncio.sleep(0)  # what is left begins


@fault("ROUND-50", "is judged while its round executes", also=("GATE-3",))
class JudgesWhileItExecutes(Runtime):
    """Judges a call once more as its turn comes, while the round executes."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        self.entered = False
        await super().execute_all(calls)

    async def execute(self, call: Call, resume: Resume) -> None:
        if call.name == "gated" and resume is None and self.entered:
            self.phase("ToolGate" if self.policies["phases"] == "nine" else "BeforeToolExecute", call)
            await self.outside(self.world.permit(call.id, call.name, call.args, None))
        self.entered = True
        await super().execute(call, resume)


@fault("ROUND-51", "is judged while its round executes", profile="awaken-9", also=("PHASE-72",))
class JudgesDuringABatch(JudgesWhileItExecutes):
    """Judges a call once more while its siblings execute."""
