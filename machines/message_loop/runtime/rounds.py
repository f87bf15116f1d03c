"""A round: the calls of one response are judged, executed and recorded, each of them exactly once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final

from runlock.machines.message_loop.runtime.authority import CASCADE, Authority
from runlock.machines.message_loop.runtime.hooking import Denied, Occasion
from runlock.machines.message_loop.runtime.records import (
    Call,
    PassRecord,
    Refusal,
    Response,
    Round,
    TurnFault,
)
from runlock.machines.message_loop.runtime.scopes import Scope, ScopeStopped, together
from runlock.machines.message_loop.runtime.world import ToolAnswer, ToolRaised, WorldFault

ABORTED: Final = "Aborted: the turn ended before the call was over."
UNEXECUTED: Final = "The call was not executed."


class Rounds(Authority):
    """Runs the calls of rounds."""

    async def tool_stage(self, p: PassRecord, response: Response) -> None:
        """TOOL_CALL: settle every call of a response."""
        async with self.stage(p, "TOOL_CALL"):
            r = Round(self.new_calls(p, response.calls))
            try:
                await self.carry_all(p, r)
            finally:
                self.record(p, r)
            await self.commit_results(p)
            p.scope.heed()
            if r.halted is not None:
                raise Refusal(r.halted)

    def new_calls(self, p: PassRecord, asked: Sequence[Any]) -> list[Call]:
        """The calls of a response; two calls with one id count as one call."""
        first: dict[str, Any] = {}
        for one in asked:
            first.setdefault(one.id, one)
        calls = [
            Call(one.id, one.name, deepcopy(one.args), Scope(p.scope), self.authority_of(p))
            for one in first.values()
        ]
        for call in calls:
            p.calls[call.id] = call
            self.show_status("call.status", stage=p.stage, call=call.id, origin=None, to="New")
            self.publish_call("ToolInvocationProposed", p, call, name=call.name)
        return calls

    async def carry_all(self, p: PassRecord, r: Round) -> None:
        """Run or deny all calls of a round, so that each has a result."""
        await together(p.scope, [self.carry(p, r, call) for call in r.calls])

    async def carry(self, p: PassRecord, r: Round, call: Call) -> None:
        """Give one call its result: judge it when its turn comes, and execute it if it may run."""
        try:
            await self.wait_to_judge(r, call)
            call.scope.heed()
            occasion = Occasion("TOOL_CALL", {}, call.scope, call.id)
            may_run = await self.authorise(p, r, call, occasion)
            call.judged.set()
            if may_run:
                await self.wait_to_run(r, call)
                await self.execute(p, r, call, occasion)
        except ScopeStopped as stopped:
            if stopped.cause != CASCADE:
                raise
        finally:
            call.judged.set()
            call.over.set()

    async def wait_to_judge(self, r: Round, call: Call) -> None:
        """Wait until a call may be judged: in call order, or at once if prompts are parallel."""
        if self.policies["prompt.line"] == "parallel":
            return
        one_by_one = self.policies["round.executor"] == "sequential"
        for earlier in r.before(call):
            await call.scope.outside(earlier.judged.wait())
            if one_by_one and self.policies["prompt.place"] == "interleaved":
                await call.scope.outside(earlier.over.wait())

    async def wait_to_run(self, r: Round, call: Call) -> None:
        """Wait until a call may run, as `prompt.place` and the executor determine."""
        if self.policies["prompt.place"] == "first":
            for other in r.calls:
                await call.scope.outside(other.judged.wait())
        if self.policies["round.executor"] == "sequential":
            for earlier in r.before(call):
                await call.scope.outside(earlier.over.wait())
        call.scope.heed()

    # -- executing

    async def execute(self, p: PassRecord, r: Round, call: Call, occasion: Occasion) -> None:
        """Run the body of a call, and handle its answer."""
        occasion.chart.send("begin")
        self.begin_call(p, call)
        try:
            answer = await call.scope.outside(
                self.world.tool(call.id, call.name, call.args, p.stage), drains=True
            )
        except ScopeStopped:
            self.abort(p, call)
            raise
        except ToolRaised as raised:
            self.finish(p, r, call, "error", str(raised))
            if self.policies["tool.raises"] == "end_run":
                raise TurnFault(f"the tool {call.name} raised: {raised}") from raised
        except WorldFault as fault:
            self.finish(p, r, call, "error", str(fault))
            raise TurnFault(f"the tool {call.name} broke: {fault}") from fault
        else:
            self.take_result(p, r, call, answer)
        await self.show_result(p, call, occasion)

    def begin_call(self, p: PassRecord, call: Call) -> None:
        """Report that a call runs."""
        call.authority.send("execute")
        call.attempts += 1
        self.move_call(p, call, "start")
        self.publish_call("ToolInvocationStarted", p, call, name=call.name)

    def take_result(self, p: PassRecord, r: Round, call: Call, answer: ToolAnswer) -> None:
        """Handle the answer of a tool."""
        if answer.kind == "error":
            self.finish(p, r, call, "error", answer.content or answer.message or "failed")
        else:
            self.finish(p, r, call, "ok", answer.content)

    def finish(self, p: PassRecord, r: Round, call: Call, status: str, content: Any) -> None:
        """Finish a call that has a result."""
        call.authority.send("result")
        call.finished, call.drained = r.count_finished(), call.scope.cause is not None
        if self.turn.cancellation is not None and self.turn.cancellation.state == "Draining":
            self.turn.cancellation.send("tool_over")
        succeeded = status == "ok"
        self.settle(p, call, "succeed" if succeeded else "fail", status, content)
        name = "ToolInvocationSucceeded" if succeeded else "ToolInvocationFailed"
        self.publish_call(name, p, call, name=call.name)

    async def show_result(self, p: PassRecord, call: Call, occasion: Occasion) -> None:
        """Ask the hooks after a call, which may rewrite its result."""
        assert call.result is not None
        occasion.chart.send("complete")
        occasion.data = {"status": call.result[0], "content": call.result[1]}
        try:
            await self.ask_hooks(p, occasion, "post")
        except Denied:
            return
        call.result = (str(occasion.data["status"]), occasion.data["content"])
        occasion.chart.send("finish")

    def abort(self, p: PassRecord, call: Call) -> None:
        """Give a call that was aborted, or never started, a result that says so."""
        call.authority.send("interrupt")
        text = UNEXECUTED if self.policies["told"] == "alike" else ABORTED
        self.settle(p, call, "cancel", "cancelled", text)
        self.publish_call("ToolInvocationCancelled", p, call, name=call.name)

    # -- recording

    def record(self, p: PassRecord, r: Round) -> None:
        """Append the results of a round to the transcript, one for each call."""
        for call in r.calls:
            if not call.is_settled and not self.is_usable(call):
                self.fail_unusable(p, call)
            elif not call.is_settled:
                self.abort(p, call)
        self.drop_finished(p, r)
        for call in self.in_order(r):
            assert call.result is not None
            status, content = call.result
            text = content if isinstance(content, str) else json.dumps(content)
            self.append(p, {"role": "tool", "call": call.id, "status": status, "text": text})
        p.has_uncommitted_results = True

    def in_order(self, r: Round) -> list[Call]:
        """The calls in the order in which their results are recorded."""
        if self.policies["results.order"] == "call":
            return r.calls
        last = len(r.calls)
        return sorted(r.calls, key=lambda call: last if call.finished is None else call.finished)

    def drop_finished(self, p: PassRecord, r: Round) -> None:
        """Under `cancel.results=dropped`, drop the results of calls that finished before a cancel."""
        if p.scope.cause != "cancel" or self.policies["cancel.results"] == "kept":
            return
        for call in r.calls:
            if call.finished is not None and not call.drained:
                call.result = ("cancelled", "Dropped: the turn was cancelled.")

    async def commit_results(self, p: PassRecord) -> None:
        """Store the results of a round, if the policy stores each round."""
        if p.execution is None and self.policies["persist.results"] == "round":
            p.has_uncommitted_results = False
            await self.commit(p, "ToolResultsCommitted", "results")
