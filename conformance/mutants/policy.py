"""Runtimes that do not do what they declare: stops, recoveries and policies of another kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock.conformance.mutants.kind import Mutant
from interlock.machines.runtime.rounds import Resume, RunBlocked
from interlock.machines.runtime.runtime import Runtime, Segment
from interlock.machines.runtime.state import Call, Decision, Reason


class StopsOneRoundLate(Runtime):
    """Stops one round after the limit."""

    def _stop(self) -> Reason | None:
        self.state.step -= 1
        try:
            return super()._stop()
        finally:
            self.state.step += 1


class StopsOneRoundEarly(Runtime):
    """Stops one round before the limit."""

    def _stop(self) -> Reason | None:
        self.state.step += 1
        try:
            return super()._stop()
        finally:
            self.state.step -= 1


class NamesNoCondition(Runtime):
    """Stops without saying for what."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        return None if stopped is None else Reason("Stopped", stopped.detail)


class CountsTokensOfTheLastTurn(Runtime):
    """Weighs the tokens of the last turn alone against the budget."""

    def _take_turn(self, turn: Any) -> list[Call]:
        self.state.tokens = 0
        return super()._take_turn(turn)


class NeverRunsOutOfTime(Runtime):
    """Starts the clock anew with every step."""

    async def _step(self) -> None:
        self.state.started_ms = self.world.now_ms()
        await super()._step()
        self.state.started_ms = self.world.now_ms()


class ForgivesErrors(Runtime):
    """Counts errors in a row of one round only."""

    async def _step(self) -> None:
        self.state.errors_in_a_row = 0
        await super()._step()


class IgnoresTheStopTool(Runtime):
    """Looks for the stop tool in the step before."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        return None if stopped is not None and stopped.stop == "stop_on_tool" else stopped


class DoesNotReadTheText(Runtime):
    """Never stops for what the model said."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        for_content = stopped is not None and stopped.stop == "content_match"
        return None if for_content else stopped


class WakesWhatWaits(Runtime):
    """Recovery goes on with a run that waits in its checkpoint, as if it had been approved."""

    async def go_on(self) -> Segment | None:
        if self.state.status == "Waiting":
            self.move_run("resume")
            for call in self.state.in_status("Suspended"):
                self.move_call(call, "cancel")
                self.answer(call, "cancelled", "lost")
            return await self.segment(self._steps())
        return await super().go_on()


class RecoversTheSuspendedAsNew(Runtime):
    """Recovery takes a suspended call for a new one."""

    def restore(self, state: dict[str, Any]) -> None:
        calls = {
            call: {**kept, "status": "New"} if kept["status"] == "Suspended" else kept
            for call, kept in state["calls"].items()
        }
        super().restore({**state, "calls": calls})


class ForgetsTheThread(Runtime):
    """Recovery drops the first message of the thread."""

    def restore(self, state: dict[str, Any]) -> None:
        super().restore({**state, "messages": state["messages"][1:]})


class RefusesAfterACrash(Runtime):
    """After a recovery, nobody takes decisions for the calls that waited."""

    deaf = False

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.deaf = True

    def objection(self, decision: Decision) -> str | None:
        return "nobody waits for it" if self.deaf else super().objection(decision)


class TakesInputWhileWaiting(Runtime):
    """Goes on with new input, though it says that it refuses it."""

    async def input(self, text: str) -> Segment | None:
        if self.active or self.state.status != "Waiting":
            return await super().input(text)
        return await self.segment(self._supersede(text))


class RunsBesideEachOther(Runtime):
    """Runs calls at the same time, though it says that it runs them one after the other."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        await self.together([self.execute(call, None) for call in calls])


class RunsOneAfterTheOther(Runtime):
    """Runs calls one after the other, though it says that it runs them at the same time."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        for call in calls:
            await self.execute(call, None)


class CallsAFailureABlock(Runtime):
    """Ends the run as Blocked when a tool is not there."""

    async def judge(self, call: Call, resume: Resume) -> bool:
        allowed = await super().judge(call, resume)
        if call.name not in self.tools:
            raise RunBlocked("no such tool")
        return allowed


class GoesOnAfterABlock(Runtime):
    """Judges and runs the other calls of a round in which one was blocked, and only then ends the run."""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed, blocked = [], None
        for call in calls:
            try:
                if await self.judge(call, None):
                    allowed.append(call)
            except RunBlocked as block:
                blocked = block
        if blocked is not None:
            await self.execute_all(allowed)
            raise blocked
        return allowed


