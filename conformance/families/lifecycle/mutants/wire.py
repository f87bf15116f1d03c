"""Wrong about calls on a stream: opened twice or never, ended late, asked about or answered wrongly."""

from __future__ import annotations

from typing import Any

from runlock.conformance.families.lifecycle.mutants.stream import sunk
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.sink import Data, Encoded, EventSink
from runlock.machines.lifecycle.runtime.state import Call, Decision


@fault("WIRE-60", "which this stream has opened before")
class OpensAgainInTheReplay(Runtime):
    """A call that goes on after its decision is opened once more."""

    def _prepare(self, decision: Decision) -> bool:
        call = self.state.calls[decision.call]
        self.publish("call.asked", call=call.id, tool=call.name, args=call.args)
        return super()._prepare(decision)


@fault("WIRE-61", "which this stream has not opened")
class OpensNoCallThatWaits(Runtime):
    """A call of a tool that asks is not opened: its first event is its result."""

    def publish(self, name: str, **data: Any) -> None:
        tool = self.tools.get(str(data.get("tool")), {})
        if name != "call.asked" or tool.get("permission") != "ask":
            super().publish(name, **data)


class _Rearranged(EventSink):
    def encode(self, name: str, data: Data) -> list[Encoded]:
        events = super().encode(name, data)
        return self.rearrange(events) if name == "call.asked" else events

    def rearrange(self, events: list[Encoded]) -> list[Encoded]:
        """The events that open a call, made wrong."""
        return events


@sunk("WIRE-62", "goes on with call")
class GoesOnAfterTheEndOfACall(_Rearranged):
    """A piece of the arguments of a call comes after its end."""

    def rearrange(self, events: list[Encoded]) -> list[Encoded]:
        return [*events, events[1]]


@sunk("WIRE-62", "and the model gave")
class DropsTheRestOfTheArguments(_Rearranged):
    """All but the first character of the arguments gets lost on a stream of AG-UI."""

    def rearrange(self, events: list[Encoded]) -> list[Encoded]:
        return [(name, {**data, "delta": "{"} if "delta" in data else data) for name, data in events]


class _EndsWithTheResult(EventSink):
    of_ai_sdk = False
    ends: dict[str, Encoded]

    def encode(self, name: str, data: Data) -> list[Encoded]:
        events = super().encode(name, data)
        if self.stream == "native" or (self.stream == "ai-sdk-v6") != self.of_ai_sdk:
            return events
        if name == "call.asked":
            self.ends = {**getattr(self, "ends", {}), data["call"]: events.pop()}
        elif name == "call.answered" and data["call"] in getattr(self, "ends", {}):
            events.insert(0, self.ends.pop(data["call"]))
        return events


@sunk("WIRE-63", "was opened and not ended", also=("WIRE-64",))
class EndsACallWithItsResult(_EndsWithTheResult):
    """On a stream of AG-UI a call is ended when its result is there, and not when its arguments are."""


@sunk("WIRE-64", "which was not ended")
class AsksBeforeTheCallIsWhole(_EndsWithTheResult):
    """On a stream of the AI SDK a decision is asked for before the input of the call is available."""

    of_ai_sdk = True


@sunk("WIRE-64", "does not ask for a decision")
class AsksForOneOfTwo(EventSink):
    """On a stream of AG-UI the first call that waits is asked about, and no other."""

    def encode(self, name: str, data: Data) -> list[Encoded]:
        if name == "run.finished" and self.stream != "ai-sdk-v6":
            data = {**data, "pending": data["pending"][:1]}
        return super().encode(name, data)


@fault("WIRE-65", "is a second result of call")
class TellsAResultTwice(Runtime):
    """A result is published when the tool has answered, and again when the round is recorded."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        super().settle(call, event, status, content)
        self.publish("call.answered", call=call.id, status=status, text=str(content))


@fault("WIRE-65", "has no result of call")
class TellsNoFailure(Runtime):
    """The result of a call that failed is not told."""

    def publish(self, name: str, **data: Any) -> None:
        if name != "call.answered" or data["status"] != "error":
            super().publish(name, **data)
