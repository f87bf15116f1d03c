"""Applications behind AG-UI whose runtime is right, and whose event writer is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ag_ui.core import RunAgentInput

from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.wires.ag_ui_server import Served, Thread
from runlock.conformance.wires.ui_clients import Json


class Written(Thread):
    """A thread that writes each event in its own way; `seen` are the events of the run so far."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.asked: RunAgentInput | None = None
        self.seen: list[Json] = []

    async def take(self, asked: RunAgentInput, send: Callable[[Json], None]) -> None:
        self.asked, self.seen = asked, []

        def write(event: Json) -> None:
            for written in self.written(event):
                send(written)
            self.seen.append(event)

        await super().take(asked, write)

    def written(self, event: Json) -> Iterator[Json]:
        """What is sent of an event."""
        yield event

    def is_end(self, event: Json) -> bool:
        """Whether a run has finished, with whatever outcome."""
        return bool(event["type"] == "RUN_FINISHED")


class Greeting(Written):
    """Says hello before each run."""

    def written(self, event: Json) -> Iterator[Json]:
        if event["type"] == "RUN_STARTED":
            yield {"type": "CUSTOM", "name": "hello", "value": 1}
        yield event


class AfterTheEnd(Written):
    """Sends its state when the run has finished."""

    def written(self, event: Json) -> Iterator[Json]:
        yield event
        if self.is_end(event):
            yield {"type": "STATE_SNAPSHOT", "snapshot": {}}


class MakingUpRuns(Written):
    """Makes up the ids of its runs."""

    def written(self, event: Json) -> Iterator[Json]:
        yield {**event, "runId": "mine"} if "runId" in event else event


class LeavingMessagesOpen(Written):
    """Ends no message."""

    def written(self, event: Json) -> Iterator[Json]:
        if event["type"] != "TEXT_MESSAGE_END":
            yield event


class EndingMessagesTwice(Written):
    """Ends each message twice."""

    def written(self, event: Json) -> Iterator[Json]:
        if event["type"] == "TEXT_MESSAGE_END":
            yield event
        yield event


class NamingInterruptsAlike(Written):
    """Gives each interrupt the same id."""

    def interrupts(self) -> list[Json]:
        return [{**one, "id": "approval"} for one in super().interrupts()]


class TellingAgain(Written):
    """Streams a call once more when it is approved."""

    def written(self, event: Json) -> Iterator[Json]:
        yield event
        if event["type"] == "RUN_STARTED" and self.asked is not None and self.asked.resume:
            calls = [call for one in self.asked.messages for call in getattr(one, "tool_calls", None) or ()]
            for call in (one for one in calls if one.id in self.pending):
                named = {"toolCallId": call.id}
                yield {"type": "TOOL_CALL_START", **named, "toolCallName": call.function.name}
                yield {"type": "TOOL_CALL_ARGS", **named, "delta": call.function.arguments}
                yield {"type": "TOOL_CALL_END", **named}


def _with(thread: type[Thread]) -> Served:
    return Served(factory("awaken-8", {}), ("write",), ("read",), thread)


WRITERS: Mapping[str, tuple[Served, str]] = {
    "greeting": (_with(Greeting), "PRODUCER-1"),
    "after-the-end": (_with(AfterTheEnd), "PRODUCER-3"),
    "making-up-runs": (_with(MakingUpRuns), "PRODUCER-8"),
    "leaving-messages-open": (_with(LeavingMessagesOpen), "PRODUCER-18"),
    "ending-messages-twice": (_with(EndingMessagesTwice), "PRODUCER-17"),
    "naming-interrupts-alike": (_with(NamingInterruptsAlike), "PRODUCER-13"),
    "telling-again": (_with(TellingAgain), "PRODUCER-30"),
}
"""By name: the application, and the clause that it breaks."""
