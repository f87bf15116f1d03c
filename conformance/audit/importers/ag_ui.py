"""Imports AG-UI: the requests of a client and the events that answer them, one JSON object each.

A result does not say whether its tool was executed or the call denied, so that clauses about decisions and
executions are not observable.  Calls of tools that the request offers are executed by the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.audit.importers.builder import handshake
from runlock.conformance.audit.importers.conversation import Conversation
from runlock.conformance.audit.importers.histories import (
    assistant,
    call,
    ids_in,
    object_of,
    result,
    text_of,
    user,
)
from runlock.conformance.audit.importers.wire import CLAUSES as WIRE
from runlock.conformance.audit.importers.wire import Wire
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable

Event = Mapping[str, Any]

IGNORED: Final = frozenset(
    {
        "TEXT_MESSAGE_END", "STATE_SNAPSHOT", "STATE_DELTA", "ACTIVITY_SNAPSHOT",
        "ACTIVITY_DELTA", "RAW", "CUSTOM", "STEP_STARTED", "STEP_FINISHED", "REASONING_START",
        "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END",
        "REASONING_MESSAGE_CHUNK", "REASONING_END", "REASONING_ENCRYPTED_VALUE",
    }
)  # fmt: skip
"""Events that say nothing about calls or the ends of runs."""


@dataclass(slots=True)
class Turn:
    """The turn of the model that is being streamed."""

    message: str = ""
    text: str = ""
    calls: dict[str, list[str]] = field(default_factory=dict)  # id: the name, and the pieces of the arguments
    ended: set[str] = field(default_factory=set)  # calls whose arguments are complete
    results: list[tuple[str, str]] = field(default_factory=list)  # of its calls, or of earlier ones


class AgUi:
    """AG-UI, in both directions."""

    name = "ag-ui"
    says = "AG-UI requests and events"
    clauses = WIRE | {"PAIR-1", "PAIR-2", "PAIR-3", "ROUND-3", "RUN-3", "RUN-20", "RUN-21", "RUN-23"}
    is_scattered = True

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What events show."""
        return Grade("not shown", "in part", "in part", "shown", "shown")

    def recognises(self, record: Any) -> bool:
        """Whether it is a request with a thread, or the start of a run."""
        return isinstance(record, dict) and (_is_request(record) or record.get("type") == "RUN_STARTED")

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The records by thread: the one that the last request, or the last start of a run, names."""
        thread = source
        for record in records:
            if isinstance(record, dict) and (_is_request(record) or record.get("type") == "RUN_STARTED"):
                thread = str(record.get("threadId"))
            yield Row(thread, record)

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The trace of one thread."""
        reader = _Reader(thread)
        for record in _in_order(records):
            reader.read(record)
        return [reader.finished()]


def _is_request(record: Mapping[str, Any]) -> bool:
    return "threadId" in record and "messages" in record and "type" not in record


def _in_order(records: Sequence[Any]) -> Iterator[Any]:
    """The runs of a thread: a request comes after those whose messages it repeats."""
    runs: list[list[Any]] = []
    for record in records:
        is_new = isinstance(record, dict) and _is_request(record)
        if is_new or not runs:
            runs.append([])
        runs[-1].append(record)
    if all(isinstance(run[0], dict) and _is_request(run[0]) for run in runs):
        runs.sort(key=lambda run: len(run[0]["messages"]))
    for run in runs:
        yield from run


