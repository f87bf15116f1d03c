"""Calls of the rich loop: the authority stack, prompts, standing grants, and how calls run."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import Any

from rich_loop_parts import Denied, Over, Pass, nursery
from rich_loop_prompts import Call, Prompts, Round

from runlock.conformance.families.message_loop.adapter import (
    JudgeFault,
    ToolFault,
    ToolRaised,
    Turn,
)

ABORTED = "Interrupted before it was over."
STATUS = {"ok": "Succeeded", "error": "Failed", "cancelled": "Cancelled"}


class Calls(Prompts):
    """Settles the calls of responses."""

    standing: list[dict[str, Any]]
    is_cancelled: bool

    async def commit(self, trigger: str, cause: str, stage: str | None) -> None:
        raise NotImplementedError

    async def round(self, p: Pass, answer: Turn) -> None:
        """TOOL_CALL."""
        async with self.stage(p, "TOOL_CALL"):
            calls = [{"id": c.id, "name": c.name, "args": c.args} for c in answer.tool_calls]
            self.append(p, {"role": "assistant", "text": answer.text, "tool_calls": calls})
            r = Round(
                [Call(**call) for call in {call["id"]: call for call in reversed(calls)}.values()][::-1]
            )
            r.idle.set()
            for call in r.calls:
                p.statuses[call.id] = "New"
                self.say("ToolInvocationProposed", p, call=call.id, name=call.name)
            try:
                await self.carry(p, r)
            finally:
                self.write(p, r)
            if p.stage is None and self.policy["persist.results"] == "round":
                await self.commit("ToolResultsCommitted", "results", None)
            if r.halted:
                raise Over(self.knobs.get("halts_as", "Blocked"), r.halted)

    async def carry(self, p: Pass, r: Round) -> None:
        """Judge and run the calls in the declared order."""
        first, together = self.policy["prompt.place"] == "first", self.policy["prompt.line"] == "parallel"
        approved: list[Call] = []
        if together:
            async with nursery() as tasks:
                for call in r.calls:
                    tasks.create_task(self.judge_and_run(p, r, call, approved if first else None))
        else:
            async with nursery() as tasks:
                for call in r.calls:
                    await self.judge_then(p, r, call, approved, tasks)
        async with nursery() as tasks:
            for call in sorted(approved, key=r.calls.index):
                tasks.create_task(self.execute(p, r, call))

    async def judge_and_run(self, p: Pass, r: Round, call: Call, approved: list[Call] | None) -> None:
        """One call by itself, where prompts come together."""
        if await self.may_run(p, r, call):
            if approved is None:
                await self.execute(p, r, call)
            else:
                approved.append(call)

    async def judge_then(self, p: Pass, r: Round, call: Call, approved: list[Call], tasks: Any) -> None:
        """One call after the one before it, where prompts come one at a time."""
        if not await self.may_run(p, r, call):
            return
        if self.policy["prompt.place"] == "first":
            approved.append(call)
        elif self.policy["prompt.place"] == "interleaved" and self.policy["round.executor"] == "sequential":
            await self.execute(p, r, call)
        else:
            r.running += 1
            r.idle.clear()
            tasks.create_task(self.execute(p, r, call, counted=True))

    # -- the stack

    async def may_run(self, p: Pass, r: Round, call: Call) -> bool:
        """Take a call through the stack."""
        if call.result is None and self.is_unusable(p, r, call):
            return False
        if call.result is None:
            try:
                await self.stack(p, r, call)
            except Denied as denied:
                self.deny(p, r, call, "GuardDenied", str(denied))
        return call.result is None

    def is_unusable(self, p: Pass, r: Round, call: Call) -> bool:
        """Whether a call has no usable form; it then fails."""
        is_malformed = isinstance(call.args, str)
        if not is_malformed and self.scenario.tool(call.name) is not None:
            return False
        self.settle(p, r, call, "error", "There is no such tool, or its arguments are no JSON.")
        self.say("ToolInvocationFailed", p, call=call.id, name=call.name)
        if is_malformed and self.policy["call.malformed"] == "end_run":
            raise Over("Error", f"{call.id} is malformed")
        return True

    async def stack(self, p: Pass, r: Round, call: Call) -> None:
        """Hooks and approval, in the declared order."""
        before = ["guard"] if self.policy["guard.place"] == "before_approval" else []
        before += ["transform"] if self.policy["rewrite.place"] == "before_approval" else []
        after = [role for role in ("guard", "transform", "observer") if role not in before]
        await self.rewrite(p, call, before)
        if call.result is None:
            await self.approve(p, r, call)
        if call.result is not None:
            return
        shown = call.args
        await self.rewrite(p, call, after)
        if call.result is None and call.args != shown and self.policy["rewrite.place"] == "asked_again":
            await self.approve(p, r, call)

    async def rewrite(self, p: Pass, call: Call, roles: list[str]) -> None:
        """Ask hooks about a call."""
        data = {"name": call.name, "args": call.args}
        call.args = (await self.hooks(p, "TOOL_CALL", "pre", data, call.id, roles))["args"]

    async def approve(self, p: Pass, r: Round, call: Call) -> None:
        """State machine or mode gate."""
        ask = "grant" if p.spec is not None else "mode"
        by = await (self.covered_by_stage(p, call) if p.spec is not None else self.covered_by_mode(p, call))
        if by is None:
            by = await self.ask_people(p, r, call, ask)
        if by is not None:
            self.say("ToolCallApproved", p, call=call.id, by=by)

    async def covered_by_stage(self, p: Pass, call: Call) -> str | None:
        """Envelope, token or standing grant."""
        if self.scenario.driver.decides:
            try:
                inside = await self.host.judge(call.id, call.name, call.args, stage=p.stage) == "approve"
            except JudgeFault as fault:
                raise Over("Error", str(fault)) from fault
        else:
            inside = call.name in p.spec.allowed_tools
        if inside:
            return "sm"
        token = call.token or next((t for t in p.tokens if t[0] == call.name and t[1] > 0), None)
        if token is not None:
            token[1] -= call.token is None
            call.token = token
            return "token"
        return "standing" if self.is_granted(p, call) else None

    async def covered_by_mode(self, p: Pass, call: Call) -> str | None:
        """Mode, allowlist or standing grant."""
        mode = self.scenario.mode
        self.say("ToolCallModeInvoked", p, call=call.id, mode=mode)
        if mode == "yolo" or (mode == "allowlist" and call.name in self.scenario.allowlist):
            return "mode"
        return "standing" if self.is_granted(p, call) else None

    def is_granted(self, p: Pass, call: Call) -> bool:
        """Whether a standing grant covers a call."""
        return any(
            grant["tool"] == call.name
            and grant["stage"] in (None, p.stage)
            and (self.policy["grant.match"] == "tool" or grant["args"] == call.args)
            for grant in self.standing
        )

    async def ask_people(self, p: Pass, r: Round, call: Call, ask: str) -> str | None:
        """Prompt about a call; returns who approved it."""
        answer = await self.prompt(p, r, call, ask)
        if call.result is not None:
            return None
        if answer is None or answer.kind == "defer":
            self.unanswered(p, r, call, ask)
        elif answer.kind == "deny":
            self.deny(p, r, call, "GrantDenied" if ask == "grant" else "ModeDenied", answer.message or "no")
            self.reach(p, r, call)
        else:
            self.keep(p, call, answer.scope)
            if ask == "grant":
                self.say("StageGranted", p, execution=p.stage, call=call.id)
            return "grant" if ask == "grant" else "interactor"
        return None

    def keep(self, p: Pass, call: Call, scope: str) -> None:
        """Keep a standing grant."""
        if scope == "once" or self.policy["grant.match"] == "call":
            return
        stage = p.stage if scope == "stage" else None
        self.standing.append({"tool": call.name, "args": call.args, "scope": scope, "stage": stage})

    def unanswered(self, p: Pass, r: Round, call: Call, ask: str) -> None:
        """What a prompt without an answer costs."""
        self.deny(p, r, call, "GrantDenied" if ask == "grant" else "Unanswered", "nobody said yes")
        if ask == "mode" and self.policy["prompt.unanswered"] == "halt":
            r.halted = f"nobody answered about {call.id}"
            self.cascade(p, r, call)

    def reach(self, p: Pass, r: Round, call: Call) -> None:
        """What a denial by a person does to the others."""
        if self.policy["reject.reach"] == "turn":
            r.halted = f"{call.id} was denied"
        if self.policy["reject.reach"] != "call":
            self.cascade(p, r, call)

    def cascade(self, p: Pass, r: Round, call: Call) -> None:
        """Deny the calls that have not run."""
        for other in r.calls:
            if other is not call and other.result is None and not other.is_running:
                self.deny(p, r, other, "Cascade", "another call was denied")
                for ask in self.asking.get(other.prompt or "", {}).values():
                    ask.cancel()

    def deny(self, p: Pass, r: Round, call: Call, code: str, why: str) -> None:
        """Deny a call, unless it was denied before."""
        if call.result is not None:
            return
        if call.token is not None and self.policy["grant.spent"] == "execution":
            call.token[1] += 1
        self.say("ToolCallDenied", p, call=call.id, code=code)
        self.settle(p, r, call, "error", self.words(f"Not allowed: {why}."))
        if self.knobs.get("fails_denied_calls"):
            self.say("ToolInvocationFailed", p, call=call.id, name=call.name)

    def words(self, text: str) -> str:
        """What the model reads of a call that did not run to its end."""
        return text if self.policy["told"] == "apart" else "Not done."

    # -- running

    async def execute(self, p: Pass, r: Round, call: Call, *, counted: bool = False) -> None:
        """Run a call, after the others where they run one by one."""
        try:
            async with AsyncExitStack() as held:
                if self.policy["round.executor"] == "sequential":
                    await held.enter_async_context(r.lock)
                if call.result is None and not r.is_broken:
                    await self.body(p, r, call)
        except BaseException:
            r.is_broken = True
            raise
        finally:
            r.running -= counted
            if not r.running and not r.is_broken:
                r.idle.set()

    async def body(self, p: Pass, r: Round, call: Call) -> None:
        """Enter the tool, and take what it answers."""
        call.is_running, p.statuses[call.id] = True, "Running"
        self.say("ToolInvocationStarted", p, call=call.id, name=call.name)
        tool = asyncio.ensure_future(self.host.tool(call.id, call.name, call.args, stage=p.stage))
        try:
            await asyncio.shield(asyncio.wait([tool]))
        except asyncio.CancelledError:
            await self.interrupt(p, r, call, tool)
            raise
        self.take(p, r, call, tool)
        data = {"status": call.result[0], "content": call.result[1]} if call.result else {}
        data = await self.hooks(p, "TOOL_CALL", "post", data, call.id)
        call.result = (data["status"], data["content"])

    async def interrupt(self, p: Pass, r: Round, call: Call, tool: Any) -> None:
        """Abort a call, or let it come to its end."""
        if self.is_cancelled and self.policy["cancel.inflight"] == "drain":
            call.drained = True
            await asyncio.wait([tool])
            with suppress(Over):  # the turn ends anyway
                self.take(p, r, call, tool)
            return
        tool.cancel()
        await asyncio.wait([tool])
        self.settle(p, r, call, "cancelled", self.words(ABORTED))
        self.say("ToolInvocationCancelled", p, call=call.id, name=call.name)

    def take(self, p: Pass, r: Round, call: Call, tool: Any) -> None:
        """Take the answer of a tool, its exception or its fault."""
        error, call.has_run = tool.exception(), True
        if error is None:
            outcome = tool.result()
            text = outcome.content if outcome.content is not None else outcome.message
            self.settle(p, r, call, "ok" if outcome.kind == "ok" else "error", text)
        else:
            self.settle(p, r, call, "error", str(error))
        ok = call.result is not None and call.result[0] == "ok"
        self.say(f"ToolInvocation{'Succeeded' if ok else 'Failed'}", p, call=call.id, name=call.name)
        raised = isinstance(error, ToolRaised) and self.policy["tool.raises"] == "end_run"
        if raised or isinstance(error, ToolFault):
            raise Over("Error", str(error)) from error

    def settle(self, p: Pass, r: Round, call: Call, status: str, text: Any) -> None:
        """Give a call its result."""
        call.result, call.is_running = (status, text), False
        p.statuses[call.id] = STATUS[status]
        r.finished.append(call)

    def write(self, p: Pass, r: Round) -> None:
        """Write the results of a round; a call without one was interrupted before it ran."""
        for call in r.calls:
            if call.result is None:
                self.settle(p, r, call, "cancelled", self.words(ABORTED))
                if self.knobs.get("tells_of_unstarted_calls"):
                    self.say("ToolInvocationCancelled", p, call=call.id, name=call.name)
        for call in r.finished if self.policy["results.order"] == "finish" else r.calls:
            assert call.result is not None
            status, text = call.result
            if (
                self.is_cancelled
                and self.policy["cancel.results"] == "dropped"
                and call.has_run
                and not call.drained
            ):
                status, text = "cancelled", self.words(ABORTED)
            self.append(p, {"role": "tool", "call": call.id, "status": status, "text": text})
