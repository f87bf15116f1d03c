"""One pass through the resume gate: drain the decisions, replay the calls that they resolve, commit.

Clauses: spec/lifecycle/clauses/resume.toml.

The gate is at the start of a run, at the top of the loop and after every tool round; a pass that finds
nothing to resolve has no effect.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ResumeToolCall(Chart):
    """What happens to one decision until its call runs again or is over; several may share a commit."""

    subject = "resume gate"

    DrainDecisionChannel = State(initial=True)  # look at what has arrived
    NoDecision = State(final=True)  # nothing to act on
    ResolveDecision = State()  # a decision met its suspended call
    PersistResumeDecision = State()  # it is written down before it acts
    Replay = State()
    ReplayCancel = State()  # nothing executes
    ReplayResume = State()
    ExecuteReplayedTool = State()
    SetNextSuspended = State()  # the call waits again, for a new decision
    ClearResolved = State()  # the decision and its suspension are over
    SnapshotIfStateChanged = State()
    CommitReplay = State(final=True)  # durable

    # fmt: off
    empty       = clause("RESUME-1",  DrainDecisionChannel.to(NoDecision),       "nothing has arrived")
    unresolved  = clause("RESUME-2",  DrainDecisionChannel.to(NoDecision),       "none meets its call")
    matched     = clause("RESUME-3",  DrainDecisionChannel.to(ResolveDecision),  "one meets its call")
    persist     = clause("RESUME-4",  ResolveDecision.to(PersistResumeDecision), "it is written down")
    replay      = clause("RESUME-5",  PersistResumeDecision.to(Replay),          "now it may act")
    cancel      = clause("RESUME-6",  Replay.to(ReplayCancel),                   "it says cancel")
    resume      = clause("RESUME-7",  Replay.to(ReplayResume),                   "it says resume")
    cancelled   = clause("RESUME-8",  ReplayCancel.to(ClearResolved),            "nothing executes")
    execute     = clause("RESUME-9",  ReplayResume.to(ExecuteReplayedTool),      "the call runs again")
    finished    = clause("RESUME-10", ExecuteReplayedTool.to(ClearResolved),     "not suspended again")
    resuspended = clause("RESUME-11", ExecuteReplayedTool.to(SetNextSuspended),  "suspended again")
    parked      = clause("RESUME-12", SetNextSuspended.to(ClearResolved),        "the new wait is kept")
    cleared     = clause("RESUME-13", ClearResolved.to(SnapshotIfStateChanged),  "both are over")
    commit      = clause("RESUME-14", SnapshotIfStateChanged.to(CommitReplay),   "then it is durable")
    # fmt: on

    closed = "RESUME-20"
