"""The bound of one pass: it counts continuations, and is checked when the next one would begin.

Clauses: spec/message_loop/clauses/loop.toml.
The fact `below_bound` compares the counter with the bound as the policy `bound.counts` says.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ContinuationBound(Chart):
    """How often a pass goes on, against its limit; each pass has a counter of its own."""

    subject = "bound"

    Within = State(initial=True)
    Reached = State(final=True)
    Unused = State(final=True)  # the pass ended by itself

    # fmt: off
    continuation = (clause("LOOP-70", Within.to(Within, cond="below_bound"), "a round counts")
                  | clause("LOOP-5",  Within.to(Reached),                    "no further request is sent"))
    pass_over    =  clause("LOOP-3",  Within.to(Unused),                     "the pass ended by itself")
    # fmt: on

    closed = "LOOP-79"
