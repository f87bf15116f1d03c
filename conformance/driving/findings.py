"""What schedules found: a violation with its counterexample, and what kept a schedule from being judged."""

from __future__ import annotations

from dataclasses import dataclass

from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Witness:
    """A violation with the shortest schedule that was found to show it."""

    clause: str
    because: str
    moves: tuple[Move, ...]
    trace: Trace

    @property
    def steps(self) -> int:
        """How many stimuli it takes."""
        return len(self.moves)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that kept a schedule from being judged: whose fault it is, and the sentence."""

    blame: str
    what: str
    trace: Trace | None = None  # what led there, if it was written down
