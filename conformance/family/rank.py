"""The order of blame: which clause is blamed where several checks object to one answer of a runtime.

One fault often shows in several clauses.  The worst that happened leads the report: a call that ran twice
says more than the checkpoint that mentions it.  The ranks are the same in every family.  Among checks of one
rank the order of the family's modules decides, and within a module the order of the checks: what names a
cause comes before what sees its consequences.
"""

from __future__ import annotations

from enum import IntEnum, auto


class Rank(IntEnum):
    """What it means that a check objects, the worst first."""

    CONSENT = auto()
    """Something ran that was not allowed: denied, undecided, not offered, or after a stop."""
    TWICE = auto()
    """Something ran again, or one decision was taken twice."""
    OTHER = auto()
    """Something ran with other arguments, for another call, or not as it was decided or declared."""
    LOST = auto()
    """A decision, an input, a call or a result has no effect, or one was invented."""
    SHOWN = auto()
    """The model or a person is shown a result as something else."""
    HISTORY = auto()
    """The history has changed."""
    STATUS = auto()
    """A run or a call has a wrong status, goes on when it is over, or ends wrongly."""
    CHECKPOINT = auto()
    """A checkpoint is missing, or holds something else than what happened."""
    PHASE = auto()
    """The phases of a run come in a wrong order."""
    STREAM = auto()
    """A watcher is shown something else than what happened."""
    CHART = auto()
    """A transition is not one of its chart, and no clause says more about it."""

    def leads(self, other: Rank) -> bool:
        """Whether an objection of this rank leads one that an earlier observation of the same answer met.

        What is done to calls and to the history leads what a runtime says about itself.  Among the latter the
        first objection is the cause.
        """
        return self < other and self <= Rank.HISTORY
