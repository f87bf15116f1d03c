"""Runtimes that claim no profile, and have now one value of a policy and now another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from runlock.conformance.families.lifecycle.mutants.mutant import NO_PROFILE
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision

MIXED: Final = "explains what was seen: not "


SEQUENTIAL: Final = {"round.executor": "sequential"}


class Mixing(Runtime):
    """Has the one value at every other time."""

    key: ClassVar[str]
    values: ClassVar[tuple[str, str]]
    times = 0

    def turn(self) -> None:
        """Have the other value from now on."""
        self.times += 1
        self.policies = {**self.policies, self.key: self.values[self.times % 2]}


@fault("RUN-34", "no value of the policy waiting explains", profile="tirea", declare=NO_PROFILE)
class EntersNowAndWakesThen(Mixing):
    """A decision enters the run anew, or wakes what had been parked, by turns."""

    key, values = "waiting", ("parked", "reentered")

    async def _resume(self) -> Segment:
        self.turn()
        return await super()._resume()


@fault("RUN-34", "no value of the policy resume explains", declare=NO_PROFILE)
class CollectsNowAndThen(Mixing):
    """A step with a part of its decisions goes on, or waits for all of them, by turns."""

    key, values = "resume", ("partial", "collect")

    async def _step(self) -> Any:
        self.turn()
        return await super()._step()


@fault("RUN-34", MIXED, declare=NO_PROFILE)
class TakesEveryOtherBatchWhole(Mixing):
    """Applies the good decisions of a batch with a bad one at one time, and refuses them at another."""

    key, values = "decision.batch", ("each", "atomic")

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        self.turn()
        return super().receive(decisions)


@fault("RUN-34", MIXED, declare=NO_PROFILE)
class RunsRoundsEitherWay(Mixing):
    """Runs the calls of one round one after the other, and those of the next all at once."""

    key, values = "round.executor", ("sequential", "parallel")

    async def execute_all(self, calls: Sequence[Call]) -> None:
        self.turn()
        await super().execute_all(calls)


@fault("RUN-34", "no value of the policy round.failure explains", policies=SEQUENTIAL, declare=NO_PROFILE)
class LeavesTheRestOutNowAndThen(Mixing):
    """What comes after a failed call is executed in one round, and left out in the next."""

    key, values = "round.failure", ("isolated", "cancels_rest")

    async def execute_all(self, calls: Sequence[Call]) -> None:
        self.turn()
        await super().execute_all(calls)
