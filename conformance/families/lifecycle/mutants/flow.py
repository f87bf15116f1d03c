"""Wrong flows: stations that a segment passes by, or takes out of their order."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.lifecycle.mutants.reporting import StoresBeforeTheRunEnds
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import (
    Call,
    Decision,
    Message,
    Reason,
)
from runlock.machines.lifecycle.runtime.world import ModelTurn, WorldFault


@fault("FLOW-1", "yet the input has not been committed", profile="tirea")
class DoesNotStoreTheInput(Runtime):
    """Starts the first step without having stored the input."""

    async def commit_at(self, trigger: str, cause: str) -> None:
        if trigger != "UserMessage":
            await super().commit_at(trigger, cause)


@fault("FLOW-1", "the segment begins with", profile="tirea")
class EntersWithoutRunStart(Runtime):
    """Enters a waiting run anew without RunStart."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "RunStart" or self.state.step == 0:
            super().phase(phase, call, verdict)


@fault("FLOW-2", "yet nobody has looked for decisions", profile="tirea")
class AsksWithoutALookAtTheInbox(Runtime):
    """Starts the first step of a run without having looked for decisions."""

    async def _settle_decisions(self) -> None:
        if self.state.step:
            await super()._settle_decisions()


@fault(
    "FLOW-3",
    "yet the replay at the start of the segment has not been",
    profile="tirea",
    also=(
        "RESUME-14",
        "STORE-5",
    ),
)
class ReplaysWithoutStoring(Runtime):
    """Does not store what the replay at the start did."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        if cause != "run_start" or trigger == "UserMessage":
            await super().commit(trigger, cause, **rest)


@fault("FLOW-4", "the segment has replayed nothing, yet", profile="tirea")
class StoresAReplayThatWasNone(Runtime):
    """Stores tool results at the start of a run, though nothing was replayed."""

    async def commit_at(self, trigger: str, cause: str) -> None:
        await super().commit_at(trigger, cause)
        if trigger == "UserMessage":
            await self.commit("ToolResultsCommitted", "run_start")


@fault("FLOW-5", "yet the segment ends without asking the model", profile="tirea")
class GoesOnWaitingForTheRest(Runtime):
    """Waits again after a replay at the start while any other call is still suspended."""

    resumed = False

    async def _resume(self) -> Segment:
        self.resumed = True
        return await super()._resume()

    async def _settle_decisions(self) -> None:
        await super()._settle_decisions()
        self._leads_on = self._leads_on and not self.resumed

    def must_wait(self) -> bool:
        return bool(self.resumed and self.state.in_status("Suspended")) or super().must_wait()

    async def _step(self) -> None:
        self.resumed = False
        await super()._step()


@fault("FLOW-6", "was suspended again by the replay at the start, yet", profile="tirea", also=("DECIDE-19",))
class OverlooksANewSuspension(Runtime):
    """Asks the model though the replay at the start has suspended its call again."""

    resumed = False

    async def _resume(self) -> Segment:
        self.resumed = True
        declared, self.policies = self.policies, {**self.policies, "replay.start": "by_outcomes"}
        try:
            return await super()._resume()
        finally:
            self.policies = declared

    def must_wait(self) -> bool:
        return super().must_wait() and not self.resumed

    async def _step(self) -> None:
        self.resumed = False
        await super()._step()


@fault("FLOW-7", "yet the resume gate was not passed", profile="tirea")
class LeavesTheGateAfterAReplay(Runtime):
    """Goes from the replay at the start into the step without passing the resume gate again."""

    hurries = False

    def ready(self) -> list[Decision]:
        return [] if self.hurries else super().ready()

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if not self.hurries:
            super().gate_state(state, decision)
        self.hurries = self.hurries or (state == "CommitReplay" and self.at_the_start)

    at_the_start = False

    async def apply_decisions(self, cause: str) -> None:
        self.at_the_start = cause == "run_start"
        await super().apply_decisions(cause)

    async def _step(self) -> None:
        self.hurries = False
        await super()._step()

    async def _suspend(self) -> Segment:
        self.hurries = False
        return await super()._suspend()


@fault("FLOW-8", "not after StepStart", profile="tirea")
class OpensNoStep(Runtime):
    """StepStart fires in the first step only."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "StepStart" or self.state.step == 1:
            super().phase(phase, call, verdict)


