"""Agents of the Agent Client Protocol: right ones, each in a way of its own, and wrong ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from acp import RequestError, schema
from ag_ui_variants import PrefixedWorld

from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.protocol import ToolCall
from runlock.conformance.wires.acp_server import AgentSession, AgentWorld, ServedAs
from runlock.conformance.wires.served_world import kept


class OneByOne(AgentSession):
    """Asks for a permission once the one before is answered."""

    def to_ask(self, pending: Sequence[str]) -> Sequence[str]:
        return () if self.asking else sorted(pending)[:1]


class AllAtOnce(AgentSession):
    """Goes on when all permissions of a round are answered."""

    async def _decisions(self, pending: Sequence[str]) -> list[Any]:
        decisions = await super()._decisions(pending)
        while self.asking:
            decisions += await super()._decisions(list(self.asking))
        return decisions


class ArgumentsUnseen(AgentWorld):
    """Shows a title of each call, and no arguments."""

    async def begin(self, call: ToolCall) -> None:
        known = {"toolCallId": call.id, "title": f"Use {call.name}", "status": "pending"}
        await self.update({"sessionUpdate": "tool_call", **known})


class Unseen(AgentSession):
    """Shows no arguments."""

    world_of = ArgumentsUnseen


class Prefixed(AgentSession):
    """Puts the name of the server before those of its tools."""

    class World(PrefixedWorld, AgentWorld):
        server = "mcp__kit__"

    world_of = World


class OtherOptions(AgentSession):
    """Offers what lasts, too, and names its options in its own way."""

    options = (
        schema.PermissionOption(option_id="2", name="Always", kind="allow_always"),
        schema.PermissionOption(option_id="allow", name="Yes", kind="allow_once"),
        schema.PermissionOption(option_id="4", name="Never", kind="reject_always"),
        schema.PermissionOption(option_id="reject", name="No", kind="reject_once"),
    )


class ForgetsWhatItLoads(AgentSession):
    """Takes a session that it is to load for a new one."""

    async def load(self) -> None:
        self.runs = (self.store.read() or {"runs": 0})["runs"]
        await self.open()


class DeadAfterACancel(AgentSession):
    """Takes no prompt after a cancel."""

    was_cancelled = False

    async def prompt(self, text: str) -> str:
        if self.was_cancelled:
            raise RequestError.internal_error({"details": "a prompt is under way"})
        stop = await super().prompt(text)
        self.was_cancelled = stop == "cancelled"
        return stop


class RemembersALateCancel(AgentSession):
    """Takes a cancel that comes after the end of a prompt for one of the next prompt."""

    is_late = is_at_work = False

    async def cancel(self) -> None:
        self.is_late = not self.is_at_work
        await super().cancel()

    async def prompt(self, text: str) -> str:
        self.is_at_work, was_late, self.is_late = True, self.is_late, False
        stop = await super().prompt(text)
        self.is_at_work = False
        return "cancelled" if was_late else stop


class FailsOnACancel(AgentSession):
    """Answers a prompt that was cancelled with an error."""

    def stop_of(self, segment: Any) -> str:
        stop = super().stop_of(segment)
        if stop == "cancelled":
            raise RequestError.internal_error({"details": "AbortError"})
        return stop


class AnswersACancel(AgentSession):
    """Takes a cancel for a request."""

    async def cancel(self) -> None:
        await self.agent.client._conn._transport.send({"jsonrpc": "2.0", "id": None, "result": None})
        await super().cancel()


class EndsTheTurnOnACancel(AgentSession):
    """Says of a prompt that was cancelled that the model has finished."""

    def stop_of(self, segment: Any) -> str:
        super().stop_of(segment)
        return "end_turn"


class AsksAfterACancel(OneByOne):
    """Asks for the last permission of a round when the one before was cancelled."""

    async def _decisions(self, pending: Sequence[str]) -> list[Any]:
        decisions = await super()._decisions(pending)
        if self.is_cancelled:
            for call in sorted(pending)[-1:]:
                await self.ask(call)
        return decisions


class TellsAfterACancel(AgentSession):
    """Tells of what was cancelled when the prompt is answered."""

    def stop_of(self, segment: Any) -> str:
        stop = super().stop_of(segment)
        if stop == "cancelled":
            asyncio.get_running_loop().call_later(0.003, lambda: kept(self._late()))
        return stop

    async def _late(self) -> None:
        await self._update({"sessionUpdate": "plan", "entries": []})


class ReportsTheRejectedAsDone(AgentSession):
    """Each call that is over is completed."""

    class World(AgentWorld):
        async def move(self, call: str, status: str, **more: Any) -> None:
            await super().move(call, "completed" if status == "failed" else status, **more)

    world_of = World


class AnnouncesNoCall(AgentSession):
    """Tells how calls go on, and not that they began."""

    class World(AgentWorld):
        async def begin(self, call: ToolCall) -> None:
            """It is not announced."""

    world_of = World


class AsksForAFile(AgentSession):
    """Reads a file of its client, which has not said that it can be asked for one."""

    async def prompt(self, text: str) -> str:
        with suppress(RequestError):
            await self.agent.client.read_text_file(session_id=self.name, path="/notes.md")
        return await super().prompt(text)


class DiesWithItsPipe(AgentSession):
    """Ends when its client closes the pipe, and stores nothing of the prompt that is under way."""

    async def leave(self) -> None:
        pass


class GoesOnWhenItIsClosed(AgentSession):
    """Takes a session for closed, and finishes its prompt."""

    async def close(self) -> None:
        pass


class RunsTheLate(AgentSession):
    """Takes what was cancelled for allowed."""

    async def ask(self, call: str) -> bool | None:
        answer = await super().ask(call)
        if answer is None:
            kept(self.world.tool(call, "write", {"k": f"{call}{self.mark}"}))
        return answer

    mark = ""

    async def prompt(self, text: str) -> str:
        self.mark = text[text.index("~") :]
        return await super().prompt(text)


class RunsBeforeItAsks(AgentSession):
    """Asks for a permission, and does not wait for its answer."""

    async def _decisions(self, pending: Sequence[str]) -> list[Any]:
        for call in pending:
            kept(self.ask(call))
        await asyncio.sleep(0)
        self.asking = {call: kept(_yes()) for call in pending}
        return await super()._decisions(pending)


async def _yes() -> bool:
    return True


def _as(session: type[AgentSession] = AgentSession, **more: Any) -> ServedAs:
    return ServedAs(factory("awaken-8", {}), ("write",), ("read",), session, **more)


RIGHT: Mapping[str, ServedAs] = {
    "right": _as(),
    "one-by-one": _as(OneByOne),
    "all-at-once": _as(AllAtOnce),
    "unseen": _as(Unseen),
    "prefixed": _as(Prefixed),
    "other-options": _as(OtherOptions),
    "no-load": _as(loads=False),
    "closes": _as(closes=True),
}
WRONG: Mapping[str, tuple[ServedAs, str]] = {
    "forgets-what-it-loads": (_as(ForgetsWhatItLoads), "AGAIN-2"),
    "dead-after-a-cancel": (_as(DeadAfterACancel), "AGAIN-1"),
    "remembers-a-late-cancel": (_as(RemembersALateCancel), "CANCEL-4"),
    "fails-on-a-cancel": (_as(FailsOnACancel), "CANCEL-2"),
    "answers-a-cancel": (_as(AnswersACancel), "PROMPT-9"),
    "ends-the-turn-on-a-cancel": (_as(EndsTheTurnOnACancel), "CANCEL-2"),
    "asks-after-a-cancel": (_as(AsksAfterACancel), "PROMPT-7"),
    "tells-after-a-cancel": (_as(TellsAfterACancel), "PROMPT-3"),
    "reports-the-rejected-as-done": (_as(ReportsTheRejectedAsDone), "PROMPT-6"),
    "announces-no-call": (_as(AnnouncesNoCall), "PROMPT-4"),
    "asks-for-a-file": (_as(AsksForAFile), "PROMPT-9"),
    "runs-the-late": (_as(RunsTheLate), "GATE-1"),
    "runs-before-it-asks": (_as(RunsBeforeItAsks), "GATE-1"),
}
"""By name: the agent, and the clause that it breaks."""

GOING_ON = _as(GoesOnWhenItIsClosed, closes=True)
DYING = _as(DiesWithItsPipe)
"""Wrong ones that show it where a session was loaded before."""

MUTATED = {mutant.name: ServedAs(mutant, ("write",), ("read",)) for mutant in MUTANTS}
AGENTS = {**RIGHT, **{name: served for name, (served, _) in WRONG.items()}, **MUTATED}
