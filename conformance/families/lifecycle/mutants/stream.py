"""Wrong events: to the wrong watcher, to too many, too late, or at the cost of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.mutants.mutant import fault_in
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.sink import EventSink
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.machines.lifecycle.runtime.world import WorldFault

sunk = fault_in("sink")
"""Declares a mutant whose sink is wrong."""


@sunk("STREAM-1", "went to nobody, while watcher", also=("STREAM-4", "STREAM-5", "STREAM-9"))
class SendsEndsOfCallsToNobody(EventSink):
    """That a call is over goes to no one, though someone watches."""

    def publish(self, name: str, data: Mapping[str, Any]) -> None:
        watcher = self.watcher
        if name == "call.finished" and self.state == "Connected":
            self.watcher = None
        super().publish(name, data)
        self.watcher = watcher


@fault("STREAM-2", "the stream was cut, and thereupon")
class CutsTheRunWithTheStream(Runtime):
    """A run ends when the stream of its watcher does."""

    def unwatch(self) -> None:
        super().unwatch()
        for task in list(self._waiting):
            self.cancelling = True
            task.cancel()


@fault("STREAM-3", "nothing broke but that nobody received its events", also=("PHASE-90",))
class FailsWithoutAWatcher(Runtime):
    """An event that cannot be sent breaks the run."""

    def publish(self, name: str, **data: Any) -> None:
        super().publish(name, **data)
        if name == "call.finished" and self.sink.state == "Dropped" and not self.ending:
            raise WorldFault("the channel is closed")


@sunk("STREAM-4", "went to nobody, while watcher", also=("STREAM-1", "STREAM-9"))
class StaysWithTheDroppedChannel(EventSink):
    """A watcher who comes back to a run that waits is not connected."""

    def connect(self, watcher: str, stream: str) -> None:
        was, left = self.state, self.watcher
        super().connect(watcher, stream)
        if was == "Dropped":
            self.watcher = left


@sunk("STREAM-5", "while watcher", also=("STREAM-9",))
class LetsNobodyTakeThePlace(EventSink):
    """The watcher that came first goes on receiving the events after someone else has come."""

    def connect(self, watcher: str, stream: str) -> None:
        was, left = self.state, self.watcher
        super().connect(watcher, stream)
        if was == "Connected" and left is not None:
            self.watcher = left


@fault("STREAM-6", "closed before it told how the run ended", also=("STREAM-20",))
class ClosesBeforeTheEnd(Runtime):
    """The stream closes before it has told how the run ended."""

    def _announce(self, reason: Reason, pending: Sequence[str]) -> None:
        if self.state.status == "Done" and self.sink.watcher is not None:
            self.observe("stream.closed", watcher=self.sink.watcher)
        super()._announce(reason, pending)


@sunk("STREAM-6", "and its stream was not closed")
class LeavesTheStreamOpen(EventSink):
    """The stream of a run that is over is not closed."""

    def end_segment(self, final: bool) -> None:
        if final:
            self._move("finish")
            self.watcher = None
        else:
            super().end_segment(final)


@fault("STREAM-7", "nobody watches the run, and it neither goes on")
class WaitsForAWatcher(Runtime):
    """A run that no one watches any more does not begin its next step."""

    async def _step(self) -> None:
        if self.sink.state == "Dropped":
            await self.world_without_end()
        await super()._step()

    async def world_without_end(self) -> None:
        """Nothing ever comes of this but a cancel."""
        await self.outside(asyncio.Event().wait())


CHANGE_TURNS = 6
"""How long a change of watchers takes, in turns of the loop."""


@sunk("STREAM-8", "and again to", also=("STREAM-5", "STREAM-9"))
class SendsToBothWhileTheyChange(EventSink):
    """The first event after a change of watchers goes to both."""

    former: str | None = None

    def connect(self, watcher: str, stream: str) -> None:
        self.former = self.watcher
        super().connect(watcher, stream)
        self._let_go_in(CHANGE_TURNS)

    def _let_go_in(self, turns: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._let_go_in, turns - 1)
        else:
            self.former = None

    def publish(self, name: str, data: Mapping[str, Any]) -> None:
        super().publish(name, data)
        if self.former is not None and self.watcher is not None:
            self.published -= 1
            watcher, self.watcher, self.former = self.watcher, self.former, None
            super().publish(name, data)
            self.watcher = watcher


@fault("STREAM-9", "while watcher")
class ConnectsAfterTheDecision(Runtime):
    """A watcher is connected a moment after it came, and its decision does not wait for that."""

    def watch(self, watcher: str, stream: str) -> None:
        asyncio.get_running_loop().call_soon(super().watch, watcher, stream)


@fault("STREAM-10", "nobody decided, yet it published")
class TicksWhileItWaits(Runtime):
    """Publishes when a watcher comes to a waiting run."""

    def watch(self, watcher: str, stream: str) -> None:
        super().watch(watcher, stream)
        if self.state.status == "Waiting":
            self.publish("still.waiting")


@fault("STREAM-12", "whoever watches was not told")
class SuspendsInSilence(Runtime):
    """Watchers are not told that the segment suspends."""

    def _announce(self, reason: Reason, pending: Sequence[str]) -> None:
        if reason.code != "Suspended":
            super()._announce(reason, pending)


@sunk("STREAM-13", "says finishReason 'stop'")
class FinishesASuspensionAsStop(EventSink):
    """On a stream of AI SDK v6 a suspension looks like an end."""

    def publish(self, name: str, data: Mapping[str, Any]) -> None:
        if name == "run.finished" and self.stream == "ai-sdk-v6":
            data = {**data, "reason": {"code": "NaturalEnd"}}
        super().publish(name, data)


@sunk("STREAM-14", "says outcome 'success'")
class FinishesAnInterruptAsSuccess(EventSink):
    """On a stream of AG-UI a suspension looks like a success."""

    def publish(self, name: str, data: Mapping[str, Any]) -> None:
        if name == "run.finished" and self.stream == "ag-ui":
            data = {**data, "reason": {"code": "NaturalEnd"}}
        super().publish(name, data)


@sunk("STREAM-15", "and no part of the page waits", also=("WIRE-64",))
class RendersNoPartThatWaits(EventSink):
    """On a stream of CopilotKit a suspension is no part of the page."""

    def publish(self, name: str, data: Mapping[str, Any]) -> None:
        super().publish("call.held" if name == "call.pending" else name, data)


@fault("STREAM-16", "was not told")
class EndsResumedSegmentsInSilence(Runtime):
    """The end of a segment that another request resumed is not reported."""

    resumed = False

    async def decide(self, decisions: Sequence[Decision]) -> Segment | None:
        self.resumed = True
        return await super().decide(decisions)

    def _announce(self, reason: Reason, pending: Sequence[str]) -> None:
        if not self.resumed or self.state.status != "Done":
            super()._announce(reason, pending)


@fault("STREAM-17", "nobody was told of it")
class KeepsActivityBack(Runtime):
    """The progress of a tool is published only when the tool has ended."""

    def _tells(self, call: Call, content: Any) -> None:
        return


@fault("STREAM-20", "event goodbye came late")
class GoesOnAfterTheEnd(Runtime):
    """Publishes once more when the streams of a run are closed."""

    def _announce(self, reason: Reason, pending: Sequence[str]) -> None:
        watcher = self.sink.watcher
        super()._announce(reason, pending)
        if self.state.status == "Done" and watcher is not None:
            self.observe("event", stream="native", name="goodbye", data={}, watcher=None)
