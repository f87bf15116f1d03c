"""Prompts: a question about one call goes to every active interactor, and one answer counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from runlock.machines.message_loop.runtime.records import Call, PassRecord, Round
from runlock.machines.message_loop.runtime.responding import Responding
from runlock.machines.message_loop.runtime.world import PersonAnswer, WorldFault


class LateAnswer(Exception):
    """A late answer was refused; it has changed nothing."""


@dataclass(frozen=True)
class Deferral:
    """The answer that an interactor that fails counts as."""

    kind: str = "defer"
    scope: str = "once"
    message: str | None = None


@dataclass(eq=False)
class OpenPrompt:
    """An open prompt: the interactors asked, and their answers so far."""

    id: str
    asked: Mapping[str, Any]
    asks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    came: asyncio.Queue[PersonAnswer | None] = field(default_factory=asyncio.Queue)  # None: one has left


class Prompting(Responding):
    """Asks interactors."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prompts: dict[str, OpenPrompt] = {}
        self.prompt_count = 0

    async def prompt(self, p: PassRecord, r: Round, call: Call, ask: str) -> PersonAnswer | None:
        """Ask about a call when its turn comes; None if no interactor is left."""
        async with self.in_line(p, r, call):
            return await self.prompt_now(p, call, ask)

    async def prompt_now(self, p: PassRecord, call: Call, ask: str) -> PersonAnswer | None:
        """Ask about a call whose turn has come."""
        prompt = self.new_prompt(p, call, ask)
        try:
            answer = await self.first_answer(call, prompt)
        finally:
            await self.close(prompt)
        if call.is_settled:
            call.scope.heed()  # the denial of another call has dropped this one meanwhile
        return answer

    @asynccontextmanager
    async def in_line(self, p: PassRecord, r: Round, call: Call) -> AsyncIterator[None]:
        """Wait until this prompt may be open."""
        if self.policies["prompt.place"] == "interleaved" and self.policies["prompt.line"] == "serial":
            for earlier in r.before(call):
                await call.scope.outside(earlier.over.wait())
        shares_line = self.policies["prompt.siblings"] == "one" and self.policies["prompt.line"] == "serial"
        if not shares_line:
            yield
            return
        await call.scope.outside(self.turn.prompt_line.acquire())
        try:
            yield
        finally:
            self.turn.prompt_line.release()

    def new_prompt(self, p: PassRecord, call: Call, ask: str) -> OpenPrompt:
        """Open a prompt for every active interactor."""
        self.prompt_count += 1
        asked = {
            "id": f"prompt-{self.prompt_count}", "ask": ask, "call": call.id, "name": call.name,
            "args": self.shown_arguments(call), "stage": p.stage,
        }  # fmt: skip
        prompt = OpenPrompt(asked["id"], asked)
        for interactor in self.asked_interactors():
            prompt.asks[interactor] = asyncio.ensure_future(self.ask_one(interactor, prompt))
        self.prompts[prompt.id] = prompt
        return prompt

    def shown_arguments(self, call: Call) -> Any:
        """The arguments that an approver is shown."""
        return call.args

    def asked_interactors(self) -> list[str]:
        """The interactors that are asked."""
        return list(self.interactors)

    async def ask_one(self, interactor: str, prompt: OpenPrompt) -> None:
        """Ask one interactor; a failure counts as a deferral."""
        try:
            answer: PersonAnswer = await self.world.ask(interactor, prompt.asked)
        except WorldFault:
            answer = Deferral()
        prompt.came.put_nowait(answer)

    async def first_answer(self, call: Call, prompt: OpenPrompt) -> PersonAnswer | None:
        """The answer that counts; after a deferral the others may still answer, as declared."""
        deferred: PersonAnswer | None = None
        for left in range(len(prompt.asks) - 1, -1, -1):
            answer = await call.scope.outside(prompt.came.get())
            if answer is not None and answer.kind == "defer":
                deferred = answer
                if self.policies["prompt.defer"] == "answers":
                    break
            elif answer is not None:
                return answer
            if not left:
                break
        return deferred

    async def close(self, prompt: OpenPrompt) -> None:
        """Stop asking the remaining interactors."""
        self.prompts.pop(prompt.id, None)
        still_asked = [ask for ask in prompt.asks.values() if not ask.done()]
        for ask in still_asked:
            ask.cancel()
        if still_asked:
            await asyncio.wait(still_asked)

    async def gone(self, interactor: str) -> None:
        """An interactor leaves; it counts as one that was never there."""
        if interactor in self.interactors:
            self.interactors.remove(interactor)
        for prompt in self.prompts.values():
            ask = prompt.asks.get(interactor)
            if ask is not None and not ask.done():
                ask.cancel()
                prompt.came.put_nowait(None)

    async def late(self, on: str, key: str, outcome: Any) -> None:
        """A late answer for a closed prompt or call: refused or ignored, and without effect."""
        if self.policies["late.answer"] == "refused":
            raise LateAnswer(f"the {on} {key} is not waited for any more")
