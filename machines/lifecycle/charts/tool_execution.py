"""How a serial round carries its calls: all are judged before any executes, in two phases or in three stages.

Clauses: spec/lifecycle/clauses/round.toml.
The fact `any_suspended` is the round's own: a call of it was held, or
answered pending.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class TwoPhases(Chart):
    """The phases of a call in a round: intercepted, then executed if it is allowed."""

    subject = "round"

    Intercept = State(initial=True)  # call by call, in the model's order
    Sequential = State()  # the allowed calls, one by one
    Parallel = State()  # the allowed calls, as a batch
    Suspended = State(final=True)  # what the step learns
    Completed = State(final=True)
    Blocked = State(final=True)

    # fmt: off
    suspend      =  clause("ROUND-20", Intercept.to(Intercept),  "it is held, and the next one is looked at")
    block        =  clause("ROUND-21", Intercept.to(Blocked),    "it is blocked, and the round returns")
    provide      =  clause("ROUND-22", Intercept.to(Intercept),  "its result is set, and the next one")
    allow        =  clause("ROUND-23", Intercept.to(Intercept),  "it is allowed, and the next one")
    one_by_one   =  clause("ROUND-24", Intercept.to(Sequential), "all are judged; the executor is sequential")
    as_a_batch   =  clause("ROUND-25", Intercept.to(Parallel),   "all are judged; the executor is parallel")
    next_call    =  clause("ROUND-26", Sequential.to(Sequential), "one has its result, and the next may run")
    first_hold   =  clause("ROUND-27", Sequential.to(Suspended), "one suspended, and the rest does not run")
    collect      =  clause("ROUND-30", Parallel.to(Parallel),    "an outcome is collected, whatever it is")
    close        = (clause("ROUND-28", Sequential.to(Suspended, cond="any_suspended"), "over; some wait")
                  | clause("ROUND-29", Sequential.to(Completed), "over, and nothing waits")
                  | clause("ROUND-31", Parallel.to(Suspended, cond="any_suspended"), "collected; some wait")
                  | clause("ROUND-32", Parallel.to(Completed),   "collected, and nothing waits"))
    # fmt: on

    closed = "ROUND-50"


class ThreeStages(Chart):
    """The stages of a call in a round: judged at the gate, prepared if it is allowed, executed."""

    subject = "round"

    ToolGate = State(initial=True)
    BeforeToolExecute = State()
    Sequential = State()
    Parallel = State()
    Suspended = State(final=True)
    Completed = State(final=True)
    Blocked = State(final=True)

    # fmt: off
    suspend      =  clause("ROUND-40", ToolGate.to(ToolGate),    "it is held, and the next one is judged")
    block        =  clause("ROUND-41", ToolGate.to(Blocked),     "it is blocked, and the round returns")
    provide      =  clause("ROUND-42", ToolGate.to(ToolGate),    "its result is written, and the next one")
    allow        =  clause("ROUND-43", ToolGate.to(ToolGate),    "it is allowed, and the next one")
    all_judged   =  clause("ROUND-44", ToolGate.to(BeforeToolExecute), "every call has its verdict")
    made_ready   =  clause("ROUND-45", BeforeToolExecute.to(BeforeToolExecute), "a call is made ready")
    one_by_one   =  clause("ROUND-46", BeforeToolExecute.to(Sequential), "ready; the executor is sequential")
    as_a_batch   =  clause("ROUND-47", BeforeToolExecute.to(Parallel), "ready; the executor is parallel")
    judge_again  =  clause("ROUND-48", Sequential.to(ToolGate),  "an earlier call has committed state")
    next_call    =  clause("ROUND-26", Sequential.to(Sequential), "one has its result, and the next may run")
    first_hold   =  clause("ROUND-27", Sequential.to(Suspended), "one suspended, and the rest does not run")
    collect      =  clause("ROUND-30", Parallel.to(Parallel),    "an outcome is collected, whatever it is")
    close        = (clause("ROUND-28", Sequential.to(Suspended, cond="any_suspended"), "over; some wait")
                  | clause("ROUND-29", Sequential.to(Completed), "over, and nothing waits")
                  | clause("ROUND-31", Parallel.to(Suspended, cond="any_suspended"), "collected; some wait")
                  | clause("ROUND-32", Parallel.to(Completed),   "collected, and nothing waits"))
    # fmt: on

    closed = "ROUND-51"
