"""WIRE: the events of requests and calls, the audit, and what watchers get."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Final

from runlock.conformance.families.message_loop.invariants.authority import (
    approval_of,
    prompt_verdict,
    token_uses,
)
from runlock.conformance.families.message_loop.invariants.denials import other_calls_may_stop_it
from runlock.conformance.families.message_loop.invariants.occasions import is_odd, rewrite_of
from runlock.conformance.families.message_loop.invariants.reading import is_doubled
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResults,
    broken,
    listed,
    named,
    quoted,
)
from runlock.conformance.families.message_loop.messages import GateOpened, Published, TurnEnded
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedCall,
    ObservedGate,
    ObservedPass,
    ObservedRequest,
    ObservedTurn,
)
from runlock.conformance.family.invariant import check, held_or
from runlock.conformance.family.rank import Rank
from runlock.conformance.text import counted

PREFIX: Final = "ToolInvocation"
ENDS: Final = ("ToolInvocationSucceeded", "ToolInvocationFailed", "ToolInvocationCancelled")
OVER: Final = ("ProviderRequestCompleted", "ProviderRequestFailed")

REQUEST_EVENTS: Final = ("ProviderRequestStarted", "ProviderTokensStreamed", *OVER)

CALL_EVENTS: Final = ("ToolInvocationProposed", "ToolInvocationStarted", *ENDS)


def _call(state: ObservedState, seen: Published) -> ObservedCall | None:
    """The call that an event is about, if it can be told apart."""
    call = state.call_of(seen, seen.get("call")) if seen.watcher is None else None
    return call if call is not None and not call.doubled else None


# Requests.


def _request(state: ObservedState, seen: Published) -> ObservedRequest | None:
    """The request that an event belongs to, where only one can be meant."""
    turn = state.turn_of(seen) if seen.watcher is None else None
    if turn is None or (turn.kind == "group" and seen.stage is None):
        return None
    path = turn.path(seen.stage) if seen.stage is not None or turn.kind == "chat" else turn.passes[-1]
    return path.request if path is not None else None


@check("WIRE-2", at=("model",), rank=Rank.STREAM)
def a_request_that_is_over_says_so(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before the next request the one before it was announced as over."""
    path = state.path_of(seen)
    turn = path.turn if path is not None else None
    if path is None or turn is None or turn.kind == "group" or not path.sent:
        return
    started, over = len(turn.named("ProviderRequestStarted")), len(turn.named(*OVER))
    shows = all(state.shows(name) for name in ("ProviderRequestStarted", *OVER))
    if shows and len(turn.passes) == 1:
        sent = sum(len(one.model_gates) for one in path.sent)  # one that failed may have been sent again
        yield held_or(
            over >= sent, f"{sent} requests are over, and {over} were announced as completed or failed"
        )
        yield held_or(started >= sent, f"{sent} requests were sent, and {started} were announced as started")


