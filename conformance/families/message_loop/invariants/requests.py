"""LOOP: what a request to the model is composed of."""

from __future__ import annotations

from collections.abc import Callable

from runlock.conformance.families.message_loop.invariants.reading import (
    any_doubled,
    base_of,
    chat_turns_before,
    final_texts_of,
    input_of,
    said,
    sending,
    slices_given,
    texts_of,
    upcoming,
)
from runlock.conformance.families.message_loop.invariants.results import (
    HELD,
    CheckResult,
    CheckResults,
    broken,
    listed,
    quoted,
)
from runlock.conformance.families.message_loop.messages import GateOpened, Message, TurnEnded
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.families.message_loop.state.records import (
    ObservedGate,
    ObservedPass,
    ObservedRequest,
)
from runlock.conformance.family.invariant import Invariant, check, counts, held_or, ranked
from runlock.conformance.family.rank import Rank

Mismatch = tuple[str, str]
"""The clause that a conversation breaks, and how; two empty strings if it is right."""

RIGHT: Mismatch = ("", "")


def mismatch(state: ObservedState, seen: GateOpened) -> Mismatch | None:
    """How the conversation of a request differs from what was said; None where that is not known."""
    found = sending(state, seen)
    if found is None or any_doubled(state):
        return None
    path, messages = found
    if path.sent:
        return _continues(state, path, messages)
    return _begins(state, path, messages)


def _continues(state: ObservedState, path: ObservedPass, messages: list[Message]) -> Mismatch | None:
    """A later request: the one before it, and what was said since."""
    if path.sent[-1].may_be_sent_again:
        return None
    known = next((request for request in reversed(path.sent) if base_of(state, request) is not None), None)
    if known is None:
        return None
    base = base_of(state, known) or []
    if [said(one) for one in messages[: len(base)]] != [said(one) for one in base]:
        return "LOOP-4", f"the messages of request {known.number} do not stand unchanged in the next one"
    since = path.sent[path.sent.index(known) :]
    return _blocks(since, messages[len(base) :])


def _blocks(since: list[ObservedRequest], rest: list[Message]) -> Mismatch:
    """Each response with its results, in order, and nothing after them."""
    for request in since:
        flaw, used = _block(request, rest)
        if flaw:
            return "LOOP-4", flaw
        rest = rest[used:]
    if rest:
        return "LOOP-14", f"a {rest[0].role} message {quoted(rest[0].text)} was added that was never said"
    return RIGHT


def _block(request: ObservedRequest, rest: list[Message]) -> tuple[str, int]:
    """What is wrong with the place of a response and its results, and how many messages they take."""
    ids = [call.id for call in request.calls]
    head = rest[0] if rest else None
    if head is None or head.role != "assistant" or [call.id for call in head.tool_calls] != ids:
        return f"response {request.number} with call {listed(ids)} is missing in the next request", 0
    texts = texts_of(request)
    if texts is not None and head.text not in texts:
        return (
            f"response {request.number} said {quoted(texts.pop())}, yet it stands as {quoted(head.text)}",
            0,
        )
    results = {one.call for one in rest[1 : 1 + len(ids)] if one.role == "tool"}
    missing = [call for call in ids if call not in results]
    if missing:
        return f"the result of call {listed(missing)} is missing in the next request", 0
    return "", 1 + len(ids)


def _begins(state: ObservedState, path: ObservedPass, messages: list[Message]) -> Mismatch | None:
    """The first request of a pass: history, then the input."""
    given = input_of(path)
    if given is None or path.attempt > 1:
        return None
    if not messages or not _is_the_input(state, path, messages[-1], given):
        last = f"{messages[-1].role} {quoted(messages[-1].text)}" if messages else "nothing"
        return (
            "LOOP-4",
            f"the input is {quoted(given)}, yet the first request of {path.label} ends with {last}",
        )
    history = messages[:-1]
    return (
        _history_of_a_stage(state, path, history)
        if path.is_driven
        else _history_of_a_chat(state, path, history)
    )


