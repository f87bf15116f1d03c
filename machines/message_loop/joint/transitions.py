"""The joint charts of one chat turn: how its pass, its bound, a cancel and the calls move together.

The charts decide, row by row, which moves exist; this module decides when something is due.  A row that is
missing in a chart removes its move, and an additional row adds one wherever its event may occur, so that a
wrong chart leads to wrong states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from runlock.machines.joint.model import Change, Changed, Move
from runlock.machines.message_loop.joint.chart_driver import Charts, Taken, charts_of
from runlock.machines.message_loop.joint.facts import forget, has_no_result, is_executing, lose_gates
from runlock.machines.message_loop.joint.stack import Stack
from runlock.machines.message_loop.joint.state import OVER, Call, Control
from runlock.machines.table import NO_FACTS, Row, Table

__all__ = ["Charts", "Joint", "charts_of"]

Events = Mapping[str, str]

EVENTS: Final[Mapping[str, Events]] = {
    "run": {"Running": "natural_end stopped blocked cancelled failed"},
    "stage": {
        "RECEIVE_INPUT": "compose refuse interrupt fault",
        "COMPOSE_REQUEST": "dispatch refuse interrupt fault",
        "SEND_REQUEST": "stream refuse interrupt fault",
        "STREAM_RESPONSE": "has_calls no_calls send_again refuse interrupt fault",
        "TOOL_CALL": "proceed bound terminal halt interrupt fault",
        "RENDER": "rendered interrupt fault",
    },
    "bound": {"Within": "continuation pass_over"},
    "cancel": {
        "Raised": "give_up",
        "GivingUp": "stop_tools",
        "Draining": "tool_over drained",
        "Quiet": "settle",
        "Settled": "finish",
    },
    "stack": {
        "Proposed": "reject_form judge show guard_denies cascade interrupt",
        "ModeGate": "mode_passes ask nobody cascade interrupt",
        "Prompting": "allow deny defer cascade interrupt",
        "Guards": "judge guard_denies rewritten execute cascade interrupt",
        "Approved": "guard_denies rewritten execute cascade interrupt",
        "Executing": "result interrupt",
    },
    "status": {"New": "start fail cancel", "Running": "succeed fail cancel"},
}
"""The events for which the joint charts have an occasion; an arrow for another one may come at any time."""

ENDS: Final = {
    "Rendered": ("natural_end", "NaturalEnd"),
    "Finished": ("natural_end", "NaturalEnd"),
    "Blocked": ("blocked", "Blocked"),
    "Cancelled": ("cancelled", "Cancelled"),
    "Failed": ("failed", "Error"),
}
"""The event and the reason with which a turn ends, by the end of its pass."""

OF_A_ROUND: Final[Mapping[str, Any]] = {
    "terminal": False,
    "streamed": False,
    "rejected": False,
    "unanswered": False,
}
"""What is forgotten when the next round begins."""


def moved(what: str, taken: Taken | None, **how: Any) -> Iterator[Move]:
    """A move to where an event leads, unless a chart refuses it."""
    if taken is not None:
        yield Move(what, taken[0], rows=taken[1], **how)


class Joint(Stack):
    """The joint charts under the policies of a profile, within bounds."""

    def moves(self, control: Control) -> Iterator[Move]:
        """Every move from a control, of the loop, of the model, of the tools and of people."""
        yield from self._strays(control)
        if self.is_over(control):
            return
        if control.cancel and control.stage not in OVER:
            yield from self._cancelling(control)
        elif control.stage in OVER:
            yield from self._end(control)
        elif control.broken:
            yield from self._broken(control)
        elif control.reaching:
            to = control._replace(reaching=False, prompts=0)
            yield Move("the denial reaches the round", to, each=self.cascaded)
        else:
            yield from self._at_work(control)

    def _strays(self, control: Control) -> Iterator[Move]:
        """Rows for which nothing here has an occasion: they may be taken at any time."""
        for chart in ("run", "stage", "bound", "cancel"):
            for row in self._strays_of(chart):
                if row.source == getattr(control, chart):
                    changes: dict[str, Any] = {chart: row.target}
                    to = control._replace(**changes)
                    yield Move(f"the {chart} takes {row.event}", to, "trouble", (row,), cue="stray")
        for chart in ("stack", "status"):
            for row in self._strays_of(chart):
                yield Move(f"takes {row.event}", control, "trouble", one=_stray(chart, row), cue="stray")

    def _strays_of(self, chart: str) -> list[Row]:
        table: Table = getattr(self.charts, chart)
        events = EVENTS[chart]
        return [row for row in table.rows if row.event not in events.get(row.source, "").split()]

    def _at_work(self, control: Control) -> Iterator[Move]:
        stage = control.stage
        if stage == "TOOL_CALL":
            yield from self._calls(control)
            yield from self._settled(control)
        elif stage == "STREAM_RESPONSE":
            yield from self._responses(control)
        else:
            yield from self._passes(control)
        if stage not in ("TOOL_CALL", "RENDER"):
            yield from moved("a guard refuses the stage", self.take(control, "stage", "refuse"), **DENIED)
        if control.cancels:
            raised = control._replace(cancel=self.charts.cancel.initial, cancels=control.cancels - 1)
            yield Move("the turn is cancelled", raised, "trouble", cue="cancel")
        if control.active and stage in ("RECEIVE_INPUT", "TOOL_CALL"):
            left = control._replace(active=0)
            yield Move("the interactors leave", left, "trouble", each=lose_gates, cue="gone")

    # -- the stages

    def _passes(self, control: Control) -> Iterator[Move]:
        """A stage without a call or a response completes, or something breaks in it."""
        stage = control.stage
        if stage == "RECEIVE_INPUT":
            yield from moved("the input is taken", self.take(control, "stage", "compose"))
        elif stage == "COMPOSE_REQUEST":
            composed = self.take(control, "stage", "dispatch", NO_FACTS, **OF_A_ROUND)
            yield from moved("the request is composed", composed, each=forget)
        elif stage == "SEND_REQUEST":
            yield from moved("the request is sent", self.take(control, "stage", "stream"))
        elif stage == "RENDER":
            rendered = self.then(self.take(control, "stage", "rendered"), "bound", "pass_over")
            yield from moved("the answer is rendered", rendered)
        yield from moved("a hook or the store breaks", self.take(control, "stage", "fault"), **BROKEN)

    def _responses(self, control: Control) -> Iterator[Move]:
        for terminal, what in ((False, ""), (True, ", for the last time")):
            asked = self.take(control, "stage", "has_calls", terminal=terminal)
            how: dict[str, Any] = {"who": "world", "each": self.propose}
            yield from moved(f"the model asks for the calls{what}", asked, cue=f"calls{what}", **how)
        answered = self.take(control, "stage", "no_calls")
        yield from moved("the model answers without a call", answered, who="world", cue="turn")
        retries = self.says("model.fault", "retried") and not control.streamed
        if retries:
            yield Move("the model sends text", control._replace(streamed=True), "world", cue="delta")
        broken = self.take(control, "stage", "send_again" if retries else "fault")
        yield from moved("the model breaks", broken, who="trouble", cue="model fault")

    @cached_property
    def propose(self) -> Change:
        """The response is complete, and asks for a call."""
        call = Call(self.charts.status.initial, self.charts.stack.initial)
        return lambda _: Changed(call)

    def _settled(self, control: Control) -> Iterator[Move]:
        """Every call has a result: the pass goes on, renders, or ends."""
        how: dict[str, Any] = {"none": has_no_result}
        if self.is_halted(control):
            yield from moved("the denial ends the pass", self.take(control, "stage", "halt"), **how)
        elif control.terminal:
            yield from self._terminal(control, how)
        elif control.left:
            taken = self.take(control, "bound", "continuation", {"below_bound"}, left=control.left - 1)
            proceeds = self.then(taken, "stage", "proceed")
            yield from moved("the results are appended, and the pass continues", proceeds, **how)
        else:
            bounded = self.then(self.take(control, "bound", "continuation"), "stage", "bound")
            yield from moved("the bound ends the pass", bounded, **how)

    def _terminal(self, control: Control, how: dict[str, Any]) -> Iterator[Move]:
        renders = self.says("call.terminal", "render")
        facts = {"renders_terminal"} if renders else NO_FACTS
        taken = self.take(control, "stage", "terminal", facts)
        if taken is not None and taken[0].stage == "Finished":
            taken = self.then(taken, "bound", "pass_over")
        yield from moved("the terminal round is over", taken, **how)

    # -- faults, cancels and the end

    def _broken(self, control: Control) -> Iterator[Move]:
        """What has not ended is given up, and the pass fails."""
        failed = self.take(control, "stage", "fault", prompts=0, running=0, broken="")
        yield from moved("the round is given up", failed, each=self.given_up)

    @cached_property
    def given_up(self) -> Change:
        """A call that is not over is cancelled, wherever it stands."""
        return lambda call: self._interrupted(call) if has_no_result(call) else Changed(call)

    @cached_property
    def closed(self) -> Change:
        """A call that is not over, and whose tool does not run, is cancelled."""
        return lambda call: self._interrupted(call) if call.status == "New" else Changed(call)

    def _interrupted(self, call: Call) -> Changed:
        return self.advance(call, "interrupt", "cancel") or Changed(call)

    def _cancelling(self, control: Control) -> Iterator[Move]:
        """A cancel step by step; until tools drain, nothing else comes in between."""
        if control.cancel == "Raised":
            closed = self.take(control, "cancel", "give_up", prompts=0, reaching=False)
            yield from moved("prompts, hooks and requests are closed", closed, each=self.closed)
        elif control.cancel == "GivingUp":
            yield from self._stops_tools(control)
        elif control.cancel == "Draining":
            yield from self._tools(control)
            drained = self.take(control, "cancel", "drained")
            yield from moved("no tool runs any more", drained, none=is_executing)
        elif control.cancel == "Quiet":
            yield from moved("each call has its result", self.take(control, "cancel", "settle"))
        elif control.cancel == "Settled":
            ended = self.then(self.take(control, "cancel", "finish"), "stage", "interrupt")
            yield from moved("the pass ends as cancelled", ended)

    def _stops_tools(self, control: Control) -> Iterator[Move]:
        if self.says("cancel.inflight", "drain"):
            yield from moved("the tools drain", self.take(control, "cancel", "stop_tools", {"drains"}))
        else:
            aborted = self.take(control, "cancel", "stop_tools", running=0)
            yield from moved("the tools are aborted", aborted, each=self.given_up)

    def _end(self, control: Control) -> Iterator[Move]:
        """The turn ends with the reason of its pass."""
        stopped = self.says("bound.end", "stopped")
        at_bound = ("stopped", "Stopped") if stopped else ("failed", "Error")
        event, reason = ENDS.get(control.stage, at_bound)
        yield from moved("the turn ends", self.take(control, "run", event, reason=reason))


DENIED: Final[Mapping[str, Any]] = {"who": "trouble", "cue": "guard denies"}
BROKEN: Final[Mapping[str, Any]] = {"who": "trouble", "cue": "fault"}


def _stray(chart: str, row: Row) -> Change:
    """A call takes a row for which nothing has an occasion."""

    def change(call: Call) -> Changed | None:
        if getattr(call, chart) != row.source:
            return None
        changes: dict[str, Any] = {chart: row.target}
        return Changed(call._replace(**changes), (row,))

    return change
