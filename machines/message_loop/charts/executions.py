"""Stage executions of a driving state machine, single or in a group with a join; start and end of a turn.

Clauses: spec/message_loop/clauses/turn.toml.
Setup and Init come before Act and are not visible from outside.  The facts are the policies
`exit.on_fail` and `turn.end`, whether the group has a join, and whether the turn was rendered.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class StageExecution(Chart):
    """The execution of one stage, with all its attempts."""

    subject = "stage execution"

    Act = State(initial=True)  # a pass of the loop
    Assert = State()
    Exit = State()
    ExitAfterFailure = State()
    Exited = State(final=True)
    Failed = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    act_ended = (clause("TURN-40", Act.to(Assert),                "its pass ended by itself"))
    cap       =  clause("TURN-41", Act.to(Assert),                "its pass reached the turn cap")
    accept    =  clause("TURN-42", Assert.to(Exit),               "ok")
    retry     =  clause("TURN-43", Assert.to(Act),                "retry: another attempt")
    reject    = (clause("TURN-44", Assert.to(ExitAfterFailure, cond="exits_on_fail"), "fail, and Exit runs")
               | clause("TURN-45", Assert.to(Failed),             "fail"))
    exited    = (clause("TURN-46", Exit.to(Exited),               "its slot is durable")
               | clause("TURN-47", ExitAfterFailure.to(Failed),   "failed, and exited"))
    fault     =  clause("TURN-48", Act.to(Failed) | Assert.to(Failed) | Exit.to(Failed)
                        | ExitAfterFailure.to(Failed),            "a guard denies, or something broke")
    interrupt =  clause("TURN-49", Act.to(Cancelled) | Assert.to(Cancelled) | Exit.to(Cancelled)
                        | ExitAfterFailure.to(Cancelled),         "cancelled")
    # fmt: on

    closed = "TURN-70"


class ExecutionGroup(Chart):
    """Stage executions that run side by side in one turn, until all are over."""

    subject = "group"

    Siblings = State(initial=True)
    Join = State()
    Ended = State(final=True)
    Failed = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    sibling_exited =  clause("TURN-50", Siblings.to(Siblings),   "others are running")
    last_exited    = (clause("TURN-51", Siblings.to(Join, cond="has_join"), "the join begins")
                    | clause("TURN-52", Siblings.to(Ended),      "there is no join"))
    join_exited    =  clause("TURN-53", Join.to(Ended),          "the join exited")
    fault          =  clause("TURN-54", Siblings.to(Failed) | Join.to(Failed), "a stage execution failed")
    interrupt      =  clause("CANCEL-2", Siblings.to(Cancelled) | Join.to(Cancelled), "the user interrupts")
    # fmt: on

    closed = "TURN-71"


class SessionTurn(Chart):
    """The start and end events of one turn of the session."""

    subject = "turn"

    Opening = State(initial=True)
    Working = State()
    Ending = State()
    Closed = State(final=True)

    # fmt: off
    announce_start =  clause("TURN-1",  Opening.to(Working), "SessionTurnStart")
    work_over      =  clause("TURN-57", Working.to(Ending),  "on whichever way out")
    announce_end   =  clause("TURN-2",  Ending.to(Closed),   "SessionTurnEnd")
    end_silently   =  clause("TURN-59", Ending.to(Closed),   "no SessionTurnEnd: it did not render")
    # fmt: on

    closed = "TURN-72"
