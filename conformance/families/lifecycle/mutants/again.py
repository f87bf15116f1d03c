"""Wrong after the end of a run: the thread is dead, or something of the ended run is gone from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from runlock.conformance.families.lifecycle.mutants.whole import ShowsAnotherHistory
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment, TurnedDown
from runlock.machines.lifecycle.runtime.state import Decision, Message, Reason


@fault("AGAIN-1", "yet the next input was turned down")
class TakesNothingAfterACancel(Runtime):
    """A thread whose run was cancelled takes no further input."""

    async def start(self, text: str, decisions: Sequence[Decision] = ()) -> Segment:
        if self.state.reason is not None and self.state.reason.code == "Cancelled":
            raise TurnedDown("the thread was stopped")
        return await super().start(text, decisions)


@fault("AGAIN-1", "before the model was asked")
class FailsAfterAnError(Runtime):
    """A thread whose run failed fails again with each further input."""

    has_failed = False

    async def _end(self, reason: Reason) -> Segment:
        self.has_failed = self.has_failed or reason.code == "Error"
        return await super()._end(reason)

    async def _enter_loop(self, decisions: Sequence[Decision]) -> Segment:
        return await (self._end(Reason("Error")) if self.has_failed else super()._enter_loop(decisions))


class _Ended(NamedTuple):
    """The messages of a run that is over, by their places in the thread, and how it ended."""

    first: int
    end: int
    code: str


class _Retells(ShowsAnotherHistory):
    """Shows the model another history of runs that have ended."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.over: list[_Ended] = []
        self.first = 0

    async def start(self, text: str, decisions: Sequence[Decision] = ()) -> Segment:
        self.first = len(self.state.messages)
        return await super().start(text, decisions)

    async def _end(self, reason: Reason) -> Segment:
        segment = await super()._end(reason)
        self.over.append(_Ended(self.first, len(self.state.messages), segment.reason.code))
        return segment

    def retold(self, messages: list[Message]) -> list[Message]:
        for one in reversed(self.over):
            messages[one.first : one.end] = self.kept(messages[one.first : one.end], one.code)
        return messages

    def kept(self, messages: list[Message], code: str) -> list[Message]:
        """What is shown of the messages of a run that ended so."""
        return messages


@fault("AGAIN-2", "yet the model is not shown that any more", also=("AGAIN-4", "CANCEL-7", "RECOVER-3"))
class RollsACancelledRunBack(_Retells):
    """A run that was cancelled leaves nothing in the thread."""

    def kept(self, messages: list[Message], code: str) -> list[Message]:
        return [] if code == "Cancelled" else messages


@fault("AGAIN-2", "yet the model is not shown that any more")
class ForgetsTheQuestionOfAFailedRun(_Retells):
    """What the user said to begin a run that failed is gone from the thread."""

    def kept(self, messages: list[Message], code: str) -> list[Message]:
        return [one for one in messages if code != "Error" or one["role"] != "user"]


@fault("AGAIN-3", "yet the model is not shown that any more", also=("AGAIN-4", "CANCEL-7", "RECOVER-3"))
class KeepsTheQuestionOfACancelledRun(_Retells):
    """Of a run that was cancelled, the thread keeps what the user said and nothing else."""

    def kept(self, messages: list[Message], code: str) -> list[Message]:
        return [one for one in messages if code != "Cancelled" or one["role"] == "user"]


@fault("AGAIN-3", "yet the model is not shown that any more", also=("CANCEL-7",))
class BlanksTheResultsOfACancelledRun(_Retells):
    """The results of a run that was cancelled are shown without what the tools answered."""

    def kept(self, messages: list[Message], code: str) -> list[Message]:
        is_blank = code == "Cancelled"
        return [
            {**one, "text": "see above"} if is_blank and one["role"] == "tool" else one for one in messages
        ]


@fault("AGAIN-4", "yet the model is shown nothing of the call", also=("AGAIN-3", "CANCEL-7", "RECOVER-3"))
class DropsTheTurnThatWasCutOff(_Retells):
    """The turn whose calls a cancel cut off is gone from the thread, with their results."""

    def kept(self, messages: list[Message], code: str) -> list[Message]:
        turns = [at for at, one in enumerate(messages) if one.get("tool_calls")]
        cut_off = any(one.get("status") == "cancelled" for one in messages[turns[-1] :]) if turns else False
        return messages[: turns[-1]] if cut_off and code == "Cancelled" else messages


@fault("AGAIN-4", "yet the model is shown nothing of the call", also=("CANCEL-7", "RECOVER-3", "PAIR-8"))
class DropsTheCallsThatWereCutOff(_Retells):
    """The calls that a cancel cut off are taken out of their turn."""

    def kept(self, messages: list[Message], code: str) -> list[Message]:
        cut_off = {
            one["call"] for one in messages if code == "Cancelled" and one.get("status") == "cancelled"
        }
        left = [one for one in messages if one.get("call") not in cut_off]
        return [_without(one, cut_off) if one.get("tool_calls") else one for one in left]


def _without(turn: Message, calls: set[str]) -> Message:
    kept = [call for call in turn["tool_calls"] if call["id"] not in calls]
    return {**turn, "tool_calls": kept, "text": turn["text"] or "…"}
