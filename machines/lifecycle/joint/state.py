"""What a joint state of a run is made of: a `Control` (run, gate and store) and a `Call` for each call."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = ["BUSY", "FINAL", "NOT_ASKED", "Call", "Control", "Kept"]

FINAL: Final = frozenset({"Succeeded", "Failed", "Cancelled"})
BUSY: Final = frozenset({"New", "Running", "Resuming"})


class Kept(NamedTuple):
    """What the newest checkpoint holds of a call."""

    status: str
    waits: int
    decided: str


class Call(NamedTuple):
    """One tool call: its status, how often it was suspended, its decision, and what is durable of it."""

    status: str
    waits: int = 0
    decided: str = ""  # resume or cancel once it was decided, acting or rejecting once that was taken up
    kept: Kept | None = None

    def __str__(self) -> str:
        if not self.status:
            return "not asked for"
        again = f" {self.waits}" if self.waits > 1 else ""
        return f"{self.status}{again}{f' ({self.decided})' if self.decided else ''}"

    @property
    def words(self) -> str:
        """The call as a picture names it, without what is durable."""
        waits = self.waits - (self.status == "Suspended")
        again = f", {waits} {'wait' if waits == 1 else 'waits'} before" if waits else ""
        return f"call {self.status or 'not asked for'}{again}{f', {self.decided}' if self.decided else ''}"

    @property
    def seen(self) -> dict[str, Any]:
        """What the report of a path shows of it."""
        return {"status": self.status or None, "decided": self.decided or None}


NOT_ASKED: Final = Call("")
"""A call that the model has not asked for."""


class Control(NamedTuple):
    """What there is once in a joint state."""

    run: str
    work: str  # what the run itself is at
    gate: str = ""  # where the resume gate, the wait loop or the dispatcher stands; nowhere while it is shut
    cancel: str = "may come"  # then asked, then over
    reason: str = ""
    kept_run: str = ""  # the status of the run in the newest checkpoint; empty while nothing is durable
    kept_work: str = ""
    crashes: int = 0  # how many may still come

    @property
    def shown(self) -> dict[str, str]:
        """What an observer can see of it, by subject."""
        return {"run": self.run}

    @property
    def title(self) -> str:
        """The run as a picture names it."""
        at = self.gate or self.work
        return f"run {self.run}" if at in ("calls", "done") else f"run {self.run}: {at}"

    @property
    def at(self) -> dict[str, Any]:
        """The rest of it for a report: the activity of the run, its gate, and what is durable."""
        return {"work": self.work, "gate": self.gate or None, "stored": self.kept_run or None}

    @property
    def fill(self) -> str:
        """The colour of a picture's box."""
        return {"Waiting": "wait", "Done": "good", "Created": "idle"}.get(self.run, "state")
