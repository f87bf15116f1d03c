"""Wrong phases: missing, out of their order, or fired for what they are not for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call


@fault("PHASE-21", "the first phase of the run is StepStart, not RunStart")
class StartsWithTheStep(Runtime):
    """RunStart fires after the first StepStart."""

    held = False

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase == "RunStart":
            self.held = True
            return
        super().phase(phase, call, verdict)
        if self.held:
            self.held = False
            super().phase("RunStart")


@fault("PHASE-22", "RunStart fires again")
class StartsAgainAfterEachWait(Runtime):
    """RunStart fires again when a parked run goes on."""

    async def _resume(self) -> Segment:
        self.phase("RunStart")
        return await super()._resume()


@fault("PHASE-23", "not after StepStart and BeforeInference")
class SkipsBeforeInference(Runtime):
    """BeforeInference fires in the first step only."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "BeforeInference" or self.state.step == 1:
            super().phase(phase, call, verdict)


@fault("PHASE-24", "yet AfterInference of its step has not fired")
class LooksAtTheTurnTooLate(Runtime):
    """AfterInference fires only when the tools of the turn have run."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase == "StepEnd":
            super().phase("AfterInference")
        if phase != "AfterInference":
            super().phase(phase, call, verdict)


@fault("PHASE-25", "runs for the first time after StepEnd of its step", also=("PHASE-71",))
class EndsTheStepBeforeItsTools(Runtime):
    """StepEnd fires before the tools of the step, though it is declared after them."""

    async def _tool_round(self, calls: list[Call]) -> None:
        self._end_step()
        await super()._tool_round(calls)


@fault(
    "PHASE-26",
    "yet BeforeToolExecute has not fired for it",
    also=(
        "PHASE-90",
        "PHASE-91",
    ),
)
class PreparesOnlyTheFirst(Runtime):
    """BeforeToolExecute fires for the first call of a round only, and for those after the gate."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        first = call is None or self.state.last_round()[:1] == [call]
        gated = call is not None and self.tools.get(call.name, {}).get("permission") == "gate"
        if phase != "BeforeToolExecute" or first or gated:
            super().phase(phase, call, verdict)


@fault("PHASE-27", "yet ToolGate has not", profile="awaken-9")
class PreparesBeforeItJudges(Runtime):
    """BeforeToolExecute fires before the gate has judged the call."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase == "ToolGate":
            super().phase("BeforeToolExecute", call)
        super().phase(phase, call, verdict)


@fault("PHASE-28", "it is Suspended", profile="awaken-9")
class PreparesWhatIsHeld(Runtime):
    """BeforeToolExecute fires for a call that was suspended."""

    async def judge(self, call: Call, resume: Resume) -> bool:
        allowed = await super().judge(call, resume)
        if call.status == "Suspended":
            self.phase("BeforeToolExecute", call)
        return allowed


@fault("PHASE-29", "fires after RunEnd")
class CleansUpTooEarly(Runtime):
    """RunEnd fires before the last StepEnd."""

    async def _step_end(self) -> None:
        if self.state.turn_was_last:
            self.phase("RunEnd")
        await super()._step_end()


@fault("PHASE-30", "ended as Cancelled, yet its last phase is")
class DoesNotCleanUpAfterACancel(Runtime):
    """RunEnd does not fire for a cancelled run."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "RunEnd" or not self.cancelling:
            super().phase(phase, call, verdict)


class FiresTwice(Runtime):
    """One phase fires twice in a row."""

    twice = ""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        super().phase(phase, call, verdict)
        if phase == self.twice:
            super().phase(phase, call, verdict)


@fault("PHASE-41", "yet the model was not asked")
class AmendsTheRequestTwice(FiresTwice):
    """BeforeInference fires twice."""

    twice = "BeforeInference"


@fault("PHASE-46", "not by StepEnd", profile="tirea")
class LooksAtTheAnswerTwice(FiresTwice):
    """AfterInference fires twice."""

    twice = "AfterInference"


@fault("PHASE-70", "yet StepEnd was seen", profile="tirea")
class EndsTheStepTwice(FiresTwice):
    """StepEnd fires twice."""

    twice = "StepEnd"


@fault("PHASE-71", "yet StepEnd was seen")
class EndsAStepOfEightTwice(EndsTheStepTwice):
    """StepEnd fires twice after the tools."""


@fault("PHASE-72", "yet StepEnd was seen", profile="awaken-9")
class EndsAStepOfNineTwice(EndsTheStepTwice):
    """StepEnd fires twice in a step that has a ToolGate."""


class FiresAfter(Runtime):
    """One phase fires after another, where it has no place."""

    following, fires = "", ""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        super().phase(phase, call, verdict)
        if phase == self.following:
            super().phase(self.fires)


@fault("PHASE-40", "StepStart is followed by StepEnd")
class ClosesAStepAtOnce(FiresAfter):
    """StepEnd fires right after StepStart."""

    following, fires = "StepStart", "StepEnd"


@fault("PHASE-43", "yet the model has not answered in this step")
class LooksBeforeItAsks(FiresAfter):
    """AfterInference fires before the model is asked."""

    following, fires = "BeforeInference", "AfterInference"


@fault("PHASE-47", "asked for no calls, yet BeforeToolExecute fires", profile="tirea")
class PreparesNoCalls(Runtime):
    """BeforeToolExecute fires for an answer without calls."""

    def _end_step(self) -> None:
        super()._end_step()
        if self.state.turn_was_last:
            self.phase("BeforeToolExecute")


