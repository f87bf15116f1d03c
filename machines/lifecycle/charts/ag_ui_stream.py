"""A stream of AG-UI, as the page about runs and steps draws it: where its runs begin and end.

Clauses: spec/lifecycle/clauses/producer.toml.

Every other event belongs to a run, and comes in Active alone; the page draws no arrow for it, and none for
the end of a stream.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class AgUiStream(Chart):
    """From the first event of a stream to its last: a stream may carry several runs."""

    subject = "stream of AG-UI"

    NotBegun = State(initial=True)
    Active = State()  # a run is under way
    Closed = State()  # the newest run has finished
    Failed = State()  # the newest run has failed
    Ended = State(final=True)

    # fmt: off
    run_started  = (clause("PRODUCER-40", NotBegun.to(Active), "the run begins")
                  | clause("PRODUCER-44", Closed.to(Active),   "a new run begins")
                  | clause("PRODUCER-46", Failed.to(Active),   "a new run begins after a failure"))
    run_finished =  clause("PRODUCER-42", Active.to(Closed),   "the run did not fail")
    run_error    = (clause("PRODUCER-41", NotBegun.to(Failed), "the run could not begin")
                  | clause("PRODUCER-43", Active.to(Failed),   "the run failed, whatever was open")
                  | clause("PRODUCER-45", Closed.to(Failed),   "a failure came to light after the end"))
    end          = (clause("PRODUCER-47", Closed.to(Ended),    "nothing follows the end")
                  | clause("PRODUCER-48", Failed.to(Ended),    "nothing follows the failure"))
    # fmt: on

    closed = {
        "NotBegun": "PRODUCER-1",
        "Active": "PRODUCER-2",
        "Closed": "PRODUCER-3",
        "Failed": "PRODUCER-4",
        "Ended": "PRODUCER-4",
    }
