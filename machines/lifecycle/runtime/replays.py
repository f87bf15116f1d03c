"""How the reference runtime handles decisions: RESUME_TOOL_CALL, in the loop or concurrently with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.machines.lifecycle.runtime.ledger import RunCancelled
from runlock.machines.lifecycle.runtime.rounds import Rounds
from runlock.machines.lifecycle.runtime.state import Decision


class Replays(Rounds):
    """Applies decisions: drains what was taken, replays it, and makes the effects durable."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.active = False  # whether a segment is under way
        self.suspending = False  # over but for its checkpoint: what is decided waits for the next segment
        self._resume_gate = asyncio.Lock()
        self._concurrent: list[asyncio.Task[None]] = []  # replays that act while the loop does something else
        self._waiting: set[asyncio.Task[Any]] = set()

    async def apply_decisions(self, cause: str) -> None:
        """RESUME_TOOL_CALL: drain what was decided, replay it, and make the effects durable."""
        if self.reentered:
            async with self._resume_gate:  # there is one of it
                await self._drain(cause)
        else:
            await self._drain(cause)

    async def _drain(self, cause: str) -> None:
        self._suspensions = {call.id: call.suspension for call in self.state.calls.values()}
        while not (self.is_coming_down or self.suspending):
            self.gate_state("DrainDecisionChannel")
            ready = self.ready()
            if not ready:
                self.gate_state("NoDecision")
                return
            batch = self.resolved_together(ready)
            await self._replay_batch(batch)
            for state in ("ClearResolved", "SnapshotIfStateChanged"):
                for decision in batch:
                    self.gate_state(state, decision)
            self.gate_state("CommitReplay", batch[0])
            if self.policies["replay.commit"] == "yes":
                await self.commit("ToolResultsCommitted", cause)

    def resolved_together(self, ready: Sequence[Decision]) -> Sequence[Decision]:
        """What one pass resolves of the decisions that it drained."""
        return ready[:1] if self.reentered else ready

    async def _settle_decisions(self) -> None:
        """Apply the decisions, and wait for concurrent replays, until there are no more of either."""
        await self._join()
        await self.apply_decisions("replay")
        while self._concurrent:
            await self._join()
            await self.apply_decisions("replay")

    async def _join(self) -> None:
        """The barrier: concurrent replays finish before the loop continues."""
        while self._concurrent:
            await asyncio.wait(self._concurrent[:1])
            self._concurrent.pop(0).result()

    def accept(self, decision: Decision) -> None:
        """If decisions take effect at once, one that arrives while the loop is busy is handled
        concurrently."""
        super().accept(decision)
        if self.active and self.at_once and not self.suspending:
            self._act_concurrently()

    def _act_concurrently(self) -> None:
        self._concurrent.append(asyncio.ensure_future(self._apply_concurrently()))

    async def _apply_concurrently(self) -> None:
        """A failure of a concurrent replay fails the loop at its next wait; a cancel reaches the loop
        separately."""
        try:
            await self.apply_decisions("replay")
        except RunCancelled:
            return
        except Exception as failure:
            self.broken = self.broken or failure
            self.interrupt()
            raise

    def interrupt(self) -> None:
        """What the run waits for is given up."""
        for waiting in sorted(self._waiting, key=lambda task: task.get_name()):
            waiting.cancel()

    async def _finish_concurrent(self, drains: bool) -> None:
        """Concurrent replays are cancelled when the loop ends, unless the run drains."""
        concurrent, self._concurrent = self._concurrent, []
        for task in concurrent:
            if not drains:
                task.cancel()
        if concurrent:
            await asyncio.gather(*concurrent, return_exceptions=True)

    async def _replay_batch(self, batch: Sequence[Decision]) -> None:
        replays = [decision for decision in batch if self._prepare(decision)]
        if len(replays) < len(batch):
            await self.journal()
        if self.policies["round.executor"] == "parallel":
            await self.together([self._replay_one(decision) for decision in replays])
        else:
            for decision in replays:
                await self._replay_one(decision)

    def _prepare(self, decision: Decision) -> bool:
        """Suspended to Resuming, or to its end if the decision cancels it; true if it is to be replayed."""
        self.state.acting[decision.call] = self.state.decisions.pop(decision.call)
        call = self.state.calls[decision.call]
        self.publish("decision.applied", call=call.id, decision=decision.id, action=decision.action)
        for state in ("ResolveDecision", "PersistResumeDecision", "Replay"):
            self.gate_state(state, decision)
        if decision.action == "resume":
            self.gate_state("ReplayResume", decision)
            self.move_call(call, "resume")
            return True
        self.gate_state("ReplayCancel", decision)
        if self.policies["decision.cancel_path"] == "via_resuming":
            self.move_call(call, "resume")
        self.move_call(call, "cancel")
        self.answer(call, "cancelled", "expired" if decision.by_clock else "rejected")
        self.state.turn_was_last = False
        return False

    async def _replay_one(self, decision: Decision) -> None:
        call = self.state.calls[decision.call]
        self.gate_state("ExecuteReplayedTool", decision)
        await self.replay(call, decision)
        if call.status == "Suspended":
            self.gate_state("SetNextSuspended", decision)

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        """Show the resume gate where the source has one: a run that is entered anew at each decision."""
        if self.reentered:
            fields = {} if decision is None else {"decision": decision.id, "call": decision.call}
            self.observe("resume", state=state, **fields)

    @property
    def reentered(self) -> bool:
        """Whether a decision enters a suspended run anew rather than waking it."""
        return bool(self.policies["waiting"] == "reentered")

    @property
    def at_once(self) -> bool:
        """Whether a decision acts while the loop is at something else."""
        return bool(self.policies["decision.window"] == "immediate")
