"""One life of a hosted runtime: its adapter on a loop of its own, and its host.

The stimuli of a `deliver` are all planned before any of them is delivered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from runlock.conformance.protocol import ClockAdvance, GateRelease, ProtocolError, Wire
from runlock.conformance.transport.exceptions import EXCEPTION
from runlock.conformance.transport.gates import Gate, GateHost
from runlock.conformance.transport.hosting import (
    Delivery,
    clean_up,
    exceptions_on,
    leaks,
    open_gate,
    parse_outcome,
    run,
)
from runlock.conformance.transport.virtual_loop import VirtualLoop

Host = TypeVar("Host", bound=GateHost)


class HostedLife(Generic[Host]):
    """An adapter object, its loop and its host; a family adds the work that is under way."""

    outcomes: ClassVar[Mapping[str, Any]]
    """The parser of the outcomes of each kind of gate."""

    def __init__(self, adapter: Any, scenario: Any, host: Callable[[VirtualLoop], Host]) -> None:
        self.adapter = adapter
        self.scenario = scenario
        self.loop = VirtualLoop()
        self.loop.outside.busy = getattr(adapter, "busy", None)
        self.host = host(self.loop)
        self.bystanders: frozenset[asyncio.Task[Any]] = frozenset()  # tasks that `open` started
        self.broken: ProtocolError | None = None  # the adapter returned what it must not

    @property
    def is_over(self) -> bool:
        """Whether no run is under way, so that whatever is still held is a leak."""
        raise NotImplementedError

    def open(self) -> None:
        """Let the adapter prepare itself."""
        self.loop.run_until_complete(self.adapter.open(self.host, self.scenario))
        self.bystanders = frozenset(self.loop.alive())

    def report(self, turns: int | None) -> dict[str, Any]:
        """Run, and tell what happened since the last report."""
        quiescent = run(self.loop, turns)
        for fields in exceptions_on(self.loop):
            self.host.append(EXCEPTION, fields)
        self.raise_what_broke()
        observations, refused = self.host.drain()
        return {"observations": observations, "quiescent": quiescent, "refused": refused}

    def raise_what_broke(self) -> None:
        """Raise what ended outside the protocol since the last report."""
        if self.broken is not None:
            raise self.broken

    def release(self, gate: Gate, answer: Any) -> None:
        """Release a gate."""
        self.host.release(gate, answer)

    def at_once(self, deed: Callable[..., None], *args: Any) -> None:
        """Do what takes no time, when the loop turns."""
        self.loop.call_soon(deed, *args)

    def leaks(self) -> list[dict[str, Any]]:
        """What is still held though no run is under way: gates, tasks, and a close that goes wrong."""
        found = leaks(self.adapter, self.loop, self.host.open_gates.values(), self.bystanders)
        return found if self.is_over else []

    def die(self) -> None:
        """Stop where it stands: no clean-up code runs, and nothing from here reaches the world again."""
        self.host.dead = True
        self.loop.abandon()

    def wind_up(self) -> None:
        """At the end of a scenario, let what is left clean up on its own loop; none of it is shown."""
        self.host.dead = True
        clean_up(self.loop)

    def bury(self) -> None:
        """Give back what a dead life still holds."""
        self.die()
        self.loop.bury()


Plan = Callable[[Any, Any, Sequence[Wire]], Delivery]
"""Checks that a stimulus may come now, and changes nothing; gives what delivers it before the loop turns.

It takes the life, the stimulus, and those before it in the same `deliver`.
"""


def _release(life: HostedLife[Any], asked: GateRelease, earlier: Sequence[Wire]) -> Delivery:
    gate = open_gate(life.host.open_gates, asked, earlier)
    answer = parse_outcome(life.outcomes, gate.on, asked.outcome)
    return lambda stimulus: life.release(gate, answer)


def _advance(life: HostedLife[Any], asked: ClockAdvance, earlier: Sequence[Wire]) -> Delivery:
    return lambda stimulus: life.loop.advance(asked.ms)


SHARED_PLANS: Final[Mapping[str, Plan]] = {"gate.release": _release, "clock.advance": _advance}
