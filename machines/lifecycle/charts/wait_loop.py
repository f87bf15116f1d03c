"""The loop in which a parked run waits: for decisions, for some of them, or for a cancel.

Clauses: spec/lifecycle/clauses/decide.toml.
A partial resume goes round once more; only the last one leaves.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class WaitForResumeOrCancel(Chart):
    """A run that waits for a decision or a cancel; each suspended step has a wait of its own."""

    subject = "wait"

    Blocked = State(initial=True)  # nothing moves until someone decides
    EmitDecisions = State()
    PrepareResume = State()
    ReplayResume = State()
    Resumed = State(final=True)  # the step loop goes on
    Cancelled = State(final=True)
    Ended = State(final=True)

    # fmt: off
    arrive     =  clause("DECIDE-40", Blocked.to(EmitDecisions),       "decisions arrived, one or several")
    emitted    =  clause("DECIDE-41", EmitDecisions.to(PrepareResume), "they were made known")
    ready      =  clause("DECIDE-42", PrepareResume.to(ReplayResume),  "their calls are resuming")
    resolved   =  clause("DECIDE-43", ReplayResume.to(Resumed),        "no call is suspended any more")
    unresolved =  clause("DECIDE-44", ReplayResume.to(Blocked),        "some call is still suspended")
    cancel     = (clause("DECIDE-45", Blocked.to(Cancelled),           "cancelled while nobody decided")
                | clause("DECIDE-46", ReplayResume.to(Cancelled),      "cancelled in a replay"))
    end        =  clause("DECIDE-47", ReplayResume.to(Ended),          "the run ended in a replay")
    break_off  =  clause("DECIDE-48", Blocked.to(Ended),               "its time is over, or it broke")
    set_aside  =  clause("DECIDE-49", Blocked.to(Resumed),             "new input sets the wait aside")
    # fmt: on

    closed = "DECIDE-50"
