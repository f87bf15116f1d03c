"""What is said of an approval: that a call needs one, who can give it, what it covers; a no holds."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import NeverStep, Rule, StepTest
from runlock.machines.message_loop.joint.clauses.rules import (
    HAS_RESULT,
    Terms,
    gets,
    is_entered,
    is_prompted,
)
from runlock.machines.message_loop.joint.state import Call, Control


def approvals(terms: Terms) -> Iterator[Rule]:
    """The rules of approvals, denials and entries."""
    yield NeverStep(
        "AUTH-1", "a call ran without an approval", lambda c, call, to, after: not call.by, is_entered
    )
    yield from _hooks(terms)
    yield from _mode()
    yield from _answers(terms)
    yield from _grants(terms)
    yield from _denied()
    yield from _once()


def _hooks(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "AUTH-9",
        "a call ran that its guard had not seen",
        lambda c, call, to, after: not call.guarded,
        is_entered,
    )
    if terms.says("guard.place", "after_approval"):
        yield NeverStep(
            "AUTH-2",
            "a guard was asked about a call that was not approved",
            lambda c, call, to, after: not call.by,
            lambda c, call, to, after: after.guarded and not call.guarded,
        )
    else:
        yield NeverStep(
            "AUTH-2",
            "a call was approved before its guard was asked",
            lambda c, call, to, after: not call.guarded,
            lambda c, call, to, after: after.by != "" and not call.by,
        )
    if terms.says("rewrite.place", "asked_again"):
        yield NeverStep(
            "AUTH-13",
            "the arguments of a call were rewritten, and it kept its approval",
            lambda c, call, to, after: after.by != "",
            lambda c, call, to, after: after.rewritten and not call.rewritten,
        )


def _mode() -> Iterator[Rule]:
    yield NeverStep(
        "AUTH-16",
        "the mode let a call of a tool pass that is not on the list, or asked about one that is",
        lambda c, call, to, after: call.listed is (after.by != "mode"),
        lambda c, call, to, after: is_prompted(c, call, to, after) or gets("mode")(c, call, to, after),
    )
    yield NeverStep(
        "AUTH-17",
        "no interactor could be asked about a call, and it was approved",
        gets("person", "mode"),
        lambda c, call, to, after: (
            c.active == 0 and call.stack in ("ModeGate", "Prompting") and not call.listed
        ),
    )
    yield NeverStep(
        "AUTH-44",
        "no interactor was active, and a prompt was opened",
        is_prompted,
        lambda c, call, to, after: c.active == 0 and call.stack == "ModeGate" and not call.listed,
    )


def _answers(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "AUTH-12",
        "the answer of a person approved a call without an open prompt about it",
        lambda c, call, to, after: call.stack != "Prompting" or call.open == 0,
        gets("person"),
    )
    has_session = "session" in terms.policies["grant.scopes"]
    yield NeverStep(
        "AUTH-27",
        "an approval outlasted its call, or did not, against its scope",
        lambda c, call, to, after: (
            (to.standing > c.standing) is not (has_session and after.granted and not call.granted)
        ),
        lambda c, call, to, after: c.standing < 2 and gets("person")(c, call, to, after),
    )


def _grants(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "AUTH-15",
        "a standing grant covered a call, and there was none but its own",
        lambda c, call, to, after: c.standing <= call.granted,
        gets("standing"),
    )
    if terms.says("grant.match", "call"):
        yield NeverStep(
            "AUTH-28",
            "a standing grant fits no later call, and covered one",
            gets("standing"),
            lambda c, call, to, after: c.standing > 0 and call.stack == "ModeGate",
        )


def _denied() -> Iterator[Rule]:
    """A call that was denied by each of those who can, or that cannot run, is not entered."""
    for clause, by, because in (
        ("AUTH-8", "guard", "a guard denied a call, and it ran"),
        ("AUTH-47", "no answer", "no one answered about a call, and it ran"),
    ):
        yield NeverStep(clause, because, is_entered, _is_denied(by))
    yield NeverStep("GATE-2", "a call was denied, and it ran", is_entered, _is_denied())
    yield NeverStep(
        "AUTH-40",
        "a call that cannot run was entered",
        is_entered,
        lambda c, call, to, after: call.stack == "Unusable",
    )


def _is_denied(by: str = "") -> StepTest:
    def asked(c: Control, call: Call, to: Control, after: Call) -> bool:
        return call.denied != "" and call.denied == (by or call.denied)

    return asked


def _once() -> Iterator[Rule]:
    yield NeverStep(
        "ONCE-1",
        "a call whose tool had answered was entered again",
        is_entered,
        lambda c, call, to, after: call.entered > 0 and call.status in HAS_RESULT,
    )
    yield NeverStep(
        "ONCE-3",
        "a call was entered while its tool was running",
        is_entered,
        lambda c, call, to, after: call.status == "Running",
    )
    yield NeverStep(
        "CALL-17",
        "a call was over, and got another status",
        lambda c, call, to, after: after.status not in ("", call.status),
        lambda c, call, to, after: call.status in HAS_RESULT,
    )
