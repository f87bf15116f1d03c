"""Legal variants of the reference runner: the kit must report no violation for them.

Each variant uses a freedom that the source or a real runner leaves open: another value of a policy,
a stream that is yielded later, fewer observations, or more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.families.tool_runner.reference import OBSERVES, STIMULI, ReferenceAdapter
from runlock.machines.tool_runner.runtime.history import Call, Message, plain
from runlock.machines.tool_runner.runtime.runner import Item, Runner
from runlock.machines.tool_runner.runtime.world import Answer

__all__ = ["VARIANTS", "Variant"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A legal variant; calling it without arguments returns an adapter of it."""

    name: str
    freedom: str
    profile: str = "tool-runner"
    policies: Mapping[str, Any] = field(default_factory=dict)
    make: type[Runner] = Runner
    declare: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> ReferenceAdapter:
        """A new adapter of the variant."""
        return ReferenceAdapter(self.profile, self.policies, self.make, self.declare)


class YieldsAtTheFirstPiece(Runner):
    """A stream is yielded when its first piece comes."""

    async def next_item(self) -> Item:
        if not self.stream:
            return await super().next_item()
        self.begin_iteration()
        await self.iteration.pieces.wait()
        if self.at == "Asked" and self.request is not None and not self.request.done():
            self.move("open")
            return Item(None, self.iteration.pieces)
        await self.wait_for_turn()
        self.move("hand_over")
        return Item(self.iteration.turn, self.iteration.pieces)


class YieldsAtTheEnd(Runner):
    """A stream is yielded when its turn is complete."""

    async def next_item(self) -> Item:
        if not self.stream:
            return await super().next_item()
        self.begin_iteration()
        await self.wait_for_turn()
        self.move("hand_over")
        return Item(self.iteration.turn, self.iteration.pieces)


class TellsOfTools(Runner):
    """A system message tells the model that the tools were changed."""

    def change_tools(self, add: Sequence[str], remove: Sequence[str]) -> None:
        super().change_tools(add, remove)
        self.has_news = True

    def begin_iteration(self) -> None:
        if getattr(self, "has_news", False):
            self.has_news = False
            names = ", ".join(self.state.tools.names())
            self.put(
                len(self.state.messages), [plain({"role": "system", "text": f"The tools are now: {names}."})]
            )
        super().begin_iteration()


class NamesNoTools(Runner):
    """A request does not name its tools."""

    def named_tools(self) -> list[str] | None:
        return None


class TellsNoTool(Runner):
    """A tool is not told its call id."""

    async def _execute(self, call: Call, version: int) -> Answer:
        return await self.world.execute(None, call["name"], call["args"], version)


