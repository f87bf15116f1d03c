"""Runtimes that do not do what they declare: stops, recoveries and policies of another kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import FINAL, Call, Decision


@fault("RECOVER-1", "the run waits in the checkpoint and nothing is decided, yet")
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


@fault("RECOVER-2", "is Suspended, yet it starts as New")
class RecoversTheSuspendedAsNew(Runtime):
    """Recovery takes a suspended call for a new one."""

    def restore(self, state: dict[str, Any]) -> None:
        calls = {
            call: {**kept, "status": "New"} if kept["status"] == "Suspended" else kept
            for call, kept in state["calls"].items()
        }
        super().restore({**state, "calls": calls})


@fault("RECOVER-3", "yet the model was not shown it")
class ForgetsTheThread(Runtime):
    """Recovery drops the first message of the thread."""

    def restore(self, state: dict[str, Any]) -> None:
        super().restore({**state, "messages": state["messages"][1:]})


@fault("RECOVER-5", "its step was over before the crash, yet")
class LosesTheLastStep(Runtime):
    """Recovery goes back to before the last step that was over."""

    def restore(self, state: dict[str, Any]) -> None:
        messages = state["messages"]
        asked = [index for index, message in enumerate(messages) if message.get("tool_calls")]
        over = all(call["status"] in FINAL for call in state["calls"].values())
        whole = bool(asked) and over and state["run"]["status"] == "Running"
        super().restore({**state, "messages": messages[: asked[-1]] if whole else messages})


@fault(
    "RECOVER-5", "its call was over before the crash, yet", profile="tirea", policies={"durability": "call"}
)
class StoresRoundsAlone(Runtime):
    """Stores a round when it is over, though it says that a crash costs less than a call."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        if cause != "call":
            await super().commit(trigger, cause, **rest)


@fault(
    "RECOVER-5",
    "its call was over before the crash, yet",
    policies={"durability": "call", "round.executor": "sequential"},
)
class StoresACallWithTheRest(Runtime):
    """Of calls that run one by one none is stored before the last of them, though each is said to be."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        self.within_round = True
        try:
            await super().execute_all(calls)
        finally:
            self.within_round = False

    async def journal(self) -> None:
        if not getattr(self, "within_round", False):
            await super().journal()


@fault("RECOVER-4", "waits in the checkpoint, yet a decision for it was refused", also=("NEST-6",))
class RefusesAfterACrash(Runtime):
    """After a recovery, no one takes decisions for the calls that waited."""

    deaf = False

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.deaf = True

    def objection(self, decision: Decision) -> str | None:
        return "nobody waits for it" if self.deaf else super().objection(decision)


@fault("ROUND-4", "runs concurrently with it", policies={"round.executor": "sequential"})
class RunsAtOnce(Runtime):
    """Runs calls at the same time, though it says that it runs them one after the other."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        await self.together([self.execute(call, None) for call in calls])


@fault("ROUND-5", "has not begun")
class RunsOneAfterTheOther(Runtime):
    """Runs calls one after the other, though it says that it runs them at the same time."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        for call in calls:
            await self.execute(call, None)


@fault("DECIDE-9", "is still executing, yet call")
class ActsInTheMiddleOfTheRound(Runtime):
    """Replays a decided call while others still execute, though decisions wait for the round."""

    @property
    def at_once(self) -> bool:
        return True


@fault("DECIDE-10", "is still Suspended", profile="awaken-concurrent")
class WaitsForTheRound(Runtime):
    """Lets decisions wait for the round, though it says that they act at once."""

    @property
    def at_once(self) -> bool:
        return False


@fault("DECIDE-11", "was kept", policies={"decision.early": "refuse"})
class KeepsWhatItShouldRefuse(OtherPolicies, Runtime):
    """Keeps an early decision, though it says that it refuses it."""

    follows = {"decision.early": "buffer"}


@fault("DECIDE-11", "was refused")
class RefusesWhatItShouldKeep(OtherPolicies, Runtime):
    """Refuses an early decision, though it says that it keeps it."""

    follows = {"decision.early": "refuse"}


@fault("DECIDE-12", "yet batches are taken one by one")
class RefusesTheWholeBatch(OtherPolicies, Runtime):
    """Refuses a whole batch for one bad decision, though it says that it takes the others."""

    follows = {"decision.batch": "atomic"}


@fault("DECIDE-13", "came to it from Resuming")
class RejectsByAnotherWay(OtherPolicies, Runtime):
    """Takes a rejected call through Resuming, though it says that it cancels it directly."""

    follows = {"decision.cancel_path": "via_resuming"}
