"""Plugins that are not heeded: their ends do not come, and what they rewrite does not count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.lifecycle.mutants.mutant import Mutant
from runlock.machines.lifecycle.runtime.ledger import PluginEnded
from runlock.machines.lifecycle.runtime.rounds import Left
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Reason
from runlock.machines.lifecycle.runtime.world import Answer, ModelTurn


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


class AsksTheModelAllTheSame(DoesNotHear):
    """A plugin that asks for the end before inference is not heard."""

    at, word = "BeforeInference", "terminate"


class InfersWhatWasSkipped(DoesNotHear):
    """A plugin that skips the inference is not heard."""

    at, word = "BeforeInference", "skip"


class RunsTheToolsAllTheSame(DoesNotHear):
    """A plugin that asks for the end after inference is not heard."""

    at, word = "AfterInference", ""


class RunsTheToolsOfAStepAllTheSame(RunsTheToolsAllTheSame):
    """The same, where a step ends after its tools."""


class CallsAPluginsEndNatural(Runtime):
    """An end that a plugin asked for is reported as a natural one."""

    async def _end(self, reason: Reason) -> Segment:
        asked = reason.code == "BehaviorRequested"
        return await super()._end(Reason("Stopped", reason.detail, "max_rounds") if asked else reason)


class EndsAStepForAPluginWithoutStepEnd(Runtime):
    """An end that a plugin asks for after inference comes before StepEnd."""

    async def _look_at_turn(self, turn: ModelTurn) -> tuple[list[Call], PluginEnded | None]:
        calls, ended = await super()._look_at_turn(turn)
        if ended is not None:
            raise ended
        return calls, ended


class EndsWithoutRunEnd(Runtime):
    """An end that a plugin asked for fires no RunEnd."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "RunEnd" or not self.by_plugin:
            super().phase(phase, call, verdict)

    by_plugin = False

    async def _end(self, reason: Reason) -> Segment:
        self.by_plugin = reason.code == "BehaviorRequested"
        return await super()._end(reason)


class ForgetsWhatWasSetUp(Runtime):
    """What a plugin sets up in RunStart is gone in the next phase."""

    async def _start_up(self) -> None:
        await super()._start_up()
        self.state.setup = {}


class AsksWithTheOldRequest(Runtime):
    """What a plugin changes in BeforeInference does not reach the model."""

    async def consult(self, at: str, call: Call | None = None, **shown: Any) -> dict[str, Any]:
        left = await super().consult(at, call, **shown)
        return {**left, **shown} if at == "BeforeInference" else left


class KeepsTheCallsOfTheModel(Runtime):
    """What a plugin changes in the calls of a turn is not heeded."""

    async def consult(self, at: str, call: Call | None = None, **shown: Any) -> dict[str, Any]:
        left = await super().consult(at, call, **shown)
        return {**left, **shown} if at == "AfterInference" else left


class KeepsTheResultOfTheTool(Runtime):
    """What a plugin puts in the place of a result is not heeded."""

    async def _show_to_plugin(self, call: Call, answer: Answer) -> None:
        shown = {"status": answer.kind, "content": answer.content}
        self.phase("AfterToolExecute", call)
        try:
            await self.consult("AfterToolExecute", call, **shown)
        finally:
            self.take_answer(call, Left(answer.kind, answer.content, answer.message))


MUTANTS: Sequence[Mutant] = (
    Mutant(
        AsksTheModelAllTheSame,
        "FLOW-9",
        "asked for the end at BeforeInference, yet the model",
        profile="tirea",
    ),
    Mutant(InfersWhatWasSkipped, "PHASE-42", "skipped the inference at BeforeInference, yet the model"),
    Mutant(RunsTheToolsAllTheSame, "FLOW-15", "yet a", profile="tirea"),
    Mutant(RunsTheToolsOfAStepAllTheSame, "PHASE-44", "yet a"),
    Mutant(CallsAPluginsEndNatural, "RUN-4", "asked for the end, yet the run ended as Stopped"),
    Mutant(EndsAStepForAPluginWithoutStepEnd, "PHASE-45", "RunEnd fires before StepEnd", profile="tirea"),
    Mutant(EndsWithoutRunEnd, "FLOW-24", "the run ended without RunEnd", profile="tirea"),
    Mutant(ForgetsWhatWasSetUp, "PHASE-80", "it finds {}"),
    Mutant(AsksWithTheOldRequest, "PHASE-81", "yet the model is asked with"),
    Mutant(KeepsTheCallsOfTheModel, "PHASE-82", "yet the runtime carries it on"),
    Mutant(KeepsTheResultOfTheTool, "PHASE-83", "a plugin made the result"),
)
