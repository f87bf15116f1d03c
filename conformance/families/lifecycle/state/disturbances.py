"""What interferes with the flow of a run from outside, so that a check may have to excuse what it sees."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Disturbance(Enum):
    """A kind of interference with a run."""

    CANCEL = "cancel"
    """A cancel was sent, and the runtime has not lost it in a crash."""
    FAULT = "fault"
    """A gate was released with a fault, a tool raised, or a plugin ended the run.

    It is over when the next model gate opens.
    """
    CRASH = "crash"
    """The runtime crashed, however long ago."""
    INPUT = "input"
    """The user said something after the run had begun."""


CANCEL: Final = Disturbance.CANCEL
FAULT: Final = Disturbance.FAULT
CRASH: Final = Disturbance.CRASH
INPUT: Final = Disturbance.INPUT
