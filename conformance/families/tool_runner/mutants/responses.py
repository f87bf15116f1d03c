"""Faults of responses: they change the state, are incomplete, or are cached too long or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, Message
from runlock.machines.tool_runner.runtime.record import RESPONSE_TABLE, Response
from runlock.machines.tool_runner.runtime.runner import Runner

KEPT = {"runner.cache": "kept"}


@fault("RUNNER-17", "has a response for")
class LeavesAResultOut(Runner):
    """A response lacks the result of the last of several calls."""

    async def respond(self) -> list[Message] | None:
        results = await super().respond()
        return results[:-1] if results and len(results) > 1 else results


@fault(
    "RUNNER-29",
    "user asked for a response",
    also=(
        "PAIR-2",
        "RUNNER-21",
        "RUNNER-27",
        "RUNNER-28",
    ),
)
class AppendsAResponse(Runner):
    """Making a response appends its results to the state."""

    async def respond(self) -> list[Message] | None:
        results = await super().respond()
        self.state.messages.extend(results or ())
        return results


@fault(
    "RUNNER-29",
    "though the user changed nothing",
    also=(
        "RUNNER-20",
        "RUNNER-24",
        "RUNNER-48",
        "RUNNER-6",
    ),
)
class CountsAResponseAsAChange(Runner):
    """Asking for a response counts as a change, so that the turn is dropped."""

    async def respond(self) -> list[Message] | None:
        results = await super().respond()
        self.iteration.is_set = True
        return results


@fault("RUNNER-18", "was entered again", policies=KEPT)
class ForgetsTheResponse(Runner):
    """The runner runs the calls again, though it declares that it keeps the response."""

    def kept_results(self, turn: Message, calls: Sequence[Call]) -> list[Message] | None:
        return None


@fault("RUNNER-18", "was entered for it again", policies=KEPT)
class KeepsTheResponseForTheRunnerAlone(Runner):
    """A second request for the response runs the tools again, though the runner declares that it keeps it."""

    async def make_response(self) -> list[Message] | None:
        if self.iteration.response.at == "Kept":
            self.move_response("drop")
        return await super().make_response()


@fault(
    "RUNNER-30",
    "no response is kept, and a second one was given without a tool",
    policies={"runner.cache": "until_push"},
)
class KeepsTheResponseTooLong(Runner):
    """A change does not drop the response, though the runner declares that it does."""

    def note_change(self, is_push: bool) -> None:
        return


@fault(
    "RUNNER-30",
    "no response is kept, and a second one was given without a tool",
    policies={"runner.cache": "until_change"},
)
class KeepsTheResponseAfterASet(Runner):
    """A set does not drop the response, though the runner declares that it does."""

    def note_change(self, is_push: bool) -> None:
        if is_push:
            super().note_change(is_push)


@fault("RUNNER-19", "response is for the", policies=KEPT)
class GivesTheResponseOfAnotherTurn(Runner):
    """The response to an earlier turn is returned for a later one."""

    def begin_iteration(self) -> None:
        before = self.iteration.response
        super().begin_iteration()
        if before.at == "Kept":
            self.iteration.response = Response("Kept", before.results)

    def kept_results(self, turn: Message, calls: Sequence[Call]) -> list[Message] | None:
        results = super().kept_results(turn, calls)
        if results is not None and len(results) < len(calls):
            self.iteration.response = Response(RESPONSE_TABLE.initial)
            return None
        return results
