"""Faults of pauses, of turns that were cut off, and of limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, Message, calls_of
from runlock.machines.tool_runner.runtime.runner import Item, Runner
from runlock.machines.tool_runner.runtime.world import ModelTurn

LIMIT = {"limit.counts": "requests"}

NOT_OVER = {"again.break": "goes_on", "again.fault": "retries"}


@fault("RUNNER-20", "though the user changed nothing")
class LosesAPause(Runner):
    """A paused turn is not sent back to the model."""

    def append_turn(self) -> None:
        if not self.is_paused():
            super().append_turn()


@fault("RUNNER-20", "paused and goes back to the model, yet the run ended")
class EndsAtAPause(Runner):
    """A paused turn ends the run, though the runner declares that it sends it back."""

    def is_paused(self) -> bool:
        return False


@fault("RUNNER-20", "paused and ends the run, yet a request was sent", policies={"runner.pause": "ends"})
class ResumesAPause(Runner):
    """A paused turn is sent back, though the runner declares that it ends the run."""

    def is_paused(self) -> bool:
        return self.iteration.stop == "pause_turn"


@fault("RUNNER-32", "paused, and its", also=("RUNNER-29",))
class RunsPausedCalls(Runner):
    """The calls of a paused turn run."""

    def asks_for_tools(self) -> bool:
        paused_calls = self.iteration.stop == "pause_turn" and bool(calls_of(self.iteration.turn or {}))
        return paused_calls or super().asks_for_tools()


@fault("RUNNER-31", "paused and to be kept", policies={"pause.changed": "kept"})
class LosesAChangedPause(Runner):
    """A paused turn of a changed iteration is lost, though the runner declares that it keeps it."""

    def append_turn(self) -> None:
        if not self.is_changed():
            super().append_turn()


@fault("RUNNER-31", "stands after what the user pushed", policies={"pause.changed": "kept"})
class KeepsAPauseAtTheEnd(Runner):
    """A paused turn of a changed iteration is placed after the pushed messages instead of before them."""

    def append_turn(self) -> None:
        if self.is_changed():
            self.iteration.mark = len(self.state.messages)
        super().append_turn()


@fault("RUNNER-21", "was cut off, and its")
class RunsCutOffCalls(Runner):
    """The calls of a turn that was cut off run, though the runner declares that they do not."""

    def asks_for_tools(self) -> bool:
        return bool(calls_of(self.iteration.turn or {})) and self.iteration.stop != "pause_turn"


@fault(
    "RUNNER-21", "was cut off, its calls are to run, and the run ended", policies={"runner.cut_off": "run"}
)
class SkipsCutOffCalls(Runner):
    """The calls of a turn that was cut off do not run, though the runner declares that they do."""

    def asks_for_tools(self) -> bool:
        return super().asks_for_tools() and self.iteration.stop == "tool_use"


@fault(
    "STOP-1",
    "the limit is",
    also=(
        "STOP-3",
        "STOP-6",
    ),
)
class OneMore(Runner):
    """Sends one request more than the limit allows."""

    def is_spent(self) -> bool:
        return super().is_spent() and (not self.max_iterations or self.counted > self.max_iterations)


@fault("STOP-2", "run was stopped after")
class OneLess(Runner):
    """Stops one request before the limit."""

    def is_spent(self) -> bool:
        return super().is_spent() or self.counted + 1 == self.max_iterations != 1


@fault("STOP-3", "run was stopped after", policies=NOT_OVER)
class CountsRequests(Runner):
    """Counts requests, failed ones included, though the runner declares that it counts turns."""

    def count(self, what: str) -> None:
        self.counted += what == "requests"


@fault("STOP-3", "requests is used up", policies={**NOT_OVER, **LIMIT})
class CountsTurns(Runner):
    """Counts turns, so no failed request, though the runner declares that it counts requests."""

    def count(self, what: str) -> None:
        self.counted += what == "turns"


@fault("STOP-4", "which allows no request, and one was sent", policies={"limit.zero": "no_request"})
class TakesZeroForNone(Runner):
    """Treats a limit of 0 as no limit, though the runner declares that it allows no request."""

    def is_spent(self) -> bool:
        return bool(self.max_iterations) and super().is_spent()


@fault("STOP-4", "which is no limit, and the run ended without a", policies={"limit.zero": "no_limit"})
class TakesZeroForZero(Runner):
    """Sends no request at a limit of 0, though the runner declares that 0 means no limit."""

    def is_spent(self) -> bool:
        return self.max_iterations == 0 or super().is_spent()


@fault("STOP-5", "the last turn was not run before the run ended")
class PreemptsTheLastCalls(Runner):
    """The calls of the last turn do not run, though the runner declares that they do."""

    async def handle(self, turn: Message, calls: Sequence[Call]) -> None:
        if self.is_spent():
            self.end("limit", "Stopped")
        else:
            await super().handle(turn, calls)


@fault("STOP-5", "limit preempts the calls", policies={"stop.tools": "preempted"})
class DrainsTheLastCalls(Runner):
    """The calls of the last turn run, though the runner declares that the run ends before them."""

    async def handle(self, turn: Message, calls: Sequence[Call]) -> None:
        limit, self.max_iterations = self.max_iterations, None
        await super().handle(turn, calls)
        self.max_iterations = limit


@fault("STOP-6", "for the whole runner")
class DoesNotCountPauses(Runner):
    """A paused turn does not count towards the limit."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        self.counted -= self.is_paused()


@fault("STOP-6", "for the whole runner", policies=NOT_OVER, also=("STOP-3",))
class ForgetsTheCountWhenTakenUp(Runner):
    """Continuing the runner resets the count of iterations."""

    def again(self) -> AsyncIterator[Item]:
        walk = super().again()
        self.counted = 0
        return walk


@fault("STOP-6", "for the whole runner")
class ForgetsTheCountAtAPush(Runner):
    """A push resets the count of iterations."""

    def push(self, messages: Sequence[Any]) -> None:
        super().push(messages)
        self.counted = 0
