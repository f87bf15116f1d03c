"""Wrong times: decisions that act too early, too late, on too little, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call, Decision, from_checkpoint

CALLER = {"state": "caller"}


@fault("DECIDE-14", "has not acted, though it acts by itself", also=("DECIDE-4", "EXPIRE-3"))
class CollectsInSecret(OtherPolicies, Runtime):
    """Holds a decision until all are there, though it says that each acts by itself."""

    follows = {"resume": "collect"}


@fault(
    "DECIDE-14",
    "was taken, which takes all of them or none",
    policies={"resume": "all_or_nothing"},
)
class TakesAPartForAll(OtherPolicies, Runtime):
    """Lets each decision act by itself, though it says that all of them count or none."""

    def left_out(self, decision: Decision, batch: Sequence[Decision]) -> str | None:
        return None

    follows = {"resume": "partial"}


@fault("DECIDE-15", "are decided, yet decision", also=("DECIDE-14",))
class WantsMoreThanADecision(Runtime):
    """Turns decisions down while it waits."""

    def left_out(self, decision: Decision, batch: Sequence[Decision]) -> str | None:
        known = all(other.call in self.state.calls for other in batch)
        waits = self.state.status == "Waiting" and not self.active
        return "no state was given back with it" if waits and known else super().left_out(decision, batch)


@fault("DECIDE-16", "yet the round made it wait again", profile="tirea-stream", also=("CALL-17",))
class MakesTheAnsweredWait(Runtime):
    """Takes the outcome that its round had for a call that has been decided meanwhile."""

    async def run_round(self, calls: Sequence[Call]) -> None:
        allowed = await self.judge_all(calls)
        asked = [call for call in calls if call.status == "Suspended"]
        await self.execute_all(allowed)
        for call in asked:
            if call.is_final:
                self.say_call(call, "Suspended", before=call.status)
        self.record(calls)


@fault(
    "DECIDE-19",
    "which counts, yet the segment ended",
    profile="tirea",
    policies={"replay.start": "by_outcomes"},
)
class EndsForOneSuspension(OtherPolicies, Runtime):
    """Ends the segment for one new suspension, though it says that all outcomes count."""

    follows = {"replay.start": "end_if_any"}


@fault("DECIDE-20", "came while the run was at work, yet", profile="tirea", also=("FLOW-21",))
class ConcludesBeforeItDrains(Runtime):
    """Concludes that it waits before it looks at what was decided meanwhile."""

    async def _settle_decisions(self) -> None:
        if not (self.state.step and self.must_wait()):
            await super()._settle_decisions()


@fault(
    "DECIDE-22",
    "yet when it was given back the model is not shown that",
    policies=CALLER,
    also=("STORE-1", "STORE-17"),
)
class HandsOutTooLittle(Runtime):
    """Leaves the beginning of the thread out of what the caller is given."""

    def give_back(self, value: dict[str, Any] | None) -> None:
        less = None if value is None else {**value, "messages": value["messages"][1:]}
        super().give_back(less)


@fault("DECIDE-3", "a tool gate opened for call", policies=CALLER, also=("RUN-19", "AGAIN-1"))
class GoesBackToTheLastWait(Runtime):
    """Goes on from its last suspension when a decision comes after the end."""

    last: dict[str, Any] | None = None

    def give_back(self, value: dict[str, Any] | None) -> None:
        if value is None and self.last is not None and self.state.status == "Done":
            self.state, self.ending = from_checkpoint(self.last), False
        self.last = deepcopy(value) or self.last
        super().give_back(value)


@fault("DECIDE-23", "on it", policies={"decision.early": "ignore"})
class KeepsWhatItShouldIgnore(OtherPolicies, Runtime):
    """Keeps an early decision, though it says that such a one has no effect."""

    follows = {"decision.early": "buffer"}


@fault("DECIDE-24", "and acts at once, yet call", profile="tirea-stream")
class ReplaysAfterTheRound(Runtime):
    """Replays a decided call only when the inference or the round is over."""

    @property
    def at_once(self) -> bool:
        return False


@fault("DECIDE-22", "the caller gave the run back", policies=CALLER, also=("DECIDE-14",))
class TurnsTheValueDown(Runtime):
    """Does not take a run back from its caller."""

    def left_out(self, decision: Decision, batch: Sequence[Decision]) -> str | None:
        known = all(other.call in self.state.calls for other in batch)
        waits = self.state.status == "Waiting" and not self.active
        return "the run is unknown" if waits and known else super().left_out(decision, batch)