class CallsTheLimitAnEnd(Runner):
    """A run that its limit ended has the reason NaturalEnd."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, "NaturalEnd" if reason == "Stopped" else reason, *facts)


class RespondsToNoPause(Runner):
    """There is no response to a turn that does not ask for tools."""

    def answerable(self) -> list[Call]:
        return super().answerable() if self.asks_for_tools() else []


class SendsTheWhole(Runner):
    """A request carries the whole history, though a part would be enough."""

    def number_sent(self, messages: Sequence[Message]) -> int:
        return len(messages)


class TakesItsTime(Runner):
    """A few ticks of the event loop pass before each request and each call."""

    async def next_item(self) -> Item:
        for _ in range(3):
            await asyncio.sleep(0)
        return await super().next_item()

    async def _execute(self, call: Call, version: int) -> Answer:
        for _ in range(3):
            await asyncio.sleep(0)
        return await super()._execute(call, version)


class CancelsWithoutTheTurn(Runner):
    """A turn that the user had at a cancel is not appended."""

    def place_turn(self) -> None:
        if self.is_cancelled and self.says("cancel.handed_over", "not_run"):
            return
        super().place_turn()


def _without(all_of: Sequence[str], *left_out: str) -> list[str]:
    return [one for one in all_of if one not in left_out]


CORE = "tool-runner-core"

VARIANTS: Final[tuple[Variant, ...]] = (
    Variant("python", "does what the Python SDK is built to do", "tool-runner-python"),
    Variant("typescript", "does what the TypeScript SDK is built to do", "tool-runner-typescript"),
    Variant("go", "does what the Go SDK is built to do", "tool-runner-go"),
    Variant("core", "claims the core alone", CORE),
    Variant(
        "core-on-receipt",
        "has the turn in the state before it is yielded",
        CORE,
        {"runner.append": "on_receipt"},
    ),
    Variant(
        "core-received",
        "handles the calls of the turn, whatever was pushed",
        CORE,
        {"runner.inspects": "received", "runner.append": "unless_pushed"},
    ),
    Variant("core-streaming", "starts calls from the stream", CORE, {"tools.start": "streaming"}),
    Variant("sequential", "runs calls one by one", policies={"round.executor": "sequential"}),
    Variant("by-finish", "orders results as calls finish", policies={"results.order": "finish"}),
    Variant("ending-at-a-raise", "ends when a tool throws", policies={"tool.raises": "end_run"}),
    Variant("ending-at-a-final-turn", "ends with a final turn", policies={"runner.finish": "received"}),
    Variant("preempting", "does not run the last calls", policies={"stop.tools": "preempted"}),
    Variant("ending-at-a-pause", "ends at a paused turn", policies={"runner.pause": "ends"}),
    Variant("dropping-the-final-turn", "leaves out the last turn", policies={"end.turn": "dropped"}),
    Variant("keeping-pauses", "keeps a changed pause", policies={"pause.changed": "kept"}),
    Variant("running-what-was-cut-off", "runs the calls of any turn", policies={"runner.cut_off": "run"}),
    Variant(
        "running-all-but-refusals", "runs what was cut off", policies={"runner.cut_off": "run_unless_refused"}
    ),
    Variant("cache-until-change", "drops a response at a change", policies={"runner.cache": "until_change"}),
    Variant("cache-until-push", "drops a response at a push", policies={"runner.cache": "until_push"}),
    Variant("cache-by-state", "drops a response with its state", policies={"runner.cache": "by_state"}),
    Variant("cache-none", "keeps no response", policies={"runner.cache": "none"}),
    Variant(
        "late-tools",
        "applies changes of tools at the next request",
        policies={"tools.added": "next_request", "tools.removed": "next_request"},
    ),
    Variant("over", "cannot be continued", policies={"again.break": "over", "again.fault": "over"}),
    Variant(
        "running-what-was-handed-over",
        "lets a turn's calls run after a cancel",
        policies={"cancel.handed_over": "run", "cancel.inflight": "drain"},
    ),
    Variant("counting-requests", "counts failed requests", policies={"limit.counts": "requests"}),
    Variant("zero-is-zero", "sends nothing at a limit of 0", policies={"limit.zero": "no_request"}),
    Variant("whole-history", "sends everything each time", policies={"runner.history": "whole"}),
    Variant("sending-the-whole", "sends everything, though part would be enough", make=SendsTheWhole),
    Variant("yielding-at-the-first-piece", "waits for the first piece", make=YieldsAtTheFirstPiece),
    Variant("yielding-at-the-end", "waits for the whole stream", make=YieldsAtTheEnd),
    Variant("telling-of-tools", "tells the model of new tools", make=TellsOfTools),
    Variant("naming-no-tools", "does not name its tools", make=NamesNoTools),
    Variant("telling-no-tool", "does not pass call ids on", make=TellsNoTool),
    Variant("calling-the-limit-an-end", "reports a limit as NaturalEnd", make=CallsTheLimitAnEnd),
    Variant("responding-to-no-pause", "answers no paused turn", make=RespondsToNoPause),
    Variant("slow", "waits some ticks of the event loop", make=TakesItsTime),
    Variant("cancelling-without-the-turn", "drops the turn at a cancel", make=CancelsWithoutTheTurn),
    Variant(
        "quiet", "reports no message", declare={"observes": _without(OBSERVES, "message", "runner.response")}
    ),
    Variant(
        "without-responses", "gives no response", declare={"stimuli": _without(STIMULI, "runner.respond")}
    ),
    Variant(
        "without-streams", "has no streams", declare={"runner": {"stream": [False], "max_iterations": True}}
    ),
    Variant(
        "without-cancels",
        "takes no signal",
        declare={"stimuli": _without(STIMULI, "cancel", "cancel.yield")},
    ),
)
