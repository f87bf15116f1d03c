"""What is said of prompts: when they are open, what closes them, and how far a no or no answer reaches."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.message_loop.joint.clauses.rules import (
    ENDED_EARLY,
    Terms,
    at,
    has,
    is_entered,
    is_prompted,
    leaves_round,
)
from runlock.machines.message_loop.joint.state import Call, Control


def prompts(terms: Terms) -> Iterator[Rule]:
    """The rules of prompts."""
    yield from _line(terms)
    yield from _place(terms)
    yield from _interactors(terms)
    yield from _denials(terms)
    yield from _reached(terms)
    yield from _silence(terms)


def _is_open(call: Call) -> bool:
    return call.stack == "Prompting"


def _is_at_mode(call: Call) -> bool:
    return call.stack == "ModeGate"


def _line(terms: Terms) -> Iterator[Rule]:
    if terms.says("prompt.line", "serial"):
        yield NeverStep(
            "AUTH-10",
            "two prompts were open at once",
            lambda c, call, to, after: c.prompts > 0,
            lambda c, call, to, after: terms.several and is_prompted(c, call, to, after),
        )
    else:
        because = "prompts come together, and a call waited to be asked about"
        yield Never("AUTH-23", because, at("TOOL_CALL", given=terms.several), (_is_at_mode,), at_rest=True)


def _place(terms: Terms) -> Iterator[Rule]:
    is_serial, in_round = terms.says("prompt.line", "serial"), at("TOOL_CALL", given=terms.several)
    if terms.says("prompt.place", "first"):
        because = "a call was running, and another one was not judged yet"
        yield Never("AUTH-22", because, in_round, (has("Running"), _is_unjudged))
    elif terms.says("prompt.place", "interleaved") and is_serial:
        because = "a tool was running, and a prompt was opened"
        yield NeverStep(
            "AUTH-22",
            because,
            lambda c, call, to, after: c.running > 0,
            lambda c, call, to, after: terms.several and is_prompted(c, call, to, after),
        )
    elif terms.says("prompt.place", "overlapped"):
        because = "a tool was running, and the next prompt waited for it"
        some, none = (has("Running"), _is_at_mode), _is_open
        yield Never("AUTH-22", because, in_round, some, none, at_rest=True)


def _is_unjudged(call: Call) -> bool:
    return call.stack in ("Proposed", "ModeGate", "Prompting")


def _interactors(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "AUTH-11",
        "a prompt did not go to every active interactor",
        lambda c, call, to, after: after.open != c.active,
        is_prompted,
    )
    yield NeverStep(
        "AUTH-11",
        "a prompt was over, and an interactor was still asked",
        lambda c, call, to, after: after.open > 0,
        lambda c, call, to, after: call.open > 0 and after.stack != "Prompting",
    )
    passes = terms.says("prompt.defer", "passes")
    yield NeverStep(
        "AUTH-25",
        "one of several interactors deferred, and the others were not heard"
        if passes
        else "an interactor deferred, and the others could still answer",
        (lambda c, call, to, after: after.denied == "no answer")
        if passes
        else (lambda c, call, to, after: 0 < after.open < call.open),
        lambda c, call, to, after: call.open > 1 and to.active == c.active,
    )


def _denials(terms: Terms) -> Iterator[Rule]:
    """How far a denial by a person reaches."""
    if terms.says("reject.reach", "call"):
        yield NeverStep(
            "AUTH-14",
            "a denial by a person reaches only its call, and another one was dropped",
            lambda c, call, to, after: after.denied == "round" != call.denied,
            lambda c, call, to, after: terms.several and c.rejected and not terms.silence_ends(c),
        )
    else:
        yield NeverStep(
            "AUTH-14",
            "a denial by a person reaches the round, and another call ran or was asked about",
            lambda c, call, to, after: is_entered(c, call, to, after) or is_prompted(c, call, to, after),
            lambda c, call, to, after: terms.several and c.rejected,
        )
    ends = terms.says("reject.reach", "turn")
    yield NeverStep(
        "AUTH-14",
        "a denial by a person ends the turn, and it went on" if ends else "a denial ended the turn",
        lambda c, call, to, after: to.stage not in ENDED_EARLY if ends else to.stage == "Blocked",
        lambda c, call, to, after: (
            c.rejected and not terms.silence_ends(c) and leaves_round(c, call, to, after)
        ),
    )


def _reached(terms: Terms) -> Iterator[Rule]:
    """A denial that reaches the round denies each call that has not run."""
    yield NeverStep(
        "AUTH-14",
        "a denial reached the round, and a call of it that had not run was not denied",
        lambda c, call, to, after: after.status == "New",
        lambda c, call, to, after: c.reaching and not (to.reaching or to.cancel) and call.status == "New",
    )


def _silence(terms: Terms) -> Iterator[Rule]:
    """What follows a prompt without an answer."""

    def asked(c: Control, call: Call, to: Control, after: Call) -> bool:
        return c.unanswered and not terms.denial_ends(c) and leaves_round(c, call, to, after)

    ends = terms.says("prompt.unanswered", "halt")
    yield NeverStep(
        "AUTH-26",
        "no one answered about a call, which ends the turn, and it went on"
        if ends
        else "no one answered about a call, and that ended the turn",
        lambda c, call, to, after: to.stage not in ENDED_EARLY if ends else to.stage == "Blocked",
        asked,
    )
