"""Prompts of the rich loop, and the records of a round."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from rich_loop_parts import Parts, Pass

from runlock.conformance.families.message_loop.adapter import Prompt, PromptFault


@dataclass(eq=False)
class Call:
    """One call of a round."""

    id: str
    name: str
    args: Any
    result: tuple[str, Any] | None = None
    is_running: bool = False
    has_run: bool = False
    drained: bool = False
    token: list[Any] | None = None
    prompt: str | None = None


@dataclass(eq=False)
class Round:
    """The calls of one response, and the order in which they got their results."""

    calls: list[Call]
    finished: list[Call] = field(default_factory=list)
    halted: str | None = None
    is_broken: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    running: int = 0


@dataclass(frozen=True)
class Deferral:
    """What a person who cannot be reached counts as."""

    kind: str = "defer"


DEFERRED = Deferral()


class Prompts(Parts):
    """Asks interactors."""

    interactors: list[str]
    asking: dict[str, Any]
    prompts: int
    prompt_lock: asyncio.Lock

    async def prompt(self, p: Pass, r: Round, call: Call, ask: str) -> Any:
        """Ask every active interactor when it is this call's turn; the first answer counts."""
        async with AsyncExitStack() as held:
            if self.policy["prompt.line"] == "serial":
                if self.policy["prompt.place"] == "interleaved":
                    await r.idle.wait()
                siblings = self.policy["prompt.siblings"]
                await held.enter_async_context(self.prompt_lock if siblings == "one" else p.lock)
            self.prompts += 1
            question = Prompt(f"P{self.prompts}", ask, call.id, call.name, call.args, p.stage)  # type: ignore[arg-type]
            return await self.first_answer(call, question)

    async def first_answer(self, call: Call, question: Prompt) -> Any:
        """The answer that counts."""
        came: asyncio.Queue[Any] = asyncio.Queue()
        asks = {one: asyncio.ensure_future(self.ask(one, question)) for one in self.interactors}
        for one in asks.values():
            one.add_done_callback(lambda ask: came.put_nowait(None if ask.cancelled() else ask.result()))
        self.asking[question.id], call.prompt = asks, question.id
        answer = None
        try:
            for _ in asks:
                said = await came.get()
                answer = said if said is not None else answer
                if said is not None and (said.kind != "defer" or self.policy["prompt.defer"] == "answers"):
                    break
        finally:
            del self.asking[question.id]
            for one in asks.values():
                one.cancel()
            await asyncio.gather(*asks.values(), return_exceptions=True)
        return answer

    async def ask(self, interactor: str, question: Prompt) -> Any:
        """Ask one interactor; a failure is a deferral."""
        try:
            return await self.host.ask(interactor, question)
        except PromptFault:
            return DEFERRED
