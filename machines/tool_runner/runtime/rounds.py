"""Runs the calls of one turn, one by one or together; each gets a result independently of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from runlock.machines.tool_runner.runtime.history import Call, Message, call_of, result_message
from runlock.machines.tool_runner.runtime.requests import Requests
from runlock.machines.tool_runner.runtime.world import Answer, Piece, ToolRaised, WorldFault


@dataclass
class Round:
    """The calls of a round and their results, in the order in which they finished."""

    calls: Sequence[Call]
    began_cancelled: bool  # the cancel came before the round
    results: dict[str, Message] = field(default_factory=dict)
    broken: Exception | None = None  # what ends the run
    given_up: bool = False  # a call was aborted, or not entered, because of a cancel

    def fail(self, call: Call, why: object) -> None:
        """Give a call an error result."""
        self.results[call["id"]] = result_message(call, "error", str(why))


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Rounds(Requests):
    """Runs calls."""

    def take_piece(self, piece: Piece) -> None:
        """Receive a piece of the turn; under `streaming` a complete call starts."""
        super().take_piece(piece)
        if piece.tool_call is not None and self.says("tools.start", "streaming"):
            self._start_early(call_of(piece.tool_call))

    def _start_early(self, call: Call) -> None:
        iteration, version = self.iteration, self.version_of(call["name"])
        waits_for_others = self.says("round.executor", "sequential") and bool(iteration.entered)
        if version is not None and not waits_for_others and call["id"] not in iteration.entered:
            iteration.early[call["id"]] = self.enter(call, version)

    async def run_round(self, calls: Sequence[Call]) -> Round:
        """Run calls, and return their results."""
        the_round = Round(calls, self.is_cancelled)
        if self.says("round.executor", "parallel"):
            await self._together(the_round)
        else:
            await self._one_by_one(the_round)
        for call in calls:
            if call["id"] not in the_round.results:
                the_round.fail(call, "the round broke off before this call")
        return the_round

    async def _together(self, the_round: Round) -> None:
        await asyncio.gather(*(self.run_call(call, the_round) for call in the_round.calls))

    async def _one_by_one(self, the_round: Round) -> None:
        for call in the_round.calls:
            await self.run_call(call, the_round)
            if the_round.broken is not None:
                return

    async def run_call(self, call: Call, the_round: Round) -> None:
        """Run one call, and store its result in the round."""
        version = self.version_of(call["name"])
        early = self.iteration.early.pop(call["id"], None)
        if version is None and early is None:
            the_round.fail(call, f"there is no tool {call['name']}")
        elif early is None and not self.may_enter(call, the_round):
            the_round.given_up = True
            the_round.fail(call, "cancelled")
        else:
            await self._settle(call, the_round, early or self.enter(call, version or 1))

    def may_enter(self, call: Call, the_round: Round) -> bool:
        """Whether a body may be entered: after a cancel only for calls of a turn that the user had."""
        if not self.is_cancelled:
            return True
        return the_round.began_cancelled and call["id"] not in self.iteration.entered

    def enter(self, call: Call, version: int) -> asyncio.Task[Answer]:
        """Enter the body of a tool."""
        self.iteration.entered.add(call["id"])
        body = asyncio.ensure_future(self._execute(call, version))
        self.running[body] = None
        body.add_done_callback(self._left)
        return body

    def _left(self, body: asyncio.Task[Answer]) -> None:
        self.running.pop(body, None)
        if not body.cancelled():
            body.exception()  # the result of a call that started early may be unused

    async def _execute(self, call: Call, version: int) -> Answer:
        return await self.world.execute(call["id"], call["name"], call["args"], version)

    async def _settle(self, call: Call, the_round: Round, body: asyncio.Task[Answer]) -> None:
        try:
            answer = await body
            the_round.results[call["id"]] = self.result(call, answer)
        except ToolRaised as raised:
            self.raised(call, the_round, raised)
        except WorldFault as fault:
            the_round.fail(call, fault)
            the_round.broken = fault
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            the_round.given_up = True
            the_round.fail(call, "cancelled")

    def raised(self, call: Call, the_round: Round, raised: ToolRaised) -> None:
        """Handle an exception of a tool's body."""
        the_round.fail(call, raised)
        if self.says("tool.raises", "end_run"):
            the_round.broken = raised

    def result(self, call: Call, answer: Answer) -> Message:
        """The result of a call, from what its tool answered."""
        return result_message(call, "ok" if answer.kind == "ok" else "error", answer.content)

    def in_order(self, the_round: Round) -> list[Message]:
        """The results of a round, in the declared order."""
        if self.says("results.order", "finish"):
            return list(the_round.results.values())
        return [the_round.results[call["id"]] for call in the_round.calls]
