"""Wrong about the time limits of tools."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from runlock.conformance.families.lifecycle.variants.parts import shielded
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call
from runlock.machines.lifecycle.runtime.world import Answer


@fault("LIMIT-1", "were over, yet its body is at work", also=("ONCE-3",))
class GivesUpTheWaitAlone(Runtime):
    """At its time a call has failed, and its body goes on."""

    async def _try(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        entering = self.world.execute(call.id, call.name, args, resume, partial(self._tells, call))
        entered = asyncio.ensure_future(entering)
        try:
            async with asyncio.timeout(self.lasts_s(call)):
                return await self.outside(shielded(entered), drains=True)
        except TimeoutError:
            raise
        except BaseException:
            entered.cancel()
            raise


@fault("LIMIT-1", "were over, yet its body is at work", also=("ONCE-3",))
class LeavesReplaysAtWork(GivesUpTheWaitAlone):
    """Gives up a body in its round, and not one that was approved."""

    async def _try(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        tried = Runtime._try if resume is None else GivesUpTheWaitAlone._try
        return await tried(self, call, args, resume)


@fault("LIMIT-2", "ms ago, yet its body is at work")
class HasNoLimit(Runtime):
    """Does not look at the time limit of a tool."""

    def lasts_s(self, call: Call) -> float | None:
        return None


@fault("LIMIT-2", "ms left, yet its body was given up")
class HalvesTheTime(Runtime):
    """Gives a tool half of its time."""

    def lasts_s(self, call: Call) -> float | None:
        limit = super().lasts_s(call)
        return None if limit is None else limit / 2


@fault("LIMIT-3", "has passed, yet")
class CallsATimeoutDone(Runtime):
    """A call whose time has passed counts as a success."""

    def take_timeout(self, call: Call) -> None:
        self.settle(call, "succeed", "ok", "still at work")


@fault("LIMIT-3", "has passed, yet", also=("CALL-6",))
class CallsATimeoutACancel(Runtime):
    """A call whose time has passed counts as cancelled."""

    def take_timeout(self, call: Call) -> None:
        self.settle(call, "cancel", "cancelled", "stopped")


@fault("LIMIT-4", "yet it is entered again")
class TriesOnceMore(Runtime):
    """Counts the first try as no try."""

    def retries(self, call: Call) -> int:
        return super().retries(call) + 1


@fault("LIMIT-4", "and it may be tried again 0 times, yet it is entered again")
class TriesWhatMustNotBeTried(Runtime):
    """Tries a call again whose tool has no retries."""

    def retries(self, call: Call) -> int:
        return super().retries(call) or 1
