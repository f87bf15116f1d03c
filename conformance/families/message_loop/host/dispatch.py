"""How a stimulus reaches a hosted message loop: planned first, and handed over once all of its race can be.

A plan checks that the stimulus may come now, and changes nothing; what it gives does the deed before the
loop turns again.  `earlier` are the requests that stand before it in the same `deliver`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from runlock.conformance.families.message_loop.adapter import TurnStart
from runlock.conformance.families.message_loop.host.life import Life
from runlock.conformance.families.message_loop.messages import (
    METHODS,
    OUTCOMES_BY_GATE,
    InteractorGone,
    Late,
    RunStart,
    Unwatch,
    Watch,
)
from runlock.conformance.protocol import (
    ILLEGAL_STIMULUS,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NO_SUCH_GATE,
    UNSUPPORTED,
    Cancel,
    ClockAdvance,
    GateRelease,
    ProtocolError,
    Wire,
)

HandOver = Callable[[int], None]
"""Hands a planned stimulus over; takes its place in its `deliver`."""


def parse(method: str, params: Any) -> Any:
    """The parameters of a verb, validated."""
    if method not in METHODS:
        raise ProtocolError(METHOD_NOT_FOUND, f"There is no verb {method}; there are {', '.join(METHODS)}.")
    try:
        return METHODS[method][0].model_validate(params)
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"{method} cannot take these parameters: {error}") from error


def illegal(why: str) -> ProtocolError:
    """A mistake of the kit's own."""
    return ProtocolError(ILLEGAL_STIMULUS, why)


def has(adapter: Any, method: str) -> bool:
    """Whether the adapter has an optional method."""
    return callable(getattr(adapter, method, None))


def must_have(adapter: Any, method: str) -> None:
    """Answer -32001 for what the adapter lacks, and so did not declare."""
    if not has(adapter, method):
        words = f"The adapter has no {method}, and its handshake does not declare it."
        raise ProtocolError(UNSUPPORTED, words)


def plan(life: Life, method: str, asked: Any, earlier: Sequence[Wire] = ()) -> HandOver:
    """Check one stimulus, and give what hands it over."""
    if method not in PLANS:
        raise illegal(f"{method} cannot be part of a race.")
    return PLANS[method](life, asked, earlier)


def plan_all(life: Life, requests: Sequence[tuple[str, Any]]) -> list[HandOver]:
    """Check all stimuli of a race before any of them is handed over."""
    earlier: list[Wire] = []
    plans = []
    for method, params in requests:
        asked = parse(method, params)
        plans.append(plan(life, method, asked, earlier))
        earlier.append(asked)
    return plans


def _start(life: Life, asked: RunStart, earlier: Sequence[Wire]) -> HandOver:
    if life.is_at_work or any(isinstance(other, RunStart) for other in earlier):
        raise illegal(f"Turn {life.host.run} is not over; {asked.run} can start when it is.")
    if asked.run in life.past:
        raise illegal(f"Turn {asked.run} was started before; each turn has an id of its own.")
    start = TurnStart(asked.input, asked.stage, tuple(asked.group or ()), asked.join)
    stages = [one.id for one in asked.executions]
    return lambda stimulus: life.begin_turn(asked.run, stages, life.adapter.start(start))


def _cancel(life: Life, asked: Cancel, earlier: Sequence[Wire]) -> HandOver:
    started = {other.run for other in earlier if isinstance(other, RunStart)}
    if asked.run not in life.past | started:
        raise illegal(f"There is no turn {asked.run}; the turn at hand is {life.host.run}.")
    if asked.run != life.host.run and asked.run not in started:
        return lambda stimulus: life.refuse(stimulus, f"turn {asked.run} is over")

    def hand_over(stimulus: int) -> None:
        if has(life.adapter, "cancel"):
            life.begin("cancel", stimulus, life.adapter.cancel())
        elif life.is_at_work:
            life.cancel_turn()
        else:
            life.refuse(stimulus, f"turn {asked.run} is over")

    return hand_over


def _release(life: Life, asked: GateRelease, earlier: Sequence[Wire]) -> HandOver:
    host = life.host
    if any(isinstance(other, GateRelease) and other.gate == asked.gate for other in earlier):
        raise illegal(f"Gate {asked.gate} stands twice in one deliver.")
    gate = host.open_gates.get(asked.gate)
    if gate is None:
        known = ", ".join(host.open_gates) or "none"
        raise ProtocolError(NO_SUCH_GATE, f"Gate {asked.gate} is not open; open are: {known}.")
    answer = _outcome(gate.on, asked.outcome)
    return lambda stimulus: host.release(gate, answer)


def _late(life: Life, asked: Late, earlier: Sequence[Wire]) -> HandOver:
    must_have(life.adapter, "late")
    gate = life.host.past_gates.get(asked.gate)
    if gate is None:
        raise ProtocolError(NO_SUCH_GATE, f"Gate {asked.gate} was not given up.")
    answer = _outcome(gate.on, asked.outcome)
    return lambda stimulus: life.begin("late", stimulus, life.adapter.late(gate.on, gate.key, answer))


def _gone(life: Life, asked: InteractorGone, earlier: Sequence[Wire]) -> HandOver:
    must_have(life.adapter, "gone")

    def hand_over(stimulus: int) -> None:
        life.gone.add(asked.interactor)
        life.begin("gone", stimulus, life.adapter.gone(asked.interactor))

    return hand_over


def _watch(life: Life, asked: Watch, earlier: Sequence[Wire]) -> HandOver:
    must_have(life.adapter, "watch")
    return lambda stimulus: _later(life, {asked.watcher: asked.fails}, "")


def _unwatch(life: Life, asked: Unwatch, earlier: Sequence[Wire]) -> HandOver:
    must_have(life.adapter, "watch")
    return lambda stimulus: _later(life, {}, asked.watcher)


def _later(life: Life, added: dict[str, bool], gone: str) -> None:
    life.loop.call_soon(_set_watchers, life, added, gone)


def _set_watchers(life: Life, added: dict[str, bool], gone: str) -> None:
    life.watchers = {name: fails for name, fails in (life.watchers | added).items() if name != gone}
    life.adapter.watch(life.host.watcher(dict(life.watchers)) if life.watchers else None)


def _advance(life: Life, asked: ClockAdvance, earlier: Sequence[Wire]) -> HandOver:
    return lambda stimulus: life.loop.advance(asked.ms)


def _outcome(on: str, outcome: Any) -> Wire:
    try:
        answer: Wire = OUTCOMES_BY_GATE[on].validate_python(outcome)
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"A {on} gate cannot take this outcome: {error}") from error
    return answer


PLANS: Final[dict[str, Callable[[Life, Any, Sequence[Wire]], HandOver]]] = {
    "run.start": _start,
    "gate.release": _release,
    "cancel": _cancel,
    "late": _late,
    "interactor.gone": _gone,
    "watch": _watch,
    "unwatch": _unwatch,
    "clock.advance": _advance,
}
