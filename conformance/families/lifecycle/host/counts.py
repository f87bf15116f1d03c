"""What the kit counts for a run; it outlives a crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from runlock.conformance.families.lifecycle.messages import Decision
from runlock.conformance.protocol import Turn


@dataclass(slots=True)
class Counts:
    """What the kit counts and remembers for the run at hand; it survives the runtime's crash."""

    run: str | None = None
    status: str | None = None
    step: int = 0
    gates: Iterator[int] = field(default_factory=lambda: count(1))
    attempts: dict[str, int] = field(default_factory=dict)
    suspensions: dict[str, int] = field(default_factory=dict)
    resumes: dict[str, dict[str, Any]] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    past: frozenset[str] = frozenset()

    def begin(self, run: str | None) -> Callable[[], None]:
        """A new run of the thread, on which everything is counted afresh; gives the way back."""
        before = {name: getattr(self, name) for name in self.__slots__ if name != "gates"}
        past = self.past | {self.run} if self.run else self.past
        fresh = Counts(run=run, status="Created" if run else None, past=past)
        self._become({name: getattr(fresh, name) for name in before})
        return lambda: self._become(before)

    def decided(self, decisions: Sequence[Decision]) -> Callable[[], None]:
        """Decisions are handed over: the replay of a call that waits shows its own; gives the way back."""
        before = self.resumes
        self.resumes = before | {
            decision.call: {"decision": decision.id, "action": decision.action, "payload": decision.payload}
            for decision in decisions
            if decision.call in self.pending
        }
        return lambda: self._become({"resumes": before})

    def asked(self, turn: Turn) -> None:
        """The model asked for calls: an id that was there before is a new call now."""
        for call in turn.tool_calls:
            self.attempts.pop(call.id, None)
            self.suspensions.pop(call.id, None)
            self.resumes.pop(call.id, None)

    def ended(self, pending: Sequence[str], code: str) -> None:
        """A segment ended."""
        self.pending = tuple(pending)
        if self.status != "Done":
            self.status = "Waiting" if code == "Suspended" else "Done"
        for call in pending:
            self.resumes.pop(call, None)

    def recovered(self, run: str, state: Any, asking: int) -> None:
        """A run starts again from what is durable; an inference that was under way is asked again."""
        self.run = run
        self.step = max(0, self.step - asking)
        if not isinstance(state, Mapping):
            return
        kept = state.get("run") or {}
        self.status = kept.get("status", self.status)
        self.step = kept.get("step", self.step) or 0
        calls = (state.get("calls") or {}).items()
        self.pending = tuple(call for call, seen in calls if seen.get("status") == "Suspended")
        self.suspensions = {call: seen["suspension"] for call, seen in calls if seen.get("suspension")}
        self.resumes = {
            call: {"decision": one.get("id"), "action": one.get("action"), "payload": one.get("payload")}
            for call, one in (state.get("decisions") or {}).items()
        }

    def _become(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            setattr(self, name, value)
