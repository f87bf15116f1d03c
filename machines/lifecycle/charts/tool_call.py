"""The phases of one call within its round: judged first, perhaps executed, looked at in the end.

Clauses: spec/lifecycle/clauses/phase.toml.
Its states are the stations of one pass, not the statuses that a call
keeps: those are in charts/call.py.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ToolCallPhases(Chart):
    """The phases of one call; a call that is replayed goes through them again."""

    subject = "tool call"

    BeforeToolExecute = State(initial=True)  # judged: nothing has run
    Blocked = State()
    ExecuteTool = State()
    Succeeded = State()
    Failed = State()
    Suspended = State()
    AfterToolExecute = State(final=True)  # the outcome is looked at, whatever it is

    # fmt: off
    block        =  clause("PHASE-1",  BeforeToolExecute.to(Blocked),     "a plugin blocks it")
    hold         =  clause("PHASE-2",  BeforeToolExecute.to(Suspended),   "a plugin suspends it")
    out_of_scope =  clause("PHASE-3",  BeforeToolExecute.to(Failed),      "its tool is not offered here")
    tool_missing =  clause("PHASE-4",  BeforeToolExecute.to(Failed),      "its tool does not exist")
    args_refused =  clause("PHASE-5",  BeforeToolExecute.to(Failed),      "its arguments do not fit")
    again        =  clause("PHASE-15", BeforeToolExecute.to(BeforeToolExecute), "left over; ready again")
    allow        =  clause("PHASE-6",  BeforeToolExecute.to(ExecuteTool), "nothing holds it back")
    success      =  clause("PHASE-7",  ExecuteTool.to(Succeeded),         "the tool answered")
    warning      =  clause("PHASE-8",  ExecuteTool.to(Succeeded),         "the tool answered with a warning")
    failure      =  clause("PHASE-9",  ExecuteTool.to(Failed),            "the tool answered with an error")
    pending      =  clause("PHASE-10", ExecuteTool.to(Suspended),         "the tool answered pending")
    look         = (clause("PHASE-11", Succeeded.to(AfterToolExecute),    "a success is looked at")
                  | clause("PHASE-12", Failed.to(AfterToolExecute),       "a failure is looked at")
                  | clause("PHASE-13", Blocked.to(AfterToolExecute),      "a block is looked at")
                  | clause("PHASE-14", Suspended.to(AfterToolExecute),    "a suspension is looked at"))
    # fmt: on

    closed = "PHASE-20"
