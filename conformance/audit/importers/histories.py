"""Parts that importers of message histories share: messages, arguments and texts in the kit's form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from runlock.conformance.inputs import json_in


def object_of(value: Any) -> dict[str, Any]:
    """The arguments of a call as an object; formats write them as an object or as its JSON text."""
    value = json_in(value)
    return dict(value) if isinstance(value, Mapping) else {}


def text_of(value: Any) -> str:
    """A result as text; two spellings of one JSON value give the same text."""
    value = json_in(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def user(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "text": text}


def assistant(text: str, calls: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A turn of the model."""
    return {"role": "assistant", "text": text, "tool_calls": [dict(call) for call in calls]}


def result(call: str, text: str, status: str | None = None) -> dict[str, Any]:
    """The visible result of a call."""
    return {"role": "tool", "call": call, "text": text, **({"status": status} if status else {})}


def call(id_: str, name: str, args: Any) -> dict[str, Any]:
    """A call that the model asks for."""
    return {"id": id_, "name": name, "args": object_of(args)}


def ids_in(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The ids of the calls that the turns of a history ask for."""
    for message in messages:
        yield from (str(one["id"]) for one in message.get("tool_calls", ()))
