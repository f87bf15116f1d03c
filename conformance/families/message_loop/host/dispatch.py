"""Plans the stimuli of a hosted message loop: all of a `deliver` are checked before any of them is delivered.

A plan checks that the stimulus may come now, and changes nothing; it returns what delivers the stimulus
before the loop turns again.  `earlier` are the requests before it in the same `deliver`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

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
from runlock.conformance.protocol import NO_SUCH_GATE, Cancel, ClockAdvance, GateRelease, ProtocolError, Wire
from runlock.conformance.transport.hosting import (
    Delivery,
    has,
    illegal,
    must_have,
    open_gate,
    parse,
    parse_outcome,
)


def plan(life: Life, method: str, asked: Any, earlier: Sequence[Wire] = ()) -> Delivery:
    """Check one stimulus, and give what hands it over."""
    if method not in PLANS:
        raise illegal(f"{method} cannot be part of a race.")
    return PLANS[method](life, asked, earlier)


def plan_all(life: Life, requests: Sequence[tuple[str, Any]]) -> list[Delivery]:
    """Check all stimuli of a race before any of them is handed over."""
    earlier: list[Wire] = []
    plans = []
    for method, params in requests:
        asked = parse(METHODS, method, params)
        plans.append(plan(life, method, asked, earlier))
        earlier.append(asked)
    return plans


def _start(life: Life, asked: RunStart, earlier: Sequence[Wire]) -> Delivery:
    if life.is_at_work or any(isinstance(other, RunStart) for other in earlier):
        raise illegal(f"Turn {life.host.run} is not over; {asked.run} can start when it is.")
    if asked.run in life.past:
        raise illegal(f"Turn {asked.run} was started before; each turn has an id of its own.")
    start = TurnStart(asked.input, asked.stage, tuple(asked.group or ()), asked.join)
    stages = [one.id for one in asked.executions]
    return lambda stimulus: life.begin_turn(asked.run, stages, life.adapter.start(start))


def _cancel(life: Life, asked: Cancel, earlier: Sequence[Wire]) -> Delivery:
    started = {other.run for other in earlier if isinstance(other, RunStart)}
    if asked.run not in life.past | started:
        raise illegal(f"There is no turn {asked.run}; the turn at hand is {life.host.run}.")
    if asked.run != life.host.run and asked.run not in started:
        return lambda stimulus: life.refuse(stimulus, f"turn {asked.run} is over")

    def deliver(stimulus: int) -> None:
        if has(life.adapter, "cancel"):
            life.begin("cancel", stimulus, life.adapter.cancel())
        elif life.is_at_work:
            life.cancel_turn()
        else:
            life.refuse(stimulus, f"turn {asked.run} is over")

    return deliver


def _release(life: Life, asked: GateRelease, earlier: Sequence[Wire]) -> Delivery:
    gate = open_gate(life.host.open_gates, asked, earlier)
    answer = parse_outcome(OUTCOMES_BY_GATE, gate.on, asked.outcome)
    return lambda stimulus: life.host.release(gate, answer)


def _late(life: Life, asked: Late, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "late")
    gate = life.host.past_gates.get(asked.gate)
    if gate is None:
        raise ProtocolError(NO_SUCH_GATE, f"Gate {asked.gate} was not given up.")
    answer = parse_outcome(OUTCOMES_BY_GATE, gate.on, asked.outcome)
    return lambda stimulus: life.begin("late", stimulus, life.adapter.late(gate.on, gate.key, answer))


def _gone(life: Life, asked: InteractorGone, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "gone")

    def deliver(stimulus: int) -> None:
        life.gone.add(asked.interactor)
        life.begin("gone", stimulus, life.adapter.gone(asked.interactor))

    return deliver


def _watch(life: Life, asked: Watch, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "watch")
    return lambda stimulus: _later(life, {asked.watcher: asked.fails}, "")


def _unwatch(life: Life, asked: Unwatch, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "watch")
    return lambda stimulus: _later(life, {}, asked.watcher)


def _later(life: Life, added: dict[str, bool], gone: str) -> None:
    life.loop.call_soon(_set_watchers, life, added, gone)


def _set_watchers(life: Life, added: dict[str, bool], gone: str) -> None:
    life.watchers = {name: fails for name, fails in (life.watchers | added).items() if name != gone}
    life.adapter.watch(life.host.watcher(dict(life.watchers)) if life.watchers else None)


def _advance(life: Life, asked: ClockAdvance, earlier: Sequence[Wire]) -> Delivery:
    return lambda stimulus: life.loop.advance(asked.ms)


PLANS: Final[dict[str, Callable[[Life, Any, Sequence[Wire]], Delivery]]] = {
    "run.start": _start,
    "gate.release": _release,
    "cancel": _cancel,
    "late": _late,
    "interactor.gone": _gone,
    "watch": _watch,
    "unwatch": _unwatch,
    "clock.advance": _advance,
}
