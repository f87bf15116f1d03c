"""Short recordings that a test writes itself, in the words of each format."""

from __future__ import annotations

import json
from typing import Any

Record = dict[str, Any]

# --- AG-UI --------------------------------------------------------------------------------------


def begins(**named: Any) -> Record:
    """The start of a run."""
    return {"type": "RUN_STARTED", **named}


def ends(**more: Any) -> Record:
    """The end of a run."""
    return {"type": "RUN_FINISHED", **more}


def fails() -> Record:
    """The end of a run in an error."""
    return {"type": "RUN_ERROR", "message": "the socket closed"}


def asks(call: str, message: str = "m1", args: str = "{}") -> list[Record]:
    """The model asks for a call."""
    of = {"toolCallId": call}
    return [
        {"type": "TOOL_CALL_START", **of, "toolCallName": "lookup", "parentMessageId": message},
        {"type": "TOOL_CALL_ARGS", **of, "delta": args},
        {"type": "TOOL_CALL_END", **of},
    ]


def answers(call: str) -> Record:
    """The result of a call."""
    return {"type": "TOOL_CALL_RESULT", "messageId": f"of-{call}", "toolCallId": call, "content": "found"}


def says(message: str = "m9") -> list[Record]:
    """A text of the model."""
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": "Here it is."},
        {"type": "TEXT_MESSAGE_END", "messageId": message},
    ]


def page(*messages: Record) -> list[Record]:
    """The messages that a page has."""
    return [{"id": "u", "role": "user", "content": "Look it up."}, *messages]


def asked(*calls: str, message: str = "m1", args: str = "{}") -> Record:
    """The message of a page with the calls of a turn."""
    listed = [
        {"id": one, "type": "function", "function": {"name": "lookup", "arguments": args}} for one in calls
    ]
    return {"id": message, "role": "assistant", "toolCalls": listed}


def answered(call: str, number: int = 1) -> Record:
    """The message of a page with the result of a call."""
    return {"id": f"{call}-{number}", "role": "tool", "toolCallId": call, "content": "found"}


def snapshot(*messages: Record) -> Record:
    """A snapshot of the messages of a page."""
    return {"type": "MESSAGES_SNAPSHOT", "messages": page(*messages)}


def request(*messages: Record, tools: tuple[str, ...] = ()) -> Record:
    """The request of a page."""
    offered = [{"name": name} for name in tools]
    return {"threadId": "one", "runId": "r", "messages": page(*messages), "tools": offered}


# --- AI SDK -------------------------------------------------------------------------------------


def chunk(kind: str, **fields: Any) -> Record:
    """A chunk of a UI message stream."""
    return {"type": kind, **fields}


# --- transcripts --------------------------------------------------------------------------------


def session(*messages: Record, first: str | None = None) -> list[Record]:
    """The messages of a session of Claude Code, one after another."""
    above, made = first, []
    for number, one in enumerate(messages):
        made.append({"uuid": f"n{number}", "parentUuid": above, "sessionId": "s", **one})
        above = made[-1]["uuid"]
    return made


def typed(text: str, **more: Any) -> Record:
    """A message of the user."""
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


def block(kind: str, **fields: Any) -> Record:
    """A part of a message of Anthropic."""
    return {"type": kind, **fields}


def turn(name: str, *calls: str) -> Record:
    """A message of the model that asks for calls, or says something."""
    used = [block("tool_use", id=one, name="lookup", input={}) for one in calls]
    content = used or [block("text", text="Here it is.")]
    return {"type": "assistant", "message": {"id": name, "role": "assistant", "content": content}}


def results(*calls: str) -> Record:
    """A message with the results of calls."""
    content = [block("tool_result", tool_use_id=one, content="found") for one in calls]
    return {"type": "user", "message": {"role": "user", "content": content}}


# --- lists of messages --------------------------------------------------------------------------

PERSON = {"role": "user", "content": "Look it up."}
REPLY = {"role": "assistant", "content": "Here it is."}


def chat_turn(*calls: str) -> Record:
    """A turn of Chat Completions."""
    named = {"name": "lookup", "arguments": json.dumps({"at": 1})}
    listed = [{"id": one, "type": "function", "function": named} for one in calls]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def chat_result(call: str) -> Record:
    """A result of Chat Completions."""
    return {"role": "tool", "tool_call_id": call, "content": "found"}


def item(call: str) -> Record:
    """A call among the items of Responses."""
    return {"type": "function_call", "call_id": call, "name": "lookup", "arguments": "{}"}


def output(call: str) -> Record:
    """A result among the items of Responses."""
    return {"type": "function_call_output", "call_id": call, "output": "found"}


def inner(record: Record) -> Record:
    """The message of Anthropic in a record of a transcript."""
    return dict(record["message"])