@check("WIRE-2", rank=Rank.STREAM)
def a_request_that_broke_says_so(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Each request that broke was announced as failed by the end of its turn; a cancel may leave it out."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind == "group" or turn.cancelled_at or not state.shows("ProviderRequestFailed"):
        return
    if any(gate.on == "hook" and (is_odd(gate) or gate.answered_with == "deny") for gate in turn.gates):
        return  # it may have ended the turn before the model did
    broke = [gate for gate in turn.faults() if gate.on == "model" and state.is_clean(gate.released_in)]
    said = len(turn.named("ProviderRequestFailed"))
    if broke:
        why = f"{counted(len(broke), 'request')} broke in turn {turn.id}, and {said} were announced as failed"
        yield held_or(said >= len(broke), why)


# Text.


def published_text(turn: ObservedTurn, request: ObservedRequest, correlation: Any = None) -> str:
    """The text of a request that was published."""
    events = [e for e in request.events if e.name == "ProviderTokensStreamed"]
    return "".join(str(event.get("text") or "") for event in events)


def expected_text(request: ObservedRequest) -> tuple[str, bool]:
    """The text of a request that may be published by now, and whether that is all that came."""
    gates = request.hook_gates("STREAM_RESPONSE", "pre")
    hooks = {gate.opened.hook for gate in gates}
    pieces, complete = [], True
    for number, chunk in enumerate(request.chunks):
        asked = [_nth(gates, hook, number) for hook in hooks]
        met = [gate for gate in asked if gate is not None]
        if any(gate.is_open for gate in met) or (hooks and len(met) < len(hooks)):
            complete = False
            break
        was_rewritten, text = rewrite_of(sorted(met, key=lambda gate: gate.at), "text")
        pieces.append(str(text) if was_rewritten else chunk)
    return "".join(pieces), complete


def _nth(gates: list[ObservedGate], hook: str | None, number: int) -> ObservedGate | None:
    mine = [gate for gate in gates if gate.opened.hook == hook]
    return mine[number] if number < len(mine) else None


def _stream_hooks(state: ObservedState) -> bool:
    return bool(state.scenario.hooks_at("STREAM_RESPONSE", "pre"))


@check("WIRE-3", at=("ProviderTokensStreamed",), rank=Rank.STREAM)
def text_comes_in_order_and_once(state: ObservedState, seen: Published) -> CheckResults:
    """Text is published in order, none of it twice, as its transforms rewrote it."""
    request = _request(state, seen)
    if request is None or request.gate is None or _is_contested(state, request):
        return
    text = published_text(request.path.turn, request) + str(seen.get("text") or "")
    wanted, _ = expected_text(request)
    why = (
        f"the text of response {request.number} is {quoted(wanted)} so far, yet {quoted(text)} was published"
    )
    yield held_or(wanted.startswith(text), why)


def _is_contested(state: ObservedState, request: ObservedRequest) -> bool:
    transforms = [one for one in state.scenario.hooks_at("STREAM_RESPONSE", "pre") if one.kind == "transform"]
    return len(transforms) > 1 and state.policy("hook.order") in (None, "parallel")


@check("WIRE-2", at=REQUEST_EVENTS, rank=Rank.STREAM)
def a_request_goes_through_its_events(state: ObservedState, seen: Published) -> CheckResults:
    """A request has one Started, then its tokens, then one of Completed and Failed."""
    turn = state.turn_of(seen) if seen.watcher is None else None
    mine = seen.get("request")
    if turn is None or mine is None or seen.get("correlationId") is None:
        return
    names = [
        event.name
        for _, event in turn.named("ProviderRequestStarted", "ProviderTokensStreamed", *OVER)
        if event.get("request") == mine and event.get("correlationId") == seen.get("correlationId")
    ]
    started, over = names.count("ProviderRequestStarted"), [name for name in names if name in OVER]
    if seen.name == "ProviderRequestStarted":
        again = bool(over) and over[-1] == "ProviderRequestFailed"
        yield held_or(not started or again, f"request {mine} was started twice")
    elif not started and state.shows("ProviderRequestStarted"):
        yield broken(f"{seen.name} of request {mine} came before its ProviderRequestStarted")
    else:
        ended = len(over) >= max(started, 1)
        yield held_or(not ended, f"{seen.name} of request {mine} came after its {over[-1] if over else ''}")


@check("WIRE-3", rank=Rank.STREAM)
def text_is_published_when_it_comes(state: ObservedState) -> CheckResults:
    """At quiescence all text that came, and that no hook holds, has been published."""
    turn = state.run
    if turn is None or turn.cancelled_at or turn.stage_denials() or turn.faults() or turn.kind == "group":
        return
    if any(gate.on == "hook" for gate in turn.open_gates()):
        return  # a stage may wait for its hooks before it goes on
    for path in turn.passes:
        for request in path.sent:
            if request.chunks and not _is_contested(state, request) and not _broke(request):
                wanted, complete = expected_text(request)
                text = published_text(turn, request)
                if complete or not _stream_hooks(state):
                    said = quoted(wanted)
                    why = f"response {request.number} said {said}, and {quoted(text)} was published"
                    yield held_or(text == wanted, why)


def _broke(request: ObservedRequest) -> bool:
    return any(is_odd(gate) or gate.answered_with in ("fault", "deny") for gate in request.hooks)


@check("WIRE-4", at=("tool",), rank=Rank.STREAM, is_deferred=True)
def a_running_call_was_announced(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call was proposed before its tool is entered."""
    call = state.call_of(seen)
    if call is not None and not call.doubled:
        proposed = "ToolInvocationProposed" in call.event_names()
        yield held_or(proposed, f"{named(call)} was entered, and it was not announced as proposed")


@check("WIRE-4", at=("model",), rank=Rank.STREAM, is_deferred=True)
def each_call_has_its_end(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before the next request each call that ran was announced with its end."""
    path = state.path_of(seen)
    if path is None or not path.sent or not all(state.shows(name) for name in ENDS):
        return
    for call in path.sent[-1].calls:
        if not call.doubled and call.entries and not call.path.turn.cancelled_at:
            ended = any(name in ENDS for name in call.event_names())
            yield held_or(ended, f"{named(call)} is over, and none of its ends was announced")


# The audit.


@check("WIRE-5", at=("ToolCallApproved",), rank=Rank.CHART, is_deferred=True)
def an_approval_is_true(state: ObservedState, seen: Published) -> CheckResults:
    """ToolCallApproved comes for a call that was approved, and after no denial."""
    call = _call(state, seen)
    if call is None or not call.is_usable:
        return
    if "ToolCallDenied" in call.event_names():
        yield broken(f"{named(call)} was denied, and then announced as approved")
        return
    approved = approval_of(state, call)
    if not approved and seen.get("by") == "token" and token_uses(call):
        return  # whether a token was left is judged where the call runs
    yield held_or(bool(approved), f"{named(call)} was announced as approved, and nothing approved it")
    again = state.policy("rewrite.place") in (None, "asked_again") and len(call.hooks) > 0
    twice = "ToolCallApproved" in call.event_names() and not again
    yield held_or(not twice, f"{named(call)} was announced as approved twice")
    yield from _by(state, call, approved, str(seen.get("by")))


def _by(state: ObservedState, call: ObservedCall, approved: str, by: str) -> CheckResults:
    words = {
        "envelope": ("sm",), "mode": ("mode",), "token": ("token",), "standing": ("standing",),
        "answer": ("interactor", "grant"),
    }  # fmt: skip
    if approved in ("envelope", "mode") or (approved == "answer" and call.prompts):
        right = by in words[approved]
        yield held_or(
            right, f"{named(call)} was approved by {listed(words[approved])}, yet the audit says {by}"
        )


@check("WIRE-5", at=("model",), rank=Rank.CHART, is_deferred=True)
def a_denied_call_was_announced(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before the next request each call that was denied, or approved, was announced as such."""
    path = state.path_of(seen)
    if path is None or not path.sent or path.turn.cancelled_at:
        return
    for call in path.sent[-1].calls:
        names = call.event_names()
        verdict = prompt_verdict(state, call)
        if not call.is_usable:
            continue
        if verdict in ("deny", "defer", "gone") or call.guard_denial is not None:
            yield held_or(
                "ToolCallDenied" in names, f"{named(call)} was denied, and ToolCallDenied was not published"
            )
        elif not call.entries and not call.doubled:
            yield held_or(
                "ToolCallDenied" in names, f"{named(call)} did not run, and ToolCallDenied was not published"
            )
        elif call.entries:
            yield held_or(
                "ToolCallApproved" in names, f"{named(call)} ran, and ToolCallApproved was not published"
            )


@check("WIRE-12", at=("tool",), rank=Rank.CHART, is_deferred=True)
def each_judged_call_was_announced(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A call of a chat turn runs after the mode gate has announced that it judged it."""
    call = state.call_of(seen)
    if call is not None and call.is_usable and not call.path.is_driven:
        judged = "ToolCallModeInvoked" in call.event_names()
        yield held_or(judged, f"{named(call)} was entered, and ToolCallModeInvoked was not published")


@check("WIRE-9", rank=Rank.STREAM)
def a_turn_that_renders_publishes_its_payload(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """A chat turn that ends by itself has published its payload."""
    turn = state.turn_of(seen)
    if turn is None or turn.kind != "chat" or seen.reason.code != "NaturalEnd" or not turn.passes[-1].sent:
        return
    if not turn.passes[-1].sent[-1].is_terminal:
        published = bool(turn.named("Rendered"))
        yield held_or(published, f"turn {turn.id} ended by itself, and its payload was not published")


# Watchers.


@check("WIRE-10", rank=Rank.STREAM)
def watchers_get_every_event(state: ObservedState) -> CheckResults:
    """A watcher gets what is published while it watches, in order and once."""
    for watcher, (since, fails) in state.watchers.items():
        if (
            since < 0
            or fails
            or watcher in state.unwatched
            or (len(state.watchers) > 1 and _any_fails(state))
        ):
            continue
        published = [_content(event) for at, event in state.published if at > since]
        got = [_content(event) for at, event in state.watched if at > since and event.watcher == watcher]
        if published or got:
            agreed = sum(
                1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(published, got, strict=False))
            )
            what = f"event {agreed + 1} was {_name(published, agreed)}, and it got {_name(got, agreed)}"
            yield held_or(published == got, f"watcher {watcher}: {what}")


def _any_fails(state: ObservedState) -> bool:
    return any(fails for _, fails in state.watchers.values())


def _content(event: Published) -> tuple[str, Any]:
    return event.name, event.data


def _name(events: list[tuple[str, Any]], index: int) -> str:
    return events[index][0] if index < len(events) else "nothing"


@check("WIRE-2", at=OVER, rank=Rank.STREAM)
def a_request_ends_as_it_did(state: ObservedState, seen: Published) -> CheckResults:
    """A request is Completed once its response is complete, and Failed only if something broke."""
    request = _request(state, seen)
    if request is None or request.gate is None:
        return
    if seen.name == "ProviderRequestCompleted":
        waits = request.is_streaming
        broke = request.has_failed
        why = "its response is not complete" if waits else "the model broke"
        yield held_or(
            not waits and not broke, f"request {request.number} was announced as completed, yet {why}"
        )
    else:
        fine = request.response is not None and not request.path.turn.cancelled_at
        fine = fine and not state.raced(request.gate)  # what it raced may have ended the turn first
        odd = any(is_odd(gate) or gate.answered_with == "deny" for gate in request.hooks)
        yield held_or(
            not fine or odd, f"response {request.number} is complete, yet its request was announced as failed"
        )


# Calls.


@check("WIRE-4", at=CALL_EVENTS, rank=Rank.STREAM, is_deferred=True)
def a_call_goes_through_its_events(state: ObservedState, seen: Published) -> CheckResults:
    """A call is Proposed, then Denied or Started, and then has one end."""
    call = _call(state, seen)
    if call is None or is_doubled(call.path.turn):
        return
    names, new = call.event_names(), seen.name
    before = [name for name in names if name.startswith(PREFIX)]
    ended = [name for name in before if name in ENDS]
    if new in before:
        yield broken(f"{named(call)} was announced as {new.removeprefix(PREFIX)} twice")
    elif ended:
        yield broken(f"{named(call)} was announced as {_word(ended[0])}, and then as {_word(new)}")
    elif new != "ToolInvocationProposed" and "ToolInvocationProposed" not in before:
        proposes = state.shows("ToolInvocationProposed")
        yield held_or(not proposes, f"{named(call)} was announced as {_word(new)} before it was proposed")
    elif new == "ToolInvocationStarted" and "ToolCallDenied" in names:
        yield broken(f"{named(call)} was denied, yet it was announced as started")
    elif new == "ToolInvocationStarted" and call.is_usable and not approval_of(state, call):
        yield broken(f"{named(call)} was announced as started, and nothing had approved it")
    elif new == "ToolInvocationSucceeded" and "ToolInvocationStarted" not in before:
        starts = state.shows("ToolInvocationStarted")
        yield held_or(not starts, f"{named(call)} was announced as succeeded before it was started")
    else:
        yield HELD


@check("WIRE-4", rank=Rank.STREAM)
def a_call_that_started_was_announced_as_over(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """At the end of a turn each call that was announced as started was announced as over."""
    turn = state.turn_of(seen)
    if turn is None or is_doubled(turn) or not all(state.shows(name) for name in ENDS):
        return
    for call in (call for path in turn.passes for call in path.every_call()):
        names = call.event_names()
        if "ToolInvocationStarted" in names:
            is_over = not set(ENDS).isdisjoint(names)
            yield held_or(is_over, f"{named(call)} was announced as started, and never as over")


@check("WIRE-4", at=("model",), rank=Rank.STREAM)
def a_call_that_cannot_run_was_announced_as_failed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Before the next request each unknown or malformed call was announced as failed."""
    path = state.path_of(seen)
    if path is None or is_doubled(path.turn) or not state.shows("ToolInvocationFailed"):
        return
    for call in path.calls_of_earlier_rounds():
        if not call.is_usable and not call.entries:
            is_announced = "ToolInvocationFailed" in call.event_names()
            yield held_or(is_announced, f"{named(call)} was never announced as failed")


def _word(name: str) -> str:
    return name.removeprefix(PREFIX).lower()


@check("WIRE-4", at=ENDS, rank=Rank.STREAM, is_deferred=True)
def a_call_is_announced_as_what_happened(state: ObservedState, seen: Published) -> CheckResults:
    """The end of a call that is announced tells what happened."""
    call = _call(state, seen)
    if call is None or seen.name not in ENDS:
        return
    kind = call.answered_with
    what = (
        f"its tool answered {kind}"
        if kind
        else "its tool was given up"
        if call.was_aborted
        else "it did not run"
    )
    was_rewritten, _ = rewrite_of(call.hook_gates("post"), "status")
    if was_rewritten or state.may_be_lost(call.entries[-1] if call.entries else _no_gate(call)):
        return
    if seen.name == "ToolInvocationCancelled" and call.entries and state.raced(call.entries[-1]):
        return
    if any(gate.closed_at or is_odd(gate) or state.raced(gate) for gate in call.hook_gates("post")):
        return  # the hooks after the tool may not have let its answer through
    right = {
        "ToolInvocationSucceeded": kind == "ok",
        "ToolInvocationFailed": kind in ("error", "raise", "fault") or not call.entries,
        "ToolInvocationCancelled": call.was_aborted or not call.entries,
    }[seen.name]
    yield held_or(right, f"{named(call)} was announced as {_word(seen.name)}, and {what}")


def _no_gate(call: ObservedCall) -> ObservedGate:
    gate = call.request.gate
    assert gate is not None  # a call exists once its request was answered
    return gate


@check("WIRE-5", at=("ToolCallDenied",), rank=Rank.CHART, is_deferred=True)
def a_denial_is_true(state: ObservedState, seen: Published) -> CheckResults:
    """ToolCallDenied comes once for a call that was denied, with the code of who denied it."""
    call = _call(state, seen)
    if call is None or not call.is_usable:
        return
    if "ToolCallDenied" in call.event_names():
        yield broken(f"{named(call)} was announced as denied twice")
        return
    code, codes = seen.get("code"), _codes(state, call)
    if codes:
        yield held_or(
            code in codes, f"{named(call)} was denied as {listed(sorted(codes))}, yet the audit says {code}"
        )


def _codes(state: ObservedState, call: ObservedCall) -> set[str]:
    """The codes that a denial of the call may have; none where that is not certain."""
    if call.guard_denial is not None:
        return {"GuardDenied"}
    verdict = prompt_verdict(state, call)
    odd = any(gate.answered_with not in ("", "continue", "rewrite") for gate in call.hooks)
    if odd or verdict == "unclear" or call.path.turn.cancelled_at:
        return set()
    others = {"Cascade"} if verdict in ("defer", "gone") and other_calls_may_stop_it(state, call) else set()
    if call.path.is_driven:
        return {"GrantDenied", *others} if verdict in ("deny", "defer", "gone") else set()
    codes = {"deny": {"ModeDenied"}, "defer": {"Unanswered"}, "gone": {"Unanswered"}}.get(verdict, set())
    return codes | others


@check("WIRE-12", at=("ToolCallModeInvoked",), rank=Rank.CHART, is_deferred=True)
def the_mode_gate_announces_its_calls(state: ObservedState, seen: Published) -> CheckResults:
    """ToolCallModeInvoked comes once for each call that the mode gate judged, with its mode."""
    call = _call(state, seen)
    if call is None or call.path.is_driven:
        return
    again = any(gate.opened.role == "transform" for gate in call.hooks)
    twice = "ToolCallModeInvoked" in call.event_names() and not again
    yield held_or(not twice, f"ToolCallModeInvoked came twice for {named(call)}")
    mode = seen.get("mode")
    yield held_or(
        mode == state.scenario.mode, f"the mode is {state.scenario.mode}, yet the event says {mode}"
    )


# The screen.


@check("WIRE-9", at=("Rendered",), rank=Rank.STREAM)
def the_payload_is_published_once(state: ObservedState, seen: Published) -> CheckResults:
    """The payload as rewritten is published once, at RENDER."""
    turn = state.turn_of(seen) if seen.watcher is None else None
    path = turn.passes[-1] if turn is not None and turn.kind == "chat" else None
    if turn is None or path is None:
        return
    if turn.named("Rendered"):
        yield broken(f"turn {turn.id} published its payload twice")
        return
    payload = _payload(path)
    if payload is not None:
        shown = str(seen.get("text") or "")
        yield held_or(
            shown == payload, f"the payload is {quoted(payload)}, yet {quoted(shown)} was published"
        )


def _payload(path: ObservedPass) -> str | None:
    last = path.sent[-1] if path.sent else None
    if last is None or last.response is None or last.is_terminal:
        return None
    gates = [gate for gate in path.hooks if (gate.opened.at, gate.opened.point) == ("RENDER", "pre")]
    was_rewritten, value = rewrite_of(gates, "text")
    if was_rewritten:
        contested = sum(gate.answered_with == "rewrite" for gate in gates) > 1
        return None if contested else str(value)
    streamed = any(gate.answered_with == "rewrite" for gate in last.hook_gates("STREAM_RESPONSE", "pre"))
    return None if streamed else str(last.response.get("text", ""))
