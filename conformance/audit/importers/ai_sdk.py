"""Imports the UI message stream of the AI SDK: the requests of a chat and the chunks that answer them.

A step is an inference.  Requests hold the answers to approvals; without them, decisions are not judged.
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
    result,
    text_of,
    user,
)
from runlock.conformance.audit.importers.wire import CLAUSES as WIRE
from runlock.conformance.audit.importers.wire import Wire
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable

Chunk = Mapping[str, Any]
Answer = tuple[str, str, str | None, bool]
"""The call, the text, the status, and whether its tool gave it."""

IGNORED: Final = frozenset(
    {
        "text-start", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end", "source-url",
        "source-document", "file", "reasoning-file", "custom", "message-metadata",
        "tool-approval-response", "finish-step", "abort",
    }
)  # fmt: skip
DENIED: Final = "denied"
CUT_SHORT: Final = ("length", "content-filter", "error")
"""Reasons of a finish before which an input may have been cut short."""
ANSWERED: Final = ("output-available", "output-error", "output-denied")


@dataclass(slots=True)
class Step:
    """One inference that is being streamed, with the results of its calls."""

    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    begun: dict[str, str] = field(default_factory=dict)  # inputs that are not available yet, with their tools
    answers: list[Answer] = field(default_factory=list)


class AiSdk:
    """The UI message stream of the AI SDK, in both directions."""

    name = "ai-sdk"
    says = "AI SDK UI message streams and their requests"
    clauses = WIRE | frozenset(
        {
            "PAIR-1", "PAIR-2", "PAIR-3", "ROUND-3", "RUN-3", "RUN-20", "RUN-21", "RUN-23",
            "GATE-1", "GATE-2", "ONCE-1",
        }
    )  # fmt: skip
    is_scattered = True

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What the stream shows, together with the requests."""
        decisions: Any = "shown" if "decide" in claims["stimuli"] else "not shown"
        return Grade("in part", decisions, "shown", "shown", "shown")

    def recognises(self, record: Any) -> bool:
        """Whether it is the request of a chat, or the start of a message."""
        return isinstance(record, dict) and (
            _is_request(record) or record.get("type") in ("start", "start-step")
        )

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The records by chat: the one that the last request names, or one for the file."""
        thread = f"{source}#1"
        for record in records:
            if isinstance(record, dict) and _is_request(record):
                thread = str(record["id"])
            yield Row(thread, record)

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The trace of one chat."""
        reader = _Reader(thread, records)
        for record in records:
            reader.read(record)
        return [reader.finished()]


def _is_request(record: Mapping[str, Any]) -> bool:
    messages = record.get("messages")
    is_chat = "id" in record and "type" not in record and isinstance(messages, list)
    return is_chat and all(isinstance(one, dict) and "parts" in one for one in messages or ())


def _asking(records: Sequence[Any]) -> set[str]:
    """The tools of which each call was put to a person."""
    chunks = [one for one in records if isinstance(one, dict)]
    names = {one["toolCallId"]: one.get("toolName") for one in chunks if _asks(one)}
    asked = {one.get("toolCallId") for one in chunks if one.get("type") == "tool-approval-request"}
    return {str(names[one]) for one in asked if one in names} - {
        str(name) for one, name in names.items() if one not in asked
    }


def _asks(chunk: Chunk) -> bool:
    return chunk.get("type") in ("tool-input-available", "tool-input-error") and "toolCallId" in chunk