class _Reader:
    """Reads the records of one thread, in their order."""

    def __init__(self, thread: str) -> None:
        claims = handshake(
            "ag-ui", "1.0", gates=["model"], observes=["run.finished"], decisions=True, stream="ag-ui"
        )
        self.talk = Conversation(claims)
        self.made = Recording(thread, self.talk.builder.trace)
        self.wire = Wire(self.talk)
        self.chunked = ""  # the call whose chunks come, and end it when something else comes
        self.turn: Turn | None = None
        self.request: Event | None = None
        self.offered: set[str] = set()  # the tools that the client executes
        self.interrupts: dict[str, str] = {}  # by id: the call that waits

    def read(self, record: Any) -> None:
        """One request or event."""
        if isinstance(record, Unreadable):
            self.made.unexplained.append(record.sentence)
        elif _is_request(record):
            self.request = record
        else:
            self._event(record, str(record.get("type")))

    def _event(self, event: Event, kind: str) -> None:
        if self.chunked and (kind != "TOOL_CALL_CHUNK" or event.get("toolCallId") != self.chunked):
            self._tell("TOOL_CALL_END", {"toolCallId": self.chunked})
            self.chunked = ""
        if (read := READERS.get(kind)) is not None:
            read(self, event)
        elif kind not in IGNORED:
            self.made.unknown[kind] += 1

    def _tell(self, name: str, event: Event, *fields: str) -> None:
        """Pass an event on that tells of a call."""
        self.wire.hold(name, {key: event[key] for key in ("toolCallId", *fields) if key in event})
        if self.turn is None:
            self.wire.flush()

    def finished(self) -> Recording:
        """The recording, after its last record."""
        self.flush()
        self.made.is_open = self.talk.is_running
        self.made.trace = self.talk.trace()
        return self.made

    def flush(self) -> None:
        """The turn that was streamed is complete, and so are the results that came after it."""
        turn, self.turn = self.turn, None
        if turn is not None:
            calls = [call(id_, name, "".join(args)) for id_, (name, *args) in turn.calls.items()]
            self.talk.turn(turn.text, calls)
            self.wire.flush()
            for of, text in turn.results:
                self.talk.answer(of, text)

    # -- events

    def started(self, event: Event) -> None:
        """A run, or the next segment of one that waits, begins."""
        request = self.request or event.get("input")
        history = None if request is None else [one for raw in request["messages"] for one in _message(raw)]
        said = [one["text"] for one in history or () if one["role"] == "user"]
        self.flush()
        self.offered = {str(tool.get("name")) for tool in (request or {}).get("tools") or ()}
        self.wire.begin(None if history is None else ids_in(history))
        self.talk.begin(said[-1] if said else "", history)
        for answer in (request or {}).get("resume") or ():
            self._resumed(answer)
        self.request = None

    def _resumed(self, answer: Event) -> None:
        payload = answer.get("payload")
        denied = isinstance(payload, Mapping) and payload.get("approved") is False
        call_id = self.interrupts.pop(str(answer.get("interruptId")), "")
        self.talk.decide(call_id, approved=not denied and answer.get("status") != "cancelled")

    def text(self, event: Event) -> None:
        """A message of the assistant begins or goes on."""
        self._turn_of(str(event.get("messageId", ""))).text += str(event.get("delta", ""))

    def called(self, event: Event) -> None:
        """The model asks for a call."""
        if str(event["toolCallId"]) not in self.talk.open:  # else a call that waits is opened again
            turn = self._turn_of(str(event.get("parentMessageId", "")))
            turn.calls[str(event["toolCallId"])] = [str(event.get("toolCallName"))]
        self._tell("TOOL_CALL_START", event, "toolCallName")

    def arguments(self, event: Event) -> None:
        """A piece of the arguments of a call."""
        of = str(event.get("toolCallId"))
        known = self.turn.calls.get(of) if self.turn is not None else None
        if self.turn is not None and known is not None:
            known += [] if of in self.turn.ended else [str(event.get("delta", ""))]
        elif self.wire.is_from_before(of):
            self.made.unexplained.append(f"arguments of call {of}, which no turn asks for")
        self._tell("TOOL_CALL_ARGS", {"delta": "", **event}, "delta")

    def called_in_full(self, event: Event) -> None:
        """The arguments of a call are complete."""
        if self.turn is not None:
            self.turn.ended.add(str(event.get("toolCallId")))
        self._tell("TOOL_CALL_END", event)

    def known(self, event: Event) -> None:
        """Whole messages come, and a page knows their calls."""
        self.wire.know(ids_in(one for raw in event.get("messages") or () for one in _message(raw)))

    def chunk(self, event: Event) -> None:
        """A piece of a call, which begins it if it names its tool."""
        if event.get("toolCallName"):
            self.called(event)
        self.chunked = str(event.get("toolCallId"))
        self.arguments(event)

    def answered(self, event: Event) -> None:
        """The result of a call."""
        found = str(event.get("toolCallId")), text_of(event.get("content"))
        if self.turn is None:
            self.talk.answer(*found)
        else:
            self.turn.results.append(found)
        self._tell("TOOL_CALL_RESULT", event)

    def ended(self, event: Event) -> None:
        """The run ended, or this segment of it, if calls wait for a person or for the client."""
        self.flush()
        self.talk.builder.publish("RUN_FINISHED", {"outcome": self._own(event.get("outcome"))})
        waiting = self._waiting(event.get("outcome") or {})
        if waiting:
            self.talk.suspend(waiting)
        else:
            self.talk.end()

    def _own(self, outcome: Any) -> Any:
        """An outcome without interrupts for calls from before the recording."""
        listed = outcome.get("interrupts") if isinstance(outcome, dict) else None
        own = [one for one in listed or () if not self.wire.is_from_before(str(one.get("toolCallId")))]
        return {**outcome, "interrupts": own} if listed else outcome

    def _waiting(self, outcome: Event) -> list[str]:
        listed = {str(one.get("id")): str(one.get("toolCallId")) for one in outcome.get("interrupts") or ()}
        self.interrupts |= listed
        return list(listed.values()) or [
            id_ for id_, one in self.talk.open.items() if one["name"] in self.offered
        ]

    def failed(self, event: Event) -> None:
        """The run ended in an error."""
        self.flush()
        self.talk.end(failed=True)

    def _turn_of(self, message: str) -> Turn:
        """The turn that a message belongs to; after a result it is a new one, unless the message is known."""
        turn = self.turn
        if turn is None or (turn.results and (not message or message != turn.message)):
            self.flush()
            self.turn = turn = Turn(message)
        turn.message = turn.message or message
        return turn


READERS: Final[Mapping[str, Callable[[_Reader, Event], None]]] = {
    "RUN_STARTED": _Reader.started,
    "TEXT_MESSAGE_START": _Reader.text,
    "TEXT_MESSAGE_CONTENT": _Reader.text,
    "TEXT_MESSAGE_CHUNK": _Reader.text,
    "TOOL_CALL_START": _Reader.called,
    "TOOL_CALL_ARGS": _Reader.arguments,
    "TOOL_CALL_END": _Reader.called_in_full,
    "TOOL_CALL_CHUNK": _Reader.chunk,
    "MESSAGES_SNAPSHOT": _Reader.known,
    "TOOL_CALL_RESULT": _Reader.answered,
    "RUN_FINISHED": _Reader.ended,
    "RUN_ERROR": _Reader.failed,
}


def _message(raw: Event) -> Iterator[dict[str, Any]]:
    """A message of a request."""
    text = raw.get("content") or ""
    role = raw.get("role")
    if role == "tool":
        yield result(str(raw.get("toolCallId")), text_of(text))
    elif role == "assistant":
        asked = [(one.get("id"), one.get("function") or {}) for one in raw.get("toolCalls") or ()]
        calls = [
            call(str(id_), str(made.get("name")), object_of(made.get("arguments"))) for id_, made in asked
        ]
        yield assistant(text_of(text), calls)
    elif role == "user":
        yield user(text_of(text))


IMPORTER: Final = AgUi()
