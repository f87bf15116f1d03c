"""Parts of the rich loop: its records, its stages, its hooks, and one request with its response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from runlock.conformance.families.message_loop.adapter import (
    CheckFault,
    Delta,
    HookFault,
    ModelFault,
    Request,
    Turn,
)
from runlock.conformance.families.message_loop.messages import SLOTS

POLICIES: dict[str, Any] = {
    "round.executor": "parallel", "results.order": "finish", "tool.raises": "failed_call",
    "call.malformed": "failed_call", "call.terminal": "finish", "prompt.place": "overlapped",
    "prompt.line": "serial", "prompt.siblings": "each", "prompt.defer": "answers",
    "prompt.unanswered": "halt", "reject.reach": "call", "grant.scopes": ["once", "stage", "session"],
    "grant.match": "tool", "grant.spent": "execution", "guard.place": "after_approval",
    "rewrite.place": "asked_again", "hook.order": "by_kind", "hook.fault": "continue",
    "input.refused": "kept", "bound.counts": "requests", "bound.end": "error", "turn.bracket": "inside",
    "turn.end": "always", "persist.results": "turn", "partial.text": "dropped", "cancel.inflight": "abort",
    "cancel.results": "kept", "late.answer": "ignored", "told": "apart", "model.fault": "end_run",
    "context.over": "dropped", "stage.render": "no", "stage.history": "before", "exit.on_fail": "yes",
    "assert.retry": "kept",
}  # fmt: skip
"""What it does unless a test wants something else."""

ROLES = ("guard", "transform", "observer")
RETRIES = 2


class Over(Exception):
    """The turn is over, and how."""

    def __init__(self, code: str, detail: str | None = None, stop: str | None = None) -> None:
        super().__init__(code)
        self.code, self.detail, self.stop = code, detail, stop


class Denied(Exception):
    """A guard said no."""


@dataclass
class Pass:
    """One pass, and what it counts."""

    id: str
    transcript: list[dict[str, Any]]
    stage: str | None
    spec: Any
    request: str = ""
    step: int = 0
    rounds: int = 0
    has_deltas: bool = False
    tokens: list[list[Any]] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@asynccontextmanager
async def nursery() -> AsyncIterator[asyncio.TaskGroup]:
    """Tasks of which the first to fail ends the others; its error is raised."""
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


class Parts:
    """Stages, hooks, requests."""

    host: Any
    scenario: Any
    policy: Mapping[str, Any]
    knobs: Mapping[str, Any]
    requests: int

    def say(self, name: str, p: Pass | None, /, **data: Any) -> None:
        raise NotImplementedError

    def append(self, p: Pass, message: dict[str, Any]) -> None:
        raise NotImplementedError

    @asynccontextmanager
    async def stage(self, p: Pass, name: str) -> AsyncIterator[None]:
        """A stage between its two events."""
        self.say("StagePreFired", p, stage=name)
        outcome = "ok"
        try:
            yield
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        except Over as over:
            outcome = "error" if over.code == "Error" else "denied"
            raise
        finally:
            self.say("StagePostFired", p, stage=name, outcome=outcome)

    # -- hooks

    async def hooks(
        self,
        p: Pass,
        at: str,
        point: str,
        data: dict[str, Any],
        call: str | None = None,
        roles: Collection[str] = ROLES,
    ) -> dict[str, Any]:
        """Ask the hooks of a point; returns the data as they rewrote it."""
        try:
            return await self.asked(p, self.in_order(at, point, roles), data, call)
        except Denied as denied:
            if call is not None:
                raise
            raise Over("Blocked", str(denied)) from denied

    def in_order(self, at: str, point: str, roles: Collection[str]) -> list[Any]:
        """The hooks of a point, in the order in which they are asked."""
        found = [hook for hook in self.scenario.hooks_at(at, point) if hook.kind in roles]
        if self.policy["hook.order"] == "by_kind":
            found.sort(key=lambda hook: ROLES.index(hook.kind))
        return found

    async def asked(
        self, p: Pass, hooks: list[Any], data: dict[str, Any], call: str | None
    ) -> dict[str, Any]:
        """Ask hooks one after the other, or all of them about the same data."""
        if self.policy["hook.order"] == "parallel":
            answers = await asyncio.gather(*(self.ask_hook(p, hook, data, call) for hook in hooks))
            for hook, answer in zip(hooks, answers, strict=True):
                data = self.obey(hook, answer, data)
            return data
        for hook in hooks:
            data = self.obey(hook, await self.ask_hook(p, hook, data, call), data)
        return data

    async def ask_hook(self, p: Pass, hook: Any, data: dict[str, Any], call: str | None) -> Any:
        """What a hook answers, or its fault."""
        try:
            return await self.host.hook(hook.id, data, call=call, stage=p.stage)
        except HookFault as fault:
            return fault

    def obey(self, hook: Any, answer: Any, data: dict[str, Any]) -> dict[str, Any]:
        """Do what the answer of a hook asks for, if its role may ask for it."""
        if isinstance(answer, HookFault):
            self.obey_fault(hook, answer)
        elif answer.kind == "deny" and hook.kind == "guard":
            raise Denied(answer.message or "no")
        elif answer.kind == "rewrite" and hook.kind == "transform":
            return {**data, **(answer.data or {})}
        return data

    def obey_fault(self, hook: Any, fault: HookFault) -> None:
        """What a hook that breaks costs."""
        if hook.kind == "observer" or self.policy["hook.fault"] == "continue":
            return
        if self.policy["hook.fault"] == "end_run":
            raise Over("Error", str(fault))
        if f"{hook.at}.{hook.point}.guard" in SLOTS:
            raise Denied(str(fault))

    # -- a request

    async def respond(self, p: Pass, request: Request) -> Turn:
        """SEND_REQUEST and STREAM_RESPONSE."""
        p.step, p.has_deltas = p.step + 1, False
        async with self.stage(p, "SEND_REQUEST"):
            data = {"system": request.system, "messages": request.messages, "tools": request.tools}
            data = await self.hooks(p, "SEND_REQUEST", "pre", data)
            request = Request(data["messages"], data["system"], data["tools"], request.context)
            stream, first = self.dispatch(p, request)
            try:
                await asyncio.sleep(0)
                await self.hooks(p, "SEND_REQUEST", "post", {})
            except BaseException:
                await self.hang_up(stream, first)
                raise
        async with self.stage(p, "STREAM_RESPONSE"):
            answer = await self.read_to_the_end(p, request, stream, first)
            await self.hooks(p, "STREAM_RESPONSE", "post", {"text": answer.text})
            return answer

    def dispatch(self, p: Pass, request: Request) -> tuple[Any, asyncio.Future[Any]]:
        """Send a request: the stream, and its first part to come."""
        self.requests += 1
        p.request = f"R{self.requests}"
        self.say("ProviderRequestStarted", p, request=p.request)
        stream = self.host.stream(request, stage=p.stage)
        return stream, asyncio.ensure_future(anext(stream))

    async def hang_up(self, stream: Any, first: asyncio.Future[Any]) -> None:
        """Give a response up."""
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await stream.aclose()

    async def read_to_the_end(self, p: Pass, request: Request, stream: Any, first: Any) -> Turn:
        """Read a response; send the request again while the model fails before its first delta."""
        for attempt in range(RETRIES + 1):
            number = p.request
            try:
                answer = await self.read(p, number, stream, first)
            except ModelFault as fault:
                self.say("ProviderRequestFailed", p, request=number, message=str(fault))
                retried = self.policy["model.fault"] == "retried" and not p.has_deltas
                if not retried or attempt == RETRIES:
                    raise Over("Error", str(fault)) from fault
                stream, first = self.dispatch(p, request)
            else:
                self.say("ProviderRequestCompleted", p, request=number)
                return answer
        raise AssertionError

    async def read(self, p: Pass, number: str, stream: Any, first: asyncio.Future[Any]) -> Turn:
        """The parts of a response; text that came is kept if it ends early."""
        raw = text = ""
        try:
            part = await first
            while isinstance(part, Delta):
                p.has_deltas = True
                raw += part.text
                text += await self.token(p, number, part.text)
                part = await anext(stream)
            text += await self.token(p, number, part.text[len(raw) :])
        except BaseException:
            await self.hang_up(stream, first)
            if text and self.policy["partial.text"] == "kept":
                self.append(p, {"role": "assistant", "text": text})
            raise
        return Turn(text=text, tool_calls=part.tool_calls, terminal=part.terminal)

    async def token(self, p: Pass, number: str, text: str) -> str:
        """Publish a piece of text as its hooks rewrote it."""
        if not text:
            return ""
        data = await self.hooks(p, "STREAM_RESPONSE", "pre", {"text": text})
        self.say("ProviderTokensStreamed", p, request=number, text=data["text"])
        return str(data["text"])

    async def ask_assertion(self, p: Pass, capped: bool) -> Any:
        """What the assertion of a stage execution says."""
        try:
            return await self.host.check(p.stage, list(p.transcript), capped)
        except CheckFault as fault:
            raise Over("Error", str(fault)) from fault
