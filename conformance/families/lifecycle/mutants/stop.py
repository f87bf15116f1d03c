"""Wrong stops: too late, too early, for nothing, or in the wrong place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason


@fault("STOP-2", "rounds are over and the limit is")
class StopsOneRoundLate(Runtime):
    """Stops one round after the limit."""

    def _stop(self) -> Reason | None:
        self.state.step -= 1
        try:
            return super()._stop()
        finally:
            self.state.step += 1


@fault("STOP-2", "yet the run stopped after", also=("STOP-8",))
class StopsTooEarly(Runtime):
    """Stops two rounds before it has to."""

    def _stop(self) -> Reason | None:
        self.state.step += 2
        try:
            return super()._stop()
        finally:
            self.state.step -= 2


@fault("STOP-2", "rounds are over and the limit is")
class ForgetsItsRoundsInACrash(Runtime):
    """Counts its rounds from 1 in each life."""

    former = 0

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.former = self.state.step

    def _stop(self) -> Reason | None:
        self.state.step -= self.former
        try:
            return super()._stop()
        finally:
            self.state.step += self.former


@fault("STOP-2", "yet the run stopped after", policies={"stop.threshold": "reaches"})
class CountsARecoveryAsARound(Runtime):
    """Counts a round more for each time that it was recovered."""

    recoveries = 0

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.recoveries = 1

    def _stop(self) -> Reason | None:
        self.state.step += self.recoveries
        try:
            return super()._stop()
        finally:
            self.state.step -= self.recoveries


@fault("STOP-1", "yet it does not say what stopped it")
class NamesNoCondition(Runtime):
    """Stops without saying for what."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        return None if stopped is None else Reason("Stopped", stopped.detail)


@fault("STOP-4", "tokens are used and the budget is")
class CountsTokensOfTheLastTurn(Runtime):
    """Weighs the tokens of the last turn alone against the budget."""

    def _take_turn(self, turn: Any) -> list[Call]:
        self.state.tokens = 0
        return super()._take_turn(turn)


@fault("STOP-3", "s have passed and the limit is")
class NeverRunsOutOfTime(Runtime):
    """Starts the clock anew with every step."""

    async def _step(self) -> None:
        self.state.started_ms = self.world.now_ms()
        await super()._step()
        self.state.started_ms = self.world.now_ms()


@fault("STOP-5", "calls in a row failed and")
class ForgivesErrors(Runtime):
    """Counts errors in a row of one round only."""

    async def _step(self) -> None:
        self.state.errors_in_a_row = 0
        await super()._step()


@fault("STOP-5", "errors in a row may happen, yet the run stopped after")
class CountsEveryError(Runtime):
    """Takes all errors of the run for errors in a row."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        before = self.state.errors_in_a_row
        super().settle(call, event, status, content)
        self.state.errors_in_a_row = before + (status == "error")


@fault("STOP-6", "was called and stops the run, yet the model is asked")
class IgnoresTheStopTool(Runtime):
    """Looks for the stop tool in the step before."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        return None if stopped is not None and stopped.stop == "stop_on_tool" else stopped


@fault("STOP-7", "which stops the run, yet it is asked again")
class DoesNotReadTheText(Runtime):
    """Never stops for what the model said."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        for_content = stopped is not None and stopped.stop == "content_match"
        return None if for_content else stopped


@fault("STOP-8", "only reach it, yet the run stopped")
class StopsWhenItIsReached(OtherPolicies, Runtime):
    """Stops when a limit is reached, though it says that it has to be exceeded."""

    follows = {"stop.threshold": "reaches"}


@fault("STOP-8", "stops the run when it is reached, and its limit of", policies={"stop.threshold": "reaches"})
class StopsWhenItIsExceeded(OtherPolicies, Runtime):
    """Stops when a limit is exceeded, though it says that to reach it is enough."""

    follows = {"stop.threshold": "exceeds"}


@fault("STOP-9", "drains its tools, yet call")
class StopsBeforeItsTools(OtherPolicies, Runtime):
    """Leaves out the tools of the step that stops, though it says that it drains them."""

    follows = {"stop.tools": "preempted"}


@fault("STOP-9", "which stops the run before its tools, yet call", policies={"stop.tools": "preempted"})
class DrainsBeforeItStops(Runtime):
    """Executes the tools of the step that stops, though it says that it leaves them out."""

    def _preempt(self) -> None:
        return


@fault("STOP-10", "calls were all read alike, yet the model is asked")
class NeverSeesALoop(Runtime):
    """Never stops for calls that repeat themselves."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        return None if stopped is not None and stopped.stop == "loop_detection" else stopped


@fault("STOP-10", "are alike, yet the run stopped for a loop")
class SeesALoopOfTwoRuns(Runtime):
    """Compares the calls of a run with those of the run before it."""

    former: tuple[list[Any], ...] = ()

    async def _begin(self, text: str, decisions: Sequence[Decision]) -> Segment:
        self.state.history_of_calls = [*self.former]
        return await super()._begin(text, decisions)

    async def _end(self, reason: Reason) -> Segment:
        self.former = tuple(self.state.history_of_calls)
        return await super()._end(reason)


@fault("STOP-10", "are alike, yet the run stopped for a loop")
class LooksBeyondTheWindow(Runtime):
    """Compares a call with all calls before it, not only with those within the window."""

    def _stop(self) -> Reason | None:
        for condition in self.stop:
            if condition["kind"] == "loop_detection":
                calls = self.state.history_of_calls
                is_loop = bool(calls) and calls[-1] in calls[:-1]
                return Reason("Stopped", "alike", "loop_detection") if is_loop else None
        return super()._stop()


@fault("STOP-10", "are alike, yet the run stopped for a loop")
class TakesAToolForALoop(Runtime):
    """Takes two calls of one tool for the same, whatever their arguments."""

    def _take_turn(self, turn: Any) -> list[Call]:
        calls = super()._take_turn(turn)
        self.state.history_of_calls = [[name, {}] for name, _ in self.state.history_of_calls]
        return calls


@fault("STOP-11", "after StepStart, not after StepEnd")
class StopsInTheNextStep(Runtime):
    """Stops when the next step has begun."""

    def _stop(self) -> Reason | None:
        stopped = super()._stop()
        if stopped is not None:
            self.state.step += 1
            self.phase("StepStart")
            self.state.step -= 1
        return stopped
