"""How the stimuli of a hosted runner are planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.tool_runner.adapter import Refused
from runlock.conformance.families.tool_runner.host.life import Life
from runlock.conformance.families.tool_runner.host.user import Act, Walk
from runlock.conformance.protocol import Wire
from runlock.conformance.transport.hosted_life import SHARED_PLANS, Plan
from runlock.conformance.transport.hosting import Delivery, illegal, must_have


def _start(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    if life.runs:
        raise illegal(f"Run {life.runs[0]} was started before; runner.again begins the next one.")
    return lambda stimulus: _walk(life, asked.run, life.adapter.run(asked.input), stimulus)


def _again(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "again")
    if life.user.status != "Done" or asked.run in life.runs:
        raise illegal(f"Run {asked.run} cannot begin: the one before it is not Done, or has that id.")

    def deliver(stimulus: int) -> None:
        try:
            items = life.adapter.again()
        except Refused as refusal:
            life.host.turn_down(stimulus, refusal.why)
            return
        _walk(life, asked.run, items, stimulus)

    return deliver


def _walk(life: Life, run: str, items: Any, stimulus: int) -> None:
    walk = Walk(run, items, stimulus)
    undo = life.user.begin(walk)
    life.runs.append(run)
    life.spawn(life.user.iterate(walk, undo))


def _cancel(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
    must_have(life.adapter, "cancel")

    def deliver(stimulus: int) -> None:
        if life.user.status == "Running":
            life.user.is_cancelled = True
            life.spawn(life.adapter.cancel())

    return deliver


def _verb(method: str, arguments: Callable[[Any], tuple[Any, ...]]) -> Plan:
    def plan(life: Life, asked: Any, earlier: Sequence[Wire]) -> Delivery:
        must_have(life.adapter, method)
        verb = getattr(life.adapter, method)
        given = arguments(asked)
        return lambda stimulus: life.user.act(Act(method, lambda: verb(*given), stimulus))

    return plan


PLANS: Final[Mapping[str, Plan]] = {
    **SHARED_PLANS,
    "run.start": _start,
    "runner.again": _again,
    "cancel": _cancel,
    "runner.push": _verb("push", lambda asked: (asked.messages,)),
    "runner.set": _verb("set", lambda asked: (asked.messages, asked.params)),
    "runner.respond": _verb("respond", lambda asked: ()),
    "runner.tools": _verb("tools", lambda asked: (asked.add, asked.remove)),
}
