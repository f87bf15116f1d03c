"""What a transition of the joint charts waits for before a runtime may take it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Cue(StrEnum):
    """The cues that conformance gives or knows; each has the name by which the joint charts know it."""

    MAY = "may"  # nothing: the runtime may take the transition at any time
    UNENTERED = "no tool is entered"  # as long as no tool body that the kit knows of is running
    DRAINED = "nothing is under way"  # at any time; due when the runtime waits for no gate

    CALLS = "calls"
    NO_CALLS = "no calls"

    SUCCEED = "succeed"
    FAIL = "fail"
    SUSPEND = "suspend"
    BLOCK = "block"
    PROVIDE = "provide"

    APPROVE = "decide resume"
    REJECT = "decide cancel"
    CANCEL = "cancel"

    END_ERROR = "end Error"
    END_STOPPED = "end Stopped"
    END_REQUESTED = "end BehaviorRequested"

    def __repr__(self) -> str:
        """As the charts write it: hypotheses are sorted by how they are written."""
        return str.__repr__(self)


DECISIONS: Final[Mapping[str, Cue]] = {"resume": Cue.APPROVE, "cancel": Cue.REJECT}
"""The cue of a decision, by its action."""

TURNS: Final = frozenset({Cue.CALLS, Cue.NO_CALLS})
"""The cues of a turn of the model."""


def is_end(cue: str) -> bool:
    """Whether a transition ends the run for a reason from outside its flow."""
    return cue.startswith("end ")
