"""The phases of one step, from its start to its end: eight phases or nine, the end before or after the tools.

Clauses: spec/lifecycle/clauses/phase.toml.
`StepThatWaited` goes on where a step with waiting calls has ended, `StepCutShort` says what may end a step
anywhere.  A replay is a pass of its own through the phases of its call, and no part of the step.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class StepEndsBeforeTools(Chart):
    """A step of eight phases that ends when the model has answered; its tools form a round after it."""

    subject = "step"

    StepStart = State(initial=True)
    BeforeInference = State()
    LlmCall = State()  # no phase: the model is asked
    AfterInference = State()
    StepEnd = State()
    BeforeToolExecute = State()
    AfterToolExecute = State()
    CommitTool = State(final=True)  # the round is over too
    NaturalEnd = State(final=True)
    Terminate = State(final=True)

    # fmt: off
    request   =  clause("PHASE-40", StepStart.to(BeforeInference),          "the request is made ready")
    infer     =  clause("PHASE-41", BeforeInference.to(LlmCall),            "the model is asked")
    answered  =  clause("PHASE-43", LlmCall.to(AfterInference),             "the model answered")
    close     =  clause("PHASE-46", AfterInference.to(StepEnd),             "the answer is complete")
    terminate = (clause("PHASE-42", BeforeInference.to(Terminate),          "a plugin skips the inference")
               | clause("PHASE-45", StepEnd.to(Terminate),                  "a plugin asked for the end"))
    no_tools  =  clause("PHASE-47", StepEnd.to(NaturalEnd),                 "the model asked for no tool")
    has_tools =  clause("PHASE-48", StepEnd.to(BeforeToolExecute),          "the model asked for tools")
    another   = (clause("PHASE-55", BeforeToolExecute.to(BeforeToolExecute), "the next call, before any runs")
               | clause("PHASE-58", AfterToolExecute.to(BeforeToolExecute), "the next call, one by one"))
    outcome   = (clause("PHASE-56", BeforeToolExecute.to(AfterToolExecute), "a call has its outcome")
               | clause("PHASE-57", AfterToolExecute.to(AfterToolExecute),  "the next call has its outcome"))
    left_over =  clause("PHASE-64", BeforeToolExecute.to(CommitTool),       "made ready, and left behind")
    commit    =  clause("PHASE-62", AfterToolExecute.to(CommitTool),        "the round is applied")
    # fmt: on

    closed = "PHASE-70"


class StepEndsAfterTools(Chart):
    """A step of eight phases that ends when its tools have finished."""

    subject = "step"

    StepStart = State(initial=True)
    BeforeInference = State()
    LlmCall = State()
    AfterInference = State()
    BeforeToolExecute = State()
    AfterToolExecute = State()
    StepEnd = State(final=True)
    Terminate = State(final=True)

    # fmt: off
    request   =  clause("PHASE-40", StepStart.to(BeforeInference),          "the request is made ready")
    infer     =  clause("PHASE-41", BeforeInference.to(LlmCall),            "the model is asked")
    answered  =  clause("PHASE-43", LlmCall.to(AfterInference),             "the model answered")
    terminate = (clause("PHASE-42", BeforeInference.to(Terminate),          "a plugin skips the inference")
               | clause("PHASE-44", AfterInference.to(Terminate),           "a plugin asks for the end"))
    no_tools  =  clause("PHASE-49", AfterInference.to(StepEnd),             "the model asked for no tool")
    has_tools =  clause("PHASE-50", AfterInference.to(BeforeToolExecute),   "the model asked for tools")
    another   = (clause("PHASE-55", BeforeToolExecute.to(BeforeToolExecute), "the next call, before any runs")
               | clause("PHASE-58", AfterToolExecute.to(BeforeToolExecute), "the next call, one by one"))
    outcome   = (clause("PHASE-56", BeforeToolExecute.to(AfterToolExecute), "a call has its outcome")
               | clause("PHASE-57", AfterToolExecute.to(AfterToolExecute),  "the next call has its outcome"))
    none_left =  clause("PHASE-60", BeforeToolExecute.to(StepEnd),          "no call is left to execute")
    close     =  clause("PHASE-61", AfterToolExecute.to(StepEnd),           "every outcome was looked at")
    # fmt: on

    closed = "PHASE-71"


class StepWithToolGate(Chart):
    """A step of nine phases: every call is judged at a gate before any call is prepared."""

    subject = "step"

    StepStart = State(initial=True)
    BeforeInference = State()
    LlmCall = State()
    AfterInference = State()
    ToolGate = State()  # judges, and does nothing else
    BeforeToolExecute = State()  # only for calls that will execute
    AfterToolExecute = State()
    StepEnd = State(final=True)
    Terminate = State(final=True)

    # fmt: off
    request   =  clause("PHASE-40", StepStart.to(BeforeInference),          "the request is made ready")
    infer     =  clause("PHASE-41", BeforeInference.to(LlmCall),            "the model is asked")
    answered  =  clause("PHASE-43", LlmCall.to(AfterInference),             "the model answered")
    terminate =  clause("PHASE-44", AfterInference.to(Terminate),           "a plugin asks for the end")
    no_tools  =  clause("PHASE-49", AfterInference.to(StepEnd),             "the model asked for no tool")
    has_tools =  clause("PHASE-51", AfterInference.to(ToolGate),            "the model asked for tools")
    judge     = (clause("PHASE-52", ToolGate.to(ToolGate),                  "the next call is judged")
               | clause("PHASE-59", AfterToolExecute.to(ToolGate),          "judged after another's outcome"))
    allow     =  clause("PHASE-53", ToolGate.to(BeforeToolExecute),         "a call will execute")
    another   = (clause("PHASE-55", BeforeToolExecute.to(BeforeToolExecute), "the next call, before any runs")
               | clause("PHASE-58", AfterToolExecute.to(BeforeToolExecute), "the next call, one by one"))
    outcome   = (clause("PHASE-56", BeforeToolExecute.to(AfterToolExecute), "a call has its outcome")
               | clause("PHASE-57", AfterToolExecute.to(AfterToolExecute),  "the next call has its outcome")
               | clause("PHASE-63", ToolGate.to(AfterToolExecute),          "the gate gave the outcome"))
    none_left =  clause("PHASE-54", ToolGate.to(StepEnd),                   "no call is left to execute")
    left_over =  clause("PHASE-65", BeforeToolExecute.to(StepEnd),          "what was made ready waits")
    close     =  clause("PHASE-61", AfterToolExecute.to(StepEnd),           "every outcome was looked at")
    # fmt: on

    closed = "PHASE-72"


class StepThatWaited(Chart):
    """What is left of a step of eight phases when its calls have waited for a decision."""

    subject = "step"

    StepEnd = State(initial=True)  # it ended in order to wait
    ToolGate = State()  # nine phases
    BeforeToolExecute = State()
    AfterToolExecute = State()
    Over = State(final=True)  # the next step starts, or the run ends

    # fmt: off
    judge     = (clause("PHASE-66", StepEnd.to(ToolGate),                   "a call left behind is judged")
               | clause("PHASE-52", ToolGate.to(ToolGate),                  "the next call is judged")
               | clause("PHASE-59", AfterToolExecute.to(ToolGate),          "judged after another's outcome"))
    allow     =  clause("PHASE-53", ToolGate.to(BeforeToolExecute),         "a call will execute")
    left_over =  clause("PHASE-67", StepEnd.to(BeforeToolExecute),          "a call left over is made ready")
    another   = (clause("PHASE-55", BeforeToolExecute.to(BeforeToolExecute), "the next call, before any runs")
               | clause("PHASE-58", AfterToolExecute.to(BeforeToolExecute), "the next call, one by one"))
    outcome   = (clause("PHASE-56", BeforeToolExecute.to(AfterToolExecute), "a call has its outcome")
               | clause("PHASE-57", AfterToolExecute.to(AfterToolExecute),  "the next call has its outcome"))
    close     =  clause("PHASE-61", AfterToolExecute.to(StepEnd),           "every outcome was looked at")
    again     =  clause("PHASE-68", StepEnd.to(StepEnd),                    "it ends once more, resolved")
    go_on     = (clause("PHASE-69", StepEnd.to(Over),                       "nothing of it is left")
               | clause("PHASE-73", AfterToolExecute.to(Over),              "over without a second end")
               | clause("PHASE-74", BeforeToolExecute.to(Over),             "left behind once more"))
    # fmt: on

    closed = {
        "StepEnd": "PHASE-71",
        "ToolGate": "PHASE-72",
        "BeforeToolExecute": "PHASE-71",
        "AfterToolExecute": "PHASE-71",
        "Over": "PHASE-71",
    }


class StepCutShort(Chart):
    """How a cancel, a fault, a block or new input ends a step at any point."""

    subject = "step"

    Station = State(initial=True)  # any station of a step
    StepEnd = State(final=True)
    Gone = State(final=True)

    # fmt: off
    close = clause("PHASE-75", Station.to(StepEnd), "it ends all the same, where tools come first")
    stop  = clause("PHASE-76", Station.to(Gone),    "it stops where it stands")
    # fmt: on

    closed = "PHASE-71"
