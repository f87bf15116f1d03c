"""The joint charts of one run: how its run, its calls, its gate and its store move together.

The charts decide, row by row, which moves exist; this module decides when something is due.  A row that is
missing in a chart removes its move, and an additional row adds one wherever its event may occur, so that a
wrong chart leads to wrong states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from runlock.machines.joint.model import Change, Changed, Move, Test, Who
from runlock.machines.lifecycle.joint.chart_driver import Charts, charts_of
from runlock.machines.lifecycle.joint.facts import (
    busy_or_ready,
    has_unkept_outcome,
    is_acting,
    is_busy,
    is_live,
    is_over,
    is_ready,
    is_rejecting,
    is_running,
    is_suspended,
    is_unasked,
    keep,
    restore,
    then,
)
from runlock.machines.lifecycle.joint.gates import LOOP, Gates
from runlock.machines.lifecycle.joint.state import NOT_ASKED, Call, Control
from runlock.machines.table import Row, Table

__all__ = ["Charts", "Joint", "charts_of"]

END_EVENTS: Final = {
    "NaturalEnd": "natural_end",
    "BehaviorRequested": "behavior_requested",
    "Stopped": "stopped",
    "Blocked": "blocked",
    "Cancelled": "cancelled",
    "Error": "failed",
}
RUN_EVENTS: Final = {
    "Created": "begin cancelled rejected",
    "Running": "suspend natural_end behavior_requested stopped blocked cancelled failed",
    "Waiting": "resume stopped cancelled failed",
    "Done": "",
}
CALL_EVENTS: Final = {
    "New": "start suspend fail provide cancel",
    "Running": "suspend succeed fail cancel",
    "Suspended": "resume cancel",
    "Resuming": "start suspend succeed fail cancel",
}
GATE_EVENTS: Final = {
    "ResumeToolCall": {
        "DrainDecisionChannel": "empty unresolved matched",
        "ResolveDecision": "persist",
        "PersistResumeDecision": "replay",
        "Replay": "cancel resume",
        "ReplayCancel": "cancelled",
        "ReplayResume": "execute",
        "ExecuteReplayedTool": "finished resuspended",
        "SetNextSuspended": "parked",
        "ClearResolved": "cleared",
        "SnapshotIfStateChanged": "commit",
    },
    "WaitForResumeOrCancel": {
        "Blocked": "arrive cancel break_off set_aside",
        "EmitDecisions": "emitted",
        "PrepareResume": "ready",
        "ReplayResume": "resolved unresolved cancel end",
    },
    "Dispatcher": {"NextBatch": "batch shut", "NextDecision": "dispatch nobody gone batch_over"},
}
"""The events for which the joint charts have an occasion; an arrow for another one may come at any time."""

DECIDERS: Final[Mapping[str, Who]] = {"resume": "world", "cancel": "trouble"}
OUTCOMES: Final = ("succeed", "fail", "provide")
ENDING: Final = ("ending", "closing")

WORDS: Final = {
    "start": "its tool is entered",
    "suspend": "is held",
    "succeed": "succeeds",
    "fail": "fails",
    "provide": "has its result provided",
}


class Joint(Gates):
    """The joint charts under the policies of a profile, within bounds."""

    def start(self) -> tuple[Control, Call]:
        """Nothing has happened yet."""
        return self._begun(self.crashes), NOT_ASKED

    def _begun(self, crashes: int) -> Control:
        run = self.charts.run.initial
        work = "created" if run == "Created" else "starting"
        return Control(run, work, cancel="may come" if self.cancels else "over", crashes=crashes)

    def is_over(self, control: Control) -> bool:
        """Whether the run is Done, and nothing of it is under way."""
        return control.work == "done"

    def moves(self, control: Control) -> Iterator[Move]:
        """Every move from a control, of the runtime and of the environment."""
        yield from self._strays(control)
        if control.work == "done":
            return
        for part in (self._world, self._calls, self._closing, self._trouble):
            yield from part(control)
        if control.cancel != "asked":
            for part in (self._starting, self._model, self._round, self._loop, self._waiting, self._store):
                yield from part(control)
        yield from self._gate(control)

    def _strays(self, control: Control) -> Iterator[Move]:
        """Rows for which nothing here has an occasion: they may be taken at any time."""
        for row in _strays_of(self.charts.run, RUN_EVENTS):
            if row.source == control.run:
                to = control._replace(run=row.target)
                yield Move(f"the run takes {row.event}", to, "trouble", (row,), cue="stray")
        for row in _strays_of(self.charts.call, CALL_EVENTS):
            yield Move(f"takes {row.event}", control, "trouble", one=self._straying(row), cue="stray")
        for row in _strays_of(self.charts.gate, GATE_EVENTS[self.charts.gate.name]):
            if row.source == control.gate:
                to = control._replace(gate=row.target)
                yield Move(f"the gate takes {row.event}", to, "trouble", (row,), cue="stray")

    def _straying(self, row: Row) -> Change:
        def stray(call: Call) -> Changed | None:
            return self._send(call, row.event) if call.status == row.source else None

        return stray

    def _world(self, control: Control) -> Iterator[Move]:
        """Decisions may come at any time; what becomes of one before its call waits is a policy."""
        if control.work in ("created", "starting", *ENDING):
            return
        for decision, who in DECIDERS.items():
            one = self._deciding(control, decision)
            yield Move(f"is decided: {decision}", control, who, one=one, cue=f"decide {decision}")

    def _deciding(self, control: Control, decision: str) -> Change:
        is_late_gate = self.policies["decision.window"] == "between_segments" and control.work != "wait"
        keeps_early = self.policies["decision.early"] == "buffer" and not is_late_gate
        looks = self.is_reentered and self.is_immediate and not control.gate
        looked = self._gate_moves(control, "unresolved") if looks else None

        def decide(call: Call) -> Changed | None:
            early = keeps_early and call.status in ("New", "Running")
            if call.decided or not (early or (is_suspended(call) and not is_late_gate)):
                return None
            rows = (looked,) if early and looked is not None else ()
            return Changed(call._replace(decided=decision), rows)

        return decide

    def _calls(self, control: Control) -> Iterator[Move]:
        """What a call does, or has done to it, while its round or its replay is open."""
        is_free = control.cancel != "asked"
        for event in self.charts.call.events:
            if event in ("cancel", "resume"):
                continue
            if is_free or event in OUTCOMES or event == "suspend":
                who: Who = "runtime" if event == "start" else "world"
                what, cue = WORDS.get(event, f"takes {event}"), "" if event == "start" else event
                yield Move(what, control, who, one=self._acting(control, event, is_free), cue=cue)
        if is_free and self.policies["round.block"] == "end_run":
            blocked = control._replace(work="blocked")
            one = self._blocking(control)
            yield Move("is blocked, and the run with it", blocked, "trouble", one=one, cue="block")

    def _acting(self, control: Control, event: str, is_free: bool) -> Change:
        def act(call: Call) -> Changed | None:
            if not self._is_open(control, call) or not (is_free or is_running(call)):
                return None
            return self._send(call, event)

        return act

    def _is_open(self, control: Control, call: Call) -> bool:
        """Whether a call may move: in its round, in its replay, or while a cancelled run drains."""
        if control.work == "ending":
            return self.drains and is_running(call)
        if is_rejecting(call):
            return False
        if is_acting(call):
            at_gate, concurrent = control.gate == "ExecuteReplayedTool", control.work in ("round", "replay")
            return at_gate if self.is_reentered else concurrent
        return control.work == "round"

    def _blocking(self, control: Control) -> Change:
        def block(call: Call) -> Changed | None:
            judged = {"round": "New", "replay": "Resuming" if self.asks_again else ""}
            is_judged = call.status == judged.get(control.work)
            return self._send(call, "fail") if is_judged else None

        return block

    def _trouble(self, control: Control) -> Iterator[Move]:
        if control.crashes:
            to = self._recovered(control)
            yield Move("the runtime crashes and recovers", to, "trouble", each=restore, cue="crash")
        if control.work in ENDING:
            return
        if control.cancel == "may come":
            yield Move("the run is cancelled", control._replace(cancel="asked"), "trouble", cue="cancel")
        if control.cancel == "asked":
            yield from self._end(control, "Cancelled", "runtime")
            return
        if control.work == "blocked":
            yield from self._end(control, "Blocked", "runtime")
        elif control.work in ("model", "round", "replay", "wait"):
            yield from self._end(control, "Error", "trouble")
        if control.work == "model" or (control.work == "wait" and self._may_stop_waiting()):
            yield from self._end(control, "Stopped", "trouble")
        if control.work == "model":
            yield from self._end(control, "BehaviorRequested", "trouble")
        if control.work == "created":
            yield from self._end(control, "Error", "trouble", event="rejected")

    def _may_stop_waiting(self) -> bool:
        return not self.is_reentered and "timeout" in self.policies["stop.conditions"]

    def _end(self, control: Control, reason: str, who: Who, event: str | None = None) -> Iterator[Move]:
        """The run starts to end, if its chart allows it: live calls are closed, if that is the policy."""
        taken = self._run(control, event or END_EVENTS[reason])
        gate = self._left_gate(control, reason)
        if taken is None or gate is None:
            return
        to = control._replace(work="ending", reason=reason, gate="", cancel="over")
        close = self.abort if reason == "Cancelled" else self.close
        cue = "" if who == "runtime" else f"end {reason}"
        yield Move(f"the run begins to end: {reason}", to, who, gate, each=close, cue=cue)

    def _left_gate(self, control: Control, reason: str) -> tuple[Row, ...] | None:
        """The rows by which an end leaves the wait loop; None if the loop does not allow it."""
        if self.is_reentered or self.has_dispatcher or not control.gate:
            return ()
        other = "break_off" if control.work == "wait" else "end"
        row = self._gate_moves(control, "cancel" if reason == "Cancelled" else other)
        return (row,) if row is not None else None

    def abort(self, call: Call) -> Changed | None:
        """A cancel takes a call away; where tools drain, not one that is executing."""
        if self.drains and is_running(call):
            return None
        if is_running(call) or self.policies["end.live"] == "closed":
            return self._cancelled(call)
        return None

    def _cancelled(self, call: Call) -> Changed | None:
        if not is_live(call):
            return None
        sent = self._send(call, "cancel")
        return sent and Changed(sent.call._replace(decided=""), sent.rows)

    def close(self, call: Call) -> Changed | None:
        """No call outlives its run, where that is the policy."""
        if self.policies["end.live"] != "closed" or not is_live(call):
            return None
        if call.status != "New":
            return self._cancelled(call)
        return self._send(call, "fail")

    def _closing(self, control: Control) -> Iterator[Move]:
        """The end is durable before it is announced."""
        if control.work == "ending":
            to = control._replace(work="closing", kept_run="Done", kept_work="done")
            live = is_running if self.drains and control.reason == "Cancelled" else None
            each = keep if self.policies["end.live"] == "left" else self.close_and_keep
            yield Move("the end is made durable", to, each=each, none=live)
        if control.work == "closing":
            is_new = control.run == "Created" and control.reason != "Cancelled"
            taken = self._run(control, "rejected" if is_new else END_EVENTS[control.reason])
            if taken is not None:
                yield Move("the run is Done", control._replace(run=taken[0], work="done"), rows=taken[1])

    def _recovered(self, control: Control) -> Control:
        crashes = control.crashes - 1
        cancel = "over" if control.cancel == "asked" else control.cancel
        if not control.kept_run:
            return self._begun(crashes)._replace(cancel=cancel)
        work, reason = control.kept_work, control.reason if control.kept_run == "Done" else ""
        if work == "wait":
            reason = "Suspended"
        gate = self.open_gate if work == "wait" or (self.has_dispatcher and work == "round") else ""
        return Control(control.kept_run, work, gate, cancel, reason, control.kept_run, work, crashes)

    @cached_property
    def close_and_keep(self) -> Change:
        """No call outlives its run, and a checkpoint says so."""
        return then(self.close, keep)

    @cached_property
    def ask_and_keep(self) -> Change:
        """The model asks for the calls, and a checkpoint holds them."""
        return then(self.ask, keep)

    def _starting(self, control: Control) -> Iterator[Move]:
        if control.work == "created" and not control.kept_run:
            yield Move("the run is made durable", self._stored(control, "created"))
        elif control.work == "created":
            taken = self._run(control, "begin")
            if taken is not None:
                yield Move("the run begins", control._replace(run=taken[0], work="starting"), rows=taken[1])
        elif control.work == "starting":
            to = self._stored(control, "model", is_kept=self.has_triggers)
            yield Move("the model is asked", to, each=keep if self.has_triggers else None)

    def ask(self, call: Call) -> Changed:
        """The model asks for the call."""
        return Changed(Call(self.charts.call.initial, kept=call.kept))

    def _model(self, control: Control) -> Iterator[Move]:
        if control.work != "model":
            return
        each = self.ask_and_keep if self.has_triggers else self.ask
        asked = self._stored(control, "round", is_kept=self.has_triggers)
        if self.has_dispatcher:
            asked = asked._replace(gate=self.open_gate)
        yield Move("the model asks for the calls", asked, "world", each=each, some=is_unasked, cue="calls")
        last = self._stored(control, "last")
        yield Move("the model asks for no tool", last, "world", each=keep, none=is_unasked, cue="no calls")

    def _round(self, control: Control) -> Iterator[Move]:
        """A round is over once no call of it has work before it, and where tasks wait in it, none waits."""
        if control.work != "round" or control.gate not in ("", "NextBatch", "Ended"):
            return
        to = self._stored(control, "after", is_kept=self.has_triggers)
        rows: tuple[Row, ...] = ()
        if control.gate == "NextBatch":
            shut = self._gate_moves(control, "shut")
            rows = (shut,) if shut is not None else ()
        over = is_live if self.has_dispatcher else is_busy
        each = keep if self.has_triggers else None
        yield Move("the round is over", to._replace(gate=""), rows=rows, each=each, none=over)
        if self.has_dispatcher:
            yield from self._suspend(control, none=busy_or_ready)

    def _loop(self, control: Control) -> Iterator[Move]:
        """What comes next: a wait, an inference, or the end; a call whose decision is there comes first."""
        work = control.work
        if work not in LOOP or control.gate:
            return
        passed = self._gate_moves(control, "empty") if self.is_reentered else None
        rows = (passed,) if passed is not None else ()
        if work in ("last", "again") or not self.may_mix:
            yield from self._suspend(control, none=self._not_yet, rows=rows)
        else:
            yield from self._suspend(
                control, none=lambda call: self._not_yet(call) or is_over(call), rows=rows
            )
        if work == "last":
            for move in self._end(control, "NaturalEnd", "runtime"):
                yield Move(move.what, move.to, rows=rows, each=move.each, none=is_suspended)
            return
        yield from self._next_step(control, rows)

    def _not_yet(self, call: Call) -> bool:
        """Whether a call keeps the run from waiting: its decision is there, and this is where it acts."""
        return is_ready(call) and self.is_reentered

    def _next_step(self, control: Control, rows: tuple[Row, ...]) -> Iterator[Move]:
        """The model is asked again, after a checkpoint of the step where a step has one."""
        to = self._stored(control, "model", is_kept=not self.has_triggers)
        each = None if self.has_triggers else keep
        if control.work == "again" or not self.may_mix:
            yield Move("the model is asked again", to, rows=rows, each=each, none=is_suspended)
        else:
            yield Move("the model is asked again", to, rows=rows, each=each, none=self._not_yet, some=is_over)

    def _suspend(self, control: Control, none: Test, rows: tuple[Row, ...] = ()) -> Iterator[Move]:
        to = control._replace(work="suspending", reason="Suspended", kept_run="Waiting", kept_work="wait")
        yield Move("the wait is made durable", to, rows=rows, each=keep, some=is_suspended, none=none)

    def _waiting(self, control: Control) -> Iterator[Move]:
        if control.work == "suspending":
            taken = self._run(control, "suspend")
            if taken is not None:
                to = control._replace(run=taken[0], work="wait", gate=self.open_gate)
                yield Move("the run waits", to, rows=taken[1])
        if control.work == "wait" and self.is_reentered:
            taken = self._run(control, "resume")
            if taken is not None:
                to = control._replace(run=taken[0], work="entered", reason="")
                yield Move(
                    "a decision enters the run again", to, rows=taken[1], some=is_ready, none=self._held_up
                )

    def _store(self, control: Control) -> Iterator[Move]:
        """Where each call is stored separately, its outcome is durable before anything uses it."""
        if self.policies["durability"] == "call" and control.work in ("round", "replay"):
            to = self._stored(control, control.work)
            to = to._replace(kept_work="after" if control.work == "replay" else "round")
            yield Move("an outcome is made durable", to, each=keep, some=has_unkept_outcome)


def _strays_of(table: Table, events: Mapping[str, str]) -> list[Row]:
    return [row for row in table.rows if row.event not in events.get(row.source, "").split()]
