"""Imports lists of messages: Chat Completions and Responses items of OpenAI, and Messages of Anthropic.

A list is what a program sends to the model with its next request.  So what stands before a turn of the model
is the history of an inference, and nothing else is shown: no decisions, executions or ends.  A list is an
array, an object with the array, as the body of a request has it, or one message a line.  A list that ends
with results is judged to its end if it is the body of a request; otherwise more results may have come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers.builder import Builder, handshake
from runlock.conformance.audit.importers.histories import assistant, call, result, text_of, user
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable
from runlock.conformance.inputs import json_in

Raw = Mapping[str, Any]
Message = dict[str, Any]

LISTS: Final = ("messages", "input", "items", "conversation", "history")
"""The names under which an object has its list."""

AROUND: Final = ("values", "body", "request")
"""The names under which an object has the one with the list: a snapshot of a graph, a logged request."""

OTHERS: Final = frozenset({"threadId", "trajectory", "resourceSpans", "uuid", "sessionId"})
"""Keys of records of other formats, which have messages too."""

CONTENTS: Final = frozenset({"parts", "toolCalls", "toolCallId"})
"""Keys of messages of other libraries."""

CHAT_PARTS: Final = frozenset(
    {
        "text", "refusal", "image_url", "input_audio", "audio", "video_url", "file", "image", "document",
        "thinking", "redacted_thinking", "reasoning",
    }
)  # fmt: skip
"""Kinds of parts without calls; a message with others is of another API, whose calls may stand in them."""

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
MODEL: Final = "model"


class Messages:
    """Lists of messages of one API; `read` makes messages of the kit of one of its messages."""

    clauses = frozenset({"PAIR-1", "PAIR-2", "PAIR-3", "ROUND-3"})
    is_scattered = False

    def __init__(
        self,
        name: str,
        says: str,
        is_own: Callable[[Raw], bool],
        read: Callable[[Raw], Iterator[Message]],
        *,
        merges: bool,
        is_message: Callable[[Any], bool] | None = None,
        lacks_id: Callable[[Raw], bool] | None = None,
    ) -> None:
        self.name, self.says = name, says
        self._is_own, self._read, self._merges = is_own, read, merges
        self._is_message = is_message or _is_message
        self._lacks_id = lacks_id or lacks_ids

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What a list shows."""
        return Grade("not shown", "not shown", "in part", "shown", "not shown")

    def recognises(self, record: Any) -> bool:
        """Whether it is a list of such messages, an object with one, or such a message."""
        listed = messages_in(record)
        if listed is None:
            return self._is_own(record)
        return all(map(self._is_message, listed)) and any(map(self._is_own, listed))

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """Each list is a thread, message by message; messages that stand alone are one together."""
        for number, record in enumerate(records, 1):
            listed = messages_in(record)
            if listed is None:
                yield Row(f"{source}#1", record)
            else:
                yield from (Row(f"{source}#{number}", one) for one in (*listed, *_sent_with(record)))

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The trace of one list; one with values that are no messages shows nothing."""
        writer = Writer(Builder(handshake(self.name, "?", gates=["model", "tool"])))
        made = Recording(thread, writer.builder.trace, is_open=True)
        messages = [one for one in records if isinstance(one, dict) and self._is_message(one)]
        for one in messages:
            writer.take(list(self._read(one)), merges=self._merges)
        others = [one for one in records if not (isinstance(one, dict) and self._is_message(one))]
        made.unexplained += [one.sentence for one in others if isinstance(one, Unreadable)]
        odd = [one for one in others if not (isinstance(one, Unreadable) or _is_sent(one))]
        made.unknown["a value that is no message"] += len(odd)
        made.unknown = +made.unknown
        if odd or any(map(self._lacks_id, messages)):
            made.hidden = self.clauses
        writer.close(is_request=any(map(_is_sent, others)))
        made.trace = writer.builder.finished()
        return [made]


class Writer:
    """Writes each turn of the model as an inference, with what stands before it as its history."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.history: list[Message] = []
        self.turn: Message | None = None

    def take(self, messages: Iterable[Message], *, merges: bool) -> None:
        """Take the next messages; turns that follow each other are one where the API merges them."""
        for message in messages:
            if message["role"] != "assistant":
                self._flush()
                self.history.append(message)
                if message["role"] == "user":
                    self.builder.start(message["text"])
            elif self.turn is not None and merges:
                self.turn["text"] += message["text"]
                self.turn["tool_calls"] += message["tool_calls"]
            else:
                self._flush()
                self.turn = message

    def close(self, *, is_request: bool) -> None:
        """The list ends; the model is asked with that of a request, and with what a user said last."""
        self._flush()
        last = self.history[-1]["role"] if self.history else "assistant"
        if last == "user" or (is_request and last == "tool"):
            self._ask()

    def replace(self, why: str, instead: Sequence[Message]) -> None:
        """The history gives way to another one, such as a summary."""
        self._flush()
        if self.builder.run:
            self.builder.edited(why, self.history, instead)
        self.history = list(instead)

    def cut(self, turns: int) -> None:
        """That many of the last messages of the user go, with what followed them."""
        self._flush()
        said = [at for at, one in enumerate(self.history) if one["role"] == "user"]
        self.history = self.history[: said[-turns]] if 0 < turns <= len(said) else self.history

    def _flush(self) -> None:
        turn, self.turn = self.turn, None
        if turn is not None:
            self.builder.turn(self._ask(), turn["text"], turn["tool_calls"])
            self.history.append(turn)

    def _ask(self) -> str:
        if not self.builder.run:
            self.builder.start()
        return self.builder.ask(self.history)


