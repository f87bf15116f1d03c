"""Wrong tools: rounds, responses, and sets of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.tool_runner.mutants.mutant import Mutant
from runlock.machines.tool_runner.runtime.history import Call, Message, calls_of, result_message
from runlock.machines.tool_runner.runtime.record import RESPONSE_TABLE, Response
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import Answer, ToolRaised


# -- rounds


class OneFailureFailsAll(Runner):
    """When one call fails, its siblings get errors too."""

    def in_order(self, the_round: Round) -> list[Message]:
        results = super().in_order(the_round)
        if any(one["status"] == "error" for one in results):
            return [{**one, "status": "error", "text": "the round failed"} for one in results]
        return results


class MatchesResultsByPosition(Runner):
    """Results are matched to calls in the order in which they came."""

    def in_order(self, the_round: Round) -> list[Message]:
        came = list(the_round.results.values())
        return [{**one, "call": call["id"]} for one, call in zip(came, the_round.calls, strict=True)]


class AnswersAnIdTwice(Runner):
    """Two calls with one id have two results."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        ids = [call["id"] for call in turn.get("tool_calls", ())]
        super().put_results(turn, [one for one in results for _ in range(ids.count(one["call"]))])


class RunsOneByOne(Runner):
    """Calls run one by one, though together is declared."""

    async def _together(self, the_round: Round) -> None:
        await self._one_by_one(the_round)


class RunsTogether(Runner):
    """Calls run together, though one by one is declared."""

    async def _one_by_one(self, the_round: Round) -> None:
        await self._together(the_round)


class OrdersByFinish(Runner):
    """Results stand in the order in which the calls finished, though that of the calls is declared."""

    def in_order(self, the_round: Round) -> list[Message]:
        return list(the_round.results.values())


class OrdersByCall(Runner):
    """Results stand in the order of the calls, though that of their ends is declared."""

    def in_order(self, the_round: Round) -> list[Message]:
        return [the_round.results[call["id"]] for call in the_round.calls]


class EndsAtARaise(Runner):
    """An exception of a tool ends the run, though it is declared to fail its call."""

    def raised(self, call: Call, the_round: Round, raised: ToolRaised) -> None:
        super().raised(call, the_round, raised)
        the_round.broken = raised


class SwallowsARaise(Runner):
    """An exception of a tool fails its call, though it is declared to end the run."""

    def raised(self, call: Call, the_round: Round, raised: ToolRaised) -> None:
        the_round.fail(call, raised)


class PraisesErrors(Runner):
    """An error of a tool is shown as a success."""

    def result(self, call: Call, answer: Answer) -> Message:
        return {**super().result(call, answer), "status": "ok"}


class EntersTwice(Runner):
    """The body of a call is entered again when it has answered."""

    async def _execute(self, call: Call, version: int) -> Answer:
        await super()._execute(call, version)
        return await super()._execute(call, version)


class EntersTwiceAtOnce(Runner):
    """The body of a call is entered again while it runs."""

    async def _execute(self, call: Call, version: int) -> Answer:
        first, _ = await asyncio.gather(super()._execute(call, version), super()._execute(call, version))
        return first


# -- responses


class LeavesAResultOut(Runner):
    """A response lacks the result of the last of several calls."""

    async def respond(self) -> list[Message] | None:
        results = await super().respond()
        return results[:-1] if results and len(results) > 1 else results


class AppendsAResponse(Runner):
    """A response enters the state when it is made."""

    async def respond(self) -> list[Message] | None:
        results = await super().respond()
        self.state.messages.extend(results or ())
        return results


class CountsAResponseAsAChange(Runner):
    """After a response the turn is dropped as if the state had been changed."""

    async def respond(self) -> list[Message] | None:
        results = await super().respond()
        self.iteration.is_set = True
        return results


class ForgetsTheResponse(Runner):
    """The runner runs the calls again, though the response is declared to be kept."""

    def kept_results(self, turn: Message, calls: Sequence[Call]) -> list[Message] | None:
        return None


class KeepsTheResponseForTheRunnerAlone(Runner):
    """A second request for the response runs the tools, though it is declared to be kept."""

    async def make_response(self) -> list[Message] | None:
        if self.iteration.response.at == "Kept":
            self.move_response("drop")
        return await super().make_response()


class KeepsTheResponseTooLong(Runner):
    """A change does not drop the response, though that is declared."""

    def note_change(self, is_push: bool) -> None:
        return


class KeepsTheResponseAfterASet(Runner):
    """A set does not drop the response, though that is declared."""

    def note_change(self, is_push: bool) -> None:
        if is_push:
            super().note_change(is_push)


class GivesTheResponseOfAnotherTurn(Runner):
    """The response of an earlier turn is given again."""

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


# -- sets of tools


class NoticesNewToolsLate(Runner):
    """An added tool counts from the next request on, though at once is declared."""

    def version_of(self, name: str) -> int | None:
        now, then = self.state.tools.versions.get(name), self.iteration.tools.get(name)
        return then if now is not None else super().version_of(name)