class ActsInTheMiddleOfTheRound(Runtime):
    """Replays a decided call while others still execute, though decisions wait for the round."""

    @property
    def at_once(self) -> bool:
        return True


class WaitsForTheRound(Runtime):
    """Lets decisions wait for the round, though it says that they act at once."""

    @property
    def at_once(self) -> bool:
        return False


class KeepsWhatItShouldRefuse(Runtime):
    """Keeps an early decision, though it says that it refuses it."""

    def objection(self, decision: Decision) -> str | None:
        declared, self.policies = self.policies, {**self.policies, "decision.early": "buffer"}
        try:
            return super().objection(decision)
        finally:
            self.policies = declared


class RefusesWhatItShouldKeep(Runtime):
    """Refuses an early decision, though it says that it keeps it."""

    def objection(self, decision: Decision) -> str | None:
        declared, self.policies = self.policies, {**self.policies, "decision.early": "refuse"}
        try:
            return super().objection(decision)
        finally:
            self.policies = declared


class RefusesTheWholeBatch(Runtime):
    """Refuses a whole batch for one bad decision, though it says that it takes the others."""

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        declared, self.policies = self.policies, {**self.policies, "decision.batch": "atomic"}
        try:
            return super().receive(decisions)
        finally:
            self.policies = declared


class RejectsByAnotherWay(Runtime):
    """Takes a rejected call through Resuming, though it says that it cancels it directly."""

    def _prepare(self, decision: Decision) -> bool:
        declared, self.policies = self.policies, {**self.policies, "decision.cancel_path": "via_resuming"}
        try:
            return super()._prepare(decision)
        finally:
            self.policies = declared


MUTANTS: tuple[Mutant, ...] = (
    Mutant(NamesNoCondition, "STOP-1", "yet it does not say what stopped it"),
    Mutant(StopsOneRoundLate, "STOP-2", "rounds are over and the limit is"),
    Mutant(StopsOneRoundEarly, "STOP-2", "yet the run stopped after"),
    Mutant(NeverRunsOutOfTime, "STOP-3", "s have passed and the limit is"),
    Mutant(CountsTokensOfTheLastTurn, "STOP-4", "tokens are used and the budget is"),
    Mutant(ForgivesErrors, "STOP-5", "calls in a row failed and"),
    Mutant(IgnoresTheStopTool, "STOP-6", "was called and stops the run, yet the model is asked"),
    Mutant(DoesNotReadTheText, "STOP-7", "which stops the run, yet it is asked again"),
    Mutant(WakesWhatWaits, "RECOVER-1", "the run waits in the checkpoint and nothing is decided, yet"),
    Mutant(RecoversTheSuspendedAsNew, "RECOVER-2", "is Suspended, yet it starts as New"),
    Mutant(ForgetsTheThread, "RECOVER-3", "yet the model was not shown it"),
    Mutant(RefusesAfterACrash, "RECOVER-4", "waits in the checkpoint, yet a decision for it was refused"),
    Mutant(TakesInputWhileWaiting, "INPUT-1", "a waiting run takes no input, yet"),
    Mutant(RunsBesideEachOther, "ROUND-4", "runs beside it", policies={"round.executor": "sequential"}),
    Mutant(RunsOneAfterTheOther, "ROUND-5", "has not begun"),
    Mutant(CallsAFailureABlock, "ROUND-6", "nothing was blocked, yet the run ended as Blocked"),
    Mutant(GoesOnAfterABlock, "ROUND-7", "was blocked, which ends the run, yet"),
    Mutant(ActsInTheMiddleOfTheRound, "DECIDE-9", "is still executing, yet call"),
    Mutant(WaitsForTheRound, "DECIDE-10", "is still Suspended", "awaken-concurrent"),
    Mutant(KeepsWhatItShouldRefuse, "DECIDE-11", "was kept", policies={"decision.early": "refuse"}),
    Mutant(RefusesWhatItShouldKeep, "DECIDE-11", "was refused"),
    Mutant(RefusesTheWholeBatch, "DECIDE-12", "yet batches are taken one by one"),
    Mutant(RejectsByAnotherWay, "DECIDE-13", "came to it from Resuming"),
)
