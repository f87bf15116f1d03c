"""The life of one run: active, parked, over; and the same life with a state before it starts.

Clauses: spec/lifecycle/clauses/run.toml.
That a run was suspended is no end of it: it waits.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class Run(Chart):
    """The status of a run that exists from the moment it starts."""

    subject = "run"

    Running = State(initial=True)  # at work: inference, permission, tools or a commit
    Waiting = State()  # until a person decides
    Done = State(final=True)  # over, for a reason that it keeps

    # fmt: off
    suspend            =  clause("RUN-1",  Running.to(Waiting), "only calls that await a decision are left")
    resume             =  clause("RUN-2",  Waiting.to(Running), "a decision was taken")
    natural_end        =  clause("RUN-3",  Running.to(Done),    "the model asked for no tool")
    behavior_requested =  clause("RUN-4",  Running.to(Done),    "a plugin asked for the end")
    stopped            = (clause("RUN-5",  Running.to(Done),    "a stop condition fired")
                        | clause("RUN-18", Waiting.to(Done),    "stopped while it waits, in some designs"))
    blocked            =  clause("RUN-6",  Running.to(Done),    "the permission check blocked the run")
    cancelled          = (clause("RUN-7",  Running.to(Done),    "cancelled at work")
                        | clause("RUN-9",  Waiting.to(Done),    "cancelled while it waits"))
    failed             = (clause("RUN-8",  Running.to(Done),    "the runtime broke at work")
                        | clause("RUN-10", Waiting.to(Done),    "the runtime broke while it waits"))
    # fmt: on

    closed = {"Running": "RUN-15", "Waiting": "RUN-16", "Done": "RUN-14"}


class RunWithCreated(Chart):
    """The status of a run that is stored before it starts; from Running on, the same as `Run`."""

    subject = "run"

    Created = State(initial=True)  # durable, and no phase has run
    Running = State()
    Waiting = State()
    Done = State(final=True)

    # fmt: off
    begin              =  clause("RUN-11", Created.to(Running), "the runtime took the run over")
    suspend            =  clause("RUN-1",  Running.to(Waiting), "only calls that await a decision are left")
    resume             =  clause("RUN-2",  Waiting.to(Running), "a decision was taken")
    natural_end        =  clause("RUN-3",  Running.to(Done),    "the model asked for no tool")
    behavior_requested =  clause("RUN-4",  Running.to(Done),    "a plugin asked for the end")
    stopped            = (clause("RUN-5",  Running.to(Done),    "a stop condition fired")
                        | clause("RUN-18", Waiting.to(Done),    "stopped while it waits, in some designs"))
    blocked            =  clause("RUN-6",  Running.to(Done),    "the permission check blocked the run")
    cancelled          = (clause("RUN-7",  Running.to(Done),    "cancelled at work")
                        | clause("RUN-9",  Waiting.to(Done),    "cancelled while it waits")
                        | clause("RUN-12", Created.to(Done),    "cancelled before it began"))
    failed             = (clause("RUN-8",  Running.to(Done),    "the runtime broke at work")
                        | clause("RUN-10", Waiting.to(Done),    "the runtime broke while it waits"))
    rejected           =  clause("RUN-13", Created.to(Done),    "turned down before it began")
    # fmt: on

    closed = {"Created": "RUN-17", "Running": "RUN-15", "Waiting": "RUN-16", "Done": "RUN-14"}
