"""Faults of streams: pieces are lost, calls start too early, an unread stream blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, Message, call_of
from runlock.machines.tool_runner.runtime.requests import Requests
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import ModelTurn


@fault("STREAM-1", "the turn did not reach the user")
class LosesAPiece(Runner):
    """The second piece of a stream is lost."""

    def begin_iteration(self) -> None:
        self.came = 0
        super().begin_iteration()

    def take_piece(self, piece: Any) -> None:
        self.came += 1
        if self.came != 2:
            super().take_piece(piece)


@fault("STREAM-1", "was shown, but the model gave")
class RepeatsAPiece(Runner):
    """Each piece of a stream is delivered twice."""

    def take_piece(self, piece: Any) -> None:
        super().take_piece(piece)
        self.iteration.pieces.put(piece)


@fault("STREAM-2", "stated", also=("RUN-7",))
class PutsTheTurnTogether(Runner):
    """The text of a streamed turn is assembled from its pieces instead of taken from the whole turn."""

    def begin_iteration(self) -> None:
        self.said = ""
        super().begin_iteration()

    def take_piece(self, piece: Any) -> None:
        super().take_piece(piece)
        self.said += piece.text or ""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        if self.stream and self.said and self.iteration.turn is not None:
            self.iteration.turn = self.last_turn = {**self.iteration.turn, "text": self.said}


@fault("STREAM-3", "whole and not read, and the run stands still")
class WaitsForAReader(Runner):
    """A stream that is not read blocks the runner."""

    async def wait_for_turn(self) -> None:
        await super().wait_for_turn()
        if self.stream and self.iteration.pieces.is_unread():
            await asyncio.get_running_loop().create_future()


@fault("STREAM-4", "started from the stream, before its turn was resumed")
class StartsFromTheStream(Runner):
    """A call starts when its piece arrives, though the runner declares that it starts after the resume."""

    def take_piece(self, piece: Any) -> None:
        super().take_piece(piece)
        if piece.tool_call is not None:
            self._start_early(call_of(piece.tool_call))


@fault(
    "STREAM-5",
    "before a piece with it was complete",
    profile="tool-runner-core",
    policies={"tools.start": "streaming"},
)
class StartsOtherArguments(Runner):
    """A call that starts from the stream runs without its arguments."""

    def enter(self, call: Call, version: int) -> asyncio.Task[Any]:
        return super().enter({**call, "args": {}} if self.at == "Streaming" else call, version)


@fault("STREAM-7", "was not given up")
class LetsTheStreamRunOn(Runner):
    """The request of a stream that the user left is not cancelled."""

    async def give_up_request(self) -> Exception | None:
        if self.request is None or self.request.done():
            return await Requests.give_up_request(self)
        return None


@fault(
    "ROUND-4",
    "calls run one after the other",
    policies={"round.executor": "sequential", "tools.start": "streaming"},
)
class StartsEachCallFromTheStream(Runner):
    """Each call starts when its piece comes, though the runner declares that calls run one by one."""

    def _start_early(self, call: Call) -> None:
        version = self.version_of(call["name"])
        if version is not None and call["id"] not in self.iteration.entered:
            self.iteration.early[call["id"]] = self.enter(call, version)


@fault("RUNNER-34", "which is not in the set", policies={"tools.start": "streaming"})
class StartsAnUnknownToolFromTheStream(Runner):
    """A call of a tool that is not in the set starts when its piece comes."""

    def _start_early(self, call: Call) -> None:
        if self.version_of(call["name"]) is None:
            self.iteration.early[call["id"]] = self.enter(call, 1)
        else:
            super()._start_early(call)
