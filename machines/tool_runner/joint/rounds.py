"""How calls run: in the round of a runner, in a response that is being made, or from a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runlock.machines.joint.model import Change, Changed, Move
from runlock.machines.tool_runner.joint.chart_driver import Driven, Taken
from runlock.machines.tool_runner.joint.facts import (
    entered,
    is_at_work,
    is_cancelled,
    is_entered,
    is_queued,
    is_running,
)
from runlock.machines.tool_runner.joint.state import ENDED, WITH_THE_USER, Call, Control

__all__ = ["Rounds", "moved"]


def moved(what: str, taken: Taken | None, **how: Any) -> Iterator[Move]:
    """A move to where an event leads, unless a chart refuses it."""
    if taken is not None:
        yield Move(what, taken[0], rows=taken[1], **how)


class Rounds(Driven):
    """The moves of calls, and the ends of their rounds."""

    @property
    def is_sequential(self) -> bool:
        """Whether one call runs at a time."""
        return self.says("round.executor", "sequential")

    def enter(self, call: Call) -> Call:
        """A round begins with the call: it is entered, or waits for the one before it."""
        return call._replace(status="Queued", early=False) if self.is_sequential else entered(call)

    def handles(self, control: Control, call: Call) -> bool:
        """Whether a call of the received turn is handled; under `skipped` only one without a result."""
        skips = self.says("runner.answered", "skipped") and bool(control.stands)
        return not (skips and call.result)

    def begin(self, control: Control, *, is_kept: bool = False) -> Change:
        """The runner handles the calls of the received turn."""

        def begun(call: Call) -> Changed:
            if is_kept or not self.handles(control, call):
                return Changed(call)
            return Changed(self._begun(control, call))

        return begun

    def _begun(self, control: Control, call: Call) -> Call:
        if call.early:
            return call._replace(early=False)
        if control.cancel == "asked" and call.entered:
            return call._replace(status="Cancelled")
        return self.enter(call)

    def begin_other(self, call: Call) -> Changed:
        """The runner handles the calls of a turn that the user pushed, of which there are as many."""
        return Changed(self.enter(Call("New")))

    def begin_response(self, call: Call) -> Changed:
        """A response is made, to each call of the received turn."""
        return Changed(call._replace(early=False) if call.early else self.enter(call))

    # -- calls at work

    def _calls(self, control: Control) -> Iterator[Move]:
        is_round = control.runner == "Handling" or control.response == "Making"
        if is_round and self.is_sequential and not control.broken:
            yield Move("is entered", control, one=_enter_queued, none=is_running)
        streams = self.says("tools.start", "streaming") and control.runner in WITH_THE_USER
        if is_round or streams:
            yield Move("succeeds", control, "world", one=_ended("Succeeded"), cue="ok")
            yield Move("answers with an error", control, "world", one=_ended("Failed"), cue="error")
        if is_round:
            raised = "raise" if self.says("tool.raises", "end_run") else ""
            to = control._replace(broken=control.broken or raised)
            yield Move("raises", to, "trouble", one=_ended("Failed"), cue="raise")
            to = control._replace(broken=control.broken or "fault")
            yield Move("breaks the run", to, "trouble", one=_ended("Failed"), cue="fault")

    def _early(self, control: Control) -> Iterator[Move]:
        """A piece of a stream is complete, and its call starts."""
        if self.says("tools.start", "streaming") and control.cancel != "asked":
            none = is_entered if self.is_sequential else None
            yield Move("starts from the stream", control, "world", one=_start_early, none=none, cue="delta")

    # -- the end of a round

    def _handled(self, control: Control) -> Iterator[Move]:
        """Every call that was handled has a result."""
        left = is_running if control.broken else is_at_work
        how = {"each": self.put(control), "none": left}
        if control.broken:
            yield from moved("the run breaks", self.take(control, "fault"), **how)
        elif control.cancel == "asked":
            yield from moved("the run ends", self.end_iteration(control, "cancel"), **how)
        else:
            yield from moved("the round is over", self.end_iteration(control, "results"), **how)

    def put(self, control: Control) -> Change:
        """The results enter the state, if the turn that they answer stands in it."""
        if not control.stands or self.drops_results(control):
            return _fail_queued
        return self.put_result

    def put_result(self, call: Call) -> Changed:
        """The runner puts a result into the state, unless there is one."""
        ended = call._replace(status="Failed") if is_queued(call) else call
        return Changed(
            ended._replace(result="runner") if not call.result and ended.status in ENDED else ended
        )

    def put_error(self, call: Call) -> Changed:
        """A call that does not run has an error for a result."""
        return self.put_result(call if call.status in ENDED else call._replace(status="Failed"))

    def _made(self, control: Control) -> Iterator[Move]:
        """A response is complete, or given up."""
        plain = (control, ())
        given_up = self.respond(plain, "give_up")
        if given_up is not None:
            given_up = given_up[0]._replace(dropped=True, stale=False), given_up[1]
        if control.broken:
            each, what = _fail_queued, "the response breaks"
            yield from moved(what, given_up, each=each, none=is_running)
            return
        yield from moved("the response is given up", given_up, some=is_cancelled, none=is_at_work)
        made = self.respond(plain, "made")
        if made is not None and (self.says("runner.cache", "none") or self._is_overtaken(control)):
            made = self.drop(made)
        yield from moved("the response is made", made, none=_is_unmade)

    def _is_overtaken(self, control: Control) -> bool:
        """Whether a change invalidated a response while it was made; `by_state` looks when it is used."""
        return control.stale and not self.says("runner.cache", "by_state")


def _enter_queued(call: Call) -> Changed | None:
    return Changed(entered(call)) if is_queued(call) else None


def _start_early(call: Call) -> Changed | None:
    return Changed(entered(call)._replace(early=True)) if not call.status else None


def _ended(status: str) -> Change:
    def end(call: Call) -> Changed | None:
        return Changed(call._replace(status=status)) if is_running(call) else None

    return end


def _fail_queued(call: Call) -> Changed:
    return Changed(call._replace(status="Failed") if is_queued(call) else call)


def _is_unmade(call: Call) -> bool:
    return is_at_work(call) or is_cancelled(call)
