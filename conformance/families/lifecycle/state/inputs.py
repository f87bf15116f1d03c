"""What becomes of each input for a run: taken or refused, shown, or met by an end before that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runlock.conformance.families.lifecycle.state.calls import ObservedGate
from runlock.conformance.protocol import Message

Answer = Literal["sent", "taken", "refused", "unsure"]
Met = Literal["natural end", "cancel", "error", "crash", "end", "unsure"]


@dataclass(eq=False, slots=True)
class Input:
    """One `run.input`, and what the runtime did with it."""

    text: str
    run: str
    at: int  # the stimulus that brought it
    index: int  # its place in that stimulus, if this is a race
    alone: bool
    asked: ObservedGate | None = None  # the inference that was under way
    may_miss: bool = False  # it came when the next inference was being prepared
    in_commit: bool = False  # it came while a checkpoint was being written
    answer: Answer = "sent"
    checkpoints: int = 0  # how many there were when it was taken
    is_shown: bool = False
    is_returned: bool = False
    is_passed: bool = False  # an inference that should have shown it is over
    met: Met | None = None  # what ended its run, or its life, before it was shown

    @property
    def is_due(self) -> bool:
        """Whether it was certainly taken, and the model has not been asked since."""
        return self.answer == "taken" and not (self.is_shown or self.is_passed)

    def is_in(self, messages: Sequence[Message]) -> bool:
        """Whether these messages have its words."""
        return any(message.role == "user" and self.text in message.text for message in messages)
