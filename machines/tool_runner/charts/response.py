"""The response to the calls of one turn, on request of the user or the runner: made, kept, used, dropped.

Clauses: spec/tool_runner/clauses.  How long it is kept is the policy `runner.cache`; a response that a
change invalidated while it was made is dropped as soon as it is complete.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class CachedToolResponse(Chart):
    """The stored response to the calls of one iteration."""

    subject = "response"

    Empty = State(initial=True)
    Making = State()  # its calls run
    Kept = State()
    Forgotten = State(final=True)  # its iteration is over

    # fmt: off
    ask     = (clause("ONCE-1",    Empty.to(Making),     "nothing is kept: the calls run")
             | clause("RUNNER-18", Kept.to(Kept),        "the kept response is used"))
    made    =  clause("RUNNER-17", Making.to(Kept),      "it has one result for each call")
    drop    =  clause("RUNNER-30", Kept.to(Empty),       "it is kept no longer")
    give_up =  clause("CANCEL-6",  Making.to(Empty),     "a cancel or a broken tool leaves it unfinished")
    forget  = (clause("RUNNER-19", Empty.to(Forgotten),  "the iteration is over")
             | clause("RUNNER-19", Kept.to(Forgotten),   "the iteration is over"))
    # fmt: on

    closed = "RUNNER-50"
