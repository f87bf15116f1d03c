"""Responses on request: made once, kept as long as the policy says, used by the user and by the runner."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.machines.table import IllegalTransition, Moved, react
from runlock.machines.tool_runner.runtime.history import Call, Message, calls_of
from runlock.machines.tool_runner.runtime.record import RESPONSE_TABLE, Response
from runlock.machines.tool_runner.runtime.rounds import Rounds


class Responses(Rounds):
    """Makes the response to the received turn."""

    def move_response(self, event: str) -> None:
        """Move the response along its chart."""
        response = self.iteration.response
        answer = react(RESPONSE_TABLE, response.at, event)
        if not isinstance(answer, Moved):
            raise IllegalTransition(answer)
        response.at = answer.row.target

    def answerable(self) -> list[Call]:
        """The calls that a response answers: those of a turn that asks for tools, or is paused."""
        turn = self.iteration.turn
        if turn is None or not (self.asks_for_tools() or self.iteration.stop == "pause_turn"):
            return []
        return calls_of(turn)

    async def make_response(self) -> list[Message] | None:
        """Make the response to the received turn; None if there is nothing to answer, or after a cancel."""
        calls = self.answerable()
        if not calls:
            return None
        self.drop_if_state_differs()
        if self.iteration.response.at == "Kept":
            self.move_response("ask")
            return list(self.iteration.response.results)
        return None if self.is_cancelled else await self._make(calls)

    async def _make(self, calls: Sequence[Call]) -> list[Message] | None:
        response = self.iteration.response
        response.made_for, response.is_overtaken = self.state.fingerprint(), False
        self.move_response("ask")
        the_round = await self.run_round(calls)
        response.results = self.in_order(the_round)
        if the_round.given_up or the_round.broken is not None:
            self.move_response("give_up")
            self.iteration.broken = the_round.broken
            return None
        return self._made(response)

    def salvage_response(self) -> None:
        """When the user leaves, keep the results, also errors, of a response that a broken tool aborted."""
        response = self.iteration.response
        if self.iteration.broken is not None and response.at == "Empty":
            self.iteration.broken = None
            self.move_response("ask")
            self.move_response("made")

    def _made(self, response: Response) -> list[Message]:
        self.move_response("made")
        if response.is_overtaken or self.says("runner.cache", "none"):
            self.move_response("drop")
        return list(response.results)

    def note_change(self, is_push: bool) -> None:
        """Record a push or a set; the response is dropped if the policy says so."""
        dropping = ("until_change", "until_push") if is_push else ("until_change",)
        if not self.says("runner.cache", *dropping):
            return
        if self.iteration.response.at == "Kept":
            self.move_response("drop")
        self.iteration.response.is_overtaken = True

    def drop_if_state_differs(self) -> None:
        """Under `by_state` a response is kept only while the state is what it was."""
        response = self.iteration.response
        if response.at != "Kept" or not self.says("runner.cache", "by_state"):
            return
        if response.made_for != self.state.fingerprint():
            self.move_response("drop")

    def kept_results(self, turn: Message, calls: Sequence[Call]) -> list[Message] | None:
        """The kept results for these calls, if the turn is the received one."""
        response = self.iteration.response
        if response.at != "Kept" or turn != self.iteration.turn:
            return None
        self.move_response("ask")
        wanted = {call["id"] for call in calls}
        return [one for one in response.results if one["call"] in wanted]