def _is_the_input(state: ObservedState, path: ObservedPass, last: Message, given: str) -> bool:
    """Whether a message is the input; a client may join it with the unanswered input of a turn cut short."""
    before = chat_turns_before(state, path.turn)
    was_cut = bool(before) and (before[-1].reason is None or before[-1].reason.code != "NaturalEnd")
    joined = was_cut and last.text.endswith(f"\n{given}")
    return last.role == "user" and (last.text == given or joined)


def _history_of_a_chat(state: ObservedState, path: ObservedPass, history: list[Message]) -> Mismatch | None:
    before = chat_turns_before(state, path.turn)
    if not before:
        return (
            RIGHT if not history else ("LOOP-14", f"{quoted(history[0].text)} stands before the first input")
        )
    natural = [turn for turn in before if turn.reason is not None and turn.reason.code == "NaturalEnd"]
    if not natural:
        return None
    last = natural[-1]
    ended = last.passes[-1].sent
    known = next((request for request in reversed(ended) if base_of(state, request) is not None), None)
    if known is None:
        return None
    base = base_of(state, known) or []
    if [said(one) for one in history[: len(base)]] != [said(one) for one in base]:
        return "LOOP-4", f"what was said in turn {last.id} does not stand unchanged in turn {path.turn.id}"
    if last is not before[-1]:
        return RIGHT
    return _after_a_natural_end(last.passes[-1], ended[ended.index(known) :], history[len(base) :])


def _after_a_natural_end(
    path: ObservedPass, since: list[ObservedRequest], rest: list[Message]
) -> Mismatch | None:
    for request in since[:-1]:
        flaw, used = _block(request, rest)
        if flaw:
            return "LOOP-4", flaw
        rest = rest[used:]
    if since and since[-1].calls:
        return None  # it ended with a terminal response
    texts = final_texts_of(path)
    if texts is None or not since:
        return None
    if not rest or rest[0].role != "assistant" or rest[0].text not in texts:
        if not any(texts):
            return None  # an empty response may leave no message
        return "LOOP-4", f"the last response of turn {path.turn.id} does not stand in the next turn"
    return RIGHT if len(rest) == 1 else ("LOOP-14", f"{quoted(rest[1].text)} was added that was never said")


def _history_of_a_stage(state: ObservedState, path: ObservedPass, history: list[Message]) -> Mismatch | None:
    foreign = _said_by_siblings(path, history)
    if foreign:
        return "TURN-7", f"{foreign} of a sibling stands in the transcript of stage execution {path.stage}"
    if not state.observes("message") or not history:
        return RIGHT if not history else None
    session = [said(one) for one in path.turn.session_before]
    if [said(one) for one in history] != session:
        extra = (
            next(one for one in history if said(one) not in session)
            if len(history) > len(session)
            else history[0]
        )
        return "LOOP-14", f"{quoted(extra.text)} stands before the body of stage execution {path.stage}"
    return RIGHT


def _said_by_siblings(path: ObservedPass, history: list[Message]) -> str:
    others = [one for one in path.turn.passes if one.stage != path.stage]
    calls = {call.id for other in others for call in other.every_call()}
    bodies = {input_of(other) for other in others if other.requests} - {input_of(path)}
    for message in history:
        if message.call in calls or any(call.id in calls for call in message.tool_calls):
            return f"call {message.call or message.tool_calls[0].id}"
        if message.role == "user" and message.text in bodies:
            return f"input {quoted(message.text)}"
    return ""


def _composed(clause: str) -> Callable[..., CheckResults]:
    def check(state: ObservedState, seen: GateOpened) -> CheckResults:
        found = mismatch(state, seen)
        if found is not None and found[0] in ("", clause):
            yield held_or(found == RIGHT, found[1])

    return check