class _Reader:
    """Reads the records of one chat, in their order."""

    def __init__(self, thread: str, records: Sequence[Any]) -> None:
        has_requests = any(isinstance(one, dict) and _is_request(one) for one in records)
        claims = handshake(
            "ai",
            "?",
            gates=["model", "tool"],
            observes=["run.finished"],
            decisions=has_requests,
            stream="ai-sdk-v6",
        )
        self.talk = Conversation(claims, _asking(records) if has_requests else ())
        self.wire = Wire(self.talk)
        self.made = Recording(thread, self.talk.builder.trace)
        self.step: Step | None = None
        self.request: Chunk | None = None
        self.waiting: dict[str, str] = {}  # by approval: the call that waits for it
        self.has_failed = False  # an error came, and the end of its message did not yet

    def read(self, record: Any) -> None:
        """One request or chunk."""
        kind = str(record.get("type")) if isinstance(record, dict) else ""
        if isinstance(record, Unreadable):
            self.made.unexplained.append(record.sentence)
        elif kind in READERS:
            READERS[kind](self, record)
        elif isinstance(record, dict) and _is_request(record):
            self.request = record
        elif kind not in IGNORED and not kind.startswith("data-"):
            self.made.unknown[kind or "a value that is no chunk"] += 1

    def _tell(self, chunk: Chunk, *fields: str) -> None:
        """Pass a chunk on that tells of a call."""
        kept = {key: chunk[key] for key in ("toolCallId", *fields) if key in chunk}
        self.wire.hold(str(chunk["type"]), kept)
        if self.step is None:
            self.wire.flush()

    def finished(self) -> Recording:
        """The recording, after its last record."""
        self._broke_off()
        self.made.is_open = self.talk.is_running
        self.made.hidden = frozenset(self.talk.hidden)
        self.made.trace = self.talk.trace()
        return self.made

    def flush(self) -> None:
        """The step that was streamed is complete."""
        step, self.step = self.step, None
        if step is not None:
            begun = [call(id_, name, {}) for id_, name in step.begun.items()]
            self.talk.turn(step.text, [*step.calls, *begun])
            self.wire.flush()
            for answer in step.answers:
                self._answered(answer)

    def _broke_off(self) -> None:
        """A message is over; one with an error may have no end of its own."""
        self.flush()
        if self.has_failed:
            self.talk.end(failed=True)
        self.has_failed = False

    def _answered(self, answer: Answer) -> None:
        of, text, status, ran = answer
        self.talk.answer(of, text, status, ran=ran)

    # -- chunks

    def started(self, chunk: Chunk) -> None:
        """A run begins, or goes on with what the last message of the request answers."""
        self._broke_off()
        messages = (self.request or {}).get("messages")
        history = None if messages is None else [one for raw in messages for one in _message(raw)]
        said = [one["text"] for one in history or () if one["role"] == "user"]
        self.wire.know(ids_in(history or ()))
        self.talk.begin(said[-1] if said else "", history)
        for part in messages[-1].get("parts", ()) if messages else ():
            self._decided(part)
        self.request = None

    def _decided(self, part: Chunk) -> None:
        approval = part.get("approval") or {}
        call_id = self.waiting.pop(str(approval.get("id")), None)
        if call_id is not None and approval.get("approved") is not None:
            self.talk.decide(call_id, approved=bool(approval["approved"]))

    def stepped(self, chunk: Chunk) -> None:
        """The model is asked."""
        self.flush()
        self.step = Step()

    def text(self, chunk: Chunk) -> None:
        """A piece of the text of the model."""
        if self.step is not None:
            self.step.text += str(chunk.get("delta", ""))

    def begun(self, chunk: Chunk) -> None:
        """The input of a call begins."""
        if self.step is not None and chunk["toolCallId"] not in self.talk.open:
            self.step.begun[str(chunk["toolCallId"])] = str(chunk.get("toolName"))
        self._tell(chunk, "toolName")

    def goes_on(self, chunk: Chunk) -> None:
        """A piece of the input of a call."""
        self._tell({"inputTextDelta": "", **chunk}, "inputTextDelta")

    def called(self, chunk: Chunk) -> None:
        """The model asks for a call; one with a wrong input has its result at once."""
        if chunk["toolCallId"] in self.talk.open:  # it waits, and is opened again
            self._tell(chunk, "input")
            return
        if self.step is None:
            self.made.unexplained.append(f"call {chunk.get('toolCallId')} lies in no step")
            return
        made = call(str(chunk["toolCallId"]), str(chunk.get("toolName")), chunk.get("input"))
        self.step.begun.pop(made["id"], None)
        self.step.calls.append(made)
        self._tell(chunk, "input")
        if chunk["type"] == "tool-input-error":
            self.step.answers.append((made["id"], str(chunk.get("errorText", "")), "error", False))

    def asked(self, chunk: Chunk) -> None:
        """A call waits for a person."""
        self.waiting[str(chunk.get("approvalId"))] = str(chunk.get("toolCallId"))
        self._tell(chunk)

    def answered(self, chunk: Chunk) -> None:
        """The result of a call; a preliminary one only tells how far it is."""
        if chunk.get("preliminary"):
            return
        answer = _result_of(str(chunk["toolCallId"]), str(chunk["type"]).removeprefix("tool-"), chunk)
        if self.step is None:
            self._answered(answer)
        else:
            self.step.answers.append(answer)
        self._tell(chunk)

    def ended(self, chunk: Chunk) -> None:
        """The run ended; or its calls wait, for a person or for the client that executes them."""
        failed, self.has_failed = self.has_failed or chunk.get("finishReason") == "error", False
        if self.step is not None and chunk.get("finishReason") in CUT_SHORT:
            self.wire.forget(self.step.begun)
            self.step.begun = {}
        self.flush()
        self.talk.builder.publish("finish", {"finishReason": chunk.get("finishReason")})
        waiting = [call_id for call_id in self.waiting.values() if call_id in self.talk.open]
        is_asked = bool(waiting)
        if not waiting and chunk.get("finishReason") == "tool-calls":
            waiting = list(self.talk.open)
        if waiting and not failed:
            self.talk.suspend(waiting, resumes=is_asked)
        else:
            self.talk.end(failed=failed)

    def failed(self, chunk: Chunk) -> None:
        """Something went wrong; the end of the message says that it ends with that."""
        self.has_failed = True


