"""Strict cancellation of a turn: close open gates, settle the calls, end.

Clauses: spec/message_loop/clauses/cancel.toml.
The fact `drains` is the policy `cancel.inflight`.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class StrictCancellation(Chart):
    """What follows a cancel of a turn, from the signal to the end of the turn."""

    subject = "cancel"

    Raised = State(initial=True)
    GivingUp = State()  # no request, prompt or hook is open
    Draining = State()
    Quiet = State()  # the turn has no running work
    Settled = State()
    Ended = State(final=True)

    # fmt: off
    give_up    =  clause("CANCEL-20", Raised.to(GivingUp),     "requests, prompts and hooks are closed")
    stop_tools =  clause("CANCEL-5",  GivingUp.to(Draining, cond="drains") | GivingUp.to(Quiet),
                         "running tools end as declared")
    tool_over  =  clause("CANCEL-23", Draining.to(Draining),   "a tool has its own result")
    drained    =  clause("CANCEL-24", Draining.to(Quiet),      "no tool runs")
    settle     =  clause("CANCEL-25", Quiet.to(Settled),       "each call has one result")
    finish     =  clause("CANCEL-2",  Settled.to(Ended),       "the turn ends as Cancelled")
    # fmt: on

    closed = "CANCEL-29"
