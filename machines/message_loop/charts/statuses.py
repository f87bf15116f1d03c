"""The statuses of a turn and of a call, as far as a runtime reports them.

Clauses: spec/message_loop/clauses/run.toml and call.toml.
A run stays Running while a prompt is open: nothing is suspended.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class TurnStatus(Chart):
    """The status of one turn."""

    subject = "run"

    Running = State(initial=True)
    Done = State(final=True)

    # fmt: off
    natural_end = clause("RUN-3", Running.to(Done), "rendered, or Exit ran")
    stopped     = clause("RUN-5", Running.to(Done), "the bound was reached")
    blocked     = clause("RUN-6", Running.to(Done), "a guard denied, or a denial reached the turn")
    cancelled   = clause("RUN-7", Running.to(Done), "cancelled")
    failed      = clause("RUN-8", Running.to(Done), "something broke")
    # fmt: on

    closed = {"Running": "RUN-15", "Done": "RUN-14"}


class CallStatus(Chart):
    """The status of one call."""

    subject = "call"

    New = State(initial=True)
    Running = State()
    Succeeded = State(final=True)
    Failed = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    start   =  clause("CALL-1",  New.to(Running),       "its tool is entered")
    succeed =  clause("CALL-4",  Running.to(Succeeded), "the tool answered")
    fail    = (clause("CALL-5",  Running.to(Failed),    "the tool answered with an error, or threw")
             | clause("CALL-15", New.to(Failed),        "denied, malformed, or no such tool"))
    cancel  = (clause("CALL-6",  Running.to(Cancelled), "aborted")
             | clause("CALL-16", New.to(Cancelled),     "cancelled before it ran"))
    # fmt: on

    closed = {
        "New": "CALL-19",
        "Running": "CALL-20",
        "Succeeded": "CALL-17",
        "Failed": "CALL-17",
        "Cancelled": "CALL-17",
    }
