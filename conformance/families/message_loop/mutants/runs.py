"""Faults in end reasons and statuses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any, ClassVar

from runlock.conformance.families.message_loop.mutants.mutant import Mutant
from runlock.machines.message_loop.runtime.loop import MessageLoop, Start
from runlock.machines.message_loop.runtime.records import Call, PassRecord, Reason, Round


class RunsOnWhenDone(MessageLoop):
    """Asks a context provider after the turn is over."""

    async def start(self, start: Start) -> Reason:
        reason = await super().start(start)
        for name, budget in self.settings.context[:1]:
            self.afterwards = asyncio.ensure_future(self.world.context(name, budget, None))
        return reason


class CallsABlockAnEnd(MessageLoop):
    """Reports NaturalEnd for a turn that a guard blocked."""

    def final_reason(self, reason: Reason) -> Reason:
        return Reason("NaturalEnd") if reason.code == "Blocked" else super().final_reason(reason)


class IsDoneTwice(MessageLoop):
    """Moves a turn that is Done back to Running."""

    def show_status(self, kind: str, /, **fields: Any) -> None:
        super().show_status(kind, **fields)
        if kind == "run.status" and fields["to"] == "Done":
            super().show_status(kind, origin="Done", to="Running", reason=None)


class RunsFromTheStart(MessageLoop):
    """Reports calls as Running that were never reported as New."""

    def show_status(self, kind: str, /, **fields: Any) -> None:
        if (kind, fields["to"]) != ("call.status", "New"):
            super().show_status(kind, **fields)


class ShowsFailuresAsSuccesses(MessageLoop):
    """Reports a call as Succeeded although its tool answered with an error."""

    def show_status(self, kind: str, /, **fields: Any) -> None:
        failed = kind == "call.status" and (fields["origin"], fields["to"]) == ("Running", "Failed")
        super().show_status(kind, **({**fields, "to": "Succeeded"} if failed else fields))


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


class TakesTurns(MessageLoop):
    """Asks interactors in a different order in each session."""

    sessions: ClassVar[Iterator[int]] = count()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_reversed = next(self.sessions) % 2 == 1

    def asked_interactors(self) -> list[str]:
        asked = super().asked_interactors()
        return asked[::-1] if self.is_reversed else asked


class LeavesATask(MessageLoop):
    """Starts a task at the end of a turn, which waits for ever."""

    async def start(self, start: Start) -> Reason:
        reason = await super().start(start)
        self.left = asyncio.ensure_future(asyncio.Event().wait())
        return reason


MUTANTS = (
    Mutant(LeavesATask, "RUN-31", "the run was over, yet at scenario.close a task is still alive"),
    Mutant(RunsOnWhenDone, "RUN-20", "is over, yet a context gate opened"),
    Mutant(CallsABlockAnEnd, "RUN-24", "", also=("LOOP-1", "LOOP-3", "HOOK-3", "TURN-5")),
    Mutant(IsDoneTwice, "RUN-14", "was Done, yet it moved to Running"),
    Mutant(RunsFromTheStart, "CALL-19", ""),
    Mutant(ShowsFailuresAsSuccesses, "CALL-4", "answered raise, yet it is Succeeded"),
    Mutant(RevivesCalls, "CALL-17", "was Failed, yet it moved to Running"),
    Mutant(TakesTurns, "RUN-29", ""),
)
