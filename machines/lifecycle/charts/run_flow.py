"""The flow of one segment of a run, from its start to its forced last checkpoint.

Clauses: spec/lifecycle/clauses/flow.toml.

This is the flow without a stream: decisions take effect only at the resume gate.  What may end a segment at
any station is in a chart of its own, `SegmentCutShort`, which joins this one at RunEnd.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class RunFlow(Chart):
    """One segment of a run, from its start to its end; a resumed run goes through it again."""

    subject = "segment"

    RunStart = State(initial=True)
    CommitUser = State()
    ResumeReplay0 = State()  # decisions that came with the input
    CommitReplay0 = State()
    LoopTop = State()
    ResumeToolCall = State()  # the resume gate
    StepPrepare = State()
    LlmCall = State()
    AfterInference = State()
    CommitAssistant = State()
    ToolRound = State()
    CommitTool = State()
    ResumeAfterTool = State()  # the resume gate once more, before anyone judges whether to wait
    ResumeBeforeEnd = State()  # the resume gate before a natural end
    Terminate = State()  # the five ways out
    NaturalEnd = State()
    Suspended = State()
    Cancelled = State()
    Error = State()
    RunEnd = State()
    CommitFinished = State(final=True)

    # fmt: off
    started     =  clause("FLOW-1",  RunStart.to(CommitUser),            "checkpoint UserMessage")
    committed   = (clause("FLOW-2",  CommitUser.to(ResumeReplay0),       "the input is durable")
                 | clause("FLOW-5",  CommitReplay0.to(LoopTop),          "nothing suspended again")
                 | clause("FLOW-21", CommitTool.to(ResumeAfterTool),     "the round is durable"))
    replayed    =  clause("FLOW-3",  ResumeReplay0.to(CommitReplay0),    "a decision was replayed")
    reenter     =  clause("FLOW-30", RunStart.to(ResumeReplay0),         "entered anew, without new input")
    parked      =  clause("FLOW-31", ResumeReplay0.to(Suspended),        "nothing replayed; some call waits")
    decided     =  clause("FLOW-32", CommitReplay0.to(ResumeReplay0),    "more was decided meanwhile")
    no_replay   =  clause("FLOW-4",  ResumeReplay0.to(LoopTop),          "there was nothing to replay")
    resuspended =  clause("FLOW-6",  CommitReplay0.to(Suspended),        "a replayed call suspended again")
    next        = (clause("FLOW-7",  LoopTop.to(ResumeToolCall),         "each turn begins here")
                 | clause("FLOW-8",  ResumeToolCall.to(StepPrepare),     "the gate is passed"))
    terminate   = (clause("FLOW-9",  StepPrepare.to(Terminate),          "a plugin ends it before inference")
                 | clause("FLOW-15", CommitAssistant.to(Terminate),      "a plugin ends it after inference"))
    proceed     =  clause("FLOW-10", StepPrepare.to(LlmCall),            "the model is asked")
    broke       = (clause("FLOW-11", LlmCall.to(Error),                  "the inference broke")
                 | clause("FLOW-18", ToolRound.to(Error),                "the executor broke"))
    cancelled   = (clause("FLOW-12", LlmCall.to(Cancelled),              "cancelled during inference")
                 | clause("FLOW-19", ToolRound.to(Cancelled),            "cancelled during the round"))
    inferred    =  clause("FLOW-13", LlmCall.to(AfterInference),         "the model answered")
    answered    =  clause("FLOW-14", AfterInference.to(CommitAssistant), "checkpoint AssistantTurnCommitted")
    no_tools    =  clause("FLOW-16", CommitAssistant.to(NaturalEnd),     "the model asked for no tool")
    drain       =  clause("FLOW-33", CommitAssistant.to(ResumeBeforeEnd), "no tool; the gate comes first")
    none_waits  =  clause("FLOW-34", ResumeBeforeEnd.to(NaturalEnd),     "no call waits for a decision")
    some_wait   =  clause("FLOW-35", ResumeBeforeEnd.to(Suspended),      "a call of an older round waits")
    resolved    =  clause("FLOW-36", ResumeBeforeEnd.to(LoopTop),        "a decision was resolved")
    has_tools   =  clause("FLOW-17", CommitAssistant.to(ToolRound),      "the model asked for tools")
    held_back   = (clause("FLOW-37", ResumeToolCall.to(ToolRound),       "calls left over run first")
                 | clause("FLOW-38", ResumeAfterTool.to(ToolRound),      "calls left over run now"))
    round_over  =  clause("FLOW-20", ToolRound.to(CommitTool),           "checkpoint ToolResultsCommitted")
    all_parked  =  clause("FLOW-22", ResumeAfterTool.to(Suspended),      "all outcomes are Suspended")
    some_done   =  clause("FLOW-23", ResumeAfterTool.to(LoopTop),        "some outcome is not")
    end         = (clause("FLOW-24", Terminate.to(RunEnd),               "ended by a plugin")
                 | clause("FLOW-25", NaturalEnd.to(RunEnd),              "ended by itself")
                 | clause("FLOW-26", Suspended.to(RunEnd),               "the segment ends, the run waits")
                 | clause("FLOW-27", Cancelled.to(RunEnd),               "ended by a cancel")
                 | clause("FLOW-28", Error.to(RunEnd),                   "ended by a fault"))
    finished    =  clause("FLOW-29", RunEnd.to(CommitFinished),          "checkpoint RunFinished, forced")
    # fmt: on

    closed = "FLOW-40"


class SegmentCutShort(Chart):
    """What may end a segment at any point."""

    subject = "segment"

    Station = State(initial=True)  # any station of RunFlow, or none: a run between two segments
    Terminate = State()
    Cancelled = State()
    Error = State()
    RunEnd = State()
    CommitFinished = State(final=True)

    # fmt: off
    stopped   =  clause("FLOW-42", Station.to(Terminate),      "a stop condition fired, or a block ended it")
    cancelled =  clause("FLOW-43", Station.to(Cancelled),      "cancelled elsewhere than FLOW-12 and FLOW-19")
    broke     =  clause("FLOW-44", Station.to(Error),          "broken elsewhere than FLOW-11 and FLOW-18")
    between   =  clause("FLOW-45", Station.to(CommitFinished), "cancelled between two segments")
    end       = (clause("FLOW-24", Terminate.to(RunEnd),       "ended by a plugin")
               | clause("FLOW-27", Cancelled.to(RunEnd),       "ended by a cancel")
               | clause("FLOW-28", Error.to(RunEnd),           "ended by a fault"))
    finished  =  clause("FLOW-29", RunEnd.to(CommitFinished),  "checkpoint RunFinished, forced")
    # fmt: on

    closed = "FLOW-40"
