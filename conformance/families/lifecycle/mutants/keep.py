"""Wrong about what a crash may cost of a decision that was accepted."""

from __future__ import annotations

from typing import Any, Final

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Reason

KEPT: Final = {"decision.kept": "acceptance"}


@fault("KEEP-1", "had been accepted, yet after the crash", policies=KEPT)
class ConfirmsBeforeItStores(Runtime):
    """A decision is accepted, and stored only with the next checkpoint of the step."""

    async def _keep_decisions(self) -> None:
        return


@fault(
    "KEEP-2", "had been accepted before the checkpoint, yet after the crash", policies=KEPT, also=("KEEP-1",)
)
class StoresNoDecision(Runtime):
    """A checkpoint is taken for a decision, and does not hold it."""

    def to_store(self, ending: tuple[str, Reason | None] | None) -> dict[str, Any]:
        return {**super().to_store(ending), "decisions": {}}


@fault("KEEP-3", "does not wait for another", also=("DERIVE-3", "NEST-6"))
class GivesUpWhatWaited(Runtime):
    """A call that waits when the runtime is lost is Cancelled in the next life."""

    async def go_on(self) -> Segment | None:
        for call in self.state.in_status("Suspended"):
            self.move_call(call, "cancel")
            self.answer(call, "cancelled", "lost in a crash")
        return await super().go_on()
