"""Wrong ways with input at work: lost, put into a round, shown twice, or the start of a stopped run."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment, TurnedDown
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.machines.lifecycle.runtime.world import ModelTurn

NEXT = {"input.late": "next_run"}
SEQUENTIAL = {"round.executor": "sequential"}


@fault("INPUT-5", "was taken, yet the next inference does not show it")
class LosesWhatComesInARound(Runtime):
    """Empties its queue when a round is over."""

    async def _tool_round(self, calls: list[Call]) -> None:
        await super()._tool_round(calls)
        self.state.inputs = []


@fault("INPUT-5", "during the last inference, yet no run shows it", policies=NEXT)
class BeginsWithAnEmptyQueue(Runtime):
    """Empties its queue when the next run begins."""

    async def start(self, text: str, decisions: Sequence[Decision] = ()) -> Segment:
        self.state.inputs = []
        return await super().start(text, decisions)


@fault("INPUT-5", "was refused, yet the model is shown it", policies={"input.late": "refused"})
class KeepsWhatItRefuses(Runtime):
    """Refuses late input, and shows it to the model all the same."""

    def objection_to_input(self) -> str | None:
        return None

    def _steer(self, text: str) -> None:
        super()._steer(text)
        if self.inferring:
            raise TurnedDown("the model is being asked")


@fault("INPUT-6", "is shown more than once")
class ShowsInputTwice(Runtime):
    """Does not take what it has shown out of its queue."""

    def show_inputs(self) -> None:
        queue = self.state.inputs
        super().show_inputs()
        self.state.inputs = queue if len(self.state.messages) < 8 else []


@fault("INPUT-6", "is shown before", also=("PAIR-8",))
class ShowsTheNewestFirst(Runtime):
    """Takes its queue for a stack."""

    def show_inputs(self) -> None:
        self.state.inputs.reverse()
        super().show_inputs()


@fault("INPUT-6", "stands between call", also=("PAIR-1", "PAIR-2", "STORE-8"))
class PutsInputBetween(Runtime):
    """Puts input into the thread when it comes, also between a turn and the results of its calls."""

    def _steer(self, text: str) -> None:
        super()._steer(text)
        if not self.inferring:
            self.show_inputs()


@fault("INPUT-7", "was taken, yet the run ended")
class EndsOnLateInput(Runtime):
    """Ends with input in its queue, though it says that it goes on."""

    @property
    def goes_on(self) -> bool:
        return False


@fault("INPUT-7", "made the run go on", policies=NEXT)
class GoesOnWithLateInput(Runtime):
    """Goes on with late input, though it says that this is for the next run."""

    @property
    def goes_on(self) -> bool:
        return bool(self.state.inputs)


@fault("INPUT-7", "was refused")
class RefusesLateInput(Runtime):
    """Refuses input while the model is asked, though it says that it goes on with it."""

    def objection_to_input(self) -> str | None:
        return "the model is being asked" if self.inferring else super().objection_to_input()


@fault("INPUT-8", "yet the model is shown it when it is asked again")
class KeepsWhatItDrops(Runtime):
    """Keeps its queue at a cancel, though it says that it drops it."""

    def settle_inputs(self, reason: Reason) -> None:
        return


@fault("INPUT-8", "yet the model is not shown it", policies={"input.fate": "next_run"})
class DropsWhatItKeeps(Runtime):
    """Empties its queue at the end of a run, though it says that the next run shows it."""

    def settle_inputs(self, reason: Reason) -> None:
        self.state.inputs = []


@fault("INPUT-8", "yet it is not given back", policies={"input.fate": "returned"})
class GivesNothingBack(Runtime):
    """Drops its queue without a word, though it says that it gives it back."""

    def give_up_inputs(self) -> None:
        self.state.inputs = []


@fault("INPUT-9", "yet it begins again with the input", also=("CANCEL-1", "CANCEL-2", "PAIR-1"))
class BeginsAgainAfterACancel(Runtime):
    """Takes input that waits for a reason to go on after a cancel."""

    async def segment(self, steps: Awaitable[Segment]) -> Segment:
        return await super().segment(self._again(steps))

    async def _again(self, steps: Awaitable[Segment]) -> Segment:
        try:
            return await steps
        except Exception:
            if not (self.cancelling and self.state.inputs):
                raise
        self.cancelling = False
        return await self._steps()


@fault("INPUT-9", "yet it begins again with the input", also=("CANCEL-1", "CANCEL-2"))
class AsksOnceMoreAfterACancel(Runtime):
    """Shows the model what waits in its queue when a cancel has ended an inference."""

    async def _ask(self, request: dict[str, Any]) -> ModelTurn:
        try:
            return await super()._ask(request)
        except Exception:
            if not (self.cancelling and self.state.inputs):
                raise
        self.cancelling = False
        return await super()._ask(request)


@fault("INPUT-10", "which nothing holds back, was not entered", policies=SEQUENTIAL)
class SkipsForInput(OtherPolicies, Runtime):
    """Leaves out what is left of a round when input has come, though it says that the round goes on."""

    follows = {"input.round": "skips_rest"}


@fault("INPUT-10", "which ends the round, yet call", policies={**SEQUENTIAL, "input.round": "skips_rest"})
class RunsTheRestAllTheSame(OtherPolicies, Runtime):
    """Executes what is left of a round when input has come, though it says that it leaves that out."""

    follows = {"input.round": "goes_on"}
