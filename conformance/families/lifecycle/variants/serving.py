"""Right as servers of AG-UI, each by a freedom that the protocol leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runlock.machines.lifecycle.runtime.producer import THREAD, Event, Producer

Data = Mapping[str, Any]

EARLIER: Event = {"threadId": THREAD, "runId": "run-0"}
"""The ids of a run that is replayed."""


class Chunked(Producer):
    """Calls are streamed in chunks, and have no end of their own."""

    first: tuple[str, ...] = ("toolCallId", "toolCallName")
    later: Event = {}

    def call(self, call: str, tool: str, args: str) -> None:
        named = {"toolCallId": call, "toolCallName": tool}
        self.send("TOOL_CALL_CHUNK", **{name: named[name] for name in self.first}, delta=args[:2])
        self.send("TOOL_CALL_CHUNK", **{"toolCallId": call, **self.later}, delta=args[2:])


class OfTheApplication(Producer):
    """Each tool is one that the request offers; how its calls end is the producer's own."""

    answers = False

    def asked(self, data: Data) -> None:
        if data["tool"] not in [one["name"] for one in self.request["tools"]]:
            self.request["tools"].append({"name": data["tool"]})
        super().asked(data)

    def answered(self, data: Data) -> None:
        if self.answers:
            super().answered(data)
        else:
            self.message("tool", data["text"], toolCallId=data["call"])


class LeavesCallsToTheApplication(OfTheApplication):
    """The application executes each call; a run that leaves some is a success, and names them."""

    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        made = super().outcome(code, pending)
        if made["type"] == "cancelled":
            return made
        calls = [one["toolCallId"] for one in self.events if one["type"] == "TOOL_CALL_START"]
        return {"type": "success", "pendingToolCallIds": list(dict.fromkeys(calls))}


class Encrypted(Producer):
    """The reasoning of the model comes along, encrypted: a field that version 1.0 lacks."""

    def stream(self, events: list[Event]) -> list[Event]:
        of = {"subtype": "message", "entityId": "message-1"}
        value = {**of, "encryptedValue": "4zI", "encryptedValueType": "signature"}
        return [events[0], {"type": "REASONING_ENCRYPTED_VALUE", **value}, *events[1:]]


class OpensCallsAgain(Producer):
    """A call is opened again after its end, and goes on."""

    def call(self, call: str, tool: str, args: str) -> None:
        for part in (args[:2], args[2:]):
            self.send("TOOL_CALL_START", toolCallId=call, toolCallName=tool)
            self.send("TOOL_CALL_ARGS", toolCallId=call, delta=part)
            self.send("TOOL_CALL_END", toolCallId=call)


class ReplaysItsThread(Producer):
    """A stream begins with runs from before: one that has finished, and one that has failed."""

    def stream(self, events: list[Event]) -> list[Event]:
        finished = [{"type": "RUN_STARTED", **EARLIER}, {"type": "RUN_FINISHED", **EARLIER}]
        failed = [{"type": "RUN_STARTED", **EARLIER}, {"type": "RUN_ERROR", "message": "it broke"}]
        return [*finished, *failed, *events]


class FailsLate(Producer):
    """An error follows the end of each run."""

    def stream(self, events: list[Event]) -> list[Event]:
        late = {"type": "RUN_ERROR", "message": "the stream could not be flushed"}
        return [*events, late] if events[-1]["type"] == "RUN_FINISHED" else events


class FailsWithItemsOpen(Producer):
    """A run that fails leaves messages, calls and steps open."""

    def stream(self, events: list[Event]) -> list[Event]:
        if events[-1]["type"] != "RUN_ERROR":
            return events
        return [event for event in events if not event["type"].endswith(("_END", "STEP_FINISHED"))]


class AnswersInParts(Producer):
    """A result is a list of parts."""

    def stream(self, events: list[Event]) -> list[Event]:
        return [
            {**one, "content": [{"type": "text", "text": one["content"]}]} if "content" in one else one
            for one in events
        ]
