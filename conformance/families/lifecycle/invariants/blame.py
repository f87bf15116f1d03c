"""The order of blame: which check is blamed where several object to the same observation.

One fault often shows in several clauses.  The judge blames the check of the lowest rank; a check that names
the cause has a lower rank than one that sees its consequences.  A rank belongs to a group of checks, and the
checks of a group keep their order.  The order of the modules plays no part.

"X before Y" in a reason: on some mutant both clauses object to the same observation, and X is the cause.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum, auto

from runlock.conformance.family.invariant import Invariant


class Rank(IntEnum):
    """The ranks, from the first to be blamed to the last, each with the reason for its place."""

    PARKED_WAIT = auto()
    """A parked run waits within its segment; later groups see a hang (DECIDE-43 before PROGRESS-1)."""
    RUN_WITHIN = auto()
    """A run within a call did what shows in the run around it later (NEST-3 before CANCEL-5)."""
    UNWATCHED_RUN = auto()
    """A run breaks because it has no watcher; all others see only that it broke."""
    PLUGIN = auto()
    """A plugin asked for an end or rewrote a call, and was ignored (RUN-4 before STOP-1)."""
    BROKEN_SEGMENT = auto()
    """This names the place in the flow; the end of the run does not (FLOW-18 before RUN-8)."""
    SKIPPED_STATION = auto()
    """A segment replays what it should not commit (FLOW-4 before STORE-16)."""
    CANCEL_OF_ANOTHER_RUN = auto()
    """A run ends as Cancelled because an earlier run was cancelled (CANCEL-4 before RUN-3)."""
    END_OF_RUN = auto()
    """The reason of an end is wrong (RUN-24 before STORE-7, RUN-20 before PHASE-23)."""
    CANCEL = auto()
    """A cancel explains what begins or stays away after it."""
    STOP_COUNT = auto()
    """The run counts its rounds wrongly; the stop condition that is then missed is the consequence."""
    STOP_CONDITION = auto()
    """A stop condition explains why a run ends or goes on."""
    EXPIRED_WAIT = auto()
    """A wait ended at a wrong time; what follows is the consequence (EXPIRE-1 before GATE-5)."""
    KEPT_DECISION = auto()
    """A crash cost a decision; that its call waits on is the consequence (KEEP-1 before DECIDE-4)."""
    RECOVERY = auto()
    """A recovered run lost what its checkpoint holds; what is missing later is the consequence."""
    RECOVERED_HISTORY = auto()
    """The model is shown another thread than the one recovered (RECOVER-5 before RECOVER-3)."""
    CHECKPOINT_OCCASION = auto()
    """A checkpoint is missing or misplaced; its content is judged next (STORE-1 before STORE-17)."""
    STORED_CALLS = auto()
    """A checkpoint is wrong about a call (STORE-8 before STORE-10)."""
    CHECKPOINT_CONTENT = auto()
    """The content of a checkpoint is wrong at the time at which it is taken."""
    STORED_THREAD = auto()
    """The messages of a checkpoint are not those of the thread (STORE-13 before STORE-17)."""
    USER_INPUT = auto()
    """Input was not taken as input.waiting says, which changes the wait (INPUT-2 before GATE-1)."""
    INSPECTED_STATUS = auto()
    """`inspect` disagrees with what was announced; nothing else judges it."""
    REPEATED_CALL = auto()
    """A call whose result is known runs again, with or without a decision (ONCE-3 before GATE-1)."""
    REFUSED_CALL = auto()
    """A rejected or blocked call runs; counting its decisions adds nothing (GATE-5 before ROUND-7)."""
    DECISION_TIME = auto()
    """A decision acts too early or too late, and its effect is then missing (DECIDE-14 before DECIDE-4)."""
    DECISION_TARGET = auto()
    """A decision reached the wrong call (DECIDE-5 before CALL-7)."""
    EDITED_CALL = auto()
    """An edit went wrong; what then runs is the consequence (EDIT-1 before SHOWN-3)."""
    DECISION_PAYLOAD = auto()
    """The right call was decided, and with the wrong content."""
    DECISION_LOST = auto()
    """A decision had no effect, or a second one (DECIDE-4 before RUN-2, DECIDE-1 before GATE-1)."""
    DECISION_EFFECT = auto()
    """Counts what decisions did, once it is known that none was lost."""
    APPROVAL = auto()
    """A call runs without the approval that it needs, and no decision explains that."""
    ROUND = auto()
    """The calls of a serial round come in a wrong order (ROUND-46 before PHASE-26)."""
    CONCURRENT_ROUND = auto()
    """A task of a concurrent round is missing or too late (ROUND-72 before DECIDE-12)."""
    FAILED_CALL = auto()
    """The failure of a call costs more or less than it should (ROUND-10 before PAIR-6)."""
    POLICY = auto()
    """The runtime takes another way than it declared."""
    DERIVED_STATUS = auto()
    """The status of the run is no projection of its calls (DERIVE-1 before RUN-22 and RUN-30)."""
    HISTORY = auto()
    """The model is shown a history with a gap or a wrong result."""
    SHOWN_STATUS = auto()
    """A result is shown with a status that is not its call's (PAIR-6 before PAIR-4)."""
    WHOLE_HISTORY = auto()
    """The history has changed, and no result of it is wrong (PAIR-4 before PAIR-8)."""
    CALL_STATUS = auto()
    """A status does not follow from what was witnessed of its call."""
    SHOWN_CALL = auto()
    """A call does not run as it was shown; wrong arguments are the cause (DECIDE-21 before SHOWN-3)."""
    SEGMENT_FLOW = auto()
    """The stations of a segment are out of order (FLOW-1 before PHASE-29)."""
    SEGMENT_END = auto()
    """A segment ends without RunEnd (FLOW-25 before PHASE-30)."""
    STEP_START = auto()
    """A phase has no place in its step (PHASE-86 before PHASE-50)."""
    PHASE = auto()
    """A phase fires where nothing happens that it frames (PHASE-27 before ROUND-44)."""
    STEP_FLOW = auto()
    """The phases of a step are out of order (PHASE-56 before PHASE-6)."""
    CALL_PASS = auto()
    """The phases of one call are out of order within a step that is right."""
    ROUND_OF_PASSES = auto()
    """The passes of several calls overlap wrongly (ROUND-45 before PHASE-90)."""
    RESUME_GATE = auto()
    """A pass through the resume gate leaves out a station."""
    CALL_TRANSITION = auto()
    """A status of a call follows from what was witnessed, and the way to it is wrong."""
    RUN_TRANSITION = auto()
    """The same for the run (RUN-1 before RUN-22)."""
    SINGLE_CALL = auto()
    """Each phase fires once for a call; most of these objections are deferred."""
    CHECKPOINT_TIMING = auto()
    """A checkpoint is taken between the wrong phases, and all phases are in order."""
    RUN_STATUS = auto()
    """The status of the run is wrong; the projection of the calls would have said why."""
    STREAM = auto()
    """A watcher is shown something else than what happened (STREAM-7 before ROUND-32)."""
    WIRE = auto()
    """A stream tells of a call out of order; what the call did is judged above (PAIR-3 before WIRE-65)."""
    END_OF_ROUND = auto()
    """A round does not end, and nothing above explains what keeps it (ROUND-29 before PROGRESS-1)."""
    BARRIER = auto()
    """The same for a concurrent round (ROUND-80 before PROGRESS-1)."""
    PROGRESS = auto()
    """A run does not go on, and nothing above explains what keeps it."""


def ranked(rank: Rank, *checks: Invariant) -> tuple[Invariant, ...]:
    """The checks of one group, with their rank."""
    return tuple(replace(check, rank=rank) for check in checks)
