"""One life of a hosted runtime: its adapter on a loop of its own, and its host.

The stimuli of a `deliver` are all planned before any of them is delivered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final, Generic, TypeVar

from runlock.conformance.protocol import ClockAdvance, GateRelease, ProtocolError, Wire
from runlock.conformance.transport.exceptions import exception_fields
from runlock.conformance.transport.gates import GateHost
from runlock.conformance.transport.hosting import Delivery, has, open_gate, parse_outcome
from runlock.conformance.transport.virtual_loop import DidNotSettle, VirtualLoop, raised

WIND_UP_TURNS_MAX: Final = 1_000
"""Turns of the loop that a closed scenario gets for its clean-up."""

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
        """Run these turns, or until nothing is left to run; tell what happened since the last report."""
        if turns is None:
            self.loop.settle()
        quiescent = turns is None or self.loop.run_turns(turns)
        errors, self.loop.errors = self.loop.errors, []
        for context in errors:
            if (error := context.get("exception")) is not None:
                self.host.show_exception("a callback", error)
        self.raise_what_broke()
        observations, refused = self.host.drain()
        return {"observations": observations, "quiescent": quiescent, "refused": refused}

    def raise_what_broke(self) -> None:
        """Raise what ended outside the protocol since the last report."""
        if self.broken is not None:
            raise self.broken

    def leaks(self) -> list[dict[str, Any]]:
        """What is still held though no run is under way: gates, tasks, and a close that goes wrong.

        An exception that nothing awaited is reported in any case.
        """
        found = [_leaked_gate(gate.shown) for gate in self.host.open_gates.values()]
        if has(self.adapter, "close"):
            found += _close(self.adapter, self.loop)
        tasks = self.loop.alive().difference(self.bystanders)
        found += ({"task": name} for name in sorted(map(_task_name, tasks)))
        return [*(found if self.is_over else ()), *_unretrieved(self.loop.tasks())]

    def die(self) -> None:
        """Stop where it stands: no clean-up code runs, and nothing from here reaches the world again."""
        self.host.dead = True
        self.loop.abandon()

    def wind_up(self) -> None:
        """At the end of a scenario, let what is left clean up on its own loop; none of it is shown."""
        self.host.dead = True
        with suppress(DidNotSettle):
            for task in self.loop.alive():
                task.cancel()
            self.loop.settle(limit=WIND_UP_TURNS_MAX)

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
    return lambda stimulus: life.host.release(gate, answer)


def _advance(life: HostedLife[Any], asked: ClockAdvance, earlier: Sequence[Wire]) -> Delivery:
    return lambda stimulus: life.loop.advance(asked.ms)


SHARED_PLANS: Final[Mapping[str, Plan]] = {"gate.release": _release, "clock.advance": _advance}


def _unretrieved(tasks: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The exceptions of background tasks that nothing awaited."""
    failed = [task for task in tasks if task.done() and not task.cancelled() and task._log_traceback]
    for task in sorted(failed, key=_task_name):
        error = raised(task)
        fields = exception_fields(_task_name(task), error) if error is not None else None
        if fields is not None:
            yield {"raised": fields["error"]}


def _leaked_gate(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {name: shown[name] for name in ("gate", "on", "call") if shown.get(name) is not None}


def _close(adapter: Any, loop: VirtualLoop) -> list[dict[str, Any]]:
    closing = loop.create_task(adapter.close())
    loop.settle()
    if not closing.done():
        return [{"close": "did not return"}]
    if not closing.cancelled() and (error := closing.exception()) is not None:
        return [{"close": f"{type(error).__name__}: {error}"}]
    return []


def _task_name(task: Any) -> str:
    return str(getattr(task.get_coro(), "__qualname__", "a task"))
