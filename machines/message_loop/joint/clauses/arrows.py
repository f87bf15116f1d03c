"""The steps that the clauses draw: each must be possible somewhere, and there is no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from runlock.machines.joint.rules import Due, NeverStep, Occasion, Rule
from runlock.machines.message_loop.joint.clauses.rules import ENDED_EARLY, Terms
from runlock.machines.message_loop.joint.state import Call, Control

Steps = Mapping[str, str]
Stands = Callable[[Control, Call], str]

LEFT_EARLY: Final = " ".join(ENDED_EARLY)
PASS_STEPS: Final[Steps] = {
    "RECEIVE_INPUT": f"COMPOSE_REQUEST {LEFT_EARLY}",
    "COMPOSE_REQUEST": f"SEND_REQUEST {LEFT_EARLY}",
    "SEND_REQUEST": f"STREAM_RESPONSE {LEFT_EARLY}",
    "STREAM_RESPONSE": f"TOOL_CALL RENDER {LEFT_EARLY}",
    "TOOL_CALL": f"COMPOSE_REQUEST RENDER Finished Bounded {LEFT_EARLY}",
    "RENDER": "Rendered Cancelled Failed",
}
BOUND_STEPS: Final[Steps] = {"Within": "Reached Unused"}
CANCEL_STEPS: Final[Steps] = {
    "": "Raised",
    "Raised": "GivingUp",
    "GivingUp": "Draining Quiet",
    "Draining": "Quiet",
    "Quiet": "Settled",
    "Settled": "Ended",
}
APPROVED_FIRST: Final[Steps] = {
    "Proposed": "ModeGate Unusable Denied Cancelled",
    "ModeGate": "Guards Prompting Denied Cancelled",
    "Prompting": "Guards Denied Cancelled",
    "Guards": "ModeGate Executing Denied Cancelled",
    "Executing": "Executed Cancelled",
}
GUARDS_FIRST: Final[Steps] = {
    "Proposed": "Guards Unusable Denied Cancelled",
    "Guards": "ModeGate Denied Cancelled",
    "ModeGate": "Approved Prompting Denied Cancelled",
    "Prompting": "Approved Denied Cancelled",
    "Approved": "ModeGate Executing Denied Cancelled",
    "Executing": "Executed Cancelled",
}
STATUS_STEPS: Final[Steps] = {"New": "Running Failed Cancelled", "Running": "Succeeded Failed Cancelled"}


def arrows(terms: Terms) -> Iterator[Rule]:
    """The rules of the steps of all charts."""
    yield from _closed(terms)
    yield from _pass(terms)
    yield from _bound_and_turn(terms)
    yield from _cancel(terms)
    yield from _status(terms)
    yield from _judged(terms)
    yield from _stopped(terms)


def _closed(terms: Terms) -> Iterator[Rule]:
    guards_first = terms.says("guard.place", "before_approval")
    stack = GUARDS_FIRST if guards_first else APPROVED_FIRST
    yield _undrawn("RUN-15", "turn", {"Running": "Done"}, lambda c, call: c.run, "Running")
    yield _undrawn("LOOP-60", "pass", PASS_STEPS, lambda c, call: c.stage)
    yield _undrawn("LOOP-79", "bound", BOUND_STEPS, lambda c, call: c.bound)
    yield _undrawn("CANCEL-29", "cancel", CANCEL_STEPS, lambda c, call: c.cancel)
    yield _undrawn("AUTH-80", "call in its stack", {**stack, **_BETWEEN_ROUNDS}, lambda c, call: call.stack)
    yield _undrawn("CALL-19", "call", {**STATUS_STEPS, **_NEW}, lambda c, call: call.status, "New")
    yield _undrawn("CALL-20", "call", STATUS_STEPS, lambda c, call: call.status, "Running")


_BETWEEN_ROUNDS: Final[Steps] = {"": "Proposed"}
_NEW: Final[Steps] = {"": "New"}


def _undrawn(clause: str, what: str, steps: Steps, stands: Stands, only: str = "") -> Rule:
    """No step but these; a call that is over may be forgotten."""

    def moves(c: Control, call: Call, to: Control, after: Call) -> bool:
        source, target = stands(c, call), stands(to, after)
        return source != target and only in ("", source)

    def is_undrawn(c: Control, call: Call, to: Control, after: Call) -> bool:
        source, target = stands(c, call), stands(to, after)
        return target != "" and target not in steps.get(source, "").split()

    return NeverStep(clause, f"a {what} took a step that no clause draws", is_undrawn, moves)


def _always(c: Control, call: Call) -> bool:
    return True


def _due(clause: str, subject: str, step: str, due: Occasion = _always, when: Occasion = _always) -> Due:
    """A step, as in `ModeGate > Prompting`; `when` distinguishes it from another with the same ends."""
    source, _, target = step.partition(" > ")
    return Due(clause, subject, source, target, due, when)


def _pass(terms: Terms) -> Iterator[Rule]:
    for clause, step in (
        ("LOOP-40", "RECEIVE_INPUT > COMPOSE_REQUEST"),
        ("LOOP-41", "COMPOSE_REQUEST > SEND_REQUEST"),
        ("LOOP-42", "SEND_REQUEST > STREAM_RESPONSE"),
        ("LOOP-43", "STREAM_RESPONSE > TOOL_CALL"),
        ("LOOP-44", "STREAM_RESPONSE > RENDER"),
        ("LOOP-49", "RENDER > Rendered"),
    ):
        yield _due(clause, "pass", step)
    yield _due("LOOP-45", "pass", "TOOL_CALL > COMPOSE_REQUEST", lambda c, call: c.left > 0)
    yield _due("LOOP-46", "pass", "TOOL_CALL > Bounded", lambda c, call: c.left == 0)
    yield _due("LOOP-47", "pass", "TOOL_CALL > RENDER", lambda c, call: c.terminal)
    yield _due("LOOP-48", "pass", "TOOL_CALL > Finished", lambda c, call: c.terminal)
    yield from _left_early(terms)


def _left_early(terms: Terms) -> Iterator[Rule]:
    before = ("RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE")
    for stage in (*before, "RENDER"):
        yield _due("LOOP-53", "pass", f"{stage} > Failed", when=_is_whole)
    yield _due("LOOP-53", "pass", "TOOL_CALL > Failed", lambda c, call: c.broken != "")
    for stage in before:
        yield _due("LOOP-50", "pass", f"{stage} > Blocked")
    for stage in (*before, "TOOL_CALL", "RENDER"):
        yield _due("LOOP-52", "pass", f"{stage} > Cancelled", lambda c, call: c.cancel == "Settled")
    if terms.says("reject.reach", "turn") or terms.says("prompt.unanswered", "halt"):
        yield _due(
            "LOOP-51",
            "pass",
            "TOOL_CALL > Blocked",
            lambda c, call: terms.denial_ends(c) or terms.silence_ends(c),
        )


def _is_whole(c: Control, call: Call) -> bool:
    return c.broken == ""


def _bound_and_turn(terms: Terms) -> Iterator[Rule]:
    yield _due("LOOP-5", "bound", "Within > Reached", lambda c, call: c.stage == "TOOL_CALL" and c.left == 0)
    yield _due("LOOP-3", "bound", "Within > Unused", lambda c, call: c.stage == "RENDER")
    at_bound = "Error" if terms.says("bound.end", "error") else "Stopped"
    for clause, reason, stages in (
        ("RUN-3", "NaturalEnd", ("Rendered", "Finished")),
        ("RUN-5", at_bound, ("Bounded",)),
        ("RUN-6", "Blocked", ("Blocked",)),
        ("RUN-7", "Cancelled", ("Cancelled",)),
        ("RUN-8", "Error", ("Failed",)),
    ):
        is_here = _is_at(*stages)
        yield _due(clause, "turn", f"Running > Done as {reason}", is_here, is_here)


def _is_at(*stages: str) -> Occasion:
    return lambda c, call: c.stage in stages


def _is_cancelled(state: str) -> Occasion:
    return lambda c, call: c.cancel == state


def _cancel(terms: Terms) -> Iterator[Rule]:
    yield _due("CANCEL-20", "cancel", "Raised > GivingUp")
    stopped = "Quiet" if terms.says("cancel.inflight", "abort") else "Draining"
    yield _due("CANCEL-5", "cancel", f"GivingUp > {stopped}")
    yield _due("CANCEL-24", "cancel", "Draining > Quiet")
    yield _due("CANCEL-25", "cancel", "Quiet > Settled")
    yield _due("CANCEL-2", "cancel", "Settled > Ended")


def _status(terms: Terms) -> Iterator[Rule]:
    status = "status of a call"
    yield _due("CALL-1", status, "New > Running", _may_run)
    yield _due("CALL-4", status, "Running > Succeeded")
    yield _due("CALL-5", status, "Running > Failed")
    yield _due("CALL-15", status, "New > Failed")
    yield _due("CALL-16", status, "New > Cancelled", _is_cancelled("Raised"), _is_cancelled("Raised"))
    if terms.says("cancel.inflight", "abort"):
        given_up = _is_cancelled("GivingUp")
        yield _due("CALL-6", status, "Running > Cancelled", given_up, given_up)


def _may_run(c: Control, call: Call) -> bool:
    return call.by != "" and call.ready and c.cancel == ""


def _judged(terms: Terms) -> Iterator[Rule]:
    """How a call gets its approval, and runs."""
    guards_first = terms.says("guard.place", "before_approval")
    approved = "Approved" if guards_first else "Guards"
    yield _due("AUTH-40", "call", "Proposed > Unusable")
    if guards_first:
        yield _due("AUTH-2", "call", "Proposed > Guards")
        yield _due("AUTH-41", "call", "Guards > ModeGate", lambda c, call: call.guarded)
    else:
        yield _due("AUTH-41", "call", "Proposed > ModeGate")
    passes, allows = ("AUTH-67", "AUTH-68") if guards_first else ("AUTH-42", "AUTH-45")
    yield _due(passes, "call", f"ModeGate > {approved}", lambda c, call: call.listed)
    yield _due("AUTH-43", "call", "ModeGate > Prompting", lambda c, call: c.active > 0 and not call.listed)
    yield _due(allows, "call", f"Prompting > {approved}")
    if terms.says("rewrite.place", "asked_again"):
        yield _due("AUTH-13", "call", f"{approved} > ModeGate")
    yield _due("ROUND-1", "call", f"{approved} > Executing", _may_run)
    yield _due("PAIR-4", "call", "Executing > Executed")


def _stopped(terms: Terms) -> Iterator[Rule]:
    """How a call is denied, or cancelled."""
    guards_first = terms.says("guard.place", "before_approval")
    unrun = ["Proposed", "ModeGate", "Prompting", "Guards", *(["Approved"] if guards_first else [])]
    yield _due("AUTH-44", "call", "ModeGate > Denied by no answer", lambda c, call: c.active == 0)
    yield _due("GATE-2", "call", "Prompting > Denied by person")
    yield _due("AUTH-47", "call", "Prompting > Denied by no answer")
    yield _due("AUTH-8", "call", "Guards > Denied by guard")
    if terms.says("hook.fault", "deny"):
        yield from _broken_transform(terms, guards_first)
    closes = _is_cancelled("Raised")
    for state in unrun:
        yield _due("AUTH-14", "call", f"{state} > Denied by round", lambda c, call: c.reaching)
        yield _due("CANCEL-8", "call", f"{state} > Cancelled", closes, closes)
    if terms.says("cancel.inflight", "abort"):
        given_up = _is_cancelled("GivingUp")
        yield _due("CANCEL-8", "call", "Executing > Cancelled", given_up, given_up)


def _broken_transform(terms: Terms, guards_first: bool) -> Iterator[Rule]:
    """A transform that is asked apart from the guard breaks, which counts as a denial."""
    rewrites_first = terms.says("rewrite.place", "before_approval")
    if rewrites_first and not guards_first:
        yield _due("AUTH-8", "call", "Proposed > Denied by guard")
    elif guards_first and not rewrites_first:
        yield _due("AUTH-8", "call", "Approved > Denied by guard")
