"""Wrong ways with new input: it is taken, lost, or does another thing to the wait than was declared."""

from __future__ import annotations

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment, TurnedDown
from runlock.machines.lifecycle.runtime.state import Message


@fault("INPUT-1", "a waiting run takes no input, yet")
class TakesInputWhileWaiting(Runtime):
    """Goes on with new input, though it says that it refuses it."""

    async def input(self, text: str) -> Segment | None:
        if self.active or self.state.status != "Waiting":
            return await super().input(text)
        self.policies = {**self.policies, "input.waiting": "supersede"}
        return await super().input(text)


@fault("INPUT-1", "was refused, yet the model is shown it")
class PassesOnWhatItRefused(Runtime):
    """Refuses new input while it waits, and tells the model of it when the wait is over."""

    refused = ""

    async def input(self, text: str) -> Segment | None:
        try:
            return await super().input(text)
        except TurnedDown:
            self.refused = text if self.state.status == "Waiting" else ""
            raise

    async def _step(self) -> None:
        if self.refused:
            self.append({"role": "user", "text": self.refused})
            self.refused = ""
        await super()._step()


@fault("INPUT-4", "yet the model was not shown that")
class AsksWithTheOldQuestion(Runtime):
    """Begins the next run on a thread with what that holds already."""

    def append(self, message: Message) -> None:
        if message["role"] != "user" or self.state.number == 1:
            super().append(message)


@fault("INPUT-2", "yet the model was not shown it", policies={"input.waiting": "supersede"})
class SupersedesWithoutAWord(Runtime):
    """Gives the wait up for new input, and does not tell the model what that said."""

    async def _take_input(self, text: str) -> Segment:
        return await super()._take_input("go on")


@fault("INPUT-2", "new input superseded the wait of call", policies={"input.waiting": "supersede"})
class SupersedesAndRuns(Runtime):
    """Takes new input for an approval of whatever waits."""

    def _supersede(self) -> None:
        self.waited = self.state.in_status("Suspended")
        super()._supersede()

    async def _take_input(self, text: str) -> Segment:
        for call in self.waited:
            await self.outside(self.world.execute(call.id, call.name, call.args, None))
        return await super()._take_input(text)


@fault(
    "INPUT-3", "was put aside for new input, yet it is Cancelled", policies={"input.waiting": "placeholder"}
)
class WithdrawsTheQuestion(Runtime):
    """Cancels what waits on new input, though it says that this is put aside."""

    def _put_aside(self) -> None:
        self._supersede()


@fault("INPUT-3", "still waits, yet nothing is shown in its place", policies={"input.waiting": "placeholder"})
class PutsNothingInItsPlace(Runtime):
    """Goes on during a wait without a placeholder for the calls that wait."""

    def _put_aside(self) -> None:
        return
