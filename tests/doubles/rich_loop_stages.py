"""Stages of the rich loop: input, composition and rendering."""

from __future__ import annotations

from rich_loop_calls import Calls
from rich_loop_parts import Over, Pass

from runlock.conformance.families.message_loop.adapter import ContextFault, Request, Turn


class Stages(Calls):
    """The stages of a pass that are not about calls."""

    history: list[dict[str, object]]
    rendered: bool

    def announce_start(self, p: Pass | None) -> None:
        raise NotImplementedError

    def announce_end(self, p: Pass | None) -> None:
        raise NotImplementedError

    async def receive(self, p: Pass, text: str) -> None:
        """RECEIVE_INPUT."""
        async with self.stage(p, "RECEIVE_INPUT"):
            if p.stage is None and self.policy["turn.bracket"] == "inside":
                self.announce_start(p)
            try:
                data = await self.hooks(p, "RECEIVE_INPUT", "pre", {"input": text})
            except Over as over:
                if over.code == "Blocked" and self.policy["input.refused"] == "kept":
                    self.append(p, {"role": "user", "text": text})
                raise
            if not (p.transcript and p.stage and self.knobs.get("body_once")):
                self.append(p, {"role": "user", "text": data["input"]})
            if p.stage is None:
                await self.commit("UserMessage", "input", None)
            await self.hooks(p, "RECEIVE_INPUT", "post", {"input": data["input"]})

    async def compose(self, p: Pass) -> Request:
        """COMPOSE_REQUEST and the hooks of SEND_REQUEST that come before it is sent."""
        async with self.stage(p, "COMPOSE_REQUEST"):
            await self.hooks(p, "COMPOSE_REQUEST", "pre", {})
            slices = await self.slices(p)
            before = self.history if p.stage and self.policy["stage.history"] == "before" else []
            data = {
                "system": p.spec.body if p.spec is not None else self.scenario.system,
                "messages": [*before, *p.transcript],
                "tools": self.manifest(p),
            }
            data = await self.hooks(p, "COMPOSE_REQUEST", "post", data)
        return Request(data["messages"], data["system"], data["tools"], slices)

    def manifest(self, p: Pass) -> list[str]:
        """The tools of a request."""
        if p.spec is not None:
            return [*p.spec.allowed_tools, p.spec.completion]
        return [tool.name for tool in self.scenario.tools if tool.offered]

    async def slices(self, p: Pass) -> list[str]:
        """What the context providers give, within their budgets."""
        found = []
        for provider in self.scenario.context:
            try:
                texts = await self.host.context(provider.id, provider.budget, stage=p.stage)
            except ContextFault as fault:
                raise Over("Error", str(fault)) from fault
            found += self.within(list(texts), provider.budget)
        return found

    def within(self, texts: list[str], budget: int) -> list[str]:
        """The slices that fit, as `context.over` says."""
        if sum(map(len, texts)) > budget and self.policy["context.over"] == "refused":
            return []
        kept = []
        for text in texts:
            if len(text) > budget and self.policy["context.over"] == "dropped":
                continue
            kept.append(text[:budget])
            budget -= len(text[:budget])
        return [text for text in kept if text]

    async def render(self, p: Pass, answer: Turn) -> None:
        """RENDER."""
        async with self.stage(p, "RENDER"):
            data = await self.hooks(p, "RENDER", "pre", {"text": answer.text})
            if not answer.tool_calls:
                self.append(p, {"role": "assistant", "text": answer.text})
            if p.stage is None:
                if self.policy["persist.results"] == "turn" and p.rounds:
                    await self.commit("ToolResultsCommitted", "results", None)
                await self.commit("AssistantTurnCommitted", "render", None)
            if p.stage is None or self.policy["stage.render"] == "yes":
                self.say("Rendered", p, text=data["text"])
            await self.hooks(p, "RENDER", "post", {"text": data["text"]})
            self.rendered = self.rendered or p.stage is None
            if p.stage is None and self.policy["turn.bracket"] == "inside":
                self.announce_end(p)
