"""Findings of schedules: a violation with its counterexample, and errors that prevented a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.situation import situation
from runlock.conformance.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Witness:
    """A violation with the shortest schedule that was found for it."""

    clause: str
    reason: str
    moves: tuple[Move, ...]
    trace: Trace
    cause: str = ""  # the clause that is broken more directly by the same fault, or empty
    unrepeated: str = ""  # that it did not break again when it was replayed, or empty

    @property
    def steps(self) -> int:
        """The number of stimuli."""
        return len(self.moves)

    @property
    def situation(self) -> frozenset[str]:
        """The class of its schedule."""
        return situation(self.moves)


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that kept a schedule from being judged: whose fault it is, and the sentence."""

    blame: str
    what: str
    trace: Trace | None = None  # the trace before it, if it was recorded
