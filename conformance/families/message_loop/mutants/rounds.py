"""Round faults: results are lost, duplicated or mixed up, and calls run twice."""

from __future__ import annotations

import asyncio

from runlock.conformance.families.message_loop.mutants.mutant import Undeclared
from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.hooking import Occasion
from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.records import Call, Message, PassRecord, Round
from runlock.machines.message_loop.runtime.world import ToolAnswer


@fault("PAIR-1", also=("LOOP-4", "LOOP-9", "ROUND-1"))
class ForgetsDeniedCalls(MessageLoop):
    """Records no result for a call that did not run."""

    def in_order(self, r: Round) -> list[Call]:
        return [call for call in super().in_order(r) if call.attempts or call.status.state != "Failed"]


@fault("PAIR-2", also=("LOOP-4", "PAIR-1", "TURN-11"), is_masked=True)
class AnswersBeforeItWasAsked(MessageLoop):
    """Puts the results of a round before the response that asked for them."""

    def messages_for(self, p: PassRecord) -> list[Message]:
        messages = super().messages_for(p)
        asked = [index for index, message in enumerate(messages) if message.get("tool_calls")]
        if not asked:
            return messages
        return [*messages[: asked[-1]], *messages[asked[-1] + 1 :], messages[asked[-1]]]


@fault("PAIR-3", also=("LOOP-4", "LOOP-14", "TURN-11"))
class AnswersTwice(MessageLoop):
    """Records the result of a failed call twice."""

    def append(self, p: PassRecord, message: Message) -> None:
        super().append(p, message)
        if message.get("status") == "error":
            super().append(p, dict(message))


@fault("PAIR-4", "yet the model reads")
class ShortensResults(MessageLoop):
    """Shows the model only the first character of a result."""

    def take_result(self, p: PassRecord, r: Round, call: Call, answer: ToolAnswer) -> None:
        super().take_result(p, r, call, answer)
        assert call.result is not None
        call.result = (call.result[0], str(call.result[1])[:1])


@fault("PAIR-6", "has status error, since it did not run, yet the model reads ok")
class ShowsDenialsAsSuccesses(MessageLoop):
    """Shows the model a success for a call that was denied."""

    def deny_call(self, p: PassRecord, call: Call, code: str, why: str) -> None:
        super().deny_call(p, call, code, why)
        call.result = ("ok", "done")


@fault("ONCE-1", "was executed already, yet its tool was entered again")
class TriesAgain(MessageLoop):
    """Runs a call again after its tool answered with an error."""

    def take_result(self, p: PassRecord, r: Round, call: Call, answer: ToolAnswer) -> None:
        super().take_result(p, r, call, answer)
        self.again = getattr(self, "again", set()) | ({call.id} if answer.kind == "error" else set())

    async def show_result(self, p: PassRecord, call: Call, occasion: Occasion) -> None:
        if call.id in getattr(self, "again", ()):
            self.again.discard(call.id)
            await call.scope.outside(self.world.tool(call.id, call.name, call.args, p.stage))
        await super().show_result(p, call, occasion)


@fault("ONCE-3", "is executing, yet its tool was entered once more")
class EntersTwice(MessageLoop):
    """Runs a call a second time while it is still executing."""

    async def execute(self, p: PassRecord, r: Round, call: Call, occasion: Occasion) -> None:
        second = asyncio.ensure_future(self.world.tool(call.id, call.name, call.args, p.stage))
        try:
            await super().execute(p, r, call, occasion)
        finally:
            second.cancel()
            await asyncio.wait([second])


@fault(
    "ROUND-1",
    also=("CANCEL-7", "LOOP-4", "LOOP-9", "LOOP-10", "PAIR-1", "TURN-5", "TURN-11", "TURN-14"),
    is_masked=True,
)
class FailsTheWholeRound(MessageLoop):
    """Records only the error results of a round in which a call failed."""

    def in_order(self, r: Round) -> list[Call]:
        calls = super().in_order(r)
        failed = [call for call in calls if call.result is not None and call.result[0] == "error"]
        return failed or calls


@fault("ROUND-2", "stands under the id of call")
class MixesResultsUp(MessageLoop):
    """Assigns results to calls by position, in the order in which they arrived."""

    def record(self, p: PassRecord, r: Round) -> None:
        finished = sorted(
            (call for call in r.calls if call.finished is not None), key=lambda call: call.finished or 0
        )
        results = [call.result for call in finished]
        in_call_order = [call for call in r.calls if call.finished is not None]
        for call, result in zip(in_call_order, results, strict=True):
            call.result = result
        super().record(p, r)


@fault("ROUND-4", "was entered while call", policies={"round.executor": "sequential"})
class RunsTogether(Undeclared):
    """Runs the calls of a round together, but declares that it runs them one by one."""

    follows = {"round.executor": "parallel"}


@fault("ROUND-5", "is approved, yet waits for call")
class RunsOneByOne(Undeclared):
    """Runs the calls of a round one by one, but declares that it runs them together."""

    follows = {"round.executor": "sequential"}


@fault("ROUND-8", "threw, which costs its call, yet the turn ended in Error")
class EndsOnAnException(Undeclared):
    """Ends the turn when a tool throws, but declares that only the call fails."""

    follows = {"tool.raises": "end_run"}


@fault("ROUND-11", "results stand in call order, yet they come as")
class RecordsAsTheyFinish(Undeclared):
    """Records results in the order in which calls finish, but declares call order."""

    follows = {"results.order": "finish"}


@fault("ROUND-12", "is malformed, which costs the call, yet the turn ended in Error")
class EndsOnAMalformedCall(Undeclared):
    """Ends the turn at a malformed call, but declares that only the call fails."""

    follows = {"call.malformed": "end_run"}