@fault("FLOW-10", "yet the last step of the segment has not asked the model", profile="tirea")
class EndsInsteadOfAsking(Runtime):
    """Ends naturally after BeforeInference of the second step, without asking the model."""

    async def outside(self, waiting: Any, drains: bool = False) -> Any:
        if self.state.step == 2 and waiting.__name__ == "infer":
            waiting.close()
            raise EndsEarly
        return await super().outside(waiting, drains)

    async def segment(self, steps: Any) -> Segment:
        return await super().segment(self._ending_early(steps))

    async def _ending_early(self, steps: Any) -> Segment:
        try:
            return await steps  # type: ignore[no-any-return]
        except EndsEarly:
            return await self._end(Reason("NaturalEnd"))


class EndsEarly(Exception):
    """The run is taken for finished."""


@fault("FLOW-11", "the model broke, yet the model is asked again", profile="tirea")
class AsksABrokenModelAgain(Runtime):
    """Asks the model once more when it cannot be reached."""

    async def outside(self, waiting: Any, drains: bool = False) -> Any:
        asks = waiting.__name__ == "infer"
        try:
            return await super().outside(waiting, drains)
        except WorldFault:
            if not asks:
                raise
            return await super().outside(self.world.infer(self.state.messages, self.state.step))


@fault("FLOW-18", "the tool executor broke, yet", profile="tirea")
class TakesABrokenExecutorForAFailedTool(Runtime):
    """Gives a call an error for its result when the executor breaks, and goes on."""

    async def execute(self, call: Call, resume: Resume) -> None:
        try:
            await super().execute(call, resume)
        except WorldFault as fault:
            self.settle(call, "fail", "error", str(fault))
            self.phase("AfterToolExecute", call)


@fault("FLOW-12", "yet the answer is still waited for", profile="tirea")
class WaitsForACancelledInference(Runtime):
    """Lets the model finish its answer when the run is cancelled."""

    asking = False

    async def outside(self, waiting: Any, drains: bool = False) -> Any:
        self.asking = waiting.__name__ == "infer"
        try:
            return await super().outside(waiting, drains)
        finally:
            self.asking = False

    async def cancel(self) -> Segment | None:
        if not self.asking:
            return await super().cancel()
        self.cancelling = True
        return None


@fault("FLOW-19", "yet the segment ended as Error", profile="tirea")
class TakesACancelledRoundForBroken(Runtime):
    """Ends as Error when the executor gives its tools up for a cancel."""

    async def run_round(self, calls: Any) -> None:
        try:
            await super().run_round(calls)
        except Exception as failure:
            if self.cancelling:
                raise WorldFault("the executor was cancelled") from failure
            raise


