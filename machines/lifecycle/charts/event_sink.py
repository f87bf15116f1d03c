"""The event sink of a run that outlives its watchers: the channel of the sink can be replaced.

Clauses: spec/lifecycle/clauses/stream.toml.

The run knows only the sink; only the sink knows whether there is a watcher.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ReconnectableEventSink(Chart):
    """Whether the events of a run have a watcher, which may leave and come back."""

    subject = "event sink"

    Connected = State(initial=True)  # the channel leads to a watcher
    Dropped = State()  # the sink holds a channel that has no reader
    Closed = State(final=True)

    # fmt: off
    emit      = (clause("STREAM-1", Connected.to(Connected), "the present watcher receives it")
               | clause("STREAM-3", Dropped.to(Dropped),     "nobody receives it, and nothing fails"))
    drop      =  clause("STREAM-2", Connected.to(Dropped),   "the stream closed, and the run goes on")
    reconnect = (clause("STREAM-4", Dropped.to(Connected),   "a watcher came for a run that waits")
               | clause("STREAM-5", Connected.to(Connected), "another watcher takes the place"))
    finish    = (clause("STREAM-6", Connected.to(Closed),    "the run is over, and so is the stream")
               | clause("STREAM-7", Dropped.to(Closed),      "the run is over, and nobody watched"))
    # fmt: on

    closed = "STREAM-20"