@fault("PHASE-49", "yet AfterInference leads to BeforeToolExecute")
class PreparesForNothing(Runtime):
    """BeforeToolExecute fires between AfterInference and StepEnd of a step without calls."""

    async def _step_end(self) -> None:
        if self.state.turn_was_last:
            self.phase("BeforeToolExecute")
        await super()._step_end()


@fault("PHASE-48", "the round begins with AfterToolExecute", profile="tirea")
class LooksAtTheRoundFirst(Runtime):
    """AfterToolExecute fires for the round before any of its calls is judged."""

    async def _tool_round(self, calls: list[Call]) -> None:
        self.phase("AfterToolExecute")
        await super()._tool_round(calls)


@fault("PHASE-50", "the round begins with AfterToolExecute")
class LooksAtARoundOfEightFirst(LooksAtTheRoundFirst):
    """AfterToolExecute is the first phase of a round, in a step that ends after its tools."""


@fault("PHASE-51", "the round begins with AfterToolExecute", profile="awaken-9")
class LooksAtARoundOfNineFirst(LooksAtTheRoundFirst):
    """AfterToolExecute is the first phase of a round that has a ToolGate."""


@fault(
    "PHASE-53",
    "yet BeforeToolExecute has not fired for it",
    profile="awaken-9",
    policies={"round.executor": "sequential"},
    also=("ROUND-9", "ROUND-26", "ROUND-43", "ROUND-11"),
)
class DropsWhatItAllowed(Runtime):
    """The second call that ToolGate allowed gets an error and is not made ready."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        for call in calls[1:2]:
            self.settle(call, "fail", "error", "one call at a time")
        await super().execute_all([*calls[:1], *calls[2:]])


@fault("PHASE-60", "yet StepEnd has not fired", also=("PHASE-71", "STOP-11"))
class LeavesTheStepOpen(Runtime):
    """StepEnd does not fire when nothing of the round was executed."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase == "AfterInference":
            self.executed = False
        if phase != "StepEnd" or self.executed or self.state.turn_was_last:
            super().phase(phase, call, verdict)

    async def execute(self, call: Call, resume: Resume) -> None:
        self.executed = True
        await super().execute(call, resume)

    executed = False


@fault("PHASE-54", "yet StepEnd has not fired", profile="awaken-9", also=("PHASE-72", "STOP-11"))
class LeavesTheNineOpen(LeavesTheStepOpen):
    """StepEnd does not fire after a ToolGate that allowed nothing."""


@fault("PHASE-56", "AfterToolExecute fires for call")
class LooksBeforeItRuns(Runtime):
    """AfterToolExecute fires before the body of a call is entered."""

    async def execute(self, call: Call, resume: Resume) -> None:
        if resume is None:
            self.phase("AfterToolExecute", call)
        await super().execute(call, resume)


@fault("PHASE-61", "of the step is executing")
class EndsTheStepAtTheFirstAnswer(Runtime):
    """StepEnd fires when the first call of a round has its outcome."""

    async def execute(self, call: Call, resume: Resume) -> None:
        await super().execute(call, resume)
        if resume is None:
            self._end_step()


@fault("PHASE-62", "yet the round is committed already", profile="tirea")
class LooksAtTheRoundTooLate(Runtime):
    """AfterToolExecute fires for the calls of a round when the round has been committed."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        in_round = call is not None and call.step == self.state.step and self.in_round
        if phase == "AfterToolExecute" and in_round:
            self.left.append((call, verdict))
        else:
            super().phase(phase, call, verdict)

    async def _tool_round(self, calls: list[Call]) -> None:
        self.left, self.in_round = [], True
        await super()._tool_round(calls)

    async def _settle_decisions(self) -> None:
        self.in_round = False
        for call, verdict in self.left:
            self.phase("AfterToolExecute", call, verdict)
        self.left = []
        await super()._settle_decisions()

    in_round = False
    left: list[Any] = []


@fault("PHASE-85", "StepStart counts step 2, where step 1 was next")
class CountsInTwos(Runtime):
    """StepStart counts two steps for one."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase == "StepStart":
            self.observe("phase", phase=phase, step=2 * self.state.step)
        else:
            super().phase(phase, call, verdict)


@fault("PHASE-86", "ToolGate fires, yet there are eight phases")
class HasANinthPhase(Runtime):
    """ToolGate fires where there are eight phases."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase == "BeforeToolExecute":
            super().phase("ToolGate", call)
        super().phase(phase, call, verdict)


@fault("PHASE-87", "yet BeforeToolExecute has not fired for it")
class AsksBeforeItsPhase(Runtime):
    """Permission is asked for before the phase of judgement fires."""

    async def judge(self, call: Call, resume: Resume) -> bool:
        self.held: str | None = ""
        return await super().judge(call, resume)

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        judges = phase == ("ToolGate" if self.policies["phases"] == "nine" else "BeforeToolExecute")
        gated = call is not None and self.tools.get(call.name, {}).get("permission") == "gate"
        if judges and gated and self.held == "":
            self.held = phase
        else:
            super().phase(phase, call, verdict)

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        answer = await super().verdict(call, resume)
        held, self.held = self.held, None
        if held:
            super().phase(held, call)
        return answer


@fault("PHASE-88", "yet ToolGate has not fired for it", profile="awaken-9")
class AsksBeforeToolGate(AsksBeforeItsPhase):
    """Permission is asked for before ToolGate fires."""
