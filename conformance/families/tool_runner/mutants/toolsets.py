"""Faults of the tool set: changes take effect too early, too late, or have side effects."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, calls_of, result_message
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import Answer


@fault("RUNNER-22", "was added, and the call did not run")
class NoticesNewToolsLate(Runner):
    """An added tool is available from the next request, though the runner declares that it is at once."""

    def version_of(self, name: str) -> int | None:
        now, then = self.state.tools.versions.get(name), self.iteration.tools.get(name)
        return then if now is not None else super().version_of(name)


@fault(
    "RUNNER-22",
    "was added in this iteration and counts from the next request on",
    policies={"tools.added": "next_request"},
)
class NoticesNewToolsAtOnce(Runner):
    """An added tool is available at once, though the runner declares that it is from the next request."""

    def version_of(self, name: str) -> int | None:
        return self.state.tools.versions.get(name, super().version_of(name) or 0) or None


@fault("RUNNER-33", "was removed, and")
class RunsRemovedTools(Runner):
    """A removed tool still runs, though the runner declares that it is gone at once."""

    def version_of(self, name: str) -> int | None:
        return super().version_of(name) or self.iteration.tools.get(name)


@fault("RUNNER-33", "counts until the next", policies={"tools.removed": "next_request"})
class StopsRemovedToolsAtOnce(Runner):
    """A removed tool is gone at once, though the runner declares that it stays until the next request."""

    def version_of(self, name: str) -> int | None:
        return super().version_of(name) if name in self.state.tools.versions else None


@fault("RUNNER-34", "entered the tool no-such-tool, which is not in the set", also=("RUNNER-33",))
class RunsUnknownTools(Runner):
    """A call of a tool that is not in the set is executed."""

    def version_of(self, name: str) -> int | None:
        return super().version_of(name) or 1


@fault("RUNNER-35", "which was running, was given up")
class InterruptsRemovedTools(Runner):
    """Removing a tool aborts its running calls."""

    def enter(self, call: Call, version: int) -> asyncio.Task[Answer]:
        body = super().enter(call, version)
        self.names = {**getattr(self, "names", {}), body: call["name"]}
        return body

    async def _settle(self, call: Call, the_round: Round, body: asyncio.Task[Answer]) -> None:
        try:
            await super()._settle(call, the_round, body)
        except asyncio.CancelledError:
            if not body.cancelled():
                raise
            the_round.fail(call, "its tool was removed")

    def change_tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        super().change_tools(add, remove)
        for body in list(self.running):
            if getattr(self, "names", {}).get(body) in remove:
                body.cancel()


@fault("RUNNER-48", "though the user changed nothing")
class TakesToolsForAChange(Runner):
    """Changing the tools counts as a change of the state, so that the turn is dropped."""

    def change_tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        super().change_tools(add, remove)
        self.iteration.is_set = True


@fault(
    "RUNNER-37",
    "had a result when the runner was taken up again, and was entered once more",
    also=("RUNNER-3",),
)
class RunsCallsAgainWhenTakenUp(Runner):
    """Continued after a fault, the runner runs the calls of the last turn in the state again."""

    async def next_item(self) -> Any:
        if getattr(self, "is_taken_up", False):
            self.is_taken_up = False
            turns = [one for one in self.state.messages if one.get("tool_calls")]
            if turns:
                await self.run_round(calls_of(turns[-1]))
        return await super().next_item()

    def again(self) -> Any:
        walk = super().again()
        self.is_taken_up = self.at == "Settled"
        return walk


@fault("RUNNER-34", "which is not in the set: its result is no error", also=("RUNNER-17",))
class FailsTheUnknownSilently(Runner):
    """A call of an unknown tool gets an empty result with status ok."""

    async def run_call(self, call: Call, the_round: Round) -> None:
        await super().run_call(call, the_round)
        if call["name"] not in self.state.tools.versions and call["name"] not in self.iteration.tools:
            the_round.results[call["id"]] = result_message(call, "ok", "")