class NoticesNewToolsAtOnce(Runner):
    """An added tool counts at once, though from the next request on is declared."""

    def version_of(self, name: str) -> int | None:
        return self.state.tools.versions.get(name, super().version_of(name) or 0) or None


class RunsRemovedTools(Runner):
    """A removed tool runs, though it is declared to be gone at once."""

    def version_of(self, name: str) -> int | None:
        return super().version_of(name) or self.iteration.tools.get(name)


class StopsRemovedToolsAtOnce(Runner):
    """A removed tool does not run, though it is declared to count until the next request."""

    def version_of(self, name: str) -> int | None:
        return super().version_of(name) if name in self.state.tools.versions else None


class RunsUnknownTools(Runner):
    """A call of a tool that is not in the set is passed on all the same."""

    def version_of(self, name: str) -> int | None:
        return super().version_of(name) or 1


class InterruptsRemovedTools(Runner):
    """A call whose tool is removed while it runs is given up."""

    def enter(self, call: Call, version: int) -> asyncio.Task[Answer]:
        body = super().enter(call, version)
        self.names = {**getattr(self, "names", {}), body: call["name"]}
        return body

    async def _settle(self, call: Call, the_round: Round, body: asyncio.Task[Answer]) -> None:
        try:
            await super()._settle(call, the_round, body)
        except asyncio.CancelledError:
            if not body.cancelled():
                raise
            the_round.fail(call, "its tool was removed")

    def change_tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        super().change_tools(add, remove)
        for body in list(self.running):
            if getattr(self, "names", {}).get(body) in remove:
                body.cancel()


class TakesToolsForAChange(Runner):
    """A change of the tools drops the turn."""

    def change_tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        super().change_tools(add, remove)
        self.iteration.is_set = True


class RunsCallsAgainWhenTakenUp(Runner):
    """After a fault the calls of the last turn in the state run again."""

    async def next_item(self) -> Any:
        if getattr(self, "is_taken_up", False):
            self.is_taken_up = False
            turns = [one for one in self.state.messages if one.get("tool_calls")]
            if turns:
                await self.run_round(calls_of(turns[-1]))
        return await super().next_item()

    def again(self) -> Any:
        walk = super().again()
        self.is_taken_up = self.at == "Settled"
        return walk


class FailsTheUnknownSilently(Runner):
    """A call of an unknown tool gets the word ok."""

    async def run_call(self, call: Call, the_round: Round) -> None:
        await super().run_call(call, the_round)
        if call["name"] not in self.state.tools.versions and call["name"] not in self.iteration.tools:
            the_round.results[call["id"]] = result_message(call, "ok", "")


SEQUENTIAL = {"round.executor": "sequential"}
KEPT = {"runner.cache": "kept"}

MUTANTS = (
    Mutant(OneFailureFailsAll, "ROUND-1"),
    Mutant(MatchesResultsByPosition, "ROUND-2"),
    Mutant(AnswersAnIdTwice, "ROUND-3"),
    Mutant(RunsTogether, "ROUND-4", policies=SEQUENTIAL),
    Mutant(RunsOneByOne, "ROUND-5"),
    Mutant(OrdersByFinish, "ROUND-6"),
    Mutant(OrdersByCall, "ROUND-6", policies={"results.order": "finish"}),
    Mutant(EndsAtARaise, "ROUND-7"),
    Mutant(SwallowsARaise, "ROUND-7", policies={"tool.raises": "end_run"}),
    Mutant(PraisesErrors, "ROUND-8"),
    Mutant(EntersTwice, "ONCE-1"),
    Mutant(EntersTwiceAtOnce, "ONCE-2"),
    Mutant(LeavesAResultOut, "RUNNER-17"),
    Mutant(AppendsAResponse, "RUNNER-29"),
    Mutant(CountsAResponseAsAChange, "RUNNER-29"),
    Mutant(ForgetsTheResponse, "RUNNER-18", policies=KEPT),
    Mutant(KeepsTheResponseForTheRunnerAlone, "RUNNER-18", policies=KEPT),
    Mutant(KeepsTheResponseTooLong, "RUNNER-30", policies={"runner.cache": "until_push"}),
    Mutant(KeepsTheResponseAfterASet, "RUNNER-30", policies={"runner.cache": "until_change"}),
    Mutant(GivesTheResponseOfAnotherTurn, "RUNNER-19", policies=KEPT),
    Mutant(NoticesNewToolsLate, "RUNNER-22"),
    Mutant(NoticesNewToolsAtOnce, "RUNNER-22", policies={"tools.added": "next_request"}),
    Mutant(RunsRemovedTools, "RUNNER-33"),
    Mutant(StopsRemovedToolsAtOnce, "RUNNER-33", policies={"tools.removed": "next_request"}),
    Mutant(RunsUnknownTools, "RUNNER-34"),
    Mutant(FailsTheUnknownSilently, "RUNNER-34"),
    Mutant(InterruptsRemovedTools, "RUNNER-35"),
    Mutant(TakesToolsForAChange, "RUNNER-48"),
    Mutant(RunsCallsAgainWhenTakenUp, "RUNNER-37"),
)
