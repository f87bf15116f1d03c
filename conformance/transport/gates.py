"""The kit's side of a hosted adapter: whatever a runtime awaits of the outside world becomes a gate.

A gate opens when the runtime begins to wait, and ends in `release` by the kit or in `gate.closed` by the
runtime, never in both.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, ClassVar

from runlock.conformance.protocol import Fault, Wire
from runlock.conformance.transport.exceptions import EXCEPTION, exception_fields
from runlock.conformance.transport.world import WorldFault


class Gate:
    """One await of the outside world; it may pass on several pieces before its last outcome."""

    __slots__ = ("activity", "answers", "counts", "id", "loop", "on", "shown", "waiter")

    def __init__(self, shown: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        self.id: str = shown["gate"]
        self.on: str = shown["on"]
        self.shown = shown
        self.loop = loop
        self.answers: deque[Wire] = deque()
        self.waiter: asyncio.Future[None] | None = None
        self.activity: Callable[[Any], None] | None = None  # receives what a tool tells while it is at work
        self.counts: Any = None  # of the run that opened it, for a host of several runs

    @property
    def is_cancelled(self) -> bool:
        """Whether the await was cancelled, though the runtime has not run since."""
        return self.waiter is not None and self.waiter.cancelled()

    def give(self, answer: Wire) -> None:
        """Pass an answer to the runtime."""
        self.answers.append(answer)
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    async def take(self, fault: type[WorldFault]) -> Any:
        """Wait for the next answer; one that is a fault is raised as this one."""
        while not self.answers:
            self.waiter = self.loop.create_future()
            await self.waiter
        answer = self.answers.popleft()
        if isinstance(answer, Fault):
            raise fault(answer.message)
        return answer


class GateHost:
    """The host of one life of a runtime.  Once that life is over it reports nothing more.

    A family adds the awaits of its own interface, the place that each of its gates shows (`_place`), and
    what it counts when a gate is released (`_passed`).
    """

    waits: ClassVar[str] = "the runtime"
    run: str | None = None
    """The run at hand, by the kit's name."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.log: list[dict[str, Any]] = []
        self.refused: list[dict[str, Any]] = []
        self.open_gates: dict[str, Gate] = {}
        self.dead = False
        self._loop = loop
        self._numbers: Iterator[int] = count(1)

    # What the kit does.

    def release(self, gate: Gate, answer: Any) -> None:
        """Let the runtime pass; too late, and so nothing, if it has given the gate up."""
        if gate.id not in self.open_gates:
            return
        if answer.kind == "activity":
            if gate.activity is not None:
                self._loop.call_soon(gate.activity, answer.content)
        elif answer.kind == "delta":  # a piece, after which the gate stays open
            gate.give(answer)
        else:
            self._shut(gate)
            gate.give(self._passed(gate, answer))

    def give_up(self, gate: Gate) -> None:
        """The runtime no longer waits at a gate: it closes, unless it was released."""
        if gate.id in self.open_gates:
            self._shut(gate)
            self._show("gate.closed", {"gate": gate.id, "because": f"{self.waits} stopped waiting for it"})

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Note an observation, for the run at hand if it names none."""
        if not self.dead:
            self.log.append({"kind": kind, "run": self.run, **fields})

    def show_exception(self, verb: str, error: BaseException) -> None:
        """Note an exception, unless the outside world raised it."""
        fields = exception_fields(verb, error)
        if fields is not None:
            self.append(EXCEPTION, fields)

    def turn_down(self, stimulus: int, why: str, **part: str) -> None:
        """Note that a stimulus, or a part of it, was refused; its number is its place in its `deliver`."""
        self.refused.append({"stimulus": stimulus, **part, "why": why})

    def drain(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The observations and the refusals since the last time."""
        drained = [*self.log], [*self.refused]
        self.log.clear()
        self.refused.clear()
        return drained

    # What the awaits of a family are made of.

    async def _pass(
        self,
        on: str,
        fields: dict[str, Any],
        fault: type[WorldFault],
        at: Any = None,
        activity: Callable[[Any], None] | None = None,
        piece: Callable[[Any], None] | None = None,
    ) -> Any:
        """Wait at a gate for its outcome; `piece` is given each piece of it that comes before."""
        gate = self.open(on, fields, at)
        gate.activity = activity
        try:
            while (answer := await gate.take(fault)).kind == "delta":
                if piece is not None:
                    piece(answer)
            return answer
        finally:
            self.give_up(gate)

    def open(self, on: str, fields: dict[str, Any], at: Any = None) -> Gate:
        """Open a gate: the runtime begins to wait."""
        if self.dead:
            raise asyncio.CancelledError("this life of the runtime is over")
        number = next(self._numbers)
        shown = {"gate": f"g{number}", "on": on, **self._place(on, fields, at), **fields}
        gate = Gate(shown, self._loop)
        self.open_gates[gate.id] = gate
        self._show("gate.open", shown)
        return gate

    def _place(self, on: str, fields: Mapping[str, Any], at: Any) -> dict[str, Any]:
        """Where in the run a gate is; `at` is what the runtime itself says of it."""
        raise NotImplementedError

    def _shut(self, gate: Gate) -> None:
        del self.open_gates[gate.id]

    def _passed(self, gate: Gate, answer: Any) -> Any:
        """The last outcome of a gate as the runtime gets it; notes at once what it changes."""
        return answer

    def _show(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Note what the runtime did."""
        self.append(kind, fields)
