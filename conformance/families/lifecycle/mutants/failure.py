"""Wrong prices: a failure, an exception or a block that costs another thing than was declared."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.rounds import Resume, RunBlocked
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call
from runlock.machines.lifecycle.runtime.world import WorldFault

SEQUENTIAL = {"round.executor": "sequential"}


@fault("ROUND-6", "nothing was blocked, yet the run ended as Blocked")
class CallsAFailureABlock(Runtime):
    """Ends the run as Blocked when a tool is not there."""

    async def judge(self, call: Call, resume: Resume) -> bool:
        allowed = await super().judge(call, resume)
        if call.name not in self.tools:
            raise RunBlocked("no such tool")
        return allowed


@fault("ROUND-7", "was blocked, which ends the run, yet", also=("ROUND-21",))
class GoesOnAfterABlock(Runtime):
    """Judges and runs the other calls of a round in which one was blocked, and only then ends the run."""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed, blocked = [], None
        for call in calls:
            try:
                if await self.judge(call, None):
                    allowed.append(call)
            except RunBlocked as block:
                blocked = block
        if blocked is not None:
            await self.execute_all(allowed)
            raise blocked
        return allowed


@fault("ROUND-8", "which costs its call, yet the run ended as Error", also=("NEST-5",))
class DiesOfARaise(OtherPolicies, Runtime):
    """A tool that throws ends the run, though it says that this costs its call alone."""

    follows = {"tool.raises": "end_run"}


@fault("ROUND-8", "a tool threw, which ends the run, yet", policies={"tool.raises": "end_run"})
class OutlivesARaise(OtherPolicies, Runtime):
    """A tool that throws costs its call alone, though it says that this ends the run."""

    follows = {"tool.raises": "failed_call"}


@fault("ROUND-9", "was to be held back, yet it has not run", policies=SEQUENTIAL)
class FailsTheRest(OtherPolicies, Runtime):
    """Fails the calls after a suspension, though it says that it holds them back."""

    follows = {"round.rest": "failed"}


@fault("ROUND-9", "is to fail after call", policies={**SEQUENTIAL, "round.rest": "failed"})
class HoldsBackTheRest(Runtime):
    """Holds the calls after a suspension back, though it says that they fail."""

    def leave_behind(self, calls: Sequence[Call]) -> None:
        return


@fault(
    "ROUND-10",
    "which the model is to be told, yet the run ended as Error",
    profile="tirea",
    also=("FLOW-20", "ROUND-8", "NEST-5"),
)
class DiesOfAnError(Runtime):
    """A call that failed ends the run."""

    async def run_round(self, calls: Sequence[Call]) -> None:
        await super().run_round(calls)
        if any(call.status == "Failed" for call in calls):
            raise WorldFault("a call failed")


@fault(
    "ROUND-10", "yet the model is shown no error for it", profile="tirea", also=("PHASE-9", "PAIR-6", "CUT-2")
)
class HidesFailures(Runtime):
    """Shows the model a failure as if it were a result."""

    def answer(self, call: Call, status: str, content: Any) -> None:
        super().answer(call, "ok" if status == "error" else status, content)


@fault("GATE-3", "broke, yet it was executed")
class AllowsWhatItCannotJudge(Runtime):
    """Executes a call whose permission hook broke."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        try:
            return await super().verdict(call, resume)
        except WorldFault:
            return "allow", None


@fault("RUN-8", "the permission gate broke, yet the model is asked", profile="tirea")
class FailsWhatItCannotJudge(Runtime):
    """Fails a call whose permission hook broke, and goes on."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        try:
            return await super().verdict(call, resume)
        except WorldFault as fault:
            return "fail", str(fault)


@fault("RUN-28", "to the state, yet a model gate opens")
class GoesOnFromHalfAState(Runtime):
    """Goes on when results could not be applied to the state."""

    async def apply(self, calls: Sequence[Call]) -> None:
        with suppress(WorldFault):
            await super().apply(calls)


@fault("RUN-28", "to the state, yet the run ended as Blocked")
class StopsForWhatItCannotApply(Runtime):
    """Takes the run for stopped when results could not be applied to the state."""

    async def apply(self, calls: Sequence[Call]) -> None:
        try:
            await super().apply(calls)
        except WorldFault as fault:
            raise RunBlocked(str(fault)) from fault


@fault("ROUND-11", "which nothing holds back, was not entered", policies=SEQUENTIAL)
class LeavesTheRestOut(OtherPolicies, Runtime):
    """Leaves out what comes after a failed call, though it says that failures are isolated."""

    follows = {"round.failure": "cancels_rest"}


@fault("ROUND-11", "which ends its round, yet call", policies={**SEQUENTIAL, "round.failure": "cancels_rest"})
class RunsTheRest(OtherPolicies, Runtime):
    """Executes what comes after a failed call, though it says that it leaves that out."""

    follows = {"round.failure": "isolated"}
