"""Reads the events in which older conventions of OpenTelemetry have the messages of an inference.

`gen_ai.choice` is what the model answered; each event before it is a message of its history
(open-telemetry/semantic-conventions, version 1.30, `docs/gen-ai/gen-ai-events.md`).  They are events of a
span or log records with the ids of their span.  A message is the body of a record, the attributes of an
event, or one attribute of it as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers.histories import object_of, text_of
from runlock.conformance.audit.importers.spoken import Unknown, message_of, parts_text
from runlock.conformance.inputs import json_in

Raw = Mapping[str, Any]
Message = dict[str, Any]

EVENTS: Final = "gen_ai.events"
"""The attribute of a flat span that has its events: each an object with `name` and `body`."""

CHOICE: Final = "gen_ai.choice"
TOOL: Final = "gen_ai.tool.message"
ROLES: Final[Mapping[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    TOOL: "tool",
    CHOICE: "assistant",
}
BODY: Final = "gen_ai.event.content"
"""The attribute that some libraries write instead of a body, as JSON."""


def noted(name: Any, body: Any, attributes: Raw) -> dict[str, Any]:
    """An event as an attribute of its flat span; nothing if it has no message."""
    name = name or attributes.get("event.name")
    if name not in ROLES:
        return {}
    whole = body if isinstance(body, Mapping) else (object_of(attributes.get(BODY)) or attributes)
    return {EVENTS: [{"name": name, "body": dict(whole)}]}


def told(events: Sequence[Raw]) -> tuple[list[Message] | None, list[Message]]:
    """The history and the turn; no history if its messages do not pair calls with results."""
    try:
        shown = [one for event in events if event["name"] != CHOICE for one in _messages(event)]
    except Unknown:
        shown = None
    try:
        answered = [one for event in events if _is_first_choice(event) for one in _messages(event)]
    except Unknown:
        answered = []
    return shown, answered


def executed(events: Sequence[Raw]) -> tuple[dict[str, Any] | None, str | None]:
    """The arguments and the result of an execution, as far as its events have them."""
    found = {event["name"]: event["body"] for event in events}
    given, answer = found.get(TOOL, {}).get("content"), found.get(CHOICE, {}).get("message")
    result = None if answer is None else text_of(parts_text(json_in(answer)))
    return None if given is None else object_of(given), result


def _is_first_choice(event: Raw) -> bool:
    return event["name"] == CHOICE and str(event["body"].get("index", 0)) == "0"


def _messages(event: Raw) -> Iterator[Message]:
    """The messages of an event: that of its body, or each result in it."""
    body = event["body"]
    inner = json_in(body.get("message")) if event["name"] == CHOICE else None
    said = (
        {**body, **inner} if isinstance(inner, Mapping) else {**body, "content": inner or body.get("content")}
    )
    raw = {"role": ROLES[event["name"]], "content": json_in(said.get("content"))}
    raw |= {"tool_calls": json_in(said.get("tool_calls")) or []} if raw["role"] == "assistant" else {}
    yield from message_of(raw | ({"tool_call_id": body.get("id")} if raw["role"] == "tool" else {}))
