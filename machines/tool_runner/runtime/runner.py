"""The reference tool runner: a loop over which its user iterates, and whose state its user can change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runlock.machines.tool_runner.runtime.core import WITH_THE_USER, CancelledRun, TurnedDown
from runlock.machines.tool_runner.runtime.history import Call, Message, calls_of, plain, result_message
from runlock.machines.tool_runner.runtime.pieces import Pieces
from runlock.machines.tool_runner.runtime.responses import Responses

__all__ = ["Item", "Runner", "TurnedDown"]


@dataclass(frozen=True)
class Item:
    """The yielded item: the turn, or the pieces of a turn that is still streaming."""

    message: Message | None
    pieces: Pieces | None = None


class Runner(Responses):
    """A runner.  `run` starts it, `again` continues it; the user calls the other methods at a yield."""

    # -- the iteration

    def run(self, input: str) -> AsyncIterator[Item]:
        """Start with one user message."""
        self.state.messages.append(plain({"role": "user", "text": input}))
        return self.walk()

    def again(self) -> AsyncIterator[Item]:
        """Continue the runner after a break or a fault."""
        if self.is_cancelled:
            raise TurnedDown("the runner was cancelled")
        if self.at == "Left" and self.says("again.break", "goes_on") and self.iteration.turn is not None:
            self.salvage_response()
            self.move("go_back")
        elif self.at == "Broken" and self.says("again.fault", "retries"):
            self.move("retry")
        else:
            if self.at in ("Left", "Broken"):
                self.move("close")
            raise TurnedDown("the runner is over")
        return self.walk()

    async def walk(self) -> AsyncGenerator[Item, None]:
        """Yield turn after turn, and handle each after its yield."""
        self.report_status("Running")
        try:
            if self.at == "Resumed":
                await self.after_resume()
            while self.goes_on():
                item = await self.next_item()
                try:
                    yield item
                except GeneratorExit:
                    await self.leave()
                    raise
                await self.resume()
                await self.after_resume()
        except CancelledRun:
            self.end("cancel", "Cancelled")
        finally:
            self.stop_early_calls()
            self.report_status("Done")

    def report_status(self, status: str) -> None:
        """Report what the run is now."""
        self.world.status(status)

    def goes_on(self) -> bool:
        """Whether another request is to be sent; if not, the run has ended."""
        if self.at != "Settled":
            return False
        if self.is_cancelled:
            raise CancelledRun
        if self.is_spent():
            self.end("limit", "Stopped")
        return self.at == "Settled"

    def end(self, event: str, reason: str, *facts: str) -> None:
        """End the run."""
        self.reason = reason
        self.move(event, *facts)

    async def next_item(self) -> Item:
        """Send a request; a stream is yielded at once, a turn when it is complete."""
        self.begin_iteration()
        if self.stream:
            await asyncio.sleep(0)  # the request is under way
            self.move("open" if self.at == "Asked" else "hand_over")
            return Item(self.iteration.turn, self.iteration.pieces)
        await self.wait_for_turn()
        self.move("hand_over")
        return Item(self.iteration.turn)

    async def leave(self) -> None:
        """Handle a user who leaves the loop, possibly because the stream broke."""
        fault = await self.give_up_request()
        if self.is_cancelled:
            self.end("cancel", "Cancelled")
        else:
            self.move("leave" if fault is None else "fault")

    async def resume(self) -> None:
        """Handle a resume; what follows needs the whole turn."""
        await self.wait_for_turn()
        self.move("resume")

    # -- after the resume

    async def after_resume(self) -> None:
        """Put the turn into the state, and handle calls, end, or go on."""
        self.fail_if_broken()
        self.drop_if_state_differs()
        self.place_turn()
        if self.is_cancelled and self.says("cancel.handed_over", "not_run"):
            raise CancelledRun
        turn = self.target()
        calls = self.to_handle(turn) if turn is not None else []
        if self.ends_with_turn():
            self.finish()
        elif turn is not None and calls:
            await self.handle(turn, calls)
        else:
            self.answer_what_is_left()
            self.move("go_on", *self.facts())
        self.stop_early_calls()

    def facts(self) -> list[str]:
        """The facts of the iteration, as its chart names them."""
        facts = {"changed": self.is_changed(), "paused": self.is_paused(), "dropped": self.drops_results()}
        return [fact for fact, holds in facts.items() if holds]

    def fail_if_broken(self) -> None:
        """End the run if a tool broke while a response was made."""
        if self.iteration.broken is None:
            return
        if self.places_on_receipt:
            self.answer_what_is_left()
        self.move("fault")
        raise self.iteration.broken

    def place_turn(self) -> None:
        """Put the turn into the state, or leave it out."""
        if self.places_on_receipt:
            self.move("placed")
        elif self.is_changed():
            if self.is_paused() and self.says("pause.changed", "kept"):
                self.append_turn()
            self.move("keep", *self.facts())
        else:
            if not self.is_final() or self.keeps_final_turn():
                self.append_turn()
            self.move("append")

    def append_turn(self) -> None:
        """Insert the turn after the messages of its request, unless it is already there."""
        turn = self.iteration.turn
        if turn is not None and self.iteration.place_of_turn(self.state.messages) is None:
            self.put(self.iteration.mark, [turn])
            self.iteration.is_placed = True

    def finish(self) -> None:
        """End the run after a final turn."""
        if self.is_cancelled:
            raise CancelledRun
        at = self.iteration.place_of_turn(self.state.messages)
        if self.places_on_receipt and not self.keeps_final_turn() and at is not None:
            del self.state.messages[at]
        self.end("finish", "NaturalEnd", *self.facts())

    async def handle(self, turn: Message, calls: Sequence[Call]) -> None:
        """Give each call its result."""
        if self.is_spent() and self.says("stop.tools", "preempted"):
            self.end("limit", "Stopped")
            return
        self.move("handle", *self.facts())
        broken = await self.answer_calls(turn, calls)
        if broken is not None:
            self.move("fault")
            raise broken
        self.move("results", *self.facts())

    async def answer_calls(self, turn: Message, calls: Sequence[Call]) -> Exception | None:
        """Put the results of calls into the state; returns the fault that ends the run, if any."""
        results, broken = self.kept_results(turn, calls), None
        if results is None:
            the_round = await self.run_round(calls)
            results, broken = self.in_order(the_round), the_round.broken
        if not self.drops_results():
            self.put_results(turn, results)
        return broken

    def drops_results(self) -> bool:
        """Whether the results of this iteration are dropped."""
        return self.is_changed() and not self.places_on_receipt and self.says("runner.results", "dropped")

    def answer_what_is_left(self) -> None:
        """Give error results to a turn that was appended on receipt and whose calls do not run."""
        turn = self.iteration.turn
        if turn is None or self.is_paused() or not self.places_on_receipt:
            return
        self.put_results(turn, [result_message(call, "error", "not run") for call in calls_of(turn)])

    # -- methods that the user calls

    def push(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Put messages at the end of the state."""
        self._at_a_yield()
        self.state.messages.extend(plain(one) for one in messages)
        self.iteration.is_pushed = True
        self.note_change(is_push=True)

    def set(
        self, messages: Sequence[Mapping[str, Any]] | None = None, params: Mapping[str, Any] | None = None
    ) -> None:
        """Replace the messages, or some params."""
        self._at_a_yield()
        if messages is not None:
            self.state.messages = [plain(one) for one in messages]
            self.iteration.mark, self.iteration.is_replaced = len(messages), True
        self.state.params.update(params or {})
        self.iteration.is_set = True
        self.note_change(is_push=False)

    async def respond(self) -> list[Message] | None:
        """Return the response to the received turn."""
        self._at_a_yield()
        return await self.make_response()

    def change_tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        """Change the set of tools; removals come first."""
        self._at_a_yield()
        self.state.tools.remove(remove)
        self.state.tools.add(add)

    def look(self) -> dict[str, Any]:
        """The messages, the params and the names of the tools."""
        return self.state.snapshot()

    def cancel(self) -> None:
        """Handle the abort signal."""
        self.is_cancelled = True
        if self.request is not None:
            self.request.cancel()
        if self.says("cancel.inflight", "abort"):
            for body in list(self.running):
                body.cancel()

    def _at_a_yield(self) -> None:
        if self.at not in WITH_THE_USER:
            raise TurnedDown("no turn is with the user")

    def stop_early_calls(self) -> None:
        """Cancel calls that started from the stream; after a break, their results may still be needed."""
        for body in self.iteration.early.values():
            body.cancel()
        if self.at != "Left":
            self.iteration.early.clear()
