"""The reference message loop: one session, its turns, and the methods that start, cancel and inspect them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from runlock.machines.message_loop.charts.cancellation import StrictCancellation
from runlock.machines.message_loop.runtime.executions import Executions
from runlock.machines.message_loop.runtime.publishing import Watcher
from runlock.machines.message_loop.runtime.records import Execution, Reason, Turn
from runlock.machines.message_loop.runtime.scopes import Scope
from runlock.machines.message_loop.runtime.world import WorldFault
from runlock.machines.table import Cursor, compile_chart

STATUS_EVENTS: Final = {
    "NaturalEnd": "natural_end",
    "Stopped": "stopped",
    "Blocked": "blocked",
    "Cancelled": "cancelled",
    "Error": "failed",
}


@dataclass(frozen=True)
class Start:
    """What a turn begins with: input, one stage execution, or a group of them with a join."""

    input: str | None = None
    stage: tuple[str, str] | None = None
    group: Sequence[tuple[str, str]] = ()
    join: tuple[str, str] | None = None


class MessageLoop(Executions):
    """One session: a sequence of turns on one history."""

    async def start(self, start: Start) -> Reason:
        """Run one turn of the session to its end."""
        self.turns += 1
        self.turn = Turn(f"turn-{self.turns}")
        self.show_status("run.status", origin=None, to="Running", reason=None)
        if start.input is None or self.policies["turn.bracket"] == "outside":
            self.turn.chart.send("announce_start")
            self.publish("SessionTurnStart")
        return await self.end(await self.work(start))

    async def work(self, start: Start) -> Reason:
        """Run the work of a turn: one pass, one stage execution, or a group of them."""
        if start.stage is not None:
            return await self.run_alone(*start.stage)
        if start.group:
            return await self.run_group(start.group, start.join)
        return await self.chat(start.input or "")

    async def chat(self, text: str) -> Reason:
        """Run a chat turn: one pass on the session history."""
        p = self.new_pass(Scope(self.turn.scope), self.history, text)
        reason = await self.run_pass(p)
        if reason is not None:
            return reason
        return self.bound_reason() if p.chart.state == "Bounded" else Reason("NaturalEnd")

    async def end(self, reason: Reason) -> Reason:
        """End a turn: announce the end, store the session, and return the reason."""
        self.turn.is_ending = True
        self.finish_cancellation()
        if self.turn.chart.state == "Working":
            self.turn.is_rendered = self.has_rendered(reason)
            self.announce_end()
        try:
            await self.world.commit("RunFinished", "end", True, self.state(), None)
        except WorldFault as fault:
            reason = Reason("Error", f"the store failed: {fault}")
        self.turn.reason = self.final_reason(reason)
        self.turn.status.send(self.status_event(self.turn.reason))
        self.show_status("run.status", origin="Running", to="Done", reason=self.turn.reason)
        return self.turn.reason

    def finish_cancellation(self) -> None:
        """Complete a cancel: every call has its result, and no work of the turn is running."""
        cancellation = self.turn.cancellation
        if cancellation is not None:
            if cancellation.state == "Draining":
                cancellation.send("drained")
            cancellation.send("settle")
            cancellation.send("finish")

    def has_rendered(self, reason: Reason) -> bool:
        """Whether a turn reached RENDER, or its stage executions their exits."""
        if self.turn.executions:
            return reason.code == "NaturalEnd"
        return any(p.chart.state == "Rendered" for p in self.turn.passes)

    def final_reason(self, reason: Reason) -> Reason:
        """The reason as it is reported."""
        return Reason("Cancelled") if reason.code == "Cancelled" else reason

    def status_event(self, reason: Reason) -> str:
        """The event that moves the turn's status to its final state."""
        return STATUS_EVENTS[reason.code]

    async def cancel(self) -> None:
        """Cancel the turn: every wait is given up, and running tools are aborted or drained as declared."""
        if self.turn.status.is_final or self.turn.is_ending or self.turn.cancellation is not None:
            return
        drains = self.policies["cancel.inflight"] == "drain"
        self.turn.cancellation = Cursor(compile_chart(StrictCancellation))
        self.turn.cancellation.send("give_up")
        self.turn.cancellation.send("stop_tools", {"drains": drains})
        self.turn.scope.stop("cancel", drains=drains)

    def watch(self, watcher: Watcher | None) -> None:
        """Send events to this watcher too."""
        self.watcher = watcher

    # -- inspection

    def look(self) -> dict[str, Any]:
        """A snapshot of the session."""
        turn, begun = self.turn, self.turns > 0
        last = turn.passes[-1] if turn.passes else None
        return {
            "status": (turn.status.state if begun else None),
            "reason": turn.reason,
            "step": last.step if last is not None else None,
            "rounds": last.rounds if last is not None else None,
            "messages": deepcopy(self.history),
            "calls": self.look_at_calls(),
            "prompts": list(self.prompts),
            "standing": [{"tool": g.tool, "scope": g.scope, "stage": g.stage} for g in self.standing],
            "stages": {x.id: self.look_at_execution(x) for x in turn.executions.values()},
        }

    def look_at_calls(self) -> dict[str, Any]:
        """Snapshots of the calls of the turn."""
        calls = {id: call for p in self.turn.passes for id, call in p.calls.items()}
        return {id: {"status": c.status.state, "attempts": c.attempts} for id, c in calls.items()}

    def look_at_execution(self, x: Execution) -> dict[str, Any]:
        """A snapshot of one stage execution."""
        return {
            "name": x.name,
            "status": x.status,
            "attempt": x.attempt,
            "cap_hit": x.cap_hit,
            "transcript": deepcopy(x.transcript),
        }
