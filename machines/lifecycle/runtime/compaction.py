"""How the reference shortens what the model is shown: the older part of the thread gives way to a summary.

The thread itself stays whole.  What was cut is a number in the state, which a recovered run goes on from.
"""

from __future__ import annotations

from typing import Any

from runlock.machines.lifecycle.runtime.ledger import Ledger
from runlock.machines.lifecycle.runtime.state import Message, RunState

KEPT = 2
"""How many messages stay at least."""


class Compaction(Ledger):
    """Bounds the thread that the model is shown, as far as whole rounds and live calls allow."""

    most_messages: int | None = None

    def thread_to_show(self) -> list[Message]:
        """The thread as the model is shown it; what has become too long is shortened first."""
        if self.most_messages is not None and len(self.view(self.state.cut)) > self.most_messages:
            cut = self.place_of_cut()
            if cut > self.state.cut + 1:
                self.shorten(cut)
        return self.view(self.state.cut)

    def shorten(self, cut: int) -> None:
        """Cut the thread before a message, and say so."""
        before = self.view(self.state.cut)
        self.state.cut = cut
        gone = before[: len(before) - (len(self.state.messages) - cut)]
        self.declare(gone, self.in_place_of(cut))

    def declare(self, gone: list[Message], instead: list[Message]) -> None:
        """Show the edit of the thread."""
        self.observe("thread.edited", why="compaction", at=0, cut=gone, instead=instead)

    def view(self, cut: int) -> list[Message]:
        """The thread from a cut on, and what stands for the rest."""
        return [*self.in_place_of(cut), *self.state.messages[cut:]] if cut else self.state.messages

    def in_place_of(self, cut: int) -> list[Message]:
        """A summary, and the last of what the user had said by then."""
        summary: dict[str, Any] = {"role": "user", "text": f"[a summary of {cut} messages]"}
        said = [message for message in self.state.messages[:cut] if message["role"] == "user"]
        return [summary, *said[-1:]]

    def place_of_cut(self) -> int:
        """Before which message the thread may be cut: not in a round, nor past a call that is live."""
        messages = self.state.messages
        cut = max(0, min(len(messages) - KEPT, *turns_of_live_calls(self.state), len(messages)))
        while cut and messages[cut]["role"] == "tool":
            cut -= 1
        return cut


def turns_of_live_calls(state: RunState) -> list[int]:
    """Where the turns stand that asked for calls which are not over."""
    live = {call.id for call in state.live()}
    asked = [{one["id"] for one in message.get("tool_calls", ())} for message in state.messages]
    return [at for at, calls in enumerate(asked) if calls & live]
