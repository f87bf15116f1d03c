"""The authority stack of one call: in a chat turn and under a driving stage, with guards last or first.

Clauses: spec/message_loop/clauses/auth.toml.
The policy `guard.place` selects one of two charts for each case; an approved call waits in Guards, or in
Approved, until its round executes it.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class ModeAuthority(Chart):
    """Whether a call may run, in a turn without a stage: the security mode decides, then the guards."""

    subject = "call"

    Proposed = State(initial=True)
    ModeGate = State()
    Prompting = State()
    Guards = State()
    Executing = State()
    Executed = State(final=True)
    Denied = State(final=True)
    Unusable = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    reject_form  =  clause("AUTH-40", Proposed.to(Unusable),   "no such tool, or unusable arguments")
    judge        =  clause("AUTH-41", Proposed.to(ModeGate),   "no stage drives")
    mode_passes  =  clause("AUTH-42", ModeGate.to(Guards),     "the mode or a standing grant lets it pass")
    ask          =  clause("AUTH-43", ModeGate.to(Prompting),  "the interactors are asked")
    nobody       =  clause("AUTH-44", ModeGate.to(Denied),     "no interactor is active")
    allow        =  clause("AUTH-45", Prompting.to(Guards),    "an interactor allows it")
    deny         =  clause("GATE-2",  Prompting.to(Denied),    "an interactor denies it")
    defer        =  clause("AUTH-47", Prompting.to(Denied),    "the prompt is deferred")
    cascade      =  clause("AUTH-14", Proposed.to(Denied) | ModeGate.to(Denied) | Prompting.to(Denied)
                           | Guards.to(Denied),                "a denial reaches the round")
    guard_denies =  clause("AUTH-8",  Proposed.to(Denied) | Guards.to(Denied), "a hook denies it")
    rewritten    =  clause("AUTH-13", Guards.to(ModeGate),     "rewritten after its approval")
    execute      =  clause("ROUND-1", Guards.to(Executing),    "no guard denies it")
    result       =  clause("PAIR-4",  Executing.to(Executed),  "its tool is over")
    interrupt    =  clause("CANCEL-8", Proposed.to(Cancelled) | ModeGate.to(Cancelled)
                           | Prompting.to(Cancelled) | Guards.to(Cancelled) | Executing.to(Cancelled),
                           "the turn is cancelled")
    # fmt: on

    closed = "AUTH-80"


class StageAuthority(Chart):
    """Whether a call of a stage may run: the envelope of the stage decides, then the guards."""

    subject = "call"

    Proposed = State(initial=True)
    Envelope = State()
    Granting = State()
    Guards = State()
    Executing = State()
    Executed = State(final=True)
    Denied = State(final=True)
    Unusable = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    reject_form  =  clause("AUTH-40", Proposed.to(Unusable),   "no such tool, or unusable arguments")
    check        =  clause("AUTH-54", Proposed.to(Envelope),   "a stage drives")
    in_envelope  =  clause("AUTH-55", Envelope.to(Guards),     "the stage allows it")
    token        =  clause("AUTH-56", Envelope.to(Guards),     "a token fits")
    standing     =  clause("AUTH-57", Envelope.to(Guards),     "a standing grant fits")
    ask          =  clause("AUTH-5",  Envelope.to(Granting),   "a grant is asked for")
    nobody       =  clause("AUTH-59", Envelope.to(Denied),     "no interactor is active")
    allow        =  clause("AUTH-60", Granting.to(Guards),     "an interactor grants it")
    deny         =  clause("GATE-2",  Granting.to(Denied),     "an interactor denies the grant")
    defer        =  clause("AUTH-62", Granting.to(Denied),     "the grant is deferred")
    cascade      =  clause("AUTH-14", Proposed.to(Denied) | Envelope.to(Denied) | Granting.to(Denied)
                           | Guards.to(Denied),                "a denial reaches the round")
    guard_denies =  clause("AUTH-8",  Proposed.to(Denied) | Guards.to(Denied), "a hook denies it")
    rewritten    =  clause("AUTH-13", Guards.to(Envelope),     "rewritten after its approval")
    execute      =  clause("ROUND-1", Guards.to(Executing),    "no guard denies it")
    result       =  clause("PAIR-4",  Executing.to(Executed),  "its tool is over")
    interrupt    =  clause("CANCEL-8", Proposed.to(Cancelled) | Envelope.to(Cancelled)
                           | Granting.to(Cancelled) | Guards.to(Cancelled) | Executing.to(Cancelled),
                           "the turn is cancelled")
    # fmt: on

    closed = "AUTH-81"


class ModeAuthorityAfterGuards(Chart):
    """Whether a call may run, in a turn without a stage, where the guards are asked first."""

    subject = "call"

    Proposed = State(initial=True)
    Guards = State()
    ModeGate = State()
    Prompting = State()
    Approved = State()
    Executing = State()
    Executed = State(final=True)
    Denied = State(final=True)
    Unusable = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    reject_form  =  clause("AUTH-40", Proposed.to(Unusable),   "no such tool, or unusable arguments")
    show         =  clause("AUTH-2",  Proposed.to(Guards),     "the guards come first")
    guard_denies =  clause("AUTH-8",  Guards.to(Denied) | Approved.to(Denied), "a hook denies it")
    judge        =  clause("AUTH-41", Guards.to(ModeGate),     "no guard denies it")
    mode_passes  =  clause("AUTH-67", ModeGate.to(Approved),   "the mode or a standing grant lets it pass")
    ask          =  clause("AUTH-43", ModeGate.to(Prompting),  "the interactors are asked")
    nobody       =  clause("AUTH-44", ModeGate.to(Denied),     "no interactor is active")
    allow        =  clause("AUTH-68", Prompting.to(Approved),  "an interactor allows it")
    deny         =  clause("GATE-2",  Prompting.to(Denied),    "an interactor denies it")
    defer        =  clause("AUTH-47", Prompting.to(Denied),    "the prompt is deferred")
    cascade      =  clause("AUTH-14", Proposed.to(Denied) | Guards.to(Denied) | ModeGate.to(Denied)
                           | Prompting.to(Denied) | Approved.to(Denied), "a denial reaches the round")
    rewritten    =  clause("AUTH-13", Approved.to(ModeGate),   "rewritten after its approval")
    execute      =  clause("ROUND-1", Approved.to(Executing),  "no guard denies it")
    result       =  clause("PAIR-4",  Executing.to(Executed),  "its tool is over")
    interrupt    =  clause("CANCEL-8", Proposed.to(Cancelled) | Guards.to(Cancelled) | ModeGate.to(Cancelled)
                           | Prompting.to(Cancelled) | Approved.to(Cancelled) | Executing.to(Cancelled),
                           "the turn is cancelled")
    # fmt: on

    closed = "AUTH-80"


class StageAuthorityAfterGuards(Chart):
    """Whether a call of a stage may run, where the guards are asked first."""

    subject = "call"

    Proposed = State(initial=True)
    Guards = State()
    Envelope = State()
    Granting = State()
    Approved = State()
    Executing = State()
    Executed = State(final=True)
    Denied = State(final=True)
    Unusable = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    reject_form  =  clause("AUTH-40", Proposed.to(Unusable),   "no such tool, or unusable arguments")
    show         =  clause("AUTH-2",  Proposed.to(Guards),     "the guards come first")
    guard_denies =  clause("AUTH-8",  Guards.to(Denied) | Approved.to(Denied), "a hook denies it")
    check        =  clause("AUTH-54", Guards.to(Envelope),     "no guard denies it")
    in_envelope  =  clause("AUTH-72", Envelope.to(Approved),   "the stage allows it")
    token        =  clause("AUTH-73", Envelope.to(Approved),   "a token fits")
    standing     =  clause("AUTH-74", Envelope.to(Approved),   "a standing grant fits")
    ask          =  clause("AUTH-5",  Envelope.to(Granting),   "a grant is asked for")
    nobody       =  clause("AUTH-59", Envelope.to(Denied),     "no interactor is active")
    allow        =  clause("AUTH-75", Granting.to(Approved),   "an interactor grants it")
    deny         =  clause("GATE-2",  Granting.to(Denied),     "an interactor denies the grant")
    defer        =  clause("AUTH-62", Granting.to(Denied),     "the grant is deferred")
    cascade      =  clause("AUTH-14", Proposed.to(Denied) | Guards.to(Denied) | Envelope.to(Denied)
                           | Granting.to(Denied) | Approved.to(Denied), "a denial reaches the round")
    rewritten    =  clause("AUTH-13", Approved.to(Envelope),   "rewritten after its approval")
    execute      =  clause("ROUND-1", Approved.to(Executing),  "no guard denies it")
    result       =  clause("PAIR-4",  Executing.to(Executed),  "its tool is over")
    interrupt    =  clause("CANCEL-8", Proposed.to(Cancelled) | Guards.to(Cancelled) | Envelope.to(Cancelled)
                           | Granting.to(Cancelled) | Approved.to(Cancelled) | Executing.to(Cancelled),
                           "the turn is cancelled")
    # fmt: on

    closed = "AUTH-81"
