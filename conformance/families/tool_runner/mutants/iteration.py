"""Iteration faults: yields, tool starts and requests occur twice, too early, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, Message, calls_of
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Item, Runner
from runlock.machines.tool_runner.runtime.world import ModelTurn

FINISH: dict[str, Any] = {"runner.finish": "state"}


@fault("RUNNER-1", "was yielded a second time")
class YieldsATurnTwice(Runner):
    """Each turn with calls is yielded twice."""

    async def walk(self) -> AsyncGenerator[Item, None]:
        async with aclosing(super().walk()) as walk:
            async for item in walk:
                yield item
                if item.message is not None and item.message.get("tool_calls"):
                    yield item


@fault("RUNNER-1", "was never yielded")
class KeepsTheLastTurnToItself(Runner):
    """A final turn is not yielded."""

    async def walk(self) -> AsyncGenerator[Item, None]:
        async with aclosing(super().walk()) as walk:
            async for item in walk:
                if item.message is None or not self.is_final():
                    yield item


@fault("RUNNER-2", "was yielded as")
class YieldsWithoutCalls(Runner):
    """A turn is yielded without its calls."""

    async def next_item(self) -> Item:
        item = await super().next_item()
        if item.message is None:
            return item
        return Item({key: value for key, value in item.message.items() if key != "tool_calls"})


@fault("RUNNER-3", "was entered while", also=("STREAM-4",))
class StartsToolsBeforeTheYield(Runner):
    """Calls start when the turn arrives, before it is yielded."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        if self.asks_for_tools():
            for call in calls_of(self.iteration.turn or {}):
                self._start_early(call)


@fault(
    "RUNNER-39",
    "was sent while the",
    also=(
        "RUNNER-9",
        "STOP-1",
    ),
)
class AsksAhead(Runner):
    """The next request is sent while the user still has the turn."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        self.ahead = asyncio.ensure_future(self._ask_ahead(self.iteration.turn or {}))

    async def _ask_ahead(self, turn: Message) -> None:
        for _ in range(20):  # until the yield is open
            await asyncio.sleep(0)
        messages = [*self.state.messages, turn]
        await self.world.infer(messages, len(messages), {}, self.state.tools.names())


@fault(
    "RUNNER-40",
    "entered the state while the turn was with the user",
    also=(
        "RUN-11",
        "RUNNER-10",
        "RUNNER-13",
        "RUNNER-31",
    ),
)
class AppendsBeforeTheYield(Runner):
    """The turn is put into the state before it is yielded."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        self.append_turn()

    def place_turn(self) -> None:
        at = self.iteration.place_of_turn(self.state.messages)
        if at is not None and self.is_changed() and not self.iteration.is_pushed:
            del self.state.messages[at]
        super().place_turn()


@fault("RUNNER-4", "was entered after the user left the loop")
class RunsToolsAfterABreak(Runner):
    """The calls of the turn run although the user has left the loop."""

    async def leave(self) -> None:
        await super().leave()
        if self.iteration.turn is not None and self.asks_for_tools():
            self.rest = asyncio.ensure_future(self.run_round(calls_of(self.iteration.turn)))


@fault("RUNNER-4", "user left the loop")
class AsksAfterABreak(Runner):
    """The next request is sent although the user has left the loop."""

    async def leave(self) -> None:
        await super().leave()
        messages = self.state.messages
        self.rest = asyncio.ensure_future(
            self.world.infer(messages, len(messages), {}, self.state.tools.names())
        )


@fault("RUNNER-5", "did not run before the", also=("RUNNER-13",))
class LeavesOutTheLastCall(Runner):
    """The last of several calls gets an error and does not run."""

    async def run_call(self, call: Call, the_round: Round) -> None:
        if len(the_round.calls) > 1 and call == the_round.calls[-1]:
            the_round.fail(call, "left out")
        else:
            await super().run_call(call, the_round)


@fault("RUNNER-41", "asks for tools: the next request follows, yet the run ended")
class GivesUpWhenEveryToolFailed(Runner):
    """The run ends when every call of a round failed."""

    async def handle(self, turn: Message, calls: Sequence[Call]) -> None:
        await super().handle(turn, calls)
        ids = {call["id"] for call in calls}
        results = [one for one in self.state.messages if one.get("call") in ids]
        if self.at == "Settled" and results and all(one["status"] == "error" for one in results):
            self.at = "Finished"


@fault("RUNNER-6", "final and the user changed nothing, yet", also=("RUNNER-24",))
class GoesOnAfterAFinalTurn(Runner):
    """Another request is sent after a final turn."""

    def ends_with_turn(self) -> bool:
        return self.is_changed() and super().ends_with_turn()


@fault(
    "RUNNER-7", "final and the user pushed messages: the state is sent, yet the run ended", policies=FINISH
)
class EndsInSpiteOfAChange(Runner):
    """Messages pushed on a final turn are not sent, though the runner declares that it sends them."""

    def ends_with_turn(self) -> bool:
        return self.is_final()


@fault(
    "RUNNER-7",
    "final and the user pushed messages: the run ends, yet a request was sent",
    policies={"runner.finish": "received"},
)
class GoesOnBecauseOfAChange(Runner):
    """Messages pushed on a final turn are sent, though the runner declares that the run ends."""

    def ends_with_turn(self) -> bool:
        return self.is_final() and not self.is_changed()


@fault("RUNNER-23", "nothing changed", also=("STOP-1",))
class AsksTwice(Runner):
    """Each request is sent twice; the second answer is used."""

    async def _ask(self) -> None:
        if not self.stream:
            messages = self.to_send()
            await self.world.infer(
                messages, self.number_sent(messages), dict(self.state.params), self.state.tools.names()
            )
        await super()._ask()


@fault("RUNNER-25", "met a fault of the model")
class TriesAgainByItself(Runner):
    """A failed request is resent without the user."""

    async def _ask(self) -> None:
        try:
            await super()._ask()
        except Exception:
            if self.stream:
                raise
            await super()._ask()


@fault("RUNNER-16", "user pushed the turn and its response, and the run ended without a", also=("RUNNER-13",))
class EndsWhenTheUserDidTheWork(Runner):
    """The run ends when the user pushed the turn and its response."""

    def answer_what_is_left(self) -> None:
        super().answer_what_is_left()
        turn = self.iteration.turn
        if self.is_changed() and turn is not None and self.asks_for_tools():
            self.is_over = self.place_of(turn) is not None and self.to_handle(turn) == []

    def goes_on(self) -> bool:
        if getattr(self, "is_over", False):
            self.at = "Finished"
        return super().goes_on()


@fault("PROGRESS-1", "not Done, and waits for nothing that the kit could give")
class HangsAfterTwoTools(Runner):
    """The runner hangs after a round of several calls."""

    def in_order(self, the_round: Round) -> list[Message]:
        self.is_stuck = len(the_round.calls) > 1
        return super().in_order(the_round)

    async def handle(self, turn: Message, calls: Sequence[Call]) -> None:
        await super().handle(turn, calls)
        if getattr(self, "is_stuck", False):
            await asyncio.get_running_loop().create_future()
