"""Hook faults: hooks are skipped, asked twice or too late, or have more effect than their role allows."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from runlock.conformance.families.message_loop.mutants.mutant import UNSEEN, Undeclared
from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.hooking import KINDS, Denied, Occasion
from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.records import Call, HookSpec, PassRecord
from runlock.machines.message_loop.runtime.responding import ResponseStream
from runlock.machines.message_loop.runtime.world import HookAnswer, WorldFault


@fault("HOOK-4", "is shown tool t1 for call c1 (t0)")
class ShowsTheNameThatATransformGave(MessageLoop):
    """Shows the hooks after a transform the tool that it named."""

    def rewrite(self, occasion: Occasion, data: Mapping[str, Any]) -> None:
        super().rewrite(occasion, data)
        occasion.data.update({"name": data["name"]} if "name" in data else {})


@fault("ROUND-2", "yet t1 was entered with", also=("HOOK-4",))
class LetsATransformRename(ShowsTheNameThatATransformGave):
    """Runs the tool that a transform names in the place of the one that the model asked for."""

    async def ask_side(self, p: PassRecord, call: Call, occasion: Occasion, *, before: bool) -> bool:
        goes_on = await super().ask_side(p, call, occasion, before=before)
        call.name = occasion.data["name"]
        return goes_on


@fault("HOOK-1", "is over, and hook")
class NeverAsksAfterwards(MessageLoop):
    """Asks no hook after a request, a response or a call."""

    async def ask_hooks(self, p: PassRecord, occasion: Occasion, point: str, *given: Any) -> None:
        if point == "pre" or occasion.at in ("RECEIVE_INPUT", "COMPOSE_REQUEST"):
            await super().ask_hooks(p, occasion, point, *given)


@fault("HOOK-1", "was asked twice at")
class AsksObserversTwice(MessageLoop):
    """Asks an observer twice for one occasion of its slot."""

    async def ask_hook(self, p: PassRecord, occasion: Occasion, hook: HookSpec) -> HookAnswer | WorldFault:
        if hook.kind == "observer":
            await super().ask_hook(p, occasion, hook)
        return await super().ask_hook(p, occasion, hook)


@fault("HOOK-1", "was not asked at SEND_REQUEST pre")
class SkipsHooksInAContinuation(MessageLoop):
    """Asks the hooks of SEND_REQUEST only for the first request of a pass."""

    def hooks_at(self, at: str, point: str, kinds: Collection[str] = KINDS) -> list[HookSpec]:
        is_continued = bool(self.turn.passes) and self.turn.passes[-1].rounds > 0
        return [] if is_continued and at == "SEND_REQUEST" else super().hooks_at(at, point, kinds)


@fault("HOOK-2", "has not answered at SEND_REQUEST pre", declare=UNSEEN, also=("HOOK-1",))
class SendsBeforeItsHooks(MessageLoop):
    """Sends a request before the hooks that were asked about it have answered."""

    async def ask_hooks(
        self, p: PassRecord, occasion: Occasion, point: str, kinds: Collection[str] = KINDS
    ) -> None:
        asking = super().ask_hooks(p, occasion, point, kinds)
        if (occasion.at, point) != ("SEND_REQUEST", "pre"):
            await asking
            return
        self.asking = asyncio.ensure_future(asking)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def open_stream(
        self, p: PassRecord, request: dict[str, Any], streams: list[ResponseStream]
    ) -> ResponseStream:
        stream = await super().open_stream(p, request, streams)
        await self.asking
        return stream


@fault("HOOK-3", also=("HOOK-8", "HOOK-9", "WIRE-1"), is_masked=True)
class ComposesInSpiteOfAGuard(MessageLoop):
    """Sends the request although a guard of COMPOSE_REQUEST denies it."""

    def deny(self, occasion: Occasion, why: str) -> None:
        if occasion.at == "COMPOSE_REQUEST":
            occasion.chart.send("leave")
            return
        super().deny(occasion, why)


@fault("HOOK-4", "yet")
class LosesRewrites(MessageLoop):
    """Ignores the rewrites of transforms."""

    def rewrite(self, occasion: Occasion, data: Mapping[str, Any]) -> None:
        pass


@fault("HOOK-5", "and that went on")
class ObeysObservers(MessageLoop):
    """Applies a rewrite by an observer."""

    def take(self, occasion: Occasion, hook: HookSpec, answer: HookAnswer | WorldFault) -> None:
        super().take(occasion, hook, answer)
        if not isinstance(answer, WorldFault) and hook.kind == "observer" and answer.kind == "rewrite":
            self.rewrite(occasion, answer.data or {})


@fault("HOOK-7", "was asked before hook")
class AsksHooksBackwards(MessageLoop):
    """Asks the hooks of a slot in reverse order."""

    def hooks_at(self, at: str, point: str, kinds: Collection[str] = KINDS) -> list[HookSpec]:
        return super().hooks_at(at, point, kinds)[::-1]


@fault("HOOK-8", ", yet transform")
class TransformsWhatWasDenied(MessageLoop):
    """Asks transforms although a guard has already denied."""

    async def ask_hooks(
        self, p: PassRecord, occasion: Occasion, point: str, kinds: Collection[str] = KINDS
    ) -> None:
        try:
            await super().ask_hooks(p, occasion, point, kinds)
        except Denied:
            hooks = self.hooks_at(occasion.at, point, kinds)
            last = next(hook for hook in hooks if hook.id == self.last_asked)
            for hook in hooks[hooks.index(last) + 1 :]:
                if hook.kind == "transform":
                    await self.ask_hook(p, occasion, hook)
            raise

    async def ask_hook(self, p: PassRecord, occasion: Occasion, hook: HookSpec) -> HookAnswer | WorldFault:
        answer = await super().ask_hook(p, occasion, hook)
        self.last_asked = hook.id
        return answer


@fault("HOOK-9", "which counts as deny, yet")
class GoesOnAfterABrokenGuard(Undeclared):
    """Continues after a hook fails, but declares that this counts as a denial."""

    follows = {"hook.fault": "continue"}


@fault("HOOK-10", also=("AUTH-31", "ROUND-2"))
class LeaksRewrites(MessageLoop):
    """Gives the next call the rewritten arguments of this one."""

    leaked: dict[str, Any] | None = None

    def rewrite(self, occasion: Occasion, data: Mapping[str, Any]) -> None:
        super().rewrite(occasion, data)
        if occasion.at == "TOOL_CALL" and isinstance(occasion.data.get("args"), dict):
            self.leaked = occasion.data["args"]

    async def ask_side(self, p: PassRecord, call: Call, occasion: Occasion, *, before: bool) -> bool:
        if before and self.leaked is not None:
            call.args = dict(self.leaked)
        return await super().ask_side(p, call, occasion, before=before)


@fault("HOOK-11", "was asked after the approval of call")
class RewritesAfterTheApproval(Undeclared):
    """Asks transforms after the approval, but declares that they come before it."""

    follows = {"rewrite.place": "after_approval"}


@fault("HOOK-12", "refused input is dropped, yet")
class KeepsRefusedInput(Undeclared):
    """Keeps an input that a guard refused, but declares that it drops it."""

    follows = {"input.refused": "kept"}


@fault("HOOK-7", "while hook")
class AsksAllHooksAtOnce(MessageLoop):
    """Asks the hooks of a slot concurrently, but declares that it asks them in the listed order."""

    async def ask_hooks(
        self, p: PassRecord, occasion: Occasion, point: str, kinds: Collection[str] = KINDS
    ) -> None:
        hooks: Sequence[HookSpec] = self.hooks_at(occasion.at, point, kinds)
        await self.ask_all_at_once(p, occasion, hooks)
