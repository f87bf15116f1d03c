"""The joint charts of one runner: how its iterations, their responses and the calls move together.

The charts decide, row by row, which moves exist; this module decides when something is due.  A row that is
missing in a chart removes its move, and an additional row adds one wherever its event may occur, so that a
wrong chart leads to wrong states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from runlock.machines.joint.model import Change, Changed, Move, Test
from runlock.machines.table import Table
from runlock.machines.tool_runner.joint.chart_driver import Charts, Taken, charts_of
from runlock.machines.tool_runner.joint.facts import ask, forget, is_asked, is_unanswered
from runlock.machines.tool_runner.joint.rounds import moved
from runlock.machines.tool_runner.joint.state import STOPS, Call, Control
from runlock.machines.tool_runner.joint.users import Users, stop_early

__all__ = ["Charts", "Joint", "charts_of"]

RUNNER_EVENTS: Final = {
    "Settled": "request limit cancel",
    "Asked": "open answer fault cancel",
    "Streaming": "whole leave fault cancel",
    "Received": "hand_over",
    "Yielded": "resume leave cancel",
    "Resumed": "append keep placed fault cancel",
    "Updated": "handle finish go_on limit cancel",
    "Handling": "results fault cancel",
    "Left": "go_back close",
    "Broken": "retry close",
}
RESPONSE_EVENTS: Final = {"Empty": "ask forget", "Making": "made give_up", "Kept": "ask drop forget"}
"""The events for which the joint charts have an occasion; an arrow for another one may come at any time."""


class Joint(Users):
    """The joint charts under the policies of a profile, within bounds."""

    def moves(self, control: Control) -> Iterator[Move]:
        """Every move from a control, of the runner, of its user, of the model and of the tools."""
        yield from self._strays(control)
        parts = {
            "Settled": self._settled,
            "Asked": self._asked,
            "Streaming": self._streaming,
            "Received": self._received,
            "Yielded": self._yielded,
            "Resumed": self._resumed,
            "Updated": self._updated,
            "Handling": self._handled,
            "Left": self._left,
            "Broken": self._broken,
        }
        if control.runner in parts:
            yield from parts[control.runner](control)
        yield from self._calls(control)
        if control.cancel == "may come" and not self.is_over(control):
            to = control._replace(cancel="asked")
            yield Move("the run is cancelled", to, "trouble", each=self.cancelled, cue="cancel")

    def _strays(self, control: Control) -> Iterator[Move]:
        """Rows for which nothing here has an occasion: they may be taken at any time."""
        for row in _strays_of(self.charts.runner, RUNNER_EVENTS):
            if row.source == control.runner:
                to = control._replace(runner=row.target)
                yield Move(f"the runner takes {row.event}", to, "trouble", (row,), cue="stray")
        for row in _strays_of(self.charts.response, RESPONSE_EVENTS):
            if row.source == control.response:
                to = control._replace(response=row.target)
                yield Move(f"the response takes {row.event}", to, "trouble", (row,), cue="stray")

    @cached_property
    def cancelled(self) -> Change:
        """What a cancel does to calls: those not entered are given up, those that run as the policy says."""
        given_up = ("Queued", "Running") if self.says("cancel.inflight", "abort") else ("Queued",)

        def cancel(call: Call) -> Changed:
            return Changed(call._replace(status="Cancelled") if call.status in given_up else call)

        return cancel

    # -- requests and turns

    def _settled(self, control: Control) -> Iterator[Move]:
        if control.cancel == "asked":
            yield from moved("the run ends", self.take(control, "cancel"))
        elif control.left == 0:
            yield from moved("the limit ends the run", self.take(control, "limit"))
        else:
            left = self._counted(control, "requests")
            sent = self.take(control, "request")
            if sent is not None:
                to = Control(sent[0].runner, self.charts.response.initial, left=left, cancel=control.cancel)
                yield Move("a request is sent", to, rows=sent[1], each=forget)

    def _counted(self, control: Control, what: str) -> int:
        """What is left of the limit."""
        return control.left - (control.left > 0 and self.says("limit.counts", what))

    def _asked(self, control: Control) -> Iterator[Move]:
        yield from self._turns(control, "answer", "the model answers with")
        if control.cancel == "asked":
            yield from moved("the run ends", self.end_iteration(control, "cancel"))
            return
        opened = self.take(control, "open")
        yield from moved("a stream is yielded", opened, who="world", cue="open")
        yield from moved("the model breaks", self.take(control, "fault"), who="trouble", cue="fault")

    def _turns(self, control: Control, event: str, what: str) -> Iterator[Move]:
        """The turn is whole, and on receipt it may enter the state at once."""
        left = self._counted(control, "turns")
        placed: dict[str, Any] = {"stands": "runner", "last": "turn"} if self.places_on_receipt else {}
        for stop in STOPS:
            taken = self.take(control, event, left=left, stop=stop, **placed)
            how: dict[str, Any] = {"none": is_asked} if stop == "end_turn" else {"each": ask}
            yield from moved(f"{what} {stop}", taken, who="world", cue=stop, **how)

    def _received(self, control: Control) -> Iterator[Move]:
        yield from moved("the turn is yielded", self.take(control, "hand_over"))

    def _streaming(self, control: Control) -> Iterator[Move]:
        yield from self._user(control)
        yield from self._early(control)
        yield from self._turns(control, "whole", "the stream ends with")
        if control.cancel == "asked":
            yield from self._closed(control)
            return
        broken = self.take(control, "fault")
        yield from moved("the model breaks", broken, who="trouble", each=stop_early, cue="fault")

    def _closed(self, control: Control) -> Iterator[Move]:
        """After a cancel, the runner may close a yield."""
        ended = self.end_iteration(control, "cancel")
        yield from moved("the yield is closed", ended, each=stop_early)

    def _yielded(self, control: Control) -> Iterator[Move]:
        yield from self._user(control)
        if control.response == "Making":
            yield from self._made(control)
            return
        if control.resumed:
            yield from moved("the resume takes effect", self.take(control, "resume", resumed=False))
        if control.cancel == "asked":
            yield from self._closed(control)

    # -- after the resume

    def _resumed(self, control: Control) -> Iterator[Move]:
        each = self.put_error if control.stands == "runner" and not self.is_paused(control) else None
        if control.broken:
            yield from moved("the run breaks", self.take(control, "fault"), each=each)
            return
        if self._stops_here(control):
            yield from moved("the run ends", self.end_iteration(control, "cancel"), each=stop_early)
        yield from moved("the state is updated", self._placed(control))

    def _stops_here(self, control: Control) -> bool:
        return control.cancel == "asked" and self.says("cancel.handed_over", "not_run")

    def _placed(self, control: Control) -> Taken | None:
        """The turn is put into the state, or left out; a response of another state is dropped."""
        fresh = self.drop((control, ())) if control.response == "Kept" and control.stale else (control, ())
        event, stands = self._place(control)
        taken = self.take(fresh[0], event, stands=stands)
        return (taken[0], (*fresh[1], *taken[1])) if taken is not None else None

    def _place(self, control: Control) -> tuple[str, str]:
        """The event by which the state is updated, and who has put the turn there."""
        if self.places_on_receipt:
            return "placed", control.stands
        puts = control.stands or "runner"
        if self.is_changed(control):
            is_kept = self.is_paused(control) and self.says("pause.changed", "kept")
            return "keep", puts if is_kept else control.stands
        is_put = not self.is_final(control) or self.keeps_final_turn(control)
        return "append", puts if is_put else control.stands

    def _updated(self, control: Control) -> Iterator[Move]:
        if self._stops_here(control):
            yield from moved("the run ends", self.end_iteration(control, "cancel"), each=stop_early)
        elif self.ends_with_turn(control):
            yield from self._finished(control)
        else:
            target = self._target(control)
            some = self._to_handle(control) if target == "received" else None
            if target:
                yield from self._handle(control, target, some)
            if not target or some is not None:
                yield from self._go_on(control, some)

    def _finished(self, control: Control) -> Iterator[Move]:
        event = "cancel" if control.cancel == "asked" else "finish"
        removed = self.places_on_receipt and not self.keeps_final_turn(control)
        stands = "" if removed and control.stands == "runner" else control.stands
        ended = self.end_iteration(control, event, stands=stands)
        yield from moved("the run ends", ended, each=stop_early)

    def _target(self, control: Control) -> str:
        """Whose calls are handled: those of the received turn, of another that the user pushed, or none."""
        if self.follows_state(control):
            return {"turn": "received", "other turn": "other"}.get(control.last, "")
        return "received" if self.asks_for_tools(control) else ""

    def _to_handle(self, control: Control) -> Test | None:
        """The calls that make the runner handle the turn; None if it does so in any case."""
        skips = self.says("runner.answered", "skipped") and control.stands
        return is_unanswered if skips else None

    def _handle(self, control: Control, target: str, some: Test | None) -> Iterator[Move]:
        if control.left == 0 and self.says("stop.tools", "preempted"):
            ended = self.end_iteration(control, "limit")
            yield from moved("the limit ends the run", ended, some=some, each=stop_early)
            return
        stands = control.stands if target == "received" else "user"
        taken = self.take(control, "handle", target=target, stands=stands)
        is_kept = control.response == "Kept" and target == "received"
        used = self.respond(taken, "ask") if taken is not None and is_kept else None
        each = self.begin(control, is_kept=used is not None) if target == "received" else self.begin_other
        yield from moved("the calls are handled", used or taken, some=some, each=each)

    def _go_on(self, control: Control, none: Test | None) -> Iterator[Move]:
        """No call is left to handle; one that does not run has an error, if its turn was put on receipt."""
        is_due = self.places_on_receipt and control.stands and not self.is_paused(control)
        each = self.put_error if is_due else stop_early
        yield from moved(
            "the next request is due", self.end_iteration(control, "go_on"), none=none, each=each
        )

    # -- after the end

    def _left(self, control: Control) -> Iterator[Move]:
        if control.cancel == "asked" or not control.stop:
            return
        if self.says("again.break", "over"):
            yield from self._close(control)
            return
        taken = self.take(control, "go_back", again="break")
        if taken is not None and control.broken:
            taken = self._salvaged(taken)
        yield from moved("the user iterates again", taken, who="world", cue="again")

    def _salvaged(self, taken: Taken) -> Taken | None:
        """The results of a response that a tool broke are used when the runner goes on."""
        asked = self.respond((taken[0]._replace(broken=""), taken[1]), "ask")
        return self.respond(asked, "made") if asked is not None else None

    def _broken(self, control: Control) -> Iterator[Move]:
        if control.cancel == "asked":
            return
        if self.says("again.fault", "over"):
            yield from self._close(control)
            return
        taken = self.end_iteration(control, "retry", broken="", again="fault")
        yield from moved("the user iterates again", taken, who="world", cue="again")

    def _close(self, control: Control) -> Iterator[Move]:
        taken = self.end_iteration(control, "close")
        yield from moved("the user iterates again", taken, who="world", cue="again")


def _strays_of(table: Table, events: Mapping[str, str]) -> list[Any]:
    return [row for row in table.rows if row.event not in events.get(row.source, "").split()]
