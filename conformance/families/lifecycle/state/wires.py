"""What a stream with events for tool calls has told of each call: AG-UI, CopilotKit, and the AI SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from runlock.conformance.families.lifecycle.messages import Published


class EventPart(NamedTuple):
    """One thing that an event tells of a call; `whole` are all its arguments at once, which also opens it."""

    what: Literal["open", "args", "end", "whole", "request", "result"]
    call: str
    value: Any = None


@dataclass(slots=True)
class Told:
    """What one stream has told of a call, since it was opened there."""

    life: int  # of the runtime that opened it
    at: int  # the stimulus
    pieces: list[str] = field(default_factory=list)  # of its arguments
    is_ended: bool = False
    is_requested: bool = False  # a decision was asked for, and the call was not entered since
    results: int = 0

    def take(self, part: EventPart, life: int) -> None:
        """Take in what an event tells, the opening included."""
        if part.what == "open":
            self.is_ended = False
        elif part.what == "args":
            self.pieces.append(str(part.value))
        elif part.what in ("end", "whole"):
            self.is_ended = True
        elif part.what == "request":
            self.is_requested = True
        elif part.what == "result":
            self.results, self.life = (self.results if life == self.life else 0) + 1, life


Reader = Callable[[Mapping[str, Any]], Iterator[EventPart]]


def _part(what: Any, value: str = "", of: str = "toolCallId") -> Reader:
    return lambda data: iter([EventPart(what, str(data.get(of)), data.get(value))])


def _requests(data: Any) -> Iterator[EventPart]:
    """The calls that the end of a run of AG-UI asks about: for an approval, or for their results."""
    for one in _listed(data, "interrupts"):
        if isinstance(one, Mapping) and one.get("toolCallId") is not None:
            yield EventPart("request", str(one["toolCallId"]))
    for call in _listed(data, "pendingToolCallIds"):
        yield EventPart("request", str(call))


def _listed(data: Any, name: str) -> Sequence[Any]:
    """A list of the outcome of a run; empty if there is none."""
    outcome = data.get("outcome") if isinstance(data, Mapping) else None
    found = outcome.get(name) if isinstance(outcome, Mapping) else None
    return found if isinstance(found, list) else []


def asks_at_large(seen: Published) -> bool:
    """Whether an event of AG-UI asks for a decision without naming a call, and so for all that wait.

    Before an end had an outcome, a custom event asked, or the call itself, which the client had to answer.
    """
    if seen.stream != "ag-ui" or not isinstance(seen.data, Mapping):
        return False
    if seen.name == "CUSTOM":
        return bool(seen.data.get("name") == "on_interrupt")
    asked = [one for one in _listed(seen.data, "interrupts") if isinstance(one, Mapping)]
    is_unnamed = any(one.get("toolCallId") is None for one in asked)
    return seen.name == "RUN_FINISHED" and (is_unnamed or not seen.data.get("outcome"))


def _output(data: Mapping[str, Any]) -> Iterator[EventPart]:
    if not data.get("preliminary"):
        yield EventPart("result", str(data.get("toolCallId")))


Readers = Mapping[str, Reader]

AG_UI: Final[Readers] = {
    "TOOL_CALL_START": _part("open", "toolCallName"),
    "TOOL_CALL_ARGS": _part("args", "delta"),
    "TOOL_CALL_END": _part("end"),
    "TOOL_CALL_RESULT": _part("result"),
    "RUN_FINISHED": _requests,
}
AI_SDK: Final[Readers] = {
    "tool-input-start": _part("open", "toolName"),
    "tool-input-delta": _part("args", "inputTextDelta"),
    "tool-input-available": _part("whole", "input"),
    "tool-input-error": _part("whole"),
    "tool-approval-request": _part("request"),
    "tool-output-available": _output,
    "tool-output-error": _output,
    "tool-output-denied": _output,
}
COPILOTKIT: Final[Readers] = {**AG_UI, "renderAndWaitForResponse": _part("request", of="call")}
WIRES: Final[Mapping[str, Readers]] = {"ag-ui": AG_UI, "copilotkit": COPILOTKIT, "ai-sdk-v6": AI_SDK}
"""By stream: the events that tell of calls."""


def parts_of(seen: Published) -> Iterator[EventPart]:
    """What an event tells of calls."""
    reader = WIRES.get(seen.stream or "", {}).get(seen.name)
    if reader is not None and isinstance(seen.data, Mapping):
        yield from reader(seen.data)
