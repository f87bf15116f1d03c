"""The concurrent round: one task a call, a dispatcher that wakes those that wait, and a barrier at the end.

Clauses: spec/lifecycle/clauses/round.toml.
`may_still_wait` and `all_terminal` are facts of the round: some task waits
or may come to wait again, and no task is live.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ConcurrentTask(Chart):
    """One call of a round whose calls run at the same time."""

    subject = "task"

    Intercept = State(initial=True)  # as in the serial round
    Execute = State()
    WaitDecision = State()  # each waits for its own decision
    Replay = State()
    Terminal = State(final=True)  # as the barrier sees it

    # fmt: off
    allow    =  clause("ROUND-60", Intercept.to(Execute),      "nothing holds it back")
    hold     = (clause("ROUND-61", Intercept.to(WaitDecision), "held before it ran")
              | clause("ROUND-63", Execute.to(WaitDecision),   "the tool answered pending")
              | clause("ROUND-66", Replay.to(WaitDecision),    "held again, with a new waiter"))
    wake     =  clause("ROUND-64", WaitDecision.to(Replay),    "its decision arrived")
    finish   = (clause("ROUND-62", Intercept.to(Terminal),     "blocked, or its result was set")
              | clause("ROUND-65", Execute.to(Terminal),       "the tool gave its outcome")
              | clause("ROUND-67", Replay.to(Terminal),        "the replay gave its outcome")
              | clause("ROUND-68", WaitDecision.to(Terminal),  "rejected, or the run was cancelled"))
    # fmt: on

    closed = "ROUND-69"


class Dispatcher(Chart):
    """Divides a batch of decisions among the calls that wait for them."""

    subject = "dispatcher"

    NextBatch = State(initial=True)
    NextDecision = State()
    Ended = State(final=True)

    # fmt: off
    batch      =  clause("ROUND-70", NextBatch.to(NextDecision),    "a batch has arrived")
    shut       =  clause("ROUND-71", NextBatch.to(Ended),           "no decision will come any more")
    dispatch   =  clause("ROUND-72", NextDecision.to(NextDecision), "its waiter is woken, and is one no more")
    nobody     =  clause("ROUND-73", NextDecision.to(NextDecision), "nobody waits for it")
    gone       =  clause("ROUND-74", NextDecision.to(NextDecision), "its waiter is there no longer")
    batch_over = (clause("ROUND-75", NextDecision.to(NextBatch, cond="may_still_wait"), "someone may wait")
                | clause("ROUND-76", NextDecision.to(Ended),        "nobody will wait again"))
    # fmt: on

    closed = "ROUND-79"


class Barrier(Chart):
    """A round with concurrent calls waits here until none of them is open."""

    subject = "barrier"

    Waiting = State(initial=True)
    Passed = State(final=True)

    # fmt: off
    task_over = (clause("ROUND-80", Waiting.to(Passed, cond="all_terminal"), "it was the last one")
               | clause("ROUND-81", Waiting.to(Waiting), "others are live"))
    # fmt: on

    closed = "ROUND-89"