def messages_in(record: Any) -> list[Any] | None:
    """The list that a record is or has; None if it has none."""
    if isinstance(record, list):
        return record
    holder = _holder(record)
    return None if holder is None else _lists_of(holder)[0]


def _holder(record: Any) -> Raw | None:
    """The object with the list: the record, or one within it."""
    if not isinstance(record, dict) or "role" in record or "type" in record or record.keys() & OTHERS:
        return None
    if _lists_of(record):
        return record
    return next((found for key in AROUND if (found := _holder(record.get(key))) is not None), None)


def _lists_of(holder: Raw) -> list[list[Any]]:
    return [listed for key in LISTS if (listed := _listed(holder.get(key))) is not None]


def _sent_with(record: Any) -> Iterator[Raw]:
    """What the body of a request has apart from its list, if the record is one: its model."""
    holder = _holder(record)
    if holder is not None and MODEL in holder:
        yield {MODEL: holder[MODEL]}


def _is_sent(record: Any) -> bool:
    """Whether it says that the list was sent to a model."""
    return isinstance(record, dict) and record.keys() == {MODEL}


def _listed(value: Any) -> list[Any] | None:
    """A list, or one as JSON text, as tables of conversations have it."""
    value = json_in(value)
    return value if isinstance(value, list) else None


def _is_message(record: Any) -> bool:
    return isinstance(record, dict) and (record.get("role") in ROLES or record.get("type") in ITEMS)


def lacks_ids(raw: Raw) -> bool:
    """Whether a message has a call or a result without an id, so that nothing pairs them."""
    if raw.get("type") in (*CALLS, *OUTPUTS):
        return not raw.get("call_id")
    calls = raw.get("tool_calls")
    listed = [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    is_lone = raw.get("role") == "tool" and not (raw.get("tool_call_id") or raw.get("tool_call_ids"))
    return is_lone or not all(one.get("id") for one in listed)


def _parts(raw: Raw) -> Sequence[Raw]:
    content = raw.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _text(parts: Iterable[Raw]) -> str:
    return "".join(str(part.get("text") or "") for part in parts)


# --- Chat Completions ---------------------------------------------------------------------------


def _is_chat(raw: Any) -> bool:
    """Whether only Chat Completions has such a message, or every API has it."""
    if not isinstance(raw, dict) or raw.get("role") not in ROLES or raw.keys() & CONTENTS:
        return False
    if raw.get("type") not in (None, "message"):
        return False
    return {part.get("type") for part in _parts(raw)} <= CHAT_PARTS


def of_chat(raw: Raw) -> Iterator[Message]:
    """A message of Chat Completions; before ids there were names, of which one call at a time is known."""
    role, text = raw.get("role"), _text(_parts(raw))
    if role == "tool":
        yield result(str(raw.get("tool_call_id")), text_of(text))
    elif role == "function":
        yield result(f"function {raw.get('name')}", text_of(text))
    elif role == "user":
        yield user(text)
    elif role == "assistant":
        listed = [(one.get("id"), one.get("function") or one.get("custom") or {}) for one in _calls_of(raw)]
        calls = [call(str(id_), str(made.get("name")), made.get("arguments")) for id_, made in listed]
        yield assistant(text, calls)


def _calls_of(raw: Raw) -> Sequence[Raw]:
    old = raw.get("function_call")
    named = [{"id": f"function {old.get('name')}", "function": old}] if isinstance(old, dict) else []
    return [one for one in raw.get("tool_calls") or () if isinstance(one, dict)] + named


# --- Responses ----------------------------------------------------------------------------------

CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "computer_call", "shell_call")
OUTPUTS: Final = tuple(f"{name}_output" for name in CALLS)
ITEMS: Final = (*CALLS, *OUTPUTS, "message", "reasoning", "item_reference", "web_search_call", "mcp_call")


