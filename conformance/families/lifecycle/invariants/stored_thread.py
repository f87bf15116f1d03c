"""STORE: the messages of a checkpoint are those of the thread, whole and in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from runlock.conformance.families.lifecycle.invariants.checkpoint_content import (
    TakenDown,
    on_storing,
    state_of,
)
from runlock.conformance.families.lifecycle.state import ObservedState, once
from runlock.conformance.families.lifecycle.state.thread import (
    as_asked_for,
    brief,
    messages_of,
    what_differs,
)
from runlock.conformance.family.invariant import HELD, CheckResults, broken, held_or
from runlock.conformance.protocol import Message

Said = tuple[str, str | None, str]
Place = tuple[int, str | None]


@on_storing("STORE-17")
def a_checkpoint_holds_the_thread(state: ObservedState, seen: TakenDown) -> CheckResults:
    """A checkpoint holds the messages of the thread up to then, each whole, and no others."""
    durable, joined = state_of(state, seen), _joined(state)
    if state.run_of(seen) is None or not durable or joined is None:
        return
    joined = as_asked_for(state, joined)
    stored = as_asked_for(state, messages_of(durable) or [])
    kept, there = Counter(map(_said, stored)), Counter(map(_said, joined))
    for message in joined:
        if message.status != "pending" and message.role != "system":
            why = _misses(kept[_said(message)], there[_said(message)]) or _otherwise(message, stored)
            yield HELD if not why else broken(f"{_words(message)}{why}")
    for message in stored:
        if kept[_said(message)] > there[_said(message)] and message.role != "system":
            yield broken(f"the checkpoint holds that {_words(message)}, which has not joined the thread")


@on_storing("STORE-17")
def a_checkpoint_keeps_the_order_of_the_thread(state: ObservedState, seen: TakenDown) -> CheckResults:
    """The messages of a checkpoint come in the order in which they joined the thread."""
    durable, joined = state_of(state, seen), _joined(state)
    stored = messages_of(durable)
    if joined is None or stored is None:
        return
    waited = {message.call for message in joined if message.status == "pending"}
    right, found = (list(dict.fromkeys(_places(one, waited))) for one in (joined, stored))
    moved = [place for place in found if place in right] != [place for place in right if place in found]
    yield held_or(not moved, "the checkpoint holds the messages in another order than they joined the thread")


def _places(messages: Sequence[Message], waited: set[str | None]) -> Iterator[Place | Said]:
    """What tells the messages of a thread apart; a result may have taken the place of a placeholder."""
    turns = 0
    for message in messages:
        if message.role == "tool" and message.call not in waited:
            yield turns, message.call
        elif message.role in ("user", "assistant"):
            turns += 1
            yield _said(message)


@once
def _joined(state: ObservedState) -> Sequence[Message] | None:
    """The messages that have joined the thread, those of the checkpoint recovered from among them."""
    if state.life == 1:
        return state.messages
    kept = messages_of(state.recovered_from) if state.handshake.control.store == "kit" else None
    return None if kept is None else [*kept, *state.messages[state.kept_before[1] :]]


def _said(message: Message) -> Said:
    return (message.role, message.call, message.text)


def _words(message: Message) -> str:
    """What was said by whom; the result of a call need not come from its tool."""
    speaker = f"the result of call {message.call}" if message.role == "tool" else f"the {message.role}"
    return f"{speaker} said {message.text[:40]!r}"


def _misses(kept: int, joined: int) -> str:
    """What is wrong with a message that joined the thread so often, and is kept so often."""
    if not kept:
        return ", yet the checkpoint does not hold that message"
    if kept < joined:
        return f", which joined the thread {joined} times, yet the checkpoint holds it {kept} times"
    return ""


def _otherwise(message: Message, stored: Sequence[Message]) -> str:
    """What of a message the checkpoint does not hold as it joined the thread."""
    same = sorted(
        (one for one in stored if _said(one) == _said(message)), key=lambda one: _asks(one, message)
    )
    differs = [what_differs(message, one) for one in same]
    if not all(differs) or (differs[-1] == "calls" and not message.tool_calls):
        return ""
    return f", yet the checkpoint holds other {differs[-1]}: {brief(same[-1])}"


def _asks(one: Message, other: Message) -> int:
    """How many calls two turns have in common."""
    return len({call.id for call in one.tool_calls} & {call.id for call in other.tool_calls})