@check("TURN-7", at=("model",), rank=Rank.LOST)
def siblings_see_nothing_of_each_other(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The requests of a stage execution hold nothing of its siblings' transcripts."""
    path = state.path_of(seen)
    if path is None or path.turn.kind != "group" or seen.messages is None:
        return
    foreign = _said_by_siblings(path, seen.messages)
    why = f"{foreign} of a sibling stands in a request of stage execution {path.stage}"
    execution = path.turn.executions.get(path.stage or "")
    if execution is not None and not execution.is_join:
        yield held_or(not foreign, why)


@check("LOOP-16", at=("model",), rank=Rank.HISTORY)
def a_terminal_response_ends_the_pass(state: ObservedState, seen: GateOpened) -> CheckResults:
    """After a response marked as terminal no request is sent."""
    path = state.path_of(seen)
    if path is not None and path.sent and path.sent[-1].response is not None:
        last = path.sent[-1]
        if last.is_terminal:
            yield broken(f"response {last.number} of {path.label} was terminal, yet another request was sent")


@counts("LOOP-16")
def a_terminal_response_was_the_last(state: ObservedState, seen: TurnEnded) -> CheckResults:
    """Counts the passes that a terminal response ended."""
    turn = state.turn_of(seen)
    for path in turn.passes if turn is not None else ():
        if path.sent and path.sent[-1].is_terminal:
            yield HELD


@check("LOOP-3", at=("model",), rank=Rank.STATUS)
def a_response_without_calls_ends_the_pass(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A response without a call leads to the end of the pass, whatever its finish word says."""
    path = state.path_of(seen)
    last = path.sent[-1] if path is not None and path.sent else None
    if path is not None and last is not None and last.response is not None:
        asked = bool(last.response.get("tool_calls"))
        yield held_or(
            asked, f"response {last.number} of {path.label} asked for no call, yet another request was sent"
        )


@check("LOOP-20", at=("model",), rank=Rank.HISTORY)
def a_request_is_sent_again_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A request that failed is sent again only where that is declared, and before its first delta."""
    path, policy = state.path_of(seen), state.policy("model.fault")
    last = path.sent[-1] if path is not None and path.sent else None
    if last is None or not last.has_failed:
        return
    if last.gate is not None and last.gate.deltas:
        yield broken(f"request {last.number} failed after its first delta, yet the model is asked again")
    elif policy is not None:
        yield held_or(policy == "retried", f"request {last.number} failed, yet the model is asked again")
    else:
        yield HELD


"""Asked before the pairing of calls: a call of a sibling has no result here."""


@check("LOOP-15", at=("model",), rank=Rank.HISTORY)
def each_provider_was_asked_once(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Each context provider is asked once in each COMPOSE_REQUEST, before the request goes out."""
    path = state.path_of(seen)
    if path is None or (path.request is not None and path.request.may_be_sent_again):
        return
    request = upcoming(state, path)
    gates = request.contexts if request is not None else []
    for spec in state.scenario.context:
        mine = [gate for gate in gates if gate.opened.provider == spec.id]
        if len(mine) != 1:
            yield broken(
                f"context provider {spec.id} was asked {len(mine)} times for a request of {path.label}"
            )
        else:
            yield held_or(not mine[0].is_open, f"the request was sent while provider {spec.id} is asked")


@check("LOOP-15", at=("context",), rank=Rank.HISTORY)
def a_provider_is_asked_within_its_budget(state: ObservedState, seen: GateOpened) -> CheckResults:
    """A context provider of the scenario is asked, with its budget."""
    spec = next((one for one in state.scenario.context if one.id == seen.provider), None)
    if spec is None:
        yield broken(f"context provider {seen.provider} was asked, and the scenario has no such provider")
    elif seen.budget is not None:
        yield held_or(
            seen.budget == spec.budget, f"provider {spec.id} has budget {spec.budget}, not {seen.budget}"
        )


@check("LOOP-15", at=("model",), rank=Rank.HISTORY)
def context_stands_in_its_request(state: ObservedState, seen: GateOpened) -> CheckResults:
    """What a provider gave stands in the request for which it was asked, within its budget."""
    path = state.path_of(seen)
    request = upcoming(state, path) if path is not None else None
    if path is None or request is None or seen.context is None or _rewrote(state, path, "messages"):
        return
    shown = _everything_shown(seen)
    for gate in request.contexts:
        slices = [text for text in (gate.answer or {}).get("slices") or [] if text]
        budget = next((one.budget for one in state.scenario.context if one.id == gate.opened.provider), 0)
        if slices and sum(map(len, slices)) <= budget:
            missing = [text for text in slices if text not in shown]
            why = f"{quoted(missing)} of provider {gate.opened.provider} does not stand in its request"
            yield held_or(not missing, why)
        elif slices:
            yield from _over_budget(state, gate.opened.provider, slices, budget, seen.context)


def _everything_shown(seen: GateOpened) -> str:
    texts = [seen.system or "", *(seen.context or []), *(one.text for one in seen.messages or [])]
    return "\n".join(texts)


def _over_budget(
    state: ObservedState, provider: str | None, slices: list[str], budget: int, context: list[str]
) -> CheckResults:
    standing = [text for text in slices if any(text in shown for shown in context)]
    used = sum(map(len, standing))
    yield held_or(
        used <= budget, f"provider {provider} may add {budget} characters, and {used} of it were sent"
    )


@check("LOOP-21", at=("model",), rank=Rank.HISTORY)
def context_over_budget_is_treated_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """Context beyond its budget is cut, left out by whole slices, or left out altogether."""
    path, policy = state.path_of(seen), state.policy("context.over")
    request = upcoming(state, path) if path is not None else None
    if request is None or policy is None or seen.context is None:
        return
    for gate in request.contexts:
        slices = [text for text in (gate.answer or {}).get("slices") or [] if text]
        budget = next((one.budget for one in state.scenario.context if one.id == gate.opened.provider), 0)
        if slices and sum(map(len, slices)) > budget and not _looks_alike(request, gate, slices):
            yield _treated(policy, slices, budget, seen.context)


def _looks_alike(request: ObservedRequest, gate: ObservedGate, slices: list[str]) -> bool:
    """Whether what another provider gave may be taken for a part of these slices."""
    answers = [one.answer or {} for one in request.contexts if one is not gate]
    others = [text for answer in answers for text in answer.get("slices") or []]
    return any(text in other or _begins_in(text, other) for other in others for text in slices)


def _treated(policy: str, slices: list[str], budget: int, context: list[str]) -> CheckResult:
    whole = [text for text in slices if any(text in shown for shown in context)]
    begun = [
        text for text in slices if text not in whole and any(_begins_in(text, shown) for shown in context)
    ]
    if policy == "refused":
        return held_or(
            not whole and not begun,
            f"context over its budget is refused, yet {quoted(whole or begun)} was sent",
        )
    if policy == "dropped":
        return held_or(
            not begun,
            f"context over its budget is left out by slices, yet a piece of {quoted(begun)} was sent",
        )
    used = sum(map(len, whole))
    cut = bool(begun) or used == budget
    return held_or(
        cut, f"context over its budget of {budget} is cut, yet {used} characters were sent, in whole slices"
    )


def _begins_in(text: str, shown: str) -> bool:
    return any(shown.endswith(text[:size]) for size in range(1, len(text)))


@check("LOOP-12", at=("model",), rank=Rank.HISTORY)
def a_stage_has_its_body_as_system_prompt(state: ObservedState, seen: GateOpened) -> CheckResults:
    """In a stage execution the system prompt is its body, the same in each request."""
    path = state.path_of(seen)
    execution = path.turn.executions.get(path.stage or "") if path is not None else None
    if path is None or execution is None or execution.spec is None or seen.system is None:
        return
    if not _rewrote(state, path, "system"):
        body = execution.spec.body
        right = body in seen.system if state.scenario.context else seen.system == body
        yield held_or(
            right,
            f"the body of stage {execution.name} is {quoted(body)}, yet system is {quoted(seen.system)}",
        )


@check("LOOP-13", at=("model",), rank=Rank.HISTORY)
def the_manifest_is_the_scenarios(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The tools of a request are those that the scenario, or the driving stage, offers."""
    path = state.path_of(seen)
    if path is None or seen.tools is None or _rewrote(state, path, "tools"):
        return
    wanted = _manifest(state, path)
    if wanted is not None:
        extra, missing = set(seen.tools) - wanted, wanted - set(seen.tools)
        what = f"offers {listed(sorted(extra))} besides" if extra else f"lacks {listed(sorted(missing))}"
        yield held_or(not extra and not missing, f"the manifest of {path.label} {what}")


def _manifest(state: ObservedState, path: ObservedPass) -> set[str] | None:
    if path.stage is None:
        return {tool.name for tool in state.scenario.tools if tool.offered}
    execution = path.turn.executions.get(path.stage)
    if execution is None or execution.spec is None:
        return None
    return {*execution.spec.allowed_tools, execution.spec.completion}


def _rewrote(state: ObservedState, path: ObservedPass, key: str) -> bool:
    request = upcoming(state, path)
    return request is not None and request.rewritten(key)


@check("LOOP-14", at=("model",), rank=Rank.HISTORY)
def the_system_prompt_is_as_composed(state: ObservedState, seen: GateOpened) -> CheckResults:
    """In a chat turn the system prompt is the scenario's, with nothing added but context."""
    path = state.path_of(seen)
    if path is None or path.is_driven or seen.system is None or _rewrote(state, path, "system"):
        return
    wanted = state.scenario.system or ""
    right = wanted in seen.system if state.scenario.context else seen.system == wanted
    yield held_or(right, f"the system prompt is {quoted(wanted)}, yet {quoted(seen.system)} was sent")


@check("LOOP-14", at=("model",), rank=Rank.HISTORY)
def context_is_what_providers_gave(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The context of a request holds nothing but slices of its pass."""
    path = state.path_of(seen)
    if path is None or not seen.context:
        return
    given = "\n".join(slices_given(path))
    foreign = [text for text in seen.context if text and text not in given and not _made_of(text, path)]
    yield held_or(not foreign, f"the context holds {quoted(foreign)}, which no provider gave")


@check("LOOP-14", at=("model",), rank=Rank.HISTORY)
def no_slice_stands_twice(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The context of a request holds no slice more often than its providers gave it."""
    path = state.path_of(seen)
    request = upcoming(state, path) if path is not None else None
    if request is None or not seen.context:
        return
    answers = [gate.answer or {} for gate in request.contexts]
    slices = [text for answer in answers for text in answer.get("slices") or [] if text]
    for text in dict.fromkeys(slices):
        given = sum(other.count(text) for other in slices)
        shown = sum(other.count(text) for other in seen.context)
        yield held_or(shown <= given, f"the slice {quoted(text)} stands {shown} times in the context")


@check("LOOP-14", at=("model",), rank=Rank.HISTORY)
def no_slice_stays_in_the_messages(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The messages of a request hold no slice that was given for an earlier request alone."""
    path = state.path_of(seen)
    request = upcoming(state, path) if path is not None else None
    if path is None or request is None or not state.scenario.context or _rewrote(state, path, "messages"):
        return
    now = [text for gate in request.contexts for text in (gate.answer or {}).get("slices") or []]
    texts = [one.text for one in seen.messages or []]
    for text in dict.fromkeys(slices_given(path)):
        is_stale = not any(text in other for other in now) and any(text in other for other in texts)
        yield held_or(not is_stale, f"the slice {quoted(text)} of an earlier request stands in the messages")


def _made_of(text: str, path: ObservedPass) -> bool:
    """Whether a text holds a slice, or the beginning of one."""
    return any(one in text or text.startswith(one[:4]) for one in slices_given(path))


@check("LOOP-22", at=("model",), rank=Rank.HISTORY)
def a_stage_sees_the_history_as_declared(state: ObservedState, seen: GateOpened) -> CheckResults:
    """The requests of a stage execution hold the session history before its transcript, or do not."""
    found, policy = sending(state, seen), state.policy("stage.history")
    if found is None or policy is None or not found[0].is_driven or found[0].sent or found[0].attempt > 1:
        return
    path, messages = found
    session = len(path.turn.session_before)
    if session:
        held = len(messages) > 1
        does = "holds more than its body" if held else "holds its body alone"
        why = f"session history is {policy} in stages, yet the first request of {path.label} {does}"
        yield held_or(held == (policy == "before"), why)


INVARIANTS = ranked(
    Rank.HISTORY,
    Invariant("LOOP-4", _composed("LOOP-4"), GateOpened, at=("model",)),
    Invariant("LOOP-14", _composed("LOOP-14"), GateOpened, at=("model",)),
)
