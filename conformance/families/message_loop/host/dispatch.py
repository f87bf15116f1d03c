"""How the stimuli of a hosted message loop are planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from runlock.conformance.families.message_loop.adapter import TurnStart
from runlock.conformance.families.message_loop.host.life import Life
from runlock.conformance.families.message_loop.messages import (
    InteractorGone,
    Late,
    RunStart,
    Unwatch,
    Watch,
)
from runlock.conformance.protocol import NO_SUCH_GATE, Cancel, ProtocolError, Wire
from runlock.conformance.transport.hosted_life import SHARED_PLANS, Plan
from runlock.conformance.transport.hosting import Delivery, has, illegal, must_have, parse_outcome


def _start(life: Life, asked: RunStart, earlier: Sequence[Wire]) -> Delivery:
    if not life.is_over or any(isinstance(other, RunStart) for other in earlier):
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
        return lambda stimulus: life.host.turn_down(stimulus, f"turn {asked.run} is over")

    def deliver(stimulus: int) -> None:
        if has(life.adapter, "cancel"):
            life.begin("cancel", stimulus, life.adapter.cancel())
        elif life.turn is not None:
            life.turn.cancel()
        else:
            life.host.turn_down(stimulus, f"turn {asked.run} is over")

    return deliver


def _late(life: Life, asked: Late, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "late")
    gate = life.host.past_gates.get(asked.gate)
    if gate is None:
        raise ProtocolError(NO_SUCH_GATE, f"Gate {asked.gate} was not given up.")
    answer = parse_outcome(life.outcomes, gate.on, asked.outcome)
    key = str(gate.shown.get("prompt") or gate.shown.get("call") or gate.id)
    return lambda stimulus: life.begin("late", stimulus, life.adapter.late(gate.on, key, answer))


def _gone(life: Life, asked: InteractorGone, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "gone")
    return lambda stimulus: life.begin("gone", stimulus, life.adapter.gone(asked.interactor))


def _watch(life: Life, asked: Watch, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "watch")
    return lambda stimulus: life.loop.call_soon(_set_watchers, life, {asked.watcher: asked.fails}, "")


def _unwatch(life: Life, asked: Unwatch, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "watch")
    return lambda stimulus: life.loop.call_soon(_set_watchers, life, {}, asked.watcher)


def _set_watchers(life: Life, added: dict[str, bool], gone: str) -> None:
    life.watchers = {name: fails for name, fails in (life.watchers | added).items() if name != gone}
    life.adapter.watch(life.host.watcher(dict(life.watchers)) if life.watchers else None)


PLANS: Final[Mapping[str, Plan]] = {
    **SHARED_PLANS,
    "run.start": _start,
    "cancel": _cancel,
    "late": _late,
    "interactor.gone": _gone,
    "watch": _watch,
    "unwatch": _unwatch,
}
