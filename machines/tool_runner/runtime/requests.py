"""The requests of a runner: their content, and receiving the turn, whole or in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from runlock.machines.tool_runner.runtime.core import CancelledRun, RunnerCore
from runlock.machines.tool_runner.runtime.history import Message, stop_of, turn_message
from runlock.machines.tool_runner.runtime.pieces import Pieces
from runlock.machines.tool_runner.runtime.record import Iteration
from runlock.machines.tool_runner.runtime.world import ModelTurn, WorldFault


class Requests(RunnerCore):
    """Sends requests to the model."""

    def begin_iteration(self) -> None:
        """Begin a new iteration, and send the state."""
        self.move("request")
        self.iteration = Iteration(len(self.state.messages), self.state.tools.at_request())
        self.count("requests")
        self.request = asyncio.ensure_future(self._ask())
        self.request.add_done_callback(partial(self._end_stream, self.iteration.pieces))

    def _end_stream(self, pieces: Pieces, request: asyncio.Future[None]) -> None:
        """End the stream of a request; one that is cancelled before it begins has nothing else to do so."""
        if request.cancelled():
            pieces.close(CancelledRun("the run was cancelled") if self.is_cancelled else None)
        else:
            fault = request.exception()
            pieces.close(fault if isinstance(fault, WorldFault) else None)

    def count(self, what: str) -> None:
        """Count a request or a turn, if the limit counts it."""
        self.counted += self.says("limit.counts", what)

    def to_send(self) -> list[Message]:
        """The messages of a request."""
        return list(self.state.messages)

    def number_sent(self, messages: Sequence[Message]) -> int:
        """How many messages, counted from the end, the request carries."""
        held = self.held_by_server
        if self.says("runner.history", "whole") or held is None or messages[: len(held)] != held:
            return len(messages)
        return len(messages) - len(held) or len(messages)

    def named_tools(self) -> list[str] | None:
        """The tools that a request names; None if it names none."""
        return self.state.tools.names()

    async def _ask(self) -> None:
        messages = self.to_send()
        turn = await self.world.infer(
            messages,
            self.number_sent(messages),
            dict(self.state.params),
            self.named_tools(),
            self.take_piece if self.stream else None,
        )
        self.receive(turn, messages)

    def take_piece(self, piece: Any) -> None:
        """Receive a piece of the turn."""
        self.iteration.pieces.put(piece)

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        """Receive the whole turn."""
        self.move("whole" if self.at == "Streaming" else "answer")
        self.iteration.turn = self.last_turn = turn_message(turn)
        self.iteration.stop = stop_of(turn)
        self.held_by_server = [*messages, self.last_turn]
        self.count("turns")
        if self.places_on_receipt:
            self.put(self.iteration.mark, [self.last_turn])

    async def wait_for_turn(self) -> None:
        """Wait for the whole turn; a fault of the model or a cancel ends the run."""
        assert self.request is not None
        try:
            await self.request
        except (WorldFault, asyncio.CancelledError) as error:
            if self.is_cancelled:
                raise CancelledRun from None
            if isinstance(error, WorldFault):
                self.move("fault")
            raise

    async def give_up_request(self) -> Exception | None:
        """Cancel an open request; returns the fault of one that has ended."""
        if self.request is None:
            return None
        if not self.request.done():
            self.request.cancel()
            await asyncio.wait([self.request])
        fault = None if self.request.cancelled() else self.request.exception()
        return fault if isinstance(fault, WorldFault) else None
