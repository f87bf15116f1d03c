"""Imports lists of messages of LangChain: what a graph keeps as its state, or what a message dumps itself as.

A message is an object with its `type`, or with `data`, or is serialised by its class (langchain-ai/langchain,
`libs/core/langchain_core/messages/base.py`, `message_to_dict`, and `load/serializable.py`).  A list shows
what any other list of messages does (see `messages`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runlock.conformance.audit.importers.messages import Messages
from runlock.conformance.audit.importers.spoken import CLASSES, Unknown, message_of

TYPES: Final = frozenset({"human", "ai", "AIMessageChunk", "tool", "system"})
FIELDS: Final = frozenset({"additional_kwargs", "response_metadata", "tool_calls", "tool_call_id", "data"})
"""Fields of which each dumped message has one."""


def _is_message(raw: Any) -> bool:
    """Whether it is a message of LangChain."""
    if not isinstance(raw, dict) or "role" in raw:
        return False
    if raw.get("type") == "constructor":
        named = raw.get("id")
        return isinstance(named, list) and bool(named) and named[-1] in CLASSES
    return raw.get("type") in TYPES and bool(raw.keys() & (FIELDS | {"content"}))


def _is_own(raw: Any) -> bool:
    """Whether no other tool has such a message."""
    return _is_message(raw) and (raw["type"] == "constructor" or bool(raw.keys() & FIELDS))


def _read(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        yield from message_of(raw)
    except Unknown:  # LangChain has no result without the id of its call
        return


IMPORTER: Final = Messages(
    "langchain-messages",
    "lists of messages of LangChain",
    _is_own,
    _read,
    merges=False,
    is_message=_is_message,
)
