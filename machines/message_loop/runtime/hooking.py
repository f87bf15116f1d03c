"""Hooks: which are asked at a slot, in which order, and the effect of their answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.machines.message_loop.charts.hooks import StageWithHooks
from runlock.machines.message_loop.runtime.publishing import Publishing
from runlock.machines.message_loop.runtime.records import HookSpec, PassRecord, Refusal, TurnFault
from runlock.machines.message_loop.runtime.scopes import Scope, ScopeStopped, together
from runlock.machines.message_loop.runtime.world import HookAnswer, WorldFault
from runlock.machines.table import Cursor, compile_chart

KINDS: Final = ("guard", "transform", "observer")
ROLES: Final[Mapping[str, Collection[str]]] = {
    "RECEIVE_INPUT.pre": KINDS,
    "COMPOSE_REQUEST.pre": ("guard", "observer"),
    "COMPOSE_REQUEST.post": KINDS,
    "SEND_REQUEST.pre": KINDS,
    "STREAM_RESPONSE.pre": KINDS,
    "TOOL_CALL.pre": KINDS,
    "TOOL_CALL.post": ("transform", "observer"),
    "RENDER.pre": ("transform", "observer"),
}
"""The hook roles that a slot accepts; a slot that is not listed accepts observers."""


class Denied(Exception):
    """A guard denied."""


@dataclass
class Occasion:
    """One occasion of a stage's hooks: the data they are shown, and the state of its chart."""

    at: str
    data: dict[str, Any]
    scope: Scope
    call: str | None = None
    chart: Cursor = field(default_factory=lambda: Cursor(compile_chart(StageWithHooks)))


class Hooking(Publishing):
    """Asks hooks."""

    def hooks_at(self, at: str, point: str, kinds: Collection[str] = KINDS) -> list[HookSpec]:
        """The hooks of a slot that have one of these roles, in the order in which they are asked."""
        roles = set(ROLES.get(f"{at}.{point}", ("observer",))) & set(kinds)
        found = [h for h in self.settings.hooks if (h.at, h.point) == (at, point) and h.kind in roles]
        if self.policies["hook.order"] == "by_kind":
            found.sort(key=lambda hook: KINDS.index(hook.kind))
        return found

    async def ask_hooks(
        self, p: PassRecord, occasion: Occasion, point: str, kinds: Collection[str] = KINDS
    ) -> None:
        """Ask the hooks of a slot; raises `Denied` if a guard denies."""
        hooks = self.hooks_at(occasion.at, point, kinds)
        if self.policies["hook.order"] == "parallel":
            await self.ask_all_at_once(p, occasion, hooks)
            return
        for hook in hooks:
            self.take(occasion, hook, await self.ask_hook(p, occasion, hook))

    async def ask_all_at_once(self, p: PassRecord, occasion: Occasion, hooks: Sequence[HookSpec]) -> None:
        """Ask all hooks concurrently: one denial is enough, and rewrites are applied in the listed order."""
        answers: dict[str, HookAnswer | WorldFault] = {}

        async def ask(hook: HookSpec) -> None:
            answers[hook.id] = await self.ask_hook(p, occasion, hook)

        await together(occasion.scope, [ask(hook) for hook in hooks])
        for hook in sorted(hooks, key=lambda hook: KINDS.index(hook.kind)):
            self.take(occasion, hook, answers[hook.id])

    async def ask_hook(self, p: PassRecord, occasion: Occasion, hook: HookSpec) -> HookAnswer | WorldFault:
        """Ask one hook; returns the fault if it failed."""
        asked = self.world.hook(hook.id, deepcopy(occasion.data), occasion.call, p.stage)
        try:
            return await occasion.scope.outside(asked)
        except WorldFault as fault:
            return fault

    def take(self, occasion: Occasion, hook: HookSpec, answer: HookAnswer | WorldFault) -> None:
        """Apply an answer that the hook's role allows; any other answer lets the stage continue."""
        if isinstance(answer, WorldFault):
            self.take_fault(occasion, hook, answer)
        elif answer.kind == "deny" and hook.kind == "guard":
            self.deny(occasion, answer.message or f"the guard {hook.id} denies it")
        elif answer.kind == "rewrite" and hook.kind == "transform":
            occasion.chart.send("rewrite")
            self.rewrite(occasion, answer.data or {})
        else:
            occasion.chart.send("leave")

    def take_fault(self, occasion: Occasion, hook: HookSpec, fault: WorldFault) -> None:
        """Apply the policy to a guard or transform that failed; ignore an observer that failed."""
        policy = "continue" if hook.kind == "observer" else self.policies["hook.fault"]
        has_guards = "guard" in ROLES.get(f"{hook.at}.{hook.point}", ())
        if policy == "end_run":
            raise TurnFault(f"the hook {hook.id} failed: {fault}")
        if policy == "deny" and has_guards:
            self.deny(occasion, f"the hook {hook.id} failed: {fault}")
        occasion.chart.send("leave")

    def rewrite(self, occasion: Occasion, data: Mapping[str, Any]) -> None:
        """Replace the shown data, key by key; the name of a tool cannot be replaced."""
        kept = {"name"} if occasion.at == "TOOL_CALL" else set()
        occasion.data.update({k: deepcopy(v) for k, v in data.items() if k in occasion.data.keys() - kept})

    def deny(self, occasion: Occasion, why: str) -> None:
        occasion.chart.send("deny")
        raise Denied(why)

    @asynccontextmanager
    async def stage(self, p: PassRecord, name: str) -> AsyncIterator[None]:
        """Context of one stage of a pass: publishes its two events, however it ends."""
        p.scope.heed()
        outcome = "error"
        self.publish("StagePreFired", p, stage=name)
        try:
            yield
            outcome = "ok"
        except Denied as denied:
            outcome = "denied"
            raise Refusal(str(denied)) from denied
        except Refusal:
            outcome = "denied"
            raise
        except ScopeStopped:
            outcome = "cancelled"
            raise
        finally:
            self.publish("StagePostFired", p, stage=name, outcome=outcome)
