"""How the reference runtime carries calls through a round: judge, execute, replay, record.

The round has two serial halves.  First every call is judged, in the model's order; then those that are
allowed are executed, one after the other or all at once.  A replay takes the same way with one call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from runlock.machines.lifecycle.runtime.inbox import Inbox
from runlock.machines.lifecycle.runtime.ledger import PENDING_TEXT, RunCancelled
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.machines.lifecycle.runtime.world import Answer, ToolRaised

Resume = dict[str, Any] | None


@dataclass(frozen=True)
class Left:
    """What a plugin left of the answer of a tool."""

    kind: str
    content: Any
    message: str | None = None


class RunBlocked(Exception):
    """The permission hook blocked a call, and with it the run."""


class Rounds(Inbox):
    """Executes calls; what they answered is held in `results` until it is recorded in the thread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.results: dict[str, tuple[str, Any]] = {}
        self._committing = asyncio.Lock()

    async def run_round(self, calls: Sequence[Call]) -> None:
        """Judge and execute new calls, then record what they answered, in the model's order."""
        try:
            allowed = await self.judge_all(calls)
            await self.execute_all(allowed)
            await self.apply(calls)
        finally:
            self.record(calls)

    async def apply(self, calls: Sequence[Call]) -> None:
        """Apply results to the state, where that is a step of its own; a fault there ends the run."""
        ids = [call.id for call in calls if call.id in self.results]
        if self.applies and ids:
            await self.outside(self.world.apply(ids))

    # -- judging

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        """The calls that may be executed; the others are suspended, failed or have their result."""
        return [call for call in calls if await self.judge(call, None)]

    async def judge(self, call: Call, resume: Resume) -> bool:
        """Whether the call may be executed; if not, it has moved to where its verdict puts it."""
        if self.policies["phases"] == "nine":
            self.phase("ToolGate", call)
            await self.consult("ToolGate", call)  # whatever a plugin leaves: a judgement has no effect
        else:
            self.phase("BeforeToolExecute", call)
        kind, content = await self.verdict(call, resume)
        if kind == "allow":
            return True
        if kind == "suspend":
            self.move_call(call, "suspend")
        elif kind == "set_result":
            self.settle(call, "provide" if call.status == "New" else "succeed", "ok", content)
        else:
            self.settle(call, "fail", "error", content)
        self.phase("AfterToolExecute", call, verdict=kind)
        if kind == "block" and self.policies["round.block"] == "end_run":
            raise RunBlocked(str(content))
        if call.is_final:
            await self.journal()
        return False

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        """What the permission side says: allow, suspend, set_result, block or fail, and its content."""
        tool = self.tools.get(call.name)
        if tool is None:
            return "fail", f"there is no tool {call.name}"
        if self.state.offered is not None and call.name not in self.state.offered:
            return "fail", f"the tool {call.name} is not offered here"
        if call.flaw is not None:
            return "fail", call.flaw
        if not fits(call.args, tool.get("parameters") or {}):
            return "fail", f"the arguments do not fit the tool {call.name}"
        if resume is not None and call.resume_mode == "use_as_result":
            return "set_result", resume["payload"]
        if tool["permission"] == "ask":
            return ("suspend" if resume is None and not self.is_granted(call) else "allow"), None
        if tool["permission"] == "gate" and (resume is None or self.policies["replay.gate"] == "yes"):
            asking = self.world.permit(call.id, call.name, call.args, resume)
            answer = await self.outside(asking)
            if answer.kind == "suspend" and self.is_granted(call):
                return "allow", None
            return answer.kind, answer.content if answer.kind == "set_result" else answer.message or "blocked"
        return "allow", None

    # -- executing

    async def execute_all(self, calls: Sequence[Call]) -> None:
        """Execute the allowed calls as the executor does."""
        if self.policies["round.executor"] == "parallel":
            await self.together([self.execute_durably(call, None) for call in calls])
            return
        for index, call in enumerate(calls):
            await self.execute(call, None)
            if why := self.why_left_out(call):
                self.leave_out(calls[index + 1 :], why)
                await self.journal()
                return
            left_behind = calls[index + 1 :] if call.status == "Suspended" else ()
            self.leave_behind(left_behind)
            await self.journal()
            if left_behind:
                return

    async def execute_durably(self, call: Call, resume: Resume) -> None:
        """Execute a call, and make what became of it durable where the policy asks for that."""
        await self.execute(call, resume)
        await self.journal()

    async def journal(self) -> None:
        """Under `durability=call`, the result of a call is durable before anything uses it."""
        if self.policies["durability"] == "call":
            await self.commit("CallCommitted", "call")

    def leave_behind(self, calls: Sequence[Call]) -> None:
        """A sequential round that stops at a suspension fails the rest, or holds it back."""
        if self.policies["round.rest"] == "failed":
            for call in calls:
                self.settle(call, "fail", "error", "not executed: an earlier call of the round was suspended")

    def why_left_out(self, call: Call) -> str:
        """Why the calls after this one, which was executed, are not; empty if they are."""
        if call.status == "Failed" and self.policies["round.failure"] == "cancels_rest":
            return "an earlier call of the round has failed"
        skips = self.policies["input.round"] == "skips_rest" and self.state.inputs
        return "new input came" if skips else ""

    def leave_out(self, calls: Sequence[Call], why: str) -> None:
        """The calls are not executed."""
        for call in calls:
            self.settle(call, "fail", "error", f"not executed: {why}")

    async def together(self, coroutines: Sequence[Any]) -> None:
        """Run them concurrently; the first that fails takes the others down."""
        tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
        if not tasks:
            return
        try:
            await self._until_one_fails(tasks)
        finally:
            left = [task for task in tasks if not task.done()]
            self.failing = self.failing or any(map(_has_failed, tasks))
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left)
        for task in tasks:
            if not task.cancelled() and (failure := task.exception()) is not None:
                raise failure

    async def _until_one_fails(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        """Wait until all are over or one has failed; a cancelled wait fails no call if tools drain."""
        running = set(tasks)
        while running:
            over, running = await asyncio.wait(running, return_when=asyncio.FIRST_EXCEPTION)
            failures = [task.exception() for task in over if not task.cancelled()]
            if any(
                failure and not (self.drains and isinstance(failure, RunCancelled)) for failure in failures
            ):
                return

    @property
    def drains(self) -> bool:
        """Whether tools that run at a cancel end by themselves."""
        return bool(self.policies["cancel.inflight"] == "drain")

    async def execute(self, call: Call, resume: Resume) -> None:
        """Enter the body of a call and take its answer."""
        self.heed()
        if self.policies["phases"] == "nine":
            self.phase("BeforeToolExecute", call)
            await self.consult("BeforeToolExecute", call)  # whatever a plugin says: the call was judged
            self.heed()
        self.move_call(call, "start")
        args = self.arguments(call, resume)
        try:
            answer = await self.enter(call, args, resume)
        except TimeoutError:
            self.take_timeout(call)
            return
        except ToolRaised as raised:
            if raised is self.broken:  # another call's, which takes the round down
                self.settle(call, "cancel", "cancelled", "aborted")
                raise
            self.settle(call, "fail", "error", str(raised))
            self.phase("AfterToolExecute", call)
            if self.policies["tool.raises"] == "end_run":
                raise
            return
        except asyncio.CancelledError:  # a sibling took the round down
            self.settle(call, "cancel", "cancelled", "aborted")
            raise
        except RunCancelled:
            if self.drains and _is_taken_down():  # by a sibling: a cancel would let it end
                self.settle(call, "cancel", "cancelled", "aborted")
            raise
        if "AfterToolExecute" in self.hooks and answer.kind != "pending":
            await self._show_to_plugin(call, answer)
            return
        self.take_answer(call, answer)
        self.phase("AfterToolExecute", call)

    async def enter(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        """Wait for what the tool answers, as often as it may be tried and as long as it may take."""
        for _ in range(self.retries(call)):
            with suppress(TimeoutError):
                return await self._try(call, args, resume)
        return await self._try(call, args, resume)

    def retries(self, call: Call) -> int:
        """How often a call is tried again whose time has passed."""
        return int(self.tools.get(call.name, {}).get("retries", 0))

    async def _try(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        async with asyncio.timeout(self.lasts_s(call)):
            entered = self.world.execute(call.id, call.name, args, resume, partial(self._tells, call))
            return await self.outside(entered, drains=True)

    def lasts_s(self, call: Call) -> float | None:
        """How long the body of a call may be at work, if its tool limits that."""
        limit = self.tools.get(call.name, {}).get("timeout_ms")
        return None if limit is None else limit / 1000

    def _tells(self, call: Call, content: Any) -> None:
        self.publish("tool.activity", call=call.id, content=content)

    async def _show_to_plugin(self, call: Call, answer: Answer) -> None:
        """A plugin may put another result in the place of this one, before anyone else has seen it."""
        self.phase("AfterToolExecute", call)
        content = answer.content or answer.message
        try:
            data = await self.consult("AfterToolExecute", call, status=answer.kind, content=content)
            content = data["content"]
        finally:
            self.take_answer(call, Left(answer.kind, content))

    def take_timeout(self, call: Call) -> None:
        """A call whose time has passed is over, and has failed."""
        self.settle(call, "fail", "error", "timed out")
        self.phase("AfterToolExecute", call)

    def arguments(self, call: Call, resume: Resume) -> dict[str, Any]:
        """The arguments that the body gets, by the call's resume mode."""
        if resume is None or call.resume_mode != "pass_to_tool":
            return call.args
        payload = resume["payload"]
        return payload if isinstance(payload, dict) else {"k": call.id, "v": payload}

    def take_answer(self, call: Call, answer: Answer) -> None:
        """Move a call to where the answer of its body puts it."""
        if answer.kind == "pending":
            self.move_call(call, "suspend")
        elif answer.kind == "error":
            self.settle(call, "fail", "error", answer.content or answer.message or "failed")
        else:
            self.settle(call, "succeed", "ok", answer.content)

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        """A call ends, and its result is held until the round is recorded; the model is owed it."""
        self.results[call.id] = (status, content)
        self.state.turn_was_last = False
        self.state.errors_in_a_row = self.state.errors_in_a_row + 1 if status == "error" else 0
        self.move_call(call, event)

    # -- recording

    async def commit(
        self,
        trigger: str,
        cause: str,
        *,
        force: bool = False,
        ending: tuple[str, Reason | None] | None = None,
    ) -> None:
        """Nothing that is over becomes durable without its result, and no older state overtakes a newer."""
        async with self._committing:
            self.record([call for call in self.state.calls.values() if call.id in self.results])
            await super().commit(trigger, cause, force=force, ending=ending)

    def record(self, calls: Sequence[Call]) -> None:
        """Write results into the thread, and a placeholder for each call that waits while the loop
        continues."""
        for call in calls:
            if call.id in self.results:
                status, content = self.results.pop(call.id)
                if self.cancelling and self.policies["cancel.results"] == "dropped":
                    status, content = "cancelled", "the run was cancelled"
                self.answer(call, status, content)
            elif call.status == "Suspended" and self.needs_placeholder(call):
                self.answer(call, "pending", PENDING_TEXT)

    def needs_placeholder(self, call: Call) -> bool:
        """Whether the model may be asked again while this call waits, and nothing stands for it yet."""
        standing = any(message.get("call") == call.id for message in self._since_asked(call))
        return self.policies["round.mixed"] == "continue" and not standing

    def _since_asked(self, call: Call) -> list[dict[str, Any]]:
        messages = self.state.messages
        for index in range(len(messages) - 1, -1, -1):
            if any(asked["id"] == call.id for asked in messages[index].get("tool_calls", ())):
                return messages[index + 1 :]
        return []

    # -- replaying

    async def replay(self, call: Call, decision: Decision) -> None:
        """Carry a Resuming call through the pipeline again, on its decision."""
        resume: Resume = {"decision": decision.id, "action": decision.action, "payload": decision.payload}
        if self.edit(call, decision.edit or {}):
            resume = None  # it is a call of another tool now, as if the model had asked for that
        try:
            if await self.judge(call, resume):
                await self.execute_durably(call, resume)
            await self.apply([call])
        finally:
            self.record([call])

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        """Put what was edited in its place; whether the call waited as one of another tool."""
        waited_as, name = call.waits_as or call.name, edit.get("name") or call.name
        if edit.get("args") is not None:
            call.args = edit["args"]
        if name == waited_as:
            return False
        call.name, call.waits_as = name, waited_as
        call.resume_mode = self.tools.get(name, {}).get("resume_mode", "replay")
        return True


TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
}


def fits(args: dict[str, Any], parameters: Mapping[str, Any]) -> bool:
    """Whether arguments have what a JSON Schema requires, with the types that it gives."""
    for name, schema in parameters.get("properties", {}).items():
        kind = schema.get("type")
        if kind is None or name not in args:
            continue
        if not isinstance(args[name], TYPES[kind]) or (kind != "boolean" and isinstance(args[name], bool)):
            return False
    return all(name in args for name in parameters.get("required", ()))


def _has_failed(task: asyncio.Task[Any]) -> bool:
    """Whether it failed without a cancel, which ends the run."""
    failure = task.exception() if task.done() and not task.cancelled() else None
    return failure is not None and not isinstance(failure, RunCancelled)


def _is_taken_down() -> bool:
    """Whether the current task has been cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
