"""What is said of a pass: its stages, its rounds, and its bound."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.message_loop.joint.clauses.rules import (
    HAS_RESULT,
    Terms,
    at,
    continues,
    is_asked_for,
    is_entered,
    leaves_round,
)
from runlock.machines.message_loop.joint.state import Call


def passes(terms: Terms) -> Iterator[Rule]:
    """The rules of stages, rounds and the bound."""
    yield from _responses()
    yield from _rounds(terms)
    yield from _bound()
    yield from _terminal(terms)
    yield from _faults(terms)
    yield Never(
        "LOOP-18",
        "the turn was not over, and waited at no gate",
        lambda control: control.run != "Done" and control.stage != "STREAM_RESPONSE",
        none=_has_gate,
        at_rest=True,
    )


def _has_gate(call: Call) -> bool:
    """Whether a person, a hook or a tool is asked about a call."""
    is_at_hook = call.stack in ("Guards", "Approved") and not call.ready
    return call.open > 0 or call.status == "Running" or is_at_hook


def _responses() -> Iterator[Rule]:
    yield NeverStep(
        "LOOP-3",
        "a response with a call led to RENDER, or one without a call to a round",
        lambda c, call, to, after: (to.stage == "TOOL_CALL") is (after.status == ""),
        lambda c, call, to, after: c.stage == "STREAM_RESPONSE" and to.stage in ("TOOL_CALL", "RENDER"),
    )
    yield Never(
        "LOOP-17",
        "a call ran, or was over, before its response was complete",
        at("SEND_REQUEST", "STREAM_RESPONSE"),
        (lambda call: call.status != "",),
    )
    yield NeverStep(
        "LOOP-2",
        "a continuation did not begin at COMPOSE_REQUEST",
        lambda c, call, to, after: to.stage != "COMPOSE_REQUEST",
        lambda c, call, to, after: (
            leaves_round(c, call, to, after) and to.stage.endswith(("_INPUT", "_REQUEST", "_RESPONSE"))
        ),
    )


def _rounds(terms: Terms) -> Iterator[Rule]:
    yield Never(
        "PAIR-1",
        "a request was composed, and a call of the response before it had no result",
        at("COMPOSE_REQUEST"),
        (is_asked_for,),
    )
    yield NeverStep(
        "ROUND-1",
        "a round was over, and a call of it had no result",
        lambda c, call, to, after: after.status not in HAS_RESULT,
        lambda c, call, to, after: leaves_round(c, call, to, after) and call.status != "",
    )
    if terms.says("round.executor", "sequential"):
        yield NeverStep(
            "ROUND-4",
            "a call was entered while another one was running",
            lambda c, call, to, after: c.running > 0,
            lambda c, call, to, after: terms.several and is_entered(c, call, to, after),
        )
    else:
        none = _is_judged if terms.says("prompt.place", "first") else None
        because = "an approved call that no hook denied was not running"
        in_round = at("TOOL_CALL", given=terms.several)
        yield Never("ROUND-5", because, in_round, (_may_run,), none, at_rest=True)


def _is_judged(call: Call) -> bool:
    """Whether a call is being judged."""
    return call.status == "New" and not _may_run(call)


def _may_run(call: Call) -> bool:
    return call.status == "New" and call.by != "" and call.ready


def _bound() -> Iterator[Rule]:
    yield NeverStep(
        "LOOP-5", "a request was sent beyond the bound", lambda c, call, to, after: c.left == 0, continues
    )
    yield NeverStep(
        "LOOP-6",
        "a round was not counted once, or something else was counted",
        lambda c, call, to, after: c.left - to.left != continues(c, call, to, after),
        lambda c, call, to, after: c.left != to.left or continues(c, call, to, after),
    )
    yield NeverStep(
        "LOOP-70",
        "the pass was below its bound, and the bound ended it",
        lambda c, call, to, after: c.left > 0,
        lambda c, call, to, after: leaves_round(c, call, to, after) and to.stage == "Bounded",
    )
    yield NeverStep(
        "LOOP-70",
        "a continuation began, and its bound was over",
        lambda c, call, to, after: to.bound != "Within",
        continues,
    )
    yield NeverStep(
        "LOOP-9",
        "the bound ended the pass, and a call of the last response was not settled",
        lambda c, call, to, after: after.status not in HAS_RESULT,
        lambda c, call, to, after: to.stage == "Bounded" and c.stage != "Bounded",
    )


def _terminal(terms: Terms) -> Iterator[Rule]:
    yield NeverStep(
        "LOOP-16",
        "a response was terminal, and another request was composed",
        continues,
        lambda c, call, to, after: c.terminal and leaves_round(c, call, to, after),
    )
    end = "RENDER" if terms.says("call.terminal", "render") else "Finished"
    yield NeverStep(
        "LOOP-19",
        f"a terminal round led to something else than {end}",
        lambda c, call, to, after: to.stage != end,
        lambda c, call, to, after: c.terminal and leaves_round(c, call, to, after) and to.stage in _TERMINAL,
    )


_TERMINAL = ("RENDER", "Finished", "Bounded")


def _faults(terms: Terms) -> Iterator[Rule]:
    """What costs only its call does not end the turn."""
    if terms.says("tool.raises", "failed_call"):
        yield NeverStep(
            "ROUND-8",
            "an exception in a tool ended the turn",
            lambda c, call, to, after: to.broken == "raise",
            lambda c, call, to, after: call.status == "Running" and after.status == "Failed",
        )
    if terms.says("call.malformed", "failed_call"):
        yield NeverStep(
            "ROUND-12",
            "a malformed call ended the turn",
            lambda c, call, to, after: to.broken == "malformed",
            lambda c, call, to, after: call.stack == "Proposed" and after.stack == "Unusable",
        )
    if not terms.says("hook.fault", "end_run"):
        yield NeverStep(
            "HOOK-9",
            "a hook that broke ended the turn",
            lambda c, call, to, after: to.broken == "hook",
            lambda c, call, to, after: call.stack in ("Proposed", "Guards", "Approved"),
        )
