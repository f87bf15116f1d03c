"""Imports AG-UI: the requests of a client and the events that answer them, one JSON object each.

Histories are those of requests and of `MESSAGES_SNAPSHOT`, with what was streamed since.  A stream need not
have the result of every call.  So a call without one lacks it only if a recorded history lacks it too.  A
result does not say whether its tool was executed or the call denied, so that clauses about decisions and
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
from runlock.conformance.protocol.exchanges import of_exchange

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

PRODUCER: Final = frozenset(f"PRODUCER-{number}" for number in range(1, 34) if number not in (5, 6, 8, 14))
"""Clauses about the stream of one request; who ended it, and how a run was stopped, is not recorded.

Events are sorted by the thread that they name, so that one of another thread is none of the request.
"""

SENT: Final = ("threadId", "runId", "messages", "tools", "resume")
"""Fields of a request that they read."""


@dataclass(slots=True)
class Turn:
    """The turn of the model that is being streamed."""

    message: str = ""
    text: str = ""
    calls: dict[str, list[str]] = field(default_factory=dict)  # id: the name, and the pieces of the arguments
    ended: set[str] = field(default_factory=set)  # calls whose arguments are complete
    results: list[tuple[str, str]] = field(default_factory=list)  # of its calls, or of earlier ones
    snapshot: list[dict[str, Any]] | None = None  # the history that came after it

    @property
    def is_answered(self) -> bool:
        """Whether something came after its calls: a result, or what a snapshot has after them."""
        after = self.snapshot[-1:] if self.snapshot else []
        return bool(self.results) or any(one["role"] != "assistant" for one in after)

    @property
    def is_whole(self) -> bool:
        """Whether what came since shows that the turn is complete."""
        return bool(self.results) or (self.snapshot is not None and self.ended >= self.calls.keys())


@dataclass(slots=True)
class Histories:
    """What the requests and snapshots of a thread say of its calls, wherever they stand."""

    turns: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by message: the calls it asks for
    results: dict[str, dict[str, Any]] = field(default_factory=dict)  # by call
    calls: set[str] = field(default_factory=set)
    is_empty: bool = True

    def take(self, raw: Event) -> None:
        """A message of a request or of a snapshot."""
        for message in _message(raw):
            asked = message.get("tool_calls") or []
            self.calls |= {one["id"] for one in asked}
            if asked:
                self.turns[str(raw.get("id"))] = asked
            if message["role"] == "tool":
                self.results[message["call"]] = message


def histories_of(records: Sequence[Any]) -> Histories:
    """The histories that the records of a thread hold."""
    found = Histories()
    for record in records:
        if isinstance(record, dict) and (_is_request(record) or record.get("type") == "MESSAGES_SNAPSHOT"):
            found.is_empty = False
            for raw in _messages_of(record):
                found.take(raw)
    return found


class AgUi:
    """AG-UI, in both directions."""

    name = "ag-ui"
    says = "AG-UI requests and events"
    clauses = WIRE | PRODUCER | {"PAIR-1", "PAIR-2", "PAIR-3", "RUN-3", "RUN-20", "RUN-21", "RUN-23"}
    is_scattered = True

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What events show."""
        return Grade("not shown", "in part", "in part", "shown", "shown")

    def recognises(self, record: Any) -> bool:
        """Whether it is a request with a thread, or an event of a kind that only AG-UI has."""
        return isinstance(record, dict) and (_is_request(record) or record.get("type") in READERS)

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The records by thread: the one that the last request, or the last start of a run, names.

        Runs without a `threadId` are one thread of their file.
        """
        thread = f"{source}#1"
        for record in records:
            if isinstance(record, dict) and (_is_request(record) or record.get("type") == "RUN_STARTED"):
                thread = str(record.get("threadId") or f"{source}#1")
            yield Row(thread, record)

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The trace of one thread."""
        runs = _in_order(records)
        is_paired = all(_is_request_first(run) and len(run) > 1 for run in runs)
        reader = _Reader(thread, histories_of(records), Exchanges(is_paired))
        for record in (one for run in runs for one in run):
            reader.read(record)
        return [reader.finished()]


def _is_request(record: Mapping[str, Any]) -> bool:
    return "threadId" in record and "messages" in record and "type" not in record


def _is_request_first(run: Sequence[Any]) -> bool:
    return isinstance(run[0], dict) and _is_request(run[0])


def _in_order(records: Sequence[Any]) -> list[list[Any]]:
    """The runs of a thread: a request comes after those whose messages it repeats."""
    runs: list[list[Any]] = []
    for record in records:
        is_new = isinstance(record, dict) and _is_request(record)
        if is_new or not runs:
            runs.append([])
        runs[-1].append(record)
    if all(map(_is_request_first, runs)):
        runs.sort(key=lambda run: len(run[0]["messages"]))
    return runs


