"""Faults in end reasons and statuses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any, ClassVar

from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.loop import MessageLoop, Start
from runlock.machines.message_loop.runtime.records import Call, PassRecord, Reason, Round


@fault("RUN-20", "is over, yet a context gate opened")
class RunsOnWhenDone(MessageLoop):
    """Asks a context provider after the turn is over."""

    async def start(self, start: Start) -> Reason:
        reason = await super().start(start)
        for name, budget in self.settings.context[:1]:
            self.afterwards = asyncio.ensure_future(self.world.context(name, budget, None))
        return reason


@fault("RUN-24", "ended in Error, and nothing broke")
class CallsAnEndAnError(MessageLoop):
    """Reports Error for a turn that ended by itself."""

    def final_reason(self, reason: Reason) -> Reason:
        return Reason("Error") if reason.code == "NaturalEnd" else super().final_reason(reason)


@fault("RUN-14", "was Done, yet it moved to Running")
class IsDoneTwice(MessageLoop):
    """Moves a turn that is Done back to Running."""

    def show_status(self, kind: str, /, **fields: Any) -> None:
        super().show_status(kind, **fields)
        if kind == "run.status" and fields["to"] == "Done":
            super().show_status(kind, origin="Done", to="Running", reason=None)


@fault("CALL-15", "did not run, yet it is Succeeded")
class SucceedsWithoutRunning(MessageLoop):
    """Reports a call as Succeeded that was denied."""

    def show_status(self, kind: str, /, **fields: Any) -> None:
        denied = kind == "call.status" and (fields["origin"], fields["to"]) == ("New", "Failed")
        super().show_status(kind, **({**fields, "to": "Succeeded"} if denied else fields))


class HidesAnEnd(MessageLoop):
    """Does not report one transition of a call."""

    hidden: ClassVar[tuple[str, str]]

    def show_status(self, kind: str, /, **fields: Any) -> None:
        if kind != "call.status" or (fields["origin"], fields["to"]) != self.hidden:
            super().show_status(kind, **fields)


@fault("CALL-4", "answered ok, yet it is Running")
class NeverShowsASuccess(HidesAnEnd):
    """Shows a call as Running after its tool answered and the model was asked again."""

    hidden = ("Running", "Succeeded")


@fault("CALL-5", "failed, yet it is Running")
class NeverShowsAFailure(HidesAnEnd):
    """Shows a call as Running after its tool failed and the model was asked again."""

    hidden = ("Running", "Failed")


@fault("CALL-15", "was not executed, yet it is New")
class NeverShowsThatACallIsDenied(HidesAnEnd):
    """Shows a call as New after it was denied and the model was asked again."""

    hidden = ("New", "Failed")


@fault("CALL-4", ", yet it is Succeeded")
class ShowsFailuresAsSuccesses(MessageLoop):
    """Reports a call as Succeeded although its tool answered with an error."""

    def show_status(self, kind: str, /, **fields: Any) -> None:
        failed = kind == "call.status" and (fields["origin"], fields["to"]) == ("Running", "Failed")
        super().show_status(kind, **({**fields, "to": "Succeeded"} if failed else fields))


@fault("CALL-17", "was Failed, yet it moved to Running", or_says=("was Succeeded, yet it moved to Running",))
class RevivesCalls(MessageLoop):
    """Reports a finished call as Running when its round is recorded."""

    def record(self, p: PassRecord, r: Round) -> None:
        super().record(p, r)
        for call in r.calls:
            self.revive(p, call)

    def revive(self, p: PassRecord, call: Call) -> None:
        """Report a status that a finished call cannot have."""
        before = call.status.state
        self.show_status("call.status", stage=p.stage, call=call.id, origin=before, to="Running")


@fault("RUN-33", "is Done, yet a look at it shows Running")
class LooksAtWorkForEver(MessageLoop):
    """Shows a turn as Running when it is over."""

    def look(self) -> dict[str, Any]:
        return {**super().look(), "status": "Running"}


@fault("RUN-33", "ended as Cancelled, yet a look at it shows NaturalEnd")
class RemembersTheFirstReason(MessageLoop):
    """Shows the reason of the first turn when a later one is looked at."""

    first: Reason | None = None

    def look(self) -> dict[str, Any]:
        shown = super().look()
        self.first = self.first or shown["reason"]
        return {**shown, "reason": shown["reason"] and self.first}


@fault("RUN-29", "yet to")
class TakesTurns(MessageLoop):
    """Stores the end of a turn in every other session only."""

    sessions: ClassVar[Iterator[int]] = count()

    def __init__(self, world: Any, *args: Any) -> None:
        super().__init__(world, *args)
        if next(self.sessions) % 2:
            commit = world.commit
            world.commit = lambda trigger, cause, *rest: (
                nothing() if cause == "end" else commit(trigger, cause, *rest)
            )


async def nothing() -> None:
    """What is stored instead of the end of a turn."""


@fault("RUN-31", "the run was over, yet at scenario.close a task is still alive")
class LeavesATask(MessageLoop):
    """Starts a task at the end of a turn, which waits for ever."""

    async def start(self, start: Start) -> Reason:
        reason = await super().start(start)
        self.left = asyncio.ensure_future(asyncio.Event().wait())
        return reason
