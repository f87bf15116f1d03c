"""One life of a hosted runtime: its adapter on a loop of its own, and the segments that its verbs make.

Each verb of the adapter runs as a task.  Verbs that overlap make one segment, which ends when one of
them says how; what a verb raises is a refusal or the segment's end in Error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutine
from typing import Any, Final

from runlock.conformance.families.lifecycle.adapter import Refused, RequiredAdapter, Segment
from runlock.conformance.families.lifecycle.host.counts import Counts
from runlock.conformance.families.lifecycle.host.kit_host import KitHost
from runlock.conformance.families.lifecycle.host.verb import CURRENT, Attended, Verb
from runlock.conformance.families.lifecycle.messages import OUTCOMES_BY_GATE, Reason, Scenario
from runlock.conformance.protocol import INTERNAL_ERROR, ProtocolError
from runlock.conformance.transport.exceptions import SLIPS
from runlock.conformance.transport.hosted_life import HostedLife
from runlock.conformance.transport.virtual_loop import raised

REFUSABLE: Final = frozenset({"decide", "input", "recover", "cancel"})


@dataclass(frozen=True, slots=True)
class Announced:
    """The last `run.finished`, and the verbs that were concurrent with it."""

    fields: dict[str, Any]
    concurrent: frozenset[Verb]


class Life(HostedLife[KitHost]):
    """A life with the verbs under way; what is counted for the run at hand outlives it."""

    outcomes = OUTCOMES_BY_GATE

    def __init__(self, adapter: RequiredAdapter, scenario: Scenario, counts: Counts) -> None:
        self.counts = counts
        self.takes_live_decisions = adapter.handshake.decisions.live
        self.verbs: list[Verb] = []
        self._announced: Announced | None = None
        super().__init__(adapter, scenario, lambda loop: KitHost(loop, counts, scenario, self._moved))

    def leaks(self) -> list[dict[str, Any]]:
        """What is still held, but for the tools that ignore their abort: they are the kit's, and end here."""
        left = [body for body in self.host.bodies if body.cancel()]
        if left:
            self.loop.settle()
        return super().leaks()

    @property
    def is_over(self) -> bool:
        return self.counts.status in {None, "Done"}

    def begin(self, verb: Verb, work: Coroutine[Any, Any, Any]) -> None:
        """Start a verb; nothing of it runs before the loop turns."""
        if not iscoroutine(work):
            raise TypeError(f"the adapter's {verb.name} is no coroutine function; write it with `async def`")
        context = copy_context()
        context.run(CURRENT.set, verb)
        verb.task = self.loop.create_task(Attended(work, partial(self._carried_out, verb)), context=context)
        verb.task.add_done_callback(partial(self._ended, verb))
        if verb.name == "cancel":
            self._mark_as_cancelled()
        self.verbs.append(verb)

    def _mark_as_cancelled(self) -> None:
        for verb in self.verbs:
            verb.was_cancelled = True

    def cancel_tasks(self) -> None:
        """Cancel the segment from outside, for a runtime that has no cancel of its own."""
        self._mark_as_cancelled()
        for verb in self.verbs:
            if verb.task is not None:
                verb.task.cancel()

    def bury(self) -> None:
        super().bury()
        self.host.moved = lambda: None  # they know each other, and would live until a collection finds them
        for verb in self.verbs:
            verb.task = None

    def _moved(self) -> None:
        self._announced = None
        verb = CURRENT.get()
        for touched in [verb] if verb in self.verbs else self.verbs:
            if touched is not None:
                touched.touched = True

    def _carried_out(self, verb: Verb, result: Any) -> None:
        """Announce a segment in the very turn in which the runtime ended it: nothing comes between."""
        concurrent = frozenset(self.verbs)
        self.verbs.remove(verb)
        if verb.name == "start" and result is None:
            self._break(verb, result)
        self._returned(verb, result, concurrent)

    def _ended(self, verb: Verb, task: asyncio.Task[Any]) -> None:
        verb.task = None  # they know each other, and would live until a collection finds them
        if verb not in self.verbs or self.host.dead:  # no one hears what became of it
            return
        concurrent = frozenset(self.verbs)
        self.verbs.remove(verb)
        if task.cancelled():
            result = self._given_up(verb)
        else:
            error = raised(task)
            assert error is not None  # what returns has left the verbs already
            result = self._failed(verb, error)
        self._returned(verb, result, concurrent)

    def _given_up(self, verb: Verb) -> Segment | None:
        """What a cancel of its task leaves of a verb."""
        return Segment("Cancelled") if verb.makes_a_segment else None

    def _came_to_nothing(self, verb: Verb, segment: Segment) -> bool:
        """Whether the run was over before a verb that a cancel ended before it did anything."""
        is_cancelled = verb.was_cancelled and segment.to_wire()["reason"]["code"] == "Cancelled"
        is_late = verb.name in REFUSABLE and self.counts.status == "Done"
        return is_cancelled and is_late and not verb.touched

    def _returned(self, verb: Verb, result: Any, concurrent: frozenset[Verb]) -> None:
        if isinstance(result, Segment) and self._came_to_nothing(verb, result):
            self.refuse(verb, "the run is over, and the cancel came first")
        elif isinstance(result, Segment):
            self._announce(verb, result, concurrent)
        elif result is not None:
            self._break(verb, result)

    def _break(self, verb: Verb, result: Any) -> None:
        right = "a Segment" if verb.name == "start" else "a Segment, or None"
        words = f"The adapter's {verb.name} returned {result!r}; it should return {right}."
        self.broken = ProtocolError(INTERNAL_ERROR, words)

    def _failed(self, verb: Verb, error: BaseException) -> Segment | None:
        if isinstance(error, Refused) or (verb.name in REFUSABLE and not verb.touched):
            if verb.undo is not None:
                verb.undo()
            if isinstance(error, SLIPS):
                self.host.show_exception(verb.name, error)
            named = error.decisions if isinstance(error, Refused) else ()
            self.refuse(verb, str(error) or type(error).__name__, named)
            return None
        self.host.show_exception(verb.name, error)
        if verb.makes_a_segment:
            return Segment(Reason(code="Error", detail=f"{type(error).__name__}: {error}"))
        return None

    def _announce(self, verb: Verb, segment: Segment, concurrent: frozenset[Verb]) -> None:
        fields = segment.to_wire()
        last = self._announced
        if last is not None and last.fields == fields and verb in last.concurrent:
            return
        if self.counts.run == verb.run:
            self.counts.ended(fields["pending"], fields["reason"]["code"])
        self.host.append("run.finished", {"run": verb.run, **fields})
        self._announced = Announced(fields, concurrent)

    def refuse(self, verb: Verb, why: str, named: Sequence[str] = ()) -> None:
        """Say that a verb was turned down, for each of its decisions."""
        if not verb.decisions and not named:
            self.host.turn_down(verb.stimulus, why)
        for decision in dict.fromkeys((*named, *verb.decisions)):
            words = why if decision in named or not named else f"turned down together with {', '.join(named)}"
            self.host.turn_down(verb.stimulus, words, decision=decision)
