"""The life of one tool call, from the model's request to its outcome.

Clauses: spec/lifecycle/clauses/call.toml.
Everything that moves a tool call is in this chart.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ToolCall(Chart):
    """The status of one tool call; it may be suspended several times."""

    subject = "call"

    New = State(initial=True)  # the model asked for it; nothing has run
    Running = State()  # its body was entered
    Suspended = State()  # until a person decides
    Resuming = State()  # decided; about to run again
    Succeeded = State(final=True)
    Failed = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    start   = (clause("CALL-1",  New.to(Running),         "nothing holds it back")
             | clause("CALL-9",  Resuming.to(Running),    "its replay enters the tool"))
    suspend = (clause("CALL-2",  New.to(Suspended),       "held before it ran")
             | clause("CALL-3",  Running.to(Suspended),   "the tool answered pending")
             | clause("CALL-10", Resuming.to(Suspended),  "held again in its replay"))
    succeed = (clause("CALL-4",  Running.to(Succeeded),   "the tool answered, perhaps with a warning")
             | clause("CALL-11", Resuming.to(Succeeded),  "the replay gave a result"))
    fail    = (clause("CALL-5",  Running.to(Failed),      "the tool answered with an error")
             | clause("CALL-12", Resuming.to(Failed),     "the replay gave an error")
             | clause("CALL-15", New.to(Failed),          "blocked, unknown tool, or unfit arguments"))
    cancel  = (clause("CALL-6",  Running.to(Cancelled),   "the run was cancelled over it")
             | clause("CALL-8",  Suspended.to(Cancelled), "a cancel decision, or the run was cancelled")
             | clause("CALL-13", Resuming.to(Cancelled),  "cancelled in its replay")
             | clause("CALL-16", New.to(Cancelled),       "the run was cancelled before it ran"))
    resume  =  clause("CALL-7",  Suspended.to(Resuming),  "a resume decision was taken")
    provide =  clause("CALL-14", New.to(Succeeded),       "the gate set a result")
    # fmt: on

    closed = {
        "New": "CALL-19",
        "Running": "CALL-20",
        "Suspended": "CALL-18",
        "Resuming": "CALL-21",
        "Succeeded": "CALL-17",
        "Failed": "CALL-17",
        "Cancelled": "CALL-17",
    }
