"""Faults of rounds: order, ids, failures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from runlock.conformance.family.made import fault
from runlock.machines.tool_runner.runtime.history import Call, Message
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Runner
from runlock.machines.tool_runner.runtime.world import Answer, ToolRaised

SEQUENTIAL = {"round.executor": "sequential"}


@fault("ROUND-1", "lacks the result", also=("PAIR-4",))
class OneFailureFailsAll(Runner):
    """When one call fails, the other calls of the round get errors too."""

    def in_order(self, the_round: Round) -> list[Message]:
        results = super().in_order(the_round)
        if any(one["status"] == "error" for one in results):
            return [{**one, "status": "error", "text": "the round failed"} for one in results]
        return results


@fault("ROUND-1", "which was running, was given up")
class GivesSiblingsUp(Runner):
    """When one call fails, the calls that are still running are cancelled."""

    async def _together(self, the_round: Round) -> None:
        tasks = [asyncio.ensure_future(self.run_call(call, the_round)) for call in the_round.calls]
        try:
            for next_one in asyncio.as_completed(tasks):
                await next_one
                if any(one["status"] == "error" for one in the_round.results.values()):
                    return
        finally:
            for body in list(self.running):
                body.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@fault("RUNNER-34", "it has no result", also=("PAIR-1", "RUNNER-17"))
class LosesUnknownTools(Runner):
    """A call of an unknown tool gets no result."""

    def in_order(self, the_round: Round) -> list[Message]:
        return [one for one in super().in_order(the_round) if not one["text"].startswith("there is no tool")]


@fault("ROUND-2", "result under", also=("ROUND-1", "RUNNER-17", "RUNNER-34"))
class MatchesResultsByPosition(Runner):
    """Results are assigned to calls by position, in the order in which they arrived."""

    def in_order(self, the_round: Round) -> list[Message]:
        came = list(the_round.results.values())
        return [{**one, "call": call["id"]} for one, call in zip(came, the_round.calls, strict=True)]


@fault("ROUND-3", "holds two results under the id")
class AnswersAnIdTwice(Runner):
    """Two calls with one id have two results."""

    def put_results(self, turn: Message, results: Sequence[Message]) -> None:
        ids = [call["id"] for call in turn.get("tool_calls", ())]
        super().put_results(turn, [one for one in results for _ in range(ids.count(one["call"]))])


@fault("ROUND-5", "all calls of a round start together")
class RunsOneByOne(Runner):
    """Calls run one by one, though the runner declares that they run together."""

    async def _together(self, the_round: Round) -> None:
        await self._one_by_one(the_round)


@fault("ROUND-4", "calls run one after the other", policies=SEQUENTIAL)
class RunsTogether(Runner):
    """Calls run together, though the runner declares that they run one by one."""

    async def _one_by_one(self, the_round: Round) -> None:
        await self._together(the_round)


@fault("ROUND-6", "holds results in the order")
class OrdersByFinish(Runner):
    """Results are in the order in which calls finish, though the runner declares call order."""

    def in_order(self, the_round: Round) -> list[Message]:
        return list(the_round.results.values())


@fault("ROUND-6", " holds results in the order", policies={"results.order": "finish"})
class OrdersByCall(Runner):
    """Results are in call order, though the runner declares the order in which calls finish."""

    def in_order(self, the_round: Round) -> list[Message]:
        return [the_round.results[call["id"]] for call in the_round.calls]


@fault("ROUND-7", "threw, which fails the call, yet the run ended in Error", also=("RUNNER-17",))
class EndsAtARaise(Runner):
    """An exception of a tool ends the run, though the runner declares that it only fails the call."""

    def raised(self, call: Call, the_round: Round, raised: ToolRaised) -> None:
        super().raised(call, the_round, raised)
        the_round.broken = raised


@fault("ROUND-7", "threw and ends the run, yet", policies={"tool.raises": "end_run"})
class SwallowsARaise(Runner):
    """An exception of a tool fails its call, though the runner declares that it ends the run."""

    def raised(self, call: Call, the_round: Round, raised: ToolRaised) -> None:
        the_round.fail(call, raised)


@fault("ROUND-8", "answered with an error", also=("RUNNER-17",))
class PraisesErrors(Runner):
    """An error of a tool is recorded as a success."""

    def result(self, call: Call, answer: Answer) -> Message:
        return {**super().result(call, answer), "status": "ok"}


@fault("ONCE-1", "was entered a second time in the iteration", also=("RUNNER-37",))
class EntersTwice(Runner):
    """A call runs again after it has answered."""

    async def _execute(self, call: Call, version: int) -> Answer:
        await super()._execute(call, version)
        return await super()._execute(call, version)


@fault("ONCE-2", "was entered while its body was still running")
class EntersTwiceAtOnce(Runner):
    """A call is started a second time while it runs."""

    async def _execute(self, call: Call, version: int) -> Answer:
        first, _ = await asyncio.gather(super()._execute(call, version), super()._execute(call, version))
        return first
