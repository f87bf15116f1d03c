"""Faults at the end of a run: user breaks, faults, end reasons, and continuing the runner afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, Message
from runlock.machines.tool_runner.runtime.runner import Item, Runner, TurnedDown
from runlock.machines.tool_runner.runtime.world import ModelTurn, WorldFault

NOT_OVER = {"again.break": "goes_on", "again.fault": "retries"}

OVER = {"again.break": "over", "again.fault": "over"}


@fault("RUNNER-24", "user left a turn that asks for more, and the runner did not go on", policies=NOT_OVER)
class IsOverAfterABreak(Runner):
    """After a user break the runner cannot be continued, though it declares that it can."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Left":
            raise TurnedDown("the runner is over")
        return super().again()


@fault("RUNNER-24", "runner is over after a break", policies=OVER)
class GoesOnAfterABreak(Runner):
    """After a user break the runner can be continued, though it declares that it is over."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Left" and self.iteration.turn is not None:
            self.at = "Resumed"
            return self.walk()
        return super().again()


@fault(
    "RUNNER-24",
    "which ends the run, and a request was sent",
    or_says=("the user left the turn of request",),
    policies=NOT_OVER,
)
class ForgetsTheTurnAtABreak(Runner):
    """Continued after a user break, the runner repeats the last request instead of handling the turn."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Left":
            self.at = "Settled"
            return self.walk()
        return super().again()


@fault(
    "RUNNER-36",
    "model broke, and no request was sent when the runner was taken up",
    policies=NOT_OVER,
    also=("STOP-3",),
)
class IsOverAfterAFault(Runner):
    """After a fault the runner cannot be continued, though it declares that it can."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Broken":
            raise TurnedDown("the runner is over")
        return super().again()


@fault("RUNNER-36", "runner is over after a fault", policies=OVER)
class GoesOnAfterAFault(Runner):
    """After a fault the runner can be continued, though it declares that it is over."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Broken":
            self.at = "Settled"
            return self.walk()
        return super().again()


@fault("RUN-5", "model broke, and the run ended as NaturalEnd")
class TakesAFaultForAnEnd(Runner):
    """A fault of the model ends the run as NaturalEnd instead of Error."""

    async def walk(self) -> AsyncGenerator[Item, None]:
        try:
            async for item in super().walk():
                yield item
        except WorldFault:
            if self.iteration.turn is not None:
                raise


@fault("RUN-6", "a tool broke, and the run ended as NaturalEnd")
class TakesABrokenToolForAnEnd(Runner):
    """A broken tool ends the run as NaturalEnd instead of Error."""

    async def answer_calls(self, turn: Message, calls: Sequence[Call]) -> Exception | None:
        broken = await super().answer_calls(turn, calls)
        self.is_broken = broken is not None
        return None

    def goes_on(self) -> bool:
        if getattr(self, "is_broken", False):
            self.at = "Finished"
        return super().goes_on()


@fault("RUN-2", "ends the run, whose reason is Stopped")
class NamesTheWrongEnd(Runner):
    """A final turn ends the run as Stopped instead of NaturalEnd."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, "Stopped" if reason == "NaturalEnd" else reason, *facts)


@fault("RUN-8", "is Done, and its status was last shown as Running")
class StaysRunning(Runner):
    """The end of a run does not change its status."""

    def report_status(self, status: str) -> None:
        if status == "Running":
            super().report_status(status)


@fault("RUN-8", "was Done, and is said to be Done")
class IsDoneTwice(Runner):
    """The status Done is reported twice."""

    def report_status(self, status: str) -> None:
        super().report_status(status)
        if status == "Done":
            super().report_status(status)


@fault("RUN-4", "ended the run, whose reason is Cancelled")
class TakesTheLimitForACancel(Runner):
    """The limit ends the run as Cancelled instead of Stopped."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, "Cancelled" if reason == "Stopped" else reason, *facts)


@fault("RUN-7", "the end names the assistant message", also=("STREAM-2",))
class RemembersTheFirstTurn(Runner):
    """The end of a run names the first turn instead of the last."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        before = self.last_turn
        super().receive(turn, messages)
        self.last_turn = before or self.last_turn


@fault("RUN-9", "Done, and opened a tool gate")
class WorksOnWhenDone(Runner):
    """A tool runs after the run has ended."""

    def finish(self) -> None:
        super().finish()
        if self.at == "Finished" and self.iteration.tools:
            name = sorted(self.iteration.tools)[0]
            self.rest = asyncio.ensure_future(self.world.execute("late", name, {"k": "late"}, 1))


@fault("RUN-11", "inspect shows", also=("RUNNER-46",))
class ShowsAnOldState(Runner):
    """The answer to `inspect` lacks the last message."""

    def look(self) -> dict[str, Any]:
        shown = super().look()
        return {**shown, "messages": shown["messages"][:-1] or shown["messages"]}


@fault("RUN-14", "the run was over, yet at scenario.close a task is still alive")
class LeavesATask(Runner):
    """Starts a task at the end of a run, which waits for ever."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, reason, *facts)
        self.left = asyncio.ensure_future(asyncio.Event().wait())
