"""One run of a tool runner: request, yield, the actions of the user, tools, and the next request.

Clauses: spec/tool_runner/clauses.  The source draws a loop with one end, "no tool request"; the spec
knows six (E-60).  The facts are the runner's own: `changed` is what the policy `runner.append` means by
it, `paused` a turn that is sent back as it is, `dropped` the value of `runner.results`.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class RunnerIteration(Chart):
    """What a tool runner does from one request to the next, and how it ends."""

    subject = "runner"

    Settled = State(initial=True)  # the state is what the next request holds
    Asked = State()  # the request is with the model
    Streaming = State()  # a stream is with the user, and its turn is not whole
    Received = State()
    Yielded = State()  # the turn is with the user, who may change the state
    Resumed = State()
    Updated = State()  # the turn was put into the state, or left out
    Handling = State()  # the calls run
    Left = State()  # the user left the loop
    Broken = State()  # by a fault of the model or of a tool
    Finished = State(final=True)
    Limited = State(final=True)
    Cancelled = State(final=True)
    Over = State(final=True)  # left or broken, and cannot be continued

    # fmt: off
    request   =  clause("RUNNER-8",  Settled.to(Asked),          "the state is sent")
    limit     = (clause("STOP-1",    Settled.to(Limited),        "no further request is allowed")
               | clause("STOP-5",    Updated.to(Limited),        "the last turn's calls are preempted"))
    open      =  clause("STREAM-1",  Asked.to(Streaming),        "a stream is yielded before its end")
    whole     =  clause("STREAM-2",  Streaming.to(Yielded),      "the turn of the stream is whole")
    answer    =  clause("RUNNER-2",  Asked.to(Received),         "the model answers")
    hand_over =  clause("RUNNER-1",  Received.to(Yielded),       "the turn is yielded")
    resume    =  clause("RUNNER-3",  Yielded.to(Resumed),        "the user resumes")
    leave     = (clause("RUNNER-4",  Yielded.to(Left),           "the user leaves the loop")
               | clause("STREAM-7",  Streaming.to(Left),         "the user leaves a stream"))
    append    =  clause("RUNNER-9",  Resumed.to(Updated),        "nothing was changed: the turn is appended")
    keep      = (clause("RUNNER-31", Resumed.to(Updated, cond="paused"), "changed: a pause, kept or lost")
               | clause("RUNNER-10", Resumed.to(Updated),        "changed: the user's state is kept"))
    placed    =  clause("RUNNER-44", Resumed.to(Updated),        "the turn was appended on receipt")
    handle    = (clause("RUNNER-13", Updated.to(Handling, cond="changed"), "changed: calls are handled")
               | clause("RUNNER-5",  Updated.to(Handling),       "the turn asks for tools"))
    results   = (clause("RUNNER-45", Handling.to(Settled, cond="dropped"), "the results are dropped")
               | clause("RUNNER-14", Handling.to(Settled),       "the results follow their turn"))
    finish    = (clause("RUNNER-7",  Updated.to(Finished, cond="changed"), "changed: a final turn ends it")
               | clause("RUNNER-6",  Updated.to(Finished),       "a final turn ends the run"))
    go_on     = (clause("RUNNER-20", Updated.to(Settled, cond="paused"), "a paused turn goes back")
               | clause("RUNNER-16", Updated.to(Settled),        "changed: no call is left to handle"))
    fault     = (clause("RUNNER-25", Asked.to(Broken),           "the model breaks")
               | clause("RUNNER-25", Streaming.to(Broken),       "the model breaks")
               | clause("RUN-6",     Handling.to(Broken),        "a tool breaks the run")
               | clause("RUN-6",     Resumed.to(Broken),         "a tool breaks the run"))
    cancel    = (clause("CANCEL-2",  Settled.to(Cancelled),      "the run was cancelled")
               | clause("CANCEL-2",  Asked.to(Cancelled),        "the run was cancelled")
               | clause("CANCEL-2",  Streaming.to(Cancelled),    "the run was cancelled")
               | clause("CANCEL-2",  Yielded.to(Cancelled),      "the run was cancelled")
               | clause("CANCEL-2",  Resumed.to(Cancelled),      "the run was cancelled")
               | clause("CANCEL-2",  Updated.to(Cancelled),      "the run was cancelled")
               | clause("CANCEL-2",  Handling.to(Cancelled),     "the run was cancelled"))
    go_back   =  clause("RUNNER-24", Left.to(Resumed),           "taken up where it was left")
    retry     =  clause("RUNNER-36", Broken.to(Settled),         "taken up after a fault")
    close     = (clause("RUN-8",     Left.to(Over),              "the runner is over")
               | clause("RUN-8",     Broken.to(Over),            "the runner is over"))
    # fmt: on

    closed = "RUNNER-49"
