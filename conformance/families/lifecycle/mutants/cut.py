"""Wrong about turns that broke off: calls that were cut off, arguments that do not parse, broken streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runlock.conformance.families.lifecycle.mutants.mutant import NO_PROFILE
from runlock.conformance.families.lifecycle.mutants.whole import ShowsAnotherHistory
from runlock.conformance.family.made import OtherPolicies, fault
from runlock.machines.lifecycle.runtime.runtime import LeftCall, LeftTurn, Runtime
from runlock.machines.lifecycle.runtime.state import Call, Message
from runlock.machines.lifecycle.runtime.world import AskedCall, ModelTurn, WorldFault


@fault("CUT-1", "yet it runs as it stands", also=("CUT-2",))
class ReadsNoStop(Runtime):
    """Does not look at how a turn ended."""

    def take_up(self, asked: AskedCall, cut: str | None) -> Call:
        return super().take_up(asked, None)


@fault("CUT-1", "yet it runs as it stands", declare=NO_PROFILE)
class RunsWhatWasApproved(Runtime):
    """A call that may have been cut off is asked about like any other, and runs once it is approved."""

    def take_up(self, asked: AskedCall, cut: str | None) -> Call:
        asks = self.tools.get(asked.name, {}).get("permission") == "ask"
        return super().take_up(asked, None if asks else cut)


@fault("CUT-2", "turn.cut is refused")
class RepairsWhatItRefuses(OtherPolicies, Runtime):
    """Says that it refuses what was cut off, and completes it."""

    follows = {"turn.cut": "repaired"}


@fault("CUT-2", "yet it failed unexecuted", policies={"turn.cut": "repaired"})
class RefusesWhatItRepairs(OtherPolicies, Runtime):
    """Says that it completes what was cut off, and refuses it."""

    follows = {"turn.cut": "refused"}


@fault("CUT-2", "yet the model is shown no error for it")
class CallsWhatWasCutOffDone(ShowsAnotherHistory):
    """A call that was refused since it was cut off is shown to the model as a success."""

    def retold(self, messages: list[Message]) -> list[Message]:
        flawed = {call.id for call in self.state.calls.values() if call.flaw is not None}
        return [{**one, "status": "ok"} if one.get("call") in flawed else one for one in messages]


@fault("CUT-3", "yet it is executed with empty ones", also=("CUT-2",))
class RunsWithNothing(Runtime):
    """Arguments that do not parse are none."""

    def take_up(self, asked: AskedCall, cut: str | None) -> Call:
        call = super().take_up(asked, cut)
        call.flaw = None if isinstance(asked.args, str) else call.flaw
        return call


@fault("CUT-3", "yet the history has empty ones")
class ForgetsWhatDidNotParse(ShowsAnotherHistory):
    """The history has no arguments where they did not parse."""

    def retold(self, messages: list[Message]) -> list[Message]:
        return [_emptied(one) if one.get("tool_calls") else one for one in messages]


def _emptied(turn: Message) -> Message:
    calls = [
        {**one, "args": {} if isinstance(one["args"], str) else one["args"]} for one in turn["tool_calls"]
    ]
    return {**turn, "tool_calls": calls}


class _KeepsPieces(Runtime):
    """Keeps the pieces of a turn until it is whole, and does something with them if the stream breaks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.said = ""
        self.begun: list[AskedCall] = []

    def streams(self, text: str, call: AskedCall | None) -> None:
        super().streams(text, call)
        self.said += text
        self.begun += [call] if call is not None else []

    async def _ask(self, request: dict[str, Any]) -> ModelTurn:
        self.said, self.begun = "", []
        try:
            return await super()._ask(request)
        except WorldFault:
            turn = self.broken_off()
            if turn is None:
                raise
            return turn

    def broken_off(self) -> ModelTurn | None:
        """What is made of a stream that broke: nothing, and the fault ends the run."""
        return None

    def dead_calls(self) -> list[dict[str, Any]]:
        """The calls that the stream had begun, as the thread has calls."""
        return [{"id": one.id, "name": one.name, "args": one.args} for one in self.begun]


@fault("CUT-4", "yet the model is shown its '", also=("PAIR-8", "INPUT-5"))
class KeepsTheTextOfABrokenStream(_KeepsPieces):
    """What the model had said before its stream broke stays in the thread."""

    def broken_off(self) -> None:
        if self.said:
            self.append({"role": "assistant", "text": self.said})


@fault("CUT-4", "yet the model is shown its call", also=("PAIR-8", "PAIR-1"))
class KeepsTheCallsOfABrokenStream(_KeepsPieces):
    """The calls that a stream had begun before it broke stay in the thread, with an error for each."""

    def broken_off(self) -> None:
        calls = self.dead_calls()
        if calls:
            self.append({"role": "assistant", "text": "", "tool_calls": calls})
        for one in calls:
            self.append({"role": "tool", "call": one["id"], "status": "error", "text": "the stream broke"})


@dataclass(frozen=True)
class _Spent:
    input: int = 0
    output: int = 0


@fault("CUT-5", "before it was whole, yet call", also=("CUT-4", "RUN-8"))
class TakesABrokenStreamForWhole(_KeepsPieces):
    """A stream that breaks is at its end."""

    def broken_off(self) -> ModelTurn | None:
        calls = [LeftCall(**one) for one in self.dead_calls()]
        return LeftTurn(self.said, calls, _Spent(), None) if calls else None


@fault("CUT-5", "of it is shown")
class AsksAboutABrokenStream(_KeepsPieces):
    """Those who decide are shown the calls of a stream that broke."""

    def broken_off(self) -> None:
        for one in self.dead_calls():
            self.observe("call.shown", call=one["id"], name=one["name"], args=one["args"])


@fault("CUT-6", "and the model was asked again, yet event")
class TellsTheBeginningAgain(Runtime):
    """What was streamed stays in a buffer, which the next stream goes on with."""

    buffer = ""

    def streams(self, text: str, call: AskedCall | None) -> None:
        self.buffer += text
        super().streams(self.buffer if text else "", call)

    def _take_turn(self, turn: ModelTurn) -> list[Call]:
        self.buffer = ""
        return super()._take_turn(turn)


@fault("CUT-6", "tells its call")
class OpensDeadCalls(_KeepsPieces):
    """The calls that a stream had begun are opened for watchers together with those of the retry."""

    dead: Sequence[dict[str, Any]] = ()

    def broken_off(self) -> None:
        self.dead = self.dead_calls()

    def _take_turn(self, turn: ModelTurn) -> list[Call]:
        for one in self.dead:
            self.publish("call.asked", call=one["id"], tool=one["name"], args=one["args"])
        return super()._take_turn(turn)