@dataclass(slots=True)
class Exchanges:
    """Requests with the events that answered them.

    Where each request has events after it, they are its own; else it is not known which request they answer,
    and each run is one stream.
    """

    is_paired: bool
    request: Event | None = None
    events: list[Event] = field(default_factory=list)
    is_whole: bool = True  # no record of it was unreadable

    def take(self, record: Any) -> tuple[Event | None, list[Event]] | None:
        """The next record; gives what came before it, if that is complete now."""
        if isinstance(record, Unreadable):
            self.is_whole = False
            return None
        is_new = _is_request(record) if self.is_paired else record.get("type") == "RUN_STARTED"
        done = self.end() if is_new else None
        if not _is_request(record):
            self.events.append(of_exchange(record))
        elif self.is_paired:
            self.request = {key: record[key] for key in SENT if record.get(key) is not None}
        return done

    def end(self) -> tuple[Event | None, list[Event]] | None:
        """The stream so far, if there is one and all of it could be read."""
        done = (self.request, self.events) if self.events and self.is_whole else None
        self.request, self.events, self.is_whole = None, [], True
        return done


class _Reader:
    """Reads the records of one thread, in their order."""

    def __init__(self, thread: str, histories: Histories, exchanges: Exchanges) -> None:
        shown = ["run.finished", "exchange"]
        claims = handshake(
            "ag-ui", "1.0", gates=["model", "tool"], observes=shown, decisions=True, stream="ag-ui"
        )
        self.exchanges = exchanges
        self.talk = Conversation(claims)
        self.histories = histories
        self.talk.has_history = not histories.is_empty
        self.made = Recording(thread, self.talk.builder.trace)
        self.wire = Wire(self.talk)
        self.chunked = ""  # the call whose chunks come, and end it when something else comes
        self.turn: Turn | None = None
        self.request: Event | None = None
        self.offered: set[str] | None = None  # the tools that the client executes; None: not recorded
        self.interrupts: dict[str, str] = {}  # by id: the call that waits

    def read(self, record: Any) -> None:
        """One request or event."""
        self._exchanged(self.exchanges.take(record))
        if isinstance(record, Unreadable):
            self.made.unexplained.append(record.sentence)
        elif _is_request(record):
            self.request = record
        else:
            self._event(record, str(record.get("type")))

    def _event(self, event: Event, kind: str) -> None:
        goes_on = kind == "TOOL_CALL_CHUNK" and event.get("toolCallId") in (None, self.chunked)
        if self.chunked and not goes_on:
            self.called_in_full({"toolCallId": self.chunked})
            self.chunked = ""
        if (read := READERS.get(kind)) is not None:
            read(self, event)
        elif kind not in IGNORED:
            self.made.unknown[kind] += 1

    def _exchanged(self, done: tuple[Event | None, list[Event]] | None) -> None:
        if done is not None and self.talk.builder.run:
            self.talk.builder.exchange(*done)

    def _tell(self, name: str, event: Event, *fields: str) -> None:
        """Pass an event on that tells of a call."""
        self.wire.hold(name, {key: event[key] for key in ("toolCallId", *fields) if key in event})
        if self.turn is None:
            self.wire.flush()

    def finished(self) -> Recording:
        """The recording, after its last record."""
        self.flush()
        self._exchanged(self.exchanges.end())
        self.made.is_open = self.talk.is_running
        self.made.hidden = frozenset(self.talk.hidden)
        self.made.trace = self.talk.trace()
        return self.made

    def flush(self) -> None:
        """The turn that was streamed is complete, and so are the results that came after it."""
        turn, self.turn = self.turn, None
        if turn is None:
            return
        self._complete_history()
        self.talk.turn(turn.text, self._calls_of(turn))
        self.wire.flush()
        for of, text in turn.results:
            self.talk.answer(of, text)
        if turn.snapshot is not None:
            self._go_on_from(turn.snapshot)

    def _calls_of(self, turn: Turn) -> list[dict[str, Any]]:
        """The calls that a turn asks for: as a recorded history has it, or else as it was streamed."""
        recorded = {one["id"]: one for one in self.histories.turns.get(turn.message, ())}
        known = recorded if turn.message else {}
        streamed = {id_: call(id_, name, "".join(args)) for id_, (name, *args) in turn.calls.items()}
        return list((streamed | known).values())

    def _complete_history(self) -> None:
        """Before an inference: the calls without a result, as far as recorded histories know them.

        If no history has a call, its result may have come in another way.
        """
        for id_ in list(self.talk.open):
            found = self.histories.results.get(id_)
            if found is not None:
                self.talk.learn(found)
            elif id_ not in self.histories.calls:
                self.talk.hidden |= {"PAIR-1"}

    def _go_on_from(self, snapshot: Sequence[dict[str, Any]]) -> None:
        """A snapshot is the history from here on."""
        self.talk.history = list(snapshot)
        for message in snapshot:
            self.talk.open.pop(str(message.get("call")), None)

    # -- events

    def started(self, event: Event) -> None:
        """A run, or the next segment of one that waits, begins."""
        request = self.request or event.get("input")
        history = None if request is None else _history(request)
        said = [one["text"] for one in history or () if one["role"] == "user"]
        self.flush()
        self._complete_history()
        tools = None if request is None else request.get("tools") or ()
        self.offered = None if tools is None else {str(tool.get("name")) for tool in tools}
        self.wire.know(ids_in(history or ()))
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
            turn = self._turn_of(str(event.get("parentMessageId", "")), is_call=True)
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
        """A snapshot is the whole history; a page knows its calls, and those of a turn that is streamed."""
        history = _history(event)
        self.wire.know(set(ids_in(history)) - (self.turn.calls.keys() if self.turn is not None else set()))
        if self.turn is None:
            self._go_on_from(history)
        else:
            self.turn.snapshot = history

    def chunk(self, event: Event) -> None:
        """A piece of a call, which begins it if it names its tool."""
        begins = not self.chunked
        self.chunked = self.chunked or str(event.get("toolCallId"))
        piece = {**event, "toolCallId": self.chunked}
        if begins and event.get("toolCallName"):
            self.called(piece)
        self.arguments(piece)

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
        said = event.get("outcome")
        self.talk.builder.publish("RUN_FINISHED", {"outcome": self._own(said)})
        outcome = said if isinstance(said, Mapping) else {}
        waiting = self._waiting(outcome)
        if waiting and self.talk.is_running:
            self.talk.suspend(waiting, resumes=bool(outcome.get("interrupts")))
        else:
            self.talk.end()

    def _own(self, outcome: Any) -> Any:
        """An outcome without interrupts for calls from before the recording."""
        listed = outcome.get("interrupts") if isinstance(outcome, dict) else None
        own = [one for one in listed or () if not self.wire.is_from_before(str(one.get("toolCallId")))]
        return {**outcome, "interrupts": own} if listed else outcome

    def _waiting(self, outcome: Event) -> list[str]:
        """The calls that wait: those that are asked about, or those of the client.

        Without the request, it is not known which tools are the client's.
        """
        listed = {str(one.get("id")): str(one.get("toolCallId")) for one in outcome.get("interrupts") or ()}
        self.interrupts |= listed
        if not all(one.get("toolCallId") for one in outcome.get("interrupts") or ()):
            self.talk.hidden |= {"RUN-23"}  # it waits for something else than a call
        if listed:
            return list(listed.values())
        if self.offered is None:
            self.talk.hidden |= {"RUN-3", "RUN-23"} if self.talk.open else set()
            return list(self.talk.open)
        return [id_ for id_, one in self.talk.open.items() if one["name"] in self.offered]

    def failed(self, event: Event) -> None:
        """The run ended in an error."""
        self.flush()
        self.talk.end(failed=True)

    def _turn_of(self, message: str, *, is_call: bool = False) -> Turn:
        """The turn that a message belongs to; after a result it is a new one, unless the message is known.

        A call next to calls that have no result yet is one of the same turn: some servers give each call of a
        turn a message of its own, and a snapshot after each.
        """
        turn = self.turn
        is_sibling = is_call and turn is not None and bool(turn.calls) and not turn.is_answered
        if turn is None or (turn.is_whole and not is_sibling and (not message or message != turn.message)):
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


def _messages_of(record: Event) -> list[Event]:
    return [one for one in record.get("messages") or () if isinstance(one, dict)]


def _history(record: Event) -> list[dict[str, Any]]:
    """The messages of a request or of a snapshot; calls in messages one after another are of one turn."""
    made: list[dict[str, Any]] = []
    for one in (message for raw in _messages_of(record) for message in _message(raw)):
        before = made[-1] if made else {}
        if one.get("tool_calls") and before.get("tool_calls"):
            text, calls = before["text"] + one["text"], before["tool_calls"] + one["tool_calls"]
            made[-1] = assistant(text, calls)
        else:
            made.append(one)
    return made


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
