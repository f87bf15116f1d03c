"""Wrong ways: one arrow of the call's or the run's chart is left out, or leads where it should not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.machines.lifecycle.runtime.world import Answer, WorldFault


@fault("CALL-9", "in its replay, yet its tool was not entered", also=("PHASE-91",))
class RunsInTheReplayBeforeItIsJudged(Runtime):
    """A replayed call is Running while the permission hook is still asked about it."""

    async def judge(self, call: Call, resume: Resume) -> bool:
        if resume is not None and call.name == "gated":
            self.move_call(call, "start")
        return await super().judge(call, resume)

    def move_call(self, call: Call, event: str) -> None:
        if event != "start" or call.status != "Running":
            super().move_call(call, event)


@fault("CALL-10", "held call", also=("PAIR-1",))
class FailsWhatIsHeldAgain(Runtime):
    """A call that the gate holds again in its replay is Failed."""

    def move_call(self, call: Call, event: str) -> None:
        again = event == "suspend" and call.status == "Resuming"
        super().move_call(call, "fail" if again else event)


@fault("CALL-11", "yet it became Failed")
class FailsAReplayedResult(Runtime):
    """A call whose result is set in its replay is Failed."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        given = event == "succeed" and call.status == "Resuming"
        super().settle(call, "fail" if given else event, status, content)


@fault("CALL-12", "in its replay, yet it became Succeeded")
class ForgivesABlockedReplay(Runtime):
    """A call that is blocked in its replay is Succeeded."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        blocked = event == "fail" and call.status == "Resuming"
        super().settle(call, "succeed" if blocked else event, status, content)


@fault("CALL-16", "yet it went from New to Cancelled")
class CancelsTheThird(Runtime):
    """The third call of a round is cancelled although the permission gate has allowed it."""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed = await super().judge_all(calls)
        if len(allowed) == 3 and allowed[-1].name == "gated":
            self.settle(allowed.pop(), "cancel", "cancelled", "two are enough")
        return allowed


@fault("CALL-6", "yet it went from Running to Cancelled")
class AbortsTheSiblings(Runtime):
    """A tool that answers with an error takes the running calls of its round down."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bodies: dict[str, asyncio.Task[Any] | None] = {}

    async def execute(self, call: Call, resume: Resume) -> None:
        self.bodies[call.id] = asyncio.current_task()
        await super().execute(call, resume)

    def take_answer(self, call: Call, answer: Answer) -> None:
        super().take_answer(call, answer)
        for sibling in self.state.in_status("Running") if answer.kind == "error" else ():
            body = self.bodies.get(sibling.id)
            if body is not None and sibling.suspension == 0:
                body.cancel()


@fault("CALL-13", "yet it went from Resuming to Cancelled")
class CancelsTheSecondReplay(Runtime):
    """Of several approved calls only the first is replayed, and the others are cancelled."""

    async def _replay_batch(self, batch: Sequence[Decision]) -> None:
        for decision in batch[1:]:
            call = self.state.calls[decision.call]
            if decision.action == "resume":
                self.state.decisions.pop(call.id)
                self.move_call(call, "resume")
                self.move_call(call, "cancel")
                self.answer(call, "cancelled", "one is enough")
        await super()._replay_batch([d for d in batch if d.call in self.state.decisions])


@fault("CALL-19", "was New, which leads to", also=("NEST-6", "STORE-2"))
class ResumesWhatHasNotAsked(Runtime):
    """A decision that comes before its call has run takes the call to Resuming."""

    def take(self, decision: Decision) -> None:
        call = self.state.calls[decision.call]
        if call.status == "New":
            self.say_call(call, "Resuming", before="New")
        super().take(decision)


@fault("CALL-20", "was Running, which leads to", also=("NEST-6",))
class ResumesWhatRuns(Runtime):
    """A decision that comes while its call runs takes the call to Resuming."""

    def take(self, decision: Decision) -> None:
        call = self.state.calls[decision.call]
        if call.status == "Running":
            self.say_call(call, "Resuming", before="Running")
            self.say_call(call, "Running", before="Resuming")
        super().take(decision)


