"""What the user does while a yield is open: pushes, sets, asks for a response, resumes, leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runlock.machines.joint.model import Changed, Move
from runlock.machines.tool_runner.joint.chart_driver import Taken
from runlock.machines.tool_runner.joint.facts import answered_by_user, is_asked
from runlock.machines.tool_runner.joint.rounds import Rounds, moved
from runlock.machines.tool_runner.joint.state import Call, Control

__all__ = ["Users"]


class Users(Rounds):
    """The moves of the user, who pushes and sets only histories that are well-formed."""

    def _user(self, control: Control) -> Iterator[Move]:
        if control.resumed:
            return
        yield from self._changes(control)
        if control.runner == "Yielded":
            yield from self._pushes_of_the_turn(control)
            yield from self._asks(control)
        if control.response != "Making":
            yield from self._goes_on(control)

    def _changes(self, control: Control) -> Iterator[Move]:
        to, rows = self._changed(control, "push", pushed=True, last="")
        yield Move("the user pushes a message", to, "world", rows, cue="push")
        to, rows = self._changed(control, "set", was_set=True)
        yield Move("the user sets params", to, "world", rows, cue="set params")
        to, rows = self._changed(control, "set", was_set=True, stands="", last="")
        yield Move("the user sets the messages", to, "world", rows, each=_unanswered, cue="set messages")

    def _changed(self, control: Control, change: str, **changes: Any) -> Taken:
        """The state after a change, which may invalidate a response."""
        to: Taken = (control._replace(**changes), ())
        if not self.invalidates(change) or control.response not in ("Making", "Kept"):
            return to
        if control.response == "Making" or self.says("runner.cache", "by_state"):
            return to[0]._replace(stale=True), ()
        return self.drop(to)

    def _pushes_of_the_turn(self, control: Control) -> Iterator[Move]:
        """The received turn, results for it, or another turn with calls."""
        if not control.stands and control.last != "other turn":
            last = "" if control.stop == "end_turn" else "turn"
            to, rows = self._changed(control, "push", pushed=True, stands="user", last=last)
            yield Move("the user pushes the turn", to, "world", rows, cue="push turn")
        if control.stands and control.last in ("turn", "results"):
            to, rows = self._changed(control, "push", pushed=True, last="results")
            what = "is answered by the user"
            yield Move(what, to, "world", rows, one=answered_by_user, cue="push result")
        follows = self.says("runner.inspects", "state") and not self.places_on_receipt
        if follows and not control.last:
            to, rows = self._changed(control, "push", pushed=True, last="other turn")
            yield Move("the user pushes another turn", to, "world", rows, cue="push other turn")

    # -- responses

    def is_answerable(self, control: Control) -> bool:
        """Whether there is something that a response answers."""
        return self.asks_for_tools(control) or control.stop == "pause_turn"

    def _asks(self, control: Control) -> Iterator[Move]:
        if not self.is_answerable(control) or control.response == "Making" or control.broken:
            return
        what, how = "the user asks for a response", {"who": "world", "cue": "respond"}
        is_stale = control.response == "Kept" and control.stale
        here = self.drop((control, ())) if is_stale else (control, ())
        if here[0].response == "Kept":
            yield from moved(what, self.respond(here, "ask"), some=is_asked, **how)
        elif control.cancel != "asked":
            yield from moved(what, self.respond(here, "ask"), each=self.begin_response, **how)

    # -- the end of the yield

    def _goes_on(self, control: Control) -> Iterator[Move]:
        if control.runner == "Streaming":
            to = control._replace(resumed=True)
            yield Move("the user resumes before the turn is whole", to, "world", cue="resume")
        else:
            yield from moved("the user resumes", self.take(control, "resume"), who="world", cue="resume")
        leaves = self.take(control, "leave", last="")
        yield from moved("the user leaves", leaves, who="trouble", each=stop_early, cue="break")


def _unanswered(call: Call) -> Changed:
    return Changed(call._replace(result=""))


def stop_early(call: Call) -> Changed:
    """What started from the stream is not needed any more."""
    return Changed(call._replace(status="Cancelled") if call.early and call.status == "Running" else call)