def _is_item(raw: Any) -> bool:
    """Whether only the Responses API has such an item."""
    if not isinstance(raw, dict):
        return False
    kinds = {part.get("type") for part in _parts(raw)}
    is_item = raw.get("type") in (*CALLS, *OUTPUTS) and "call_id" in raw
    return is_item or (raw.get("type") == "message" and bool(kinds & {"input_text", "output_text"}))


def of_responses(raw: Raw) -> Iterator[Message]:
    """An item; what the service executes itself is no call of the client."""
    kind = raw.get("type", "message")
    if kind in CALLS:
        name = raw.get("name") or str(kind).removesuffix("_call")
        yield assistant("", [call(str(raw.get("call_id")), str(name), raw.get("arguments"))])
    elif kind in OUTPUTS:
        yield result(str(raw.get("call_id")), text_of(raw.get("output")))
    elif kind == "message" and raw.get("role") == "assistant":
        yield assistant(_text(_parts(raw)), [])
    elif kind == "message" and raw.get("role") == "user":
        yield user(_text(_parts(raw)))


# --- Anthropic ----------------------------------------------------------------------------------

BLOCKS: Final = ("tool_use", "tool_result")


def is_anthropic(raw: Any) -> bool:
    """Whether only Messages of Anthropic has such a message."""
    if not isinstance(raw, dict) or raw.get("role") not in ("user", "assistant"):
        return False
    return any(part.get("type") in BLOCKS for part in _parts(raw))


def of_anthropic(raw: Raw) -> Iterator[Message]:
    """A message of Anthropic; of the user, each result and each text in its order."""
    parts = _parts(raw)
    if raw.get("role") == "assistant":
        asked = [part for part in parts if part.get("type") == "tool_use"]
        calls = [call(str(one.get("id")), str(one.get("name")), one.get("input")) for one in asked]
        yield assistant(_text(parts), calls)
    elif raw.get("role") == "user":
        for part in parts:
            if part.get("type") == "tool_result":
                status = "error" if part.get("is_error") else None
                yield result(str(part.get("tool_use_id")), text_of(part.get("content")), status)
            elif part.get("type") == "text":
                yield user(str(part.get("text")))
            else:
                yield user("")


# --- Converse -----------------------------------------------------------------------------------

USES: Final = frozenset({"toolUse", "toolResult"})
UNTYPED: Final = USES | {
    "text", "image", "document", "video", "audio", "reasoningContent", "guardContent", "cachePoint",
    "citationsContent", "searchResult",
}  # fmt: skip
"""The kinds of parts, each the only key of its part."""


def is_converse(raw: Any) -> bool:
    """Whether only Converse of Bedrock has such a message: its parts have a key instead of a type."""
    is_message = isinstance(raw, dict) and raw.get("role") in ("user", "assistant", "tool")
    return is_message and any(part.keys() & USES for part in _parts(raw))


def _is_untyped(raw: Any) -> bool:
    """Whether Converse has such a message, and no other API."""
    content = raw.get("content") if isinstance(raw, dict) and raw.get("role") in ROLES else None
    is_list = isinstance(content, list) and bool(content)
    return is_list and all(isinstance(one, dict) and one.keys() <= UNTYPED for one in _listed(content) or ())


def of_converse(raw: Raw) -> Iterator[Message]:
    """A message of Converse; of the user, each result and each text in its order."""
    parts = _parts(raw)
    if raw.get("role") == "assistant":
        asked = [part["toolUse"] for part in parts if isinstance(part.get("toolUse"), dict)]
        calls = [call(str(one.get("toolUseId")), str(one.get("name")), one.get("input")) for one in asked]
        yield assistant(_text(parts), calls)
        return
    for part in parts:
        if isinstance(made := part.get("toolResult"), dict):
            status = "error" if made.get("status") == "error" else None
            yield result(str(made.get("toolUseId")), text_of(_converse_text(made)), status)
        else:
            yield user(str(part.get("text") or ""))


def _converse_text(made: Raw) -> Any:
    """The text of a result; its only part may be JSON."""
    parts = _parts(made)
    return parts[0]["json"] if len(parts) == 1 and "json" in parts[0] else _text(parts)


CONVERSE: Final = Messages(
    "bedrock-converse",
    "lists of messages of Converse",
    _is_untyped,
    of_converse,
    merges=True,
    is_message=_is_untyped,
)
ANTHROPIC: Final = Messages(
    "anthropic-messages", "lists of messages of Anthropic", is_anthropic, of_anthropic, merges=True
)
RESPONSES: Final = Messages(
    "openai-responses", "lists of items of the Responses API", _is_item, of_responses, merges=True
)
CHAT: Final = Messages(
    "openai-chat",
    "lists of messages of Chat Completions",
    _is_chat,
    of_chat,
    merges=False,
    is_message=_is_chat,
)
IMPORTERS: Final = (ANTHROPIC, CONVERSE, RESPONSES, CHAT)
