"""What an API of a model is to the kit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol
from uuid import UUID

from runlock.conformance.protocol import Message, ToolCall, Turn

_NUMBERS: Final = count(1)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request in the protocol's words; `tools` are the names that the model is offered."""

    messages: list[Message]
    tools: list[str]
    streams: bool


class ModelApi(Protocol):
    """One API, as a module of this package."""

    PATH: str
    """Where it is served."""

    def asked(self, body: Mapping[str, Any]) -> ModelRequest:
        """Read a request; raises KeyError, TypeError or ValueError for one that is none."""
        ...

    def whole(self, turn: Turn) -> dict[str, Any]:
        """A turn as one JSON object."""
        ...

    def events(self, turn: Turn) -> Iterator[bytes]:
        """A turn as server-sent events."""
        ...

    def fault(self, why: str) -> dict[str, Any]:
        """The body of an error."""
        ...


def new_id(kind: str) -> str:
    """The id of an answer or a part of it: clients take two with one id for the same message."""
    return f"{kind}_{UUID(int=next(_NUMBERS))}"


def text_of(content: Any) -> str:
    """The text of a message, which is a text or a list of parts."""
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(part.get("text") or "" for part in content)


def arguments_of(written: str) -> Any:
    """The arguments of a call; the text itself if it does not parse."""
    try:
        found = json.loads(written or "{}")
    except ValueError:
        return written
    return found if isinstance(found, dict) else written


def written(call: ToolCall) -> str:
    """The arguments of a call as a model writes them."""
    return call.args if isinstance(call.args, str) else json.dumps(call.args)


def event(data: Mapping[str, Any], name: str = "") -> bytes:
    """A server-sent event, with its name where the API names them."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
