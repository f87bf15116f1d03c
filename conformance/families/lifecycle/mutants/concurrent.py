"""Wrong concurrent rounds: tasks that wait for each other, decisions that wake nothing, leaking barriers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar

from runlock.conformance.families.lifecycle.mutants.round import HangsAfterARound
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.machines.lifecycle.runtime.world import Answer, WorldFault

CONCURRENT = "awaken-concurrent"


@fault("ROUND-60", "is allowed, yet no task runs it", profile=CONCURRENT)
class OneTaskForAll(Runtime):
    """Runs the allowed calls of a round that nothing holds in one task."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        if self.state.in_status("Suspended"):
            await super().execute_all(calls)
            return
        for call in calls:
            await self.execute(call, None)


@fault("ROUND-61", "is allowed, yet no task runs it while call", profile=CONCURRENT)
class RunsNothingDuringAHold(Runtime):
    """Runs no call of a round while another one is held."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        if not self.state.in_status("Suspended"):
            await super().execute_all(calls)

    def must_wait(self) -> bool:
        return bool(self.state.in_status("Suspended"))


@fault("ROUND-62", "its outcome, yet its status is New", profile=CONCURRENT)
class KeepsASetResult(Runtime):
    """Gives a call the result that was set for it only when its round has executed."""

    kept: tuple[tuple[Any, ...], ...] = ()

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        if event == "provide":
            self.kept = (*self.kept, (call, event, status, content))
        else:
            super().settle(call, event, status, content)

    async def execute_all(self, calls: Sequence[Call]) -> None:
        await super().execute_all(calls)
        for kept in self.kept:
            super().settle(*kept)
        self.kept = ()


class AnswersInABatch(Runtime):
    """Takes some answers only when nothing else of the round executes."""

    kinds: ClassVar[tuple[str, ...]] = ()
    replayed: ClassVar[bool] = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.late: list[tuple[Call, Answer]] = []

    def take_answer(self, call: Call, answer: Answer) -> None:
        mine = answer.kind in self.kinds and (call.suspension > 0) == self.replayed
        if mine and self._busy(call):
            self.late.append((call, answer))
            return
        super().take_answer(call, answer)
        if not self._busy(call):
            late, self.late = self.late, []
            for other, kept in late:
                super().take_answer(other, kept)

    def _busy(self, call: Call) -> bool:
        waiting = [other for other, _ in self.late]
        return any(c is not call and c not in waiting for c in self.state.in_status("Running"))


@fault("ROUND-63", "answered pending, yet its status is Running", profile=CONCURRENT)
class SuspendsInABatch(AnswersInABatch):
    """Suspends a call whose tool answered pending only when nothing else executes."""

    kinds = ("pending",)


@fault("ROUND-65", "yet its status is Running", profile=CONCURRENT)
class EndsInABatch(AnswersInABatch):
    """Ends a call whose tool answered only when nothing else executes."""

    kinds = ("ok", "warning", "error")


@fault("ROUND-67", "yet its status is Running", also=("PAIR-1",), profile=CONCURRENT)
class EndsReplaysInABatch(AnswersInABatch):
    """Ends a replayed call whose tool answered only when nothing else executes."""

    kinds = ("ok", "warning", "error")
    replayed = True


class ActsWhenIdle(Runtime):
    """Keeps something back until no tool executes any more."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.when_idle: list[asyncio.Future[None]] = []

    async def idle(self) -> None:
        """Come back when no tool executes."""
        if self.state.in_status("Running"):
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.when_idle.append(waiting)
            await waiting

    def move_call(self, call: Call, event: str) -> None:
        super().move_call(call, event)
        if not self.state.in_status("Running"):
            woken, self.when_idle = self.when_idle, []
            for waiting in woken:
                if not waiting.done():
                    waiting.set_result(None)


@fault("ROUND-64", "yet its replay waits for call", profile=CONCURRENT)
class ReplaysAfterTheBatch(ActsWhenIdle):
    """A decided call is Resuming at once, and replayed when no tool executes any more."""

    async def _replay_one(self, decision: Decision) -> None:
        await self.idle()
        await super()._replay_one(decision)


@fault("ROUND-68", "was rejected, yet its status is Resuming", profile=CONCURRENT)
class RejectsAfterTheBatch(ActsWhenIdle):
    """A rejected call is Resuming at once, and over when no tool executes any more."""

    def _prepare(self, decision: Decision) -> bool:
        if decision.action != "cancel" or not self.state.in_status("Running"):
            return super()._prepare(decision)
        self.state.decisions.pop(decision.call)
        self.move_call(self.state.calls[decision.call], "resume")
        return True

    async def _replay_one(self, decision: Decision) -> None:
        if decision.action == "resume":
            await super()._replay_one(decision)
            return
        await self.idle()
        call = self.state.calls[decision.call]
        self.move_call(call, "cancel")
        self.answer(call, "cancelled", "rejected")


@fault("ROUND-66", "waits anew, yet decision", profile=CONCURRENT, also=("DECIDE-14", "DECIDE-15"))
class ServesOnce(Runtime):
    """Turns down a decision for a call that waits once more."""

    def objection(self, decision: Decision) -> str | None:
        call = self.state.calls.get(decision.call)
        again = call is not None and call.status == "Suspended" and self.is_deaf(call)
        return "nobody waits for it" if again else super().objection(decision)

    def is_deaf(self, call: Call) -> bool:
        """Whether no waiter is registered under the call, though it waits."""
        return call.suspension > 1


