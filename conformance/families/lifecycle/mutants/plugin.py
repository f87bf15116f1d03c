"""Plugins that are not heeded: their ends do not come, and what they rewrite does not count."""

from __future__ import annotations

from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.ledger import PluginEnded
from runlock.machines.lifecycle.runtime.rounds import Left, Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Reason
from runlock.machines.lifecycle.runtime.world import Answer, ModelTurn, PluginAnswer


class DoesNotHear(Runtime):
    """A plugin's wish for the end, of one kind and at one phase, is not heard."""

    at: str
    word: str

    async def consult(self, at: str, call: Call | None = None, **shown: Any) -> dict[str, Any]:
        try:
            return await super().consult(at, call, **shown)
        except PluginEnded as ended:
            if at != self.at or self.word not in str(ended):
                raise
            return {**shown, "state": self.state.setup}


@fault("FLOW-9", "asked for the end at BeforeInference, yet the model", profile="tirea")
class AsksTheModelAllTheSame(DoesNotHear):
    """A plugin that asks for the end before inference is not heard."""

    at, word = "BeforeInference", "terminate"


@fault("PHASE-42", "skipped the inference at BeforeInference, yet the model")
class InfersWhatWasSkipped(DoesNotHear):
    """A plugin that skips the inference is not heard."""

    at, word = "BeforeInference", "skip"


@fault("FLOW-15", "yet a", profile="tirea")
class RunsTheToolsAllTheSame(DoesNotHear):
    """A plugin that asks for the end after inference is not heard."""

    at, word = "AfterInference", ""


@fault("PHASE-44", "yet a")
class RunsTheToolsOfAStepAllTheSame(RunsTheToolsAllTheSame):
    """The same, where a step ends after its tools."""


@fault("RUN-4", "asked for the end, yet the run ended as Stopped")
class CallsAPluginsEndNatural(Runtime):
    """An end that a plugin asked for is reported as a natural one."""

    async def _end(self, reason: Reason) -> Segment:
        asked = reason.code == "BehaviorRequested"
        return await super()._end(Reason("Stopped", reason.detail, "max_rounds") if asked else reason)


@fault("PHASE-45", "RunEnd fires before StepEnd", profile="tirea")
class EndsAStepForAPluginWithoutStepEnd(Runtime):
    """An end that a plugin asks for after inference comes before StepEnd."""

    async def _look_at_turn(self, turn: ModelTurn) -> tuple[list[Call], PluginEnded | None]:
        calls, ended = await super()._look_at_turn(turn)
        if ended is not None:
            raise ended
        return calls, ended


@fault("FLOW-24", "the run ended without RunEnd", profile="tirea")
class EndsWithoutRunEnd(Runtime):
    """An end that a plugin asked for fires no RunEnd."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "RunEnd" or not self.by_plugin:
            super().phase(phase, call, verdict)

    by_plugin = False

    async def _end(self, reason: Reason) -> Segment:
        self.by_plugin = reason.code == "BehaviorRequested"
        return await super()._end(reason)


@fault("PHASE-80", "it finds {}", also=("STORE-14",))
class ForgetsWhatWasSetUp(Runtime):
    """What a plugin sets up in RunStart is gone in the next phase."""

    async def _start_up(self) -> None:
        await super()._start_up()
        self.state.setup = {}


@fault("PHASE-81", "yet the model is asked with", also=("PHASE-92",))
class AsksWithTheOldRequest(Runtime):
    """What a plugin changes in BeforeInference does not reach the model."""

    async def consult(self, at: str, call: Call | None = None, **shown: Any) -> dict[str, Any]:
        left = await super().consult(at, call, **shown)
        return {**left, **shown} if at == "BeforeInference" else left


@fault("PHASE-82", "yet the runtime carries it on")
class KeepsTheCallsOfTheModel(Runtime):
    """What a plugin changes in the calls of a turn is not heeded."""

    async def consult(self, at: str, call: Call | None = None, **shown: Any) -> dict[str, Any]:
        left = await super().consult(at, call, **shown)
        return {**left, **shown} if at == "AfterInference" else left


@fault("PHASE-83", "a plugin made the result")
class KeepsTheResultOfTheTool(Runtime):
    """What a plugin puts in the place of a result is not heeded."""

    async def _show_to_plugin(self, call: Call, answer: Answer) -> None:
        shown = {"status": answer.kind, "content": answer.content}
        self.phase("AfterToolExecute", call)
        try:
            await self.consult("AfterToolExecute", call, **shown)
        finally:
            self.take_answer(call, Left(answer.kind, answer.content, answer.message))


class BlockedLate(Exception):
    """A plugin blocks a call that was allowed."""


@fault("PHASE-84", "in BeforeToolExecute, and the call became", profile="awaken-9")
class BlocksWhatWasAllowed(Runtime):
    """Takes the word of a plugin in BeforeToolExecute for a verdict."""

    def left_by(self, at: str, answer: PluginAnswer, data: dict[str, Any]) -> dict[str, Any]:
        if at == "BeforeToolExecute" and answer.kind == "block":
            raise BlockedLate
        return super().left_by(at, answer, data)

    async def execute(self, call: Call, resume: Resume) -> None:
        try:
            await super().execute(call, resume)
        except BlockedLate:
            self.settle(call, "fail", "error", "blocked")
            self.phase("AfterToolExecute", call)


@fault("PHASE-89", "into its state at ToolGate", profile="awaken-9")
class JudgesWithEffect(Runtime):
    """Keeps the state that a plugin leaves at ToolGate."""

    def left_by(self, at: str, answer: PluginAnswer, data: dict[str, Any]) -> dict[str, Any]:
        left = super().left_by(at, answer, data)
        if at == "ToolGate":
            self.state.setup = left["state"]
        return left


@fault("PHASE-89", "it finds {'judged'", profile="awaken-9")
class KeepsACopyOfAJudgement(Runtime):
    """Keeps what a plugin leaves at ToolGate, in another form."""

    def left_by(self, at: str, answer: PluginAnswer, data: dict[str, Any]) -> dict[str, Any]:
        left = super().left_by(at, answer, data)
        if at == "ToolGate" and left["state"] != data["state"]:
            self.state.setup = {"judged": left["state"]}
        return left


@fault("PHASE-3", "is not offered, yet call")
class ReachesWhatIsWithheld(Runtime):
    """Executes a call for a tool that the model was not offered."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        self.state.offered = None
        return await super().verdict(call, resume)


@fault("PHASE-92", "yet the model is offered")
class OffersEveryTool(Runtime):
    """Offers the model all tools, whatever plugins left of them."""

    async def consult(self, at: str, call: Call | None = None, **shown: Any) -> dict[str, Any]:
        left = await super().consult(at, call, **shown)
        return {**left, "tools": [*self.tools]} if at == "BeforeInference" else left


@fault("STORE-14", "is not persistent, yet a checkpoint holds it")
class StoresEveryKey(Runtime):
    """Stores what a plugin keeps for the time being."""

    @property
    def persistent(self) -> dict[str, Any]:
        return dict(self.state.setup)


@fault("STORE-14", "yet a checkpoint does not hold what it set")
class LosesPersistentKeys(Runtime):
    """Leaves a persistent key out of its checkpoints."""

    @property
    def persistent(self) -> dict[str, Any]:
        return {}
