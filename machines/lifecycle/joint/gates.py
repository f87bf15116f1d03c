"""What takes decisions in, by profile: the resume gate, the wait loop, or the dispatcher of a round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from runlock.machines.joint.model import Change, Changed, Move, Test
from runlock.machines.lifecycle.joint.chart_driver import Driven
from runlock.machines.lifecycle.joint.facts import (
    busy_or_suspended,
    clear,
    is_acting,
    is_busy,
    is_decided,
    is_held_again,
    is_live,
    is_ready,
    is_rejecting,
    is_replayed,
    is_suspended,
    is_undecided,
    keep,
    ready_or_rejecting,
)
from runlock.machines.lifecycle.joint.state import Call, Control
from runlock.machines.table import Moved, react

__all__ = ["LOOP", "Gates"]

LOOP: Final = ("after", "last", "entered", "again")
"""Where the run is when its loop decides what is next: after a round, after a turn without tools, at
the start of a segment, and after a call has suspended again.
"""


class Gates(Driven):
    """The moves by which decisions come to act."""

    def _gate(self, control: Control) -> Iterator[Move]:
        if self.is_reentered:
            if control.cancel != "asked":
                yield from self._resume_gate(control)
        elif self.has_dispatcher:
            if control.cancel != "asked":
                yield from self._dispatcher(control)
        else:
            yield from self._wait_loop(control)

    def _resume_gate(self, control: Control) -> Iterator[Move]:
        """One pass for each decision; concurrent with the rest of the run where decisions take effect at
        once."""
        concurrent = ("model", "round") if self.is_immediate else ()
        gate, work = control.gate, control.work
        if not gate and work in (*LOOP, *concurrent):
            yield from self._advance(control, "matched", "meets its decision", one=self._taking)
        yield from self._advance_from(
            gate, "ResolveDecision", control, "persist", "the decision is written down"
        )
        yield from self._advance_from(
            gate, "PersistResumeDecision", control, "replay", "the decision may act"
        )
        if gate == "Replay":
            yield from self._branches(control)
        elif gate == "ReplayCancel":
            work = "after" if work == "last" else work
            yield from self._advance(control, "cancelled", "is cancelled", work, one=self._rejecting)
        elif gate == "ReplayResume":
            yield from self._advance(control, "execute", "the replay begins")
        elif gate == "ExecuteReplayedTool":
            yield from self._replay_over(control)
        elif gate == "SetNextSuspended":
            yield from self._advance(control, "parked", "the new wait is kept")
        elif gate == "ClearResolved":
            yield from self._advance(control, "cleared", "the decision is over", each=clear)
        elif gate == "SnapshotIfStateChanged":
            yield from self._commit_replay(control)

    def _advance_from(self, gate: str, state: str, control: Control, event: str, what: str) -> Iterator[Move]:
        if gate == state:
            yield from self._advance(control, event, what)

    def _taking(self, call: Call) -> Changed | None:
        """A decision is accepted if its call can be resumed, with any content."""
        can = call.status and isinstance(react(self.charts.call, call.status, "resume"), Moved)
        if not (is_decided(call) and (can or is_suspended(call))):
            return None
        return Changed(call._replace(decided="acting" if call.decided == "resume" else "rejecting"))

    def _branches(self, control: Control) -> Iterator[Move]:
        via = self.policies["decision.cancel_path"] == "via_resuming"
        one = self._resuming(is_rejecting) if via else None
        some = None if via else is_rejecting
        yield from self._advance(control, "cancel", "the decision says cancel", one=one, some=some)
        yield from self._advance(control, "resume", "is resuming", one=self._resuming(is_acting))

    def _resuming(self, test: Test) -> Change:
        def resume(call: Call) -> Changed | None:
            return self._send(call, "resume") if test(call) else None

        return resume

    def _rejecting(self, call: Call) -> Changed | None:
        return self._send(call, "cancel") if is_rejecting(call) else None

    def _replay_over(self, control: Control) -> Iterator[Move]:
        work = "after" if control.work == "last" else control.work
        yield from self._advance(control, "finished", "the replay is over", work, none=is_replayed)
        if control.work == "again":  # the call that is over may be the one that was to wait again
            yield from self._advance(control, "finished", "the replay is over", "entered", none=is_replayed)
        ends = control.work == "entered" and self.policies["replay.start"] == "end_if_any"
        work = "again" if ends else control.work
        yield from self._advance(control, "resuspended", "is to wait again", work, some=is_held_again)

    def _commit_replay(self, control: Control) -> Iterator[Move]:
        row = self._gate_moves(control, "commit")
        if row is not None:
            is_kept = self.policies["replay.commit"] == "yes"
            to = self._stored(control, control.work, is_kept=is_kept)._replace(gate="")
            kept = "after" if control.work in LOOP and control.work != "last" else control.work
            to = to._replace(kept_work=kept) if is_kept else to
            yield Move("the replay is durable", to, rows=(row,), each=keep if is_kept else None)

    def _wait_loop(self, control: Control) -> Iterator[Move]:
        """A parked run: decisions are made known, their calls resume together, and then they are replayed."""
        work, is_free = control.work, control.cancel != "asked"
        if work == "wait" and is_free:
            taken = self._run(control, "resume")
            if taken is not None:
                yield from self._advance(
                    control._replace(run=taken[0], reason=""), "arrive", "decisions arrive", "waking",
                    rows=taken[1], some=is_ready, none=self._held_up,
                )  # fmt: skip
        elif work == "waking" and control.gate == "EmitDecisions":
            yield from self._advance(control, "emitted", "the decisions are made known")
        elif work == "waking":
            yield from self._advance(
                control, "ready", "the decided calls resume", "replay", each=self.prepare
            )
        elif work == "replay":
            yield Move("is cancelled", control, one=self._rejecting)
            if is_free:
                yield from self._replayed(control)

    def prepare(self, call: Call) -> Changed | None:
        """A decided call is Resuming, or Cancelled where a rejection takes no way round."""
        taken = self._taking(call)
        if taken is None:
            return None
        if is_rejecting(taken.call) and self.policies["decision.cancel_path"] == "direct":
            return self._send(taken.call, "cancel")
        return self._send(taken.call, "resume")

    def _replayed(self, control: Control) -> Iterator[Move]:
        yield from self._advance(
            control, "resolved", "nothing waits any more", none=busy_or_suspended,
            to=self._stored(control, "after", is_kept=self.has_triggers)._replace(gate=""),
            each=keep if self.has_triggers else None,
        )  # fmt: skip
        to = control._replace(
            work="suspending", gate=self.open_gate, reason="Suspended", kept_run="Waiting", kept_work="wait"
        )
        yield from self._advance(
            control, "unresolved", "some call waits still", to=to, each=keep, some=is_suspended, none=is_busy
        )

    def _dispatcher(self, control: Control) -> Iterator[Move]:
        """Batches of decisions are taken apart, and each wakes the call that waits for it."""
        if control.gate == "NextBatch" and control.work in ("round", "wait"):
            taken = (control.run, ()) if control.work == "round" else self._run(control, "resume")
            if taken is not None:
                here = control._replace(run=taken[0], reason="", work="round")
                yield from self._advance(
                    here, "batch", "decisions arrive", rows=taken[1], some=is_ready, none=self._held_up
                )
        elif control.gate == "NextDecision":
            yield from self._advance(control, "dispatch", "is woken by its decision", one=self.prepare)
            yield Move("is cancelled", control, one=self._rejecting)
            waits = frozenset({"may_still_wait"})
            yield from self._advance(
                control,
                "batch_over",
                "the batch is over",
                facts=waits,
                some=is_live,
                none=ready_or_rejecting,
            )
            yield from self._advance(control, "batch_over", "nobody will wait again", none=is_live)

    def _held_up(self, call: Call) -> bool:
        """Whether a call keeps the others from resuming, where a part of the decisions is not enough."""
        return self.policies["resume"] != "partial" and is_undecided(call)