@fault(
    "ROUND-72",
    "waits, yet decision",
    profile=CONCURRENT,
    also=("DECIDE-14", "DECIDE-15", "RECOVER-4", "EDIT-4"),
)
class RegistersNoWaiter(ServesOnce):
    """Turns down the first decision of a run."""

    taken = 0

    def accept(self, decision: Decision) -> None:
        self.taken += 1
        super().accept(decision)

    def is_deaf(self, call: Call) -> bool:
        return self.taken == 0 and call.suspension == 1


@fault(
    "ROUND-75",
    "waits after another batch, yet decision",
    profile=CONCURRENT,
    also=(
        "DECIDE-15",
        "DECIDE-14",
    ),
)
class EndsAfterTheFirstBatch(RegistersNoWaiter):
    """Turns down the decisions after the first ones that it took."""

    turn = 0

    async def start(self, text: str, decisions: Sequence[Decision] = ()) -> Segment:
        self.taken = 0
        return await super().start(text, decisions)

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        self.turn = self.taken
        return super().receive(decisions)

    def is_deaf(self, call: Call) -> bool:
        return self.turn > 0 and call.suspension == 1


@fault("ROUND-70", "came before it", profile=CONCURRENT)
class TakesABatchFromItsEnd(Runtime):
    """Deals with the last decision of a batch first."""

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        return super().receive(decisions[::-1])


@fault("ROUND-73", "came when nobody waited for it, yet call", profile=CONCURRENT, also=("DECIDE-23",))
class KeepsForLater(Runtime):
    """Keeps a decision that nothing waits for, though it says that such decisions have no effect."""

    def take(self, decision: Decision) -> None:
        declared, self.policies = self.policies, {**self.policies, "decision.early": "buffer"}
        try:
            super().take(decision)
        finally:
            self.policies = declared


@fault("ROUND-74", "when its waiter had gone, and the run ended", profile=CONCURRENT)
class BreaksWithAGoneWaiter(Runtime):
    """A second decision for a wait that is decided ends the run."""

    gone = False

    def objection(self, decision: Decision) -> str | None:
        why = super().objection(decision)
        call = self.state.calls.get(decision.call)
        if why is not None and call is not None and decision.call in self.state.decisions:
            self.gone = True
        return why

    async def apply_decisions(self, cause: str) -> None:
        if self.gone:
            self.gone = False
            raise WorldFault("nobody takes it")
        await super().apply_decisions(cause)


@fault("ROUND-69", "is in WaitDecision, yet its permission", profile=CONCURRENT)
class AsksAgainWhileItWaits(Runtime):
    """Asks the permission hook about a call once more while that waits for its decision."""

    async def judge(self, call: Call, resume: Resume) -> bool:
        allowed = await super().judge(call, resume)
        gated = self.tools.get(call.name, {}).get("permission") == "gate"
        if gated and call.status == "Suspended" and resume is None:
            self.phase("BeforeToolExecute", call)
            await self.outside(self.world.permit(call.id, call.name, call.args, None))
        return allowed


@fault(
    "ROUND-79",
    "was dealt with already, yet it was accepted once more",
    profile=CONCURRENT,
    also=("DECIDE-2",),
)
class DealsTwice(Runtime):
    """Deals with each decision that it takes once more."""

    def accept(self, decision: Decision) -> None:
        super().accept(decision)
        self.dispose(decision, "accepted")


@fault("ROUND-80", "every call of the round is over", profile=CONCURRENT)
class HangsAfterTheLastCall(HangsAfterARound):
    """Does not pass the barrier when the last call of a round is over."""


@fault("ROUND-81", "is still at work, yet the model is asked", profile=CONCURRENT, also=("ROUND-89",))
class LeavesReplaysOpen(Runtime):
    """Passes the barrier while replays are at work, if no call waits."""

    async def _settle_decisions(self) -> None:
        if self.state.in_status("Suspended"):
            await super()._settle_decisions()
        else:
            await self.apply_decisions("replay")


class LeftEarly(Exception):
    """The round was left before its last call was over."""


@fault("ROUND-89", "was not over, yet the run ended", profile=CONCURRENT, also=("STOP-11",))
class StopsBeforeTheBarrier(Runtime):
    """Looks at the stop conditions before the barrier, and gives up what is replayed there."""

    async def _settle_decisions(self) -> None:
        if self._concurrent and self._stop() is not None:
            raise LeftEarly
        await super()._settle_decisions()

    async def segment(self, steps: Awaitable[Segment]) -> Segment:
        return await super().segment(self._guarded(steps))

    async def _guarded(self, steps: Awaitable[Segment]) -> Segment:
        try:
            return await steps
        except LeftEarly:
            return await self._end(self._stop() or Reason("Error", "left early"))


@fault("STORE-8", "yet its body is executing", profile="tirea-stream")
class EndsWithAReplayAtWork(Runtime):
    """A run that ends while a decided call is replayed next to it leaves that replay at work."""

    async def _finish_concurrent(self, drains: bool) -> None:
        self._concurrent = []