READERS: Final[Mapping[str, Callable[[_Reader, Chunk], None]]] = {
    "start": _Reader.started,
    "start-step": _Reader.stepped,
    "text-delta": _Reader.text,
    "tool-input-start": _Reader.begun,
    "tool-input-delta": _Reader.goes_on,
    "tool-input-available": _Reader.called,
    "tool-input-error": _Reader.called,
    "tool-approval-request": _Reader.asked,
    "tool-output-available": _Reader.answered,
    "tool-output-error": _Reader.answered,
    "tool-output-denied": _Reader.answered,
    "finish": _Reader.ended,
    "error": _Reader.failed,
}


def _result_of(call_id: str, state: str, part: Chunk) -> Answer:
    if state == "output-denied":
        return call_id, DENIED, "cancelled", False
    if state == "output-error":
        return call_id, str(part.get("errorText", "")), "error", True
    return call_id, text_of(part.get("output")), None, True


def _message(raw: Chunk) -> Iterator[dict[str, Any]]:
    """A message of a request; each step of the assistant is a turn, with its results after it."""
    text, parts = "", list(raw.get("parts", ()))
    if raw.get("role") != "assistant":
        text = "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
        yield from [user(text)] if raw.get("role") == "user" else []
        return
    steps: list[list[Chunk]] = [[]]
    for part in parts:
        if part.get("type") == "step-start":
            steps.append([])
        else:
            steps[-1].append(part)
    for step in filter(None, steps):
        yield from _turn(step)


def _turn(parts: Sequence[Chunk]) -> Iterator[dict[str, Any]]:
    tools = [part for part in parts if "toolCallId" in part]
    text = "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
    yield assistant(text, [call(str(one["toolCallId"]), _name(one), one.get("input")) for one in tools])
    for one in tools:
        if one.get("state") in ANSWERED:
            call_id, answer, status, _ = _result_of(str(one["toolCallId"]), str(one["state"]), one)
            yield result(call_id, answer, status)


def _name(part: Chunk) -> str:
    return str(part.get("toolName") or str(part.get("type", "")).removeprefix("tool-"))


IMPORTER: Final = AiSdk()
