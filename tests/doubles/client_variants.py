"""Applications behind AG-UI that depend on what their client sends, most of them wrongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ag_ui.core import RunAgentInput

from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.wires.ag_ui_server import Served, Thread, Upstream, World, says_yes
from runlock.conformance.wires.ui_clients import Json


class RunsTheAbandoned(Thread):
    """Whatever is not a plain no is a yes."""

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        return [
            (one.interrupt_id.removeprefix("int-"), one.payload is None or says_yes(one.payload))
            for one in asked.resume or ()
        ]


class EndsWithTheAbandoned(Thread):
    """A run whose question was given up is over, and its model is not asked again."""

    async def _verb(self, asked: RunAgentInput) -> Segment | None:
        segment = await super()._verb(asked) if not _gives_up(asked) else await self.adapter.cancel()
        return Segment("NaturalEnd") if _gives_up(asked) else segment


def _gives_up(asked: RunAgentInput) -> bool:
    return any(one.status == "cancelled" for one in asked.resume or ())


class AsksNotWhich(Thread):
    """Takes an answer for what waits, whatever it was asked about."""

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        return [(call, yes) for (_, yes), call in zip(super().answers(asked), self.pending, strict=False)]


WAITING: dict[str, Thread] = {}


class OneInbox(Thread):
    """Finds what an answer is for by its interrupt, on whatever thread it comes."""

    def interrupts(self) -> list[Json]:
        found = super().interrupts()
        WAITING.update({one["id"]: self for one in found})
        return found

    async def take(self, asked: RunAgentInput, send: Callable[[Json], None]) -> None:
        meant = [WAITING[one.interrupt_id] for one in asked.resume or () if one.interrupt_id in WAITING]
        await Thread.take(meant[0] if meant else self, asked, send)


class ClientWorld(World):
    """Shows its model what the client sent, and what came of it since."""

    sent: Sequence[Json] = ()

    async def infer(self, messages: Sequence[Any], **more: Any) -> Any:
        return await super().infer([*self.sent, *messages], **more)


class NoThread(Thread):
    """Keeps nothing between two requests: its thread is what the client sends."""

    def world_of(self, upstream: Upstream, names: Sequence[str]) -> World:
        self.upstream = upstream
        return ClientWorld(upstream, names)

    async def _verb(self, asked: RunAgentInput) -> Segment | None:
        if not self.pending:
            await self.adapter.open(self.world, self.scenario)
            assert isinstance(self.world, ClientWorld)
            self.world.sent = [_plain(one) for one in asked.messages[:-1]]
        return await super()._verb(asked)


def _plain(message: Any) -> Json:
    """A message of a client as its model is shown it."""
    return {
        "role": message.role,
        "text": str(message.content or ""),
        "call": getattr(message, "tool_call_id", None),
    }


def _with(thread: type[Thread]) -> Served:
    return Served(factory("awaken-8", {}), ("write",), ("read",), thread)


CLIENT_BOUND: Mapping[str, Served] = {
    "right": _with(Thread),
    "ends-with-the-abandoned": _with(EndsWithTheAbandoned),
    "runs-the-abandoned": _with(RunsTheAbandoned),
    "one-inbox-for-all": _with(OneInbox),
    "asks-not-which": _with(AsksNotWhich),
    "has-no-thread": _with(NoThread),
}
