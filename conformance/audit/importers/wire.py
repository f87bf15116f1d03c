"""Passes the events of a stream on that tell of calls, as they stand between the turns of the model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from runlock.conformance.audit.importers.conversation import Conversation

Event = tuple[str, dict[str, Any]]
PIECES: Final = ("delta", "inputTextDelta")
CLAUSES: Final = frozenset({"WIRE-60", "WIRE-61", "WIRE-62", "WIRE-63", "WIRE-64", "WIRE-65"})


class Wire:
    """The events of one thread; those of a turn that is being streamed wait until the turn is known."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.held: list[Event] = []
        self.from_before: set[str] = set()  # calls that a page knows from elsewhere

    def know(self, calls: Iterable[str]) -> None:
        """A page was told of these calls by something else than their events."""
        self.from_before |= set(calls) - self.talk.asked.keys()

    def is_from_before(self, call: str) -> bool:
        """Whether a call may have been opened before the recording begins, or elsewhere."""
        return call not in self.talk.asked and (self.talk.is_cut or call in self.from_before)

    def hold(self, name: str, data: Mapping[str, Any]) -> None:
        """An event comes; pieces of the arguments of one call are put together."""
        last = self.held[-1] if self.held else None
        piece = next((key for key in PIECES if key in data), None)
        if last is not None and piece and last[0] == name and last[1]["toolCallId"] == data.get("toolCallId"):
            last[1][piece] += str(data[piece])
        else:
            self.held.append((name, dict(data)))

    def forget(self, calls: Collection[str]) -> None:
        """Nothing is to be said of these calls."""
        self.held = [one for one in self.held if one[1].get("toolCallId") not in calls]

    def flush(self) -> None:
        """The events so far have their place here."""
        held, self.held = self.held, []
        for name, data in held:
            if "toolCallId" not in data or not self.is_from_before(str(data["toolCallId"])):
                self.talk.builder.publish(name, data)