@fault("RUN-1", "the run moved to Waiting, yet it is still committing")
class WaitsBeforeItIsStored(Runtime):
    """Says that it waits before the wait is stored."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        if cause == "suspend":
            self.move_run("suspend", Reason("Suspended"))
        await super().commit(trigger, cause, **rest)

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        if event != "suspend" or self.state.status == "Running":
            super().move_run(event, reason)


@fault(
    "RUN-2",
    "yet the run became nothing else before it was Running",
    policies={"decision.cancel_path": "via_resuming"},
)
class WaitsOnAtARefusal(Runtime):
    """A refusal of one of several calls does not wake the run."""

    asleep = False

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        undecided = [
            call for call in self.state.in_status("Suspended") if call.id not in self.state.decisions
        ]
        refused = all(decision.action == "cancel" for decision in self.ready())
        if event == "resume" and undecided and refused:
            self.asleep = True
        elif event != "suspend" or not self.asleep:
            super().move_run(event, reason)
        if event == "suspend":
            self.asleep = False


class EndsAs(Runtime):
    """Ends for another reason than the right one."""

    right = wrong = ""

    async def _end(self, reason: Reason) -> Segment:
        return await super()._end(Reason(self.wrong, reason.detail) if reason.code == self.right else reason)


@fault("RUN-5", "a stop condition fired and nothing else ended the run, yet")
class CallsAStopAnError(EndsAs):
    """A stop condition ends the run as Error."""

    right, wrong = "Stopped", "Error"


@fault("RUN-6", "was blocked, which ends the run, yet it ended as Error")
class CallsABlockAnError(EndsAs):
    """A block ends the run as Error."""

    right, wrong = "Blocked", "Error"


@fault("RUN-7", "the run was cancelled at work, yet it became Waiting")
class WaitsOnItsWayToTheEnd(Runtime):
    """A run that is cancelled at work says that it waits before it is Done."""

    async def _end(self, reason: Reason) -> Segment:
        if reason.code == "Cancelled" and self.state.status == "Running":
            self.move_run("suspend", Reason("Suspended"))
        return await super()._end(reason)


@fault("RUN-9", "the run was cancelled while it waited, yet it became Running")
class WakesOnItsWayToTheEnd(Runtime):
    """A run that is cancelled while it waits says that it runs before it is Done."""

    async def _end(self, reason: Reason) -> Segment:
        if reason.code == "Cancelled" and self.state.status == "Waiting":
            self.move_run("resume")
        return await super()._end(reason)


@fault("RUN-10", "nothing broke while the run waited, yet it ended as Error")
class DiesOfABatch(Runtime):
    """Several decisions at once end a run that waits."""

    async def decide(self, decisions: Sequence[Decision]) -> Any:
        if len(decisions) > 1 and self.state.status == "Waiting" and not self.active:
            return await self.segment(self._die())
        return await super().decide(decisions)

    async def _die(self) -> Any:
        raise WorldFault("too many decisions")


@fault("RUN-11", "RunStart fires, yet the run is still Created", profile="awaken-9")
class StartsBeforeItBegins(Runtime):
    """RunStart fires while the run is still Created."""

    def move_run(self, event: str, reason: Reason | None = None) -> None:
        if event == "begin":
            self.phase("RunStart")
        super().move_run(event, reason)


@fault("RUN-12", "was cancelled before it began, yet", profile="awaken-9")
class BeginsInSpiteOfACancel(Runtime):
    """A created run that was cancelled begins before it ends."""

    async def _leave_created(self, decisions: Sequence[Decision] = ()) -> Segment:
        if self.cancelling:
            self.move_run("begin")
        return await super()._leave_created(decisions)


@fault("RUN-13", "the store did not take the run, yet it became", profile="awaken-9")
class BeginsWithoutBeingStored(Runtime):
    """A created run that the store does not take begins before it ends."""

    async def _end(self, reason: Reason) -> Segment:
        if self.state.status == "Created" and reason.code == "Error":
            self.move_run("begin")
        return await super()._end(reason)


@fault("RUN-18", "nothing but time passes in a wait, yet")
class StopsInItsWait(Runtime):
    """A stop condition that has nothing to do with time ends a run that waits."""

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        stopped = self._stop() if self.state.status == "Waiting" and not self.active else None
        timely = all(self.objection(decision) is None for decision in decisions)
        if timely and stopped is not None and stopped.stop != "timeout":
            return await self.segment(self._end(stopped))
        return await super().decide(decisions)