@fault("FLOW-13", "fires before AfterInference", profile="tirea")
class DoesNotLookAtTheAnswer(Runtime):
    """AfterInference does not fire."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "AfterInference":
            super().phase(phase, call, verdict)


@fault("FLOW-14", "yet StepEnd of its step has not fired", profile="tirea")
class StoresTheTurnBeforeItsStep(Runtime):
    """Stores the turn of the model before StepEnd."""

    def _end_step(self) -> None:
        return

    async def commit_at(self, trigger: str, cause: str) -> None:
        await super().commit_at(trigger, cause)
        if trigger == "AssistantTurnCommitted":
            super()._end_step()


@fault("FLOW-16", "yet another step starts", profile="tirea")
class AsksOnceMore(Runtime):
    """Asks the model once more when it has asked for nothing."""

    def _take_turn(self, turn: ModelTurn) -> list[Call]:
        calls = super()._take_turn(turn)
        self.state.turn_was_last = self.state.turn_was_last and self.state.step > 1
        return calls


@fault("FLOW-17", "fires before any round", profile="tirea")
class AnswersForTheTools(Runtime):
    """Answers calls with an error instead of giving them a round."""

    async def _tool_round(self, calls: list[Call]) -> None:
        for call in calls:
            self.settle(call, "fail", "error", "no tools now")
        self.record(calls)


@fault("FLOW-20", "the round is committed, yet call", profile="tirea")
class StoresHalfARound(Runtime):
    """Stores the results of a round each time that a call of it has answered."""

    async def execute(self, call: Call, resume: Resume) -> None:
        await super().execute(call, resume)
        if resume is None and self.state.in_status("Running"):
            await self.commit("ToolResultsCommitted", "round")


@fault("FLOW-21", "with no look for decisions", profile="tirea")
class JudgesTheWaitTooEarly(Runtime):
    """Judges a stored round, and asks on or waits, without having looked for decisions."""

    hurries = False

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        await super().commit(trigger, cause, **rest)
        self.hurries = cause == "round"

    async def _settle_decisions(self) -> None:
        if not self.hurries:
            await super()._settle_decisions()


@fault("FLOW-22", "is Suspended, yet another step starts", profile="tirea", also=("DERIVE-8",))
class GoesOnWhileAllWait(Runtime):
    """Asks the model again though every call of the round is suspended."""

    def must_wait(self) -> bool:
        return super().must_wait() and self.state.turn_was_last


@fault("FLOW-23", "yet the segment ends", profile="tirea")
class WaitsForOne(Runtime):
    """Waits as soon as one call of a round is suspended, though it says that it goes on."""

    def must_wait(self) -> bool:
        return bool(self.state.in_status("Suspended"))


class EndsWithoutRunEnd(Runtime):
    """RunEnd does not fire for one way out."""

    code = ""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "RunEnd" or self.leaving != self.code:
            super().phase(phase, call, verdict)

    leaving = ""

    async def _end(self, reason: Reason) -> Segment:
        self.leaving = reason.code
        return await super()._end(reason)

    async def _suspend(self) -> Segment:
        self.leaving = "Suspended"
        return await super()._suspend()


@fault("FLOW-25", "NaturalEnd, yet RunEnd has not fired", profile="tirea")
class EndsNaturallyWithoutRunEnd(EndsWithoutRunEnd):
    """RunEnd does not fire at a natural end."""

    code = "NaturalEnd"


@fault("FLOW-26", "Suspended, yet RunEnd has not fired", profile="tirea")
class SuspendsWithoutRunEnd(EndsWithoutRunEnd):
    """RunEnd does not fire when the run is suspended."""

    code = "Suspended"


@fault("FLOW-27", "Cancelled, yet RunEnd has not fired", profile="tirea")
class CancelsWithoutRunEnd(EndsWithoutRunEnd):
    """RunEnd does not fire at a cancel."""

    code = "Cancelled"


@fault("FLOW-28", "Error, yet RunEnd has not fired", profile="tirea")
class BreaksWithoutRunEnd(EndsWithoutRunEnd):
    """RunEnd does not fire at a fault."""

    code = "Error"


@fault("FLOW-29", "RunEnd fires, yet RunFinished is stored already", profile="tirea")
class StoresTheEndTooEarly(StoresBeforeTheRunEnds):
    """Stores RunFinished before RunEnd fires."""


@fault("FLOW-40", "yet AssistantTurnCommitted was seen", profile="tirea", also=("STORE-16",))
class StoresTheTurnTwice(Runtime):
    """Stores each turn of the model twice."""

    async def commit_at(self, trigger: str, cause: str) -> None:
        await super().commit_at(trigger, cause)
        if trigger == "AssistantTurnCommitted":
            await super().commit_at(trigger, cause)


@fault("FLOW-1", "is committed, yet its checkpoint does not hold it", profile="tirea")
class StoresBeforeItHears(Runtime):
    """Commits the input of a run, and adds it to the thread then."""

    held: Message | None = None

    def append(self, message: Message) -> None:
        if message["role"] == "user":
            self.held = message
        else:
            super().append(message)

    async def commit_at(self, trigger: str, cause: str) -> None:
        await super().commit_at(trigger, cause)
        if self.held is not None:
            super().append(self.held)
            self.held = None
