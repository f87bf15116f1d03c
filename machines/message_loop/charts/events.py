"""The events of one request and of one call, in the order in which they are published.

Clauses: spec/message_loop/clauses/wire.toml.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ProviderRequest(Chart):
    """The events of one request to the model."""

    subject = "request"

    Started = State(initial=True)
    Completed = State(final=True)
    Failed = State(final=True)
    Abandoned = State(final=True)

    # fmt: off
    tokens   = clause("WIRE-3",  Started.to(Started),   "text arrives")
    complete = clause("WIRE-41", Started.to(Completed), "the response is complete")
    fail     = clause("WIRE-42", Started.to(Failed),    "the request broke")
    abandon  = clause("WIRE-43", Started.to(Abandoned), "cancelled or cut off")
    # fmt: on

    closed = "WIRE-2"


class ToolInvocation(Chart):
    """The events of one call."""

    subject = "call"

    Proposed = State(initial=True)
    Denied = State()
    Started = State()
    Succeeded = State(final=True)
    Failed = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    deny    =  clause("WIRE-50", Proposed.to(Denied),    "it may not run")
    start   =  clause("WIRE-51", Proposed.to(Started),   "it may run")
    succeed =  clause("WIRE-54", Started.to(Succeeded),  "its tool answered")
    fail    = (clause("WIRE-52", Proposed.to(Failed),    "malformed, or no such tool")
             | clause("WIRE-55", Started.to(Failed),     "an error, an exception or a fault")
             | clause("WIRE-57", Denied.to(Failed),      "reported as failed as well"))
    cancel  = (clause("WIRE-53", Proposed.to(Cancelled), "cancelled before it started")
             | clause("WIRE-56", Started.to(Cancelled),  "aborted")
             | clause("WIRE-58", Denied.to(Cancelled),   "reported as cancelled as well"))
    # fmt: on

    closed = "WIRE-4"
