"""Classes of action: what the outside world may do next, one function for each class.

An action looks at what is known, chooses, and proposes a move, or nothing where there is no occasion for
it.  Actions do not ask whether a move is legal: the judge knows.  They are many and small so that a
search can switch whole classes off, which finds more than any mixture of all of them does.

`stage` is what they look at, `table` names them all; between the two is a file for each part of the world.
"""

from runlock.conformance.families.lifecycle.actions.context import Stage
from runlock.conformance.families.lifecycle.actions.decisions import PAYLOADS
from runlock.conformance.families.lifecycle.actions.registry import (
    ACTIONS,
    NEEDS,
    RACERS,
    at_hand,
    may_race,
    meets,
    with_turns,
)

__all__ = ["ACTIONS", "NEEDS", "PAYLOADS", "RACERS", "Stage", "at_hand", "may_race", "meets", "with_turns"]
