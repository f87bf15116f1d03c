"""Writes a conversation that a client sees as a trace: turns, results, decisions and ends, one after another.

What a client sees of a history is what the next request sends back.  Whether a tool was executed is seen by
its result only, so an execution is entered and left where its result stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runlock.conformance.audit.importers.builder import Builder
from runlock.conformance.audit.importers.histories import assistant, ids_in, result
from runlock.conformance.trace.trace import Trace


class Conversation:
    """One thread: its history so far, and the calls that have no result yet."""

    def __init__(self, claims: Mapping[str, Any], asking: Iterable[str] = ()) -> None:
        self.builder = Builder(claims, asking)
        self.history: list[dict[str, Any]] = []
        self.open: dict[str, dict[str, Any]] = {}  # calls without a result
        self.asked: dict[str, dict[str, Any]] = {}  # every call of the thread
        self.learned: set[str] = set()  # calls with a result that may still be streamed
        self.suspended: list[str] = []  # the calls that the last segment named as waiting
        self.last: Sequence[Mapping[str, Any]] = ()  # the calls of the last turn
        self.has_asked = False  # whether the model was asked in this run
        self.is_running = False
        self.has_history = False  # whether a whole history was recorded, of which every call is known
        self.hidden: set[str] = set()  # clauses that this thread does not show

    def begin(self, text: str, history: Sequence[dict[str, Any]] | None = None) -> None:
        """A run, or after a wait its next segment; the history that came with it replaces what is known."""
        if history is not None:
            self.history = list(history)
            self.has_history = True
            for message in history:
                self.open.pop(str(message.get("call")), None)
        if not self.suspended:
            self.hidden |= (
                {"PAIR-1"} if self.open and history is None else set()
            )  # a client may have answered
            self.builder.start(text)
            self.open, self.last, self.has_asked = {}, (), False
        else:
            self.builder.watch()
        self.is_running = True

    def turn(self, text: str, calls: Sequence[dict[str, Any]]) -> None:
        """The model was asked with the history so far, and answered."""
        gate = self.builder.ask(self.history)
        self.builder.turn(gate, text, calls)
        self.history = [*self.history, assistant(text, calls)]
        named = {call["id"]: call for call in calls}
        self.open |= named
        self.asked |= named
        self.last, self.has_asked = list(calls), True

    def answer(self, call: str, text: str, status: str | None = None, *, ran: bool = True) -> None:
        """A result; with `ran` its tool gave it, otherwise it stands for a call that was not executed."""
        known = self.asked.get(call)
        if known is not None and ran:
            gate = self.builder.enter(known)
            self.builder.leave(gate, "error" if status == "error" else "ok", text)
        if known is None and self.is_cut:
            self.hidden |= {"PAIR-2"}  # a turn before the recording may have asked for it
        if call not in self.learned:
            self.history = [*self.history, result(call, text, status)]
        self.learned.discard(call)
        self.open.pop(call, None)

    def learn(self, found: dict[str, Any]) -> None:
        """A result that was not streamed: it stands after the turn that asks for its call."""
        at = next(
            (at for at, one in enumerate(self.history) if found["call"] in ids_in([one])),
            len(self.history) - 1,
        )
        self.history = [*self.history[: at + 1], found, *self.history[at + 1 :]]
        self.open.pop(found["call"], None)
        self.learned.add(found["call"])

    @property
    def is_cut(self) -> bool:
        """Whether calls from before the recording may have their results now: no history was recorded, and
        the model was not asked since."""
        return not (self.has_history or self.has_asked)

    def decide(self, call: str, *, approved: bool) -> None:
        """A person decided about a call that waits."""
        if call in self.asked:
            self.builder.decide(call, "resume" if approved else "cancel")

    def suspend(self, calls: Sequence[str], *, resumes: bool = True) -> None:
        """The segment ended, and these calls wait; what a client executes is answered by a run of its own."""
        waiting = [call for call in calls if call in self.asked]
        self.suspended = waiting if resumes else []
        self.builder.finish("Suspended", waiting)
        self.is_running = False

    def end(self, *, failed: bool = False) -> None:
        """The run ended; what failed after a turn that asks for nothing is not shown."""
        self.suspended = []
        if failed:
            self.hidden |= {"RUN-3"} if self.has_asked and not self.last else set()
            self.builder.finish("Error")
        else:
            self.builder.finish("BehaviorRequested" if self.last and not self.open else "NaturalEnd")
        self.is_running = False

    def trace(self) -> Trace:
        """The trace, closed."""
        return self.builder.finished()
