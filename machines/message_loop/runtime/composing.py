"""RECEIVE_INPUT and COMPOSE_REQUEST: the input of a pass, and the content of its requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from runlock.machines.message_loop.runtime.hooking import Denied, Hooking, Occasion
from runlock.machines.message_loop.runtime.records import Message, PassRecord, TurnFault
from runlock.machines.message_loop.runtime.world import WorldFault


class Composing(Hooking):
    """Receives input and composes requests."""

    async def receive_input(self, p: PassRecord) -> None:
        """Take the input of a pass into its transcript."""
        occasion = Occasion("RECEIVE_INPUT", {"input": p.input}, p.scope)
        async with self.stage(p, "RECEIVE_INPUT"):
            self.announce_start(p)
            try:
                await self.ask_hooks(p, occasion, "pre")
            except Denied:
                self.keep_refused_input(p, occasion)
                raise
            occasion.chart.send("begin")
            await self.accept_input(p, str(occasion.data["input"]))
            occasion.chart.send("complete")
            await self.ask_hooks(p, occasion, "post")
            occasion.chart.send("finish")

    def announce_start(self, p: PassRecord) -> None:
        """Publish SessionTurnStart here if the policy places it inside this stage."""
        if p.execution is None and self.policies["turn.bracket"] == "inside":
            self.turn.chart.send("announce_start")
            self.publish("SessionTurnStart", p)

    def keep_refused_input(self, p: PassRecord, occasion: Occasion) -> None:
        """Under `input.refused=kept` the session remembers what was refused."""
        if p.execution is None and self.policies["input.refused"] == "kept":
            self.append(p, {"role": "user", "text": str(occasion.data["input"])})

    async def accept_input(self, p: PassRecord, text: str) -> None:
        """Append the input; a chat turn stores it before its first request."""
        self.append(p, {"role": "user", "text": text})
        if p.execution is None:
            await self.commit(p, "UserMessage", "input")

    async def compose(self, p: PassRecord) -> dict[str, Any]:
        """Compose the next request of a pass."""
        p.step += 1
        occasion = Occasion("COMPOSE_REQUEST", {}, p.scope)
        async with self.stage(p, "COMPOSE_REQUEST"):
            await self.ask_hooks(p, occasion, "pre")
            occasion.chart.send("begin")
            request = await self.assemble(p)
            occasion.data.update(_shown(request))
            occasion.chart.send("complete")
            await self.ask_hooks(p, occasion, "post")
            occasion.chart.send("finish")
            return {**request, **occasion.data}

    async def assemble(self, p: PassRecord) -> dict[str, Any]:
        """Build a request from system prompt, tools, history and context."""
        context = [text for provider in self.settings.context for text in await self.ask_context(p, provider)]
        return {
            "system": p.execution.spec.body if p.execution is not None else self.settings.system,
            "tools": self.manifest(p),
            "messages": deepcopy(self.messages_for(p)),
            "context": context,
            "params": {},
        }

    def manifest(self, p: PassRecord) -> list[str]:
        """The names of the tools that a request offers."""
        if p.execution is None:
            return [name for name, is_offered in self.settings.tools.items() if is_offered]
        return [*p.execution.spec.allowed_tools, p.execution.spec.completion]

    def messages_for(self, p: PassRecord) -> list[Message]:
        """The conversation that a request shows."""
        if p.execution is not None and self.policies["stage.history"] == "before":
            return [*self.history, *p.transcript]
        return p.transcript

    async def ask_context(self, p: PassRecord, provider: tuple[str, int]) -> list[str]:
        """Ask one context provider, and keep what fits its budget."""
        name, budget = provider
        try:
            slices = await p.scope.outside(self.world.context(name, budget, p.stage))
        except WorldFault as fault:
            raise TurnFault(f"the context provider {name} failed: {fault}") from fault
        return self.within_budget(slices, budget)

    def within_budget(self, slices: Sequence[str], budget: int) -> list[str]:
        """The part of these slices that fits the budget, as the policy declares."""
        over = sum(map(len, slices)) > budget
        if not over:
            return list(slices)
        if self.policies["context.over"] == "refused":
            return []
        cut = self.policies["context.over"] == "cut"
        return list(_cut(slices, budget) if cut else _whole(slices, budget))


def _shown(request: dict[str, Any]) -> dict[str, Any]:
    """The fields of a request that hooks see and may replace."""
    return {key: deepcopy(request[key]) for key in ("system", "messages", "tools")}


def _cut(slices: Sequence[str], budget: int) -> Iterator[str]:
    for text in slices:
        if budget > 0:
            yield text[:budget]
        budget -= len(text)


def _whole(slices: Sequence[str], budget: int) -> Iterator[str]:
    for text in slices:
        if len(text) <= budget:
            yield text
            budget -= len(text)
