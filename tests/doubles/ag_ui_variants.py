"""Applications behind AG-UI that are right, each in a way of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ag_ui.core import RunAgentInput

from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.reference import factory
from runlock.conformance.wires.ag_ui_server import Served, Thread, Upstream, World
from runlock.conformance.wires.ui_clients import Json

PREFIX = "call-of-this-server-"


class RenamingWorld(World):
    """Its model and its client know calls by other ids than its runtime."""

    async def infer(self, messages: Sequence[Any], **more: Any) -> Any:
        return await super().infer([_renamed(dict(one)) for one in messages], **more)

    def observe(self, kind: str, **fields: Any) -> None:
        if kind == "event" and "toolCallId" in fields["data"]:
            data = {**fields["data"], "toolCallId": PREFIX + fields["data"]["toolCallId"]}
            fields = {**fields, "data": data}
        super().observe(kind, **fields)


def _renamed(message: Json) -> Json:
    if message.get("call"):
        message["call"] = PREFIX + message["call"]
    if message.get("tool_calls"):
        message["tool_calls"] = [{**one, "id": PREFIX + one["id"]} for one in message["tool_calls"]]
    return message


class Renaming(Thread):
    """Renames calls."""

    def world_of(self, upstream: Upstream, names: Sequence[str]) -> World:
        return RenamingWorld(upstream, names)

    def interrupts(self) -> list[Json]:
        return [{**one, "toolCallId": PREFIX + one["toolCallId"]} for one in super().interrupts()]


class Batch(Thread):
    """Asks once for a round, and takes a list of decisions in the order of its calls."""

    def interrupts(self) -> list[Json]:
        word = {"type": "object", "properties": {"type": {"enum": ["approve", "reject", "edit"]}}}
        schema = {"type": "object", "properties": {"decisions": {"type": "array", "items": word}}}
        return [{"id": "round", "reason": "tool_calls", "responseSchema": schema}]

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        given = [
            one["type"] == "approve" for entry in asked.resume or () for one in entry.payload["decisions"]
        ]
        return list(zip(sorted(self.pending), given, strict=False))


class Nameless(Thread):
    """Asks about each call in an interrupt that does not name it, and needs an answer to all of them."""

    def interrupts(self) -> list[Json]:
        return [
            {"id": f"ask-{at}", "reason": "tool_call", "responseSchema": one["responseSchema"], "metadata": {
                "call": one["toolCallId"],
            }}
            for at, one in enumerate(reversed(super().interrupts()))
        ]  # fmt: skip

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        calls = {one["id"]: one["metadata"]["call"] for one in self.interrupts()}
        given = [one for one in asked.resume or () if one.interrupt_id in calls]
        if len(given) < len(calls):
            return []
        return [
            (calls[one.interrupt_id], one.status == "resolved" and bool(one.payload["approved"]))
            for one in given
        ]


class ByResult(Thread):
    """Its client gives the result of a call that waits, which says whether it is approved."""

    def finished(self, ids: Mapping[str, str]) -> Json:
        outcome = {"type": "success", "pendingToolCallIds": self.pending}
        return {"type": "RUN_FINISHED", **ids, "outcome": outcome}

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        given = {one.tool_call_id: one.content for one in asked.messages if one.role == "tool"}
        return [(call, json.loads(str(given[call]))["approved"]) for call in self.pending if call in given]


class ByResultAlone(ByResult):
    """Its runs end without an outcome: what has no result then waits for one."""

    def finished(self, ids: Mapping[str, str]) -> Json:
        return {"type": "RUN_FINISHED", **ids}


class Worded(Thread):
    """Takes a word for an answer."""

    def interrupts(self) -> list[Json]:
        return [{**one, "responseSchema": {"enum": ["accept", "reject"]}} for one in super().interrupts()]

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        return [
            (one.interrupt_id.removeprefix("int-"), one.payload == "accept") for one in asked.resume or ()
        ]


class Plain(Thread):
    """Takes true or false for an answer, and says so nowhere."""

    def interrupts(self) -> list[Json]:
        return [
            {key: value for key, value in one.items() if key != "responseSchema"}
            for one in super().interrupts()
        ]

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        return [(one.interrupt_id.removeprefix("int-"), one.payload is True) for one in asked.resume or ()]


class Legacy(Thread):
    """Asks once for a round by a custom event, and is answered in what is forwarded to it."""

    def finished(self, ids: Mapping[str, str]) -> Json:
        asked = {"action_requests": [{"name": "write", "args": {}} for _ in self.pending]}
        self.world.send({"type": "CUSTOM", "name": "on_interrupt", "value": json.dumps(asked)})
        return {"type": "RUN_FINISHED", **ids}

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        command = (asked.forwarded_props or {}).get("command") or {}
        given = [one["type"] == "approve" for one in (command.get("resume") or {}).get("decisions", ())]
        return list(zip(sorted(self.pending), given, strict=False))


class PrefixedWorld(World):
    """Offers its model the tools of a server under the name of that."""

    server = "kit_"

    async def infer(self, messages: Sequence[Any], **more: Any) -> Any:
        turn = await super().infer([self._named(dict(one)) for one in messages], **more)
        calls = [
            one.model_copy(update={"name": one.name.removeprefix(self.server)}) for one in turn.tool_calls
        ]
        return turn.model_copy(update={"tool_calls": calls})

    def offered(self) -> Sequence[str]:
        return [self.server + name for name in self.names]

    def _named(self, message: Json) -> Json:
        """A message with the names that the model used; it may have made one up."""
        if message.get("tool_calls"):
            message["tool_calls"] = [
                {**one, "name": self._long(one["name"])} for one in message["tool_calls"]
            ]
        return message

    def _long(self, name: str) -> str:
        return self.server + name if name in self.names else name

    def observe(self, kind: str, **fields: Any) -> None:
        if kind == "event" and "toolCallName" in fields["data"]:
            data = {**fields["data"], "toolCallName": self._long(fields["data"]["toolCallName"])}
            fields = {**fields, "data": data}
        super().observe(kind, **fields)


class TwicePrefixedWorld(PrefixedWorld):
    """In another spelling."""

    server = "mcp__kit__"


class Prefixed(Thread):
    """Puts the name of a server before those of its tools."""

    def world_of(self, upstream: Upstream, names: Sequence[str]) -> World:
        return PrefixedWorld(upstream, names)


class TwicePrefixed(Thread):
    """In another spelling."""

    def world_of(self, upstream: Upstream, names: Sequence[str]) -> World:
        return TwicePrefixedWorld(upstream, names)


class TitlingWorld(World):
    """Has its model name each conversation first."""

    async def infer(self, messages: Sequence[Any], **more: Any) -> Any:
        body = {"model": "kit", "messages": [{"role": "user", "content": "name this conversation"}]}
        await self.upstream.http.post(f"{self.upstream.model}/chat/completions", json=body)
        return await super().infer(messages, **more)


class Titling(Thread):
    """Asks its model for more than turns."""

    def world_of(self, upstream: Upstream, names: Sequence[str]) -> World:
        return TitlingWorld(upstream, names)


class Shrugging(Thread):
    """Answers with an empty run where nothing waits for what a request decides."""

    async def _verb(self, asked: RunAgentInput) -> Segment | None:
        if self.answers(asked) and not self.pending:
            return None
        return await super()._verb(asked)


class Finishing(Thread):
    """Finishes a run whose client has gone away."""

    async def leave(self) -> None:
        """Go on."""


def _with(policies: Mapping[str, str], thread: Any = Thread) -> Served:
    return Served(factory("awaken-8", policies), ("write",), ("read",), thread)


VARIANTS: Mapping[str, Served] = {
    "usual": _with({}),
    "renaming": _with({}, Renaming),
    "batch": _with({}, Batch),
    "nameless": _with({}, Nameless),
    "by-result": _with({}, ByResult),
    "by-result-alone": _with({}, ByResultAlone),
    "worded": _with({}, Worded),
    "plain": _with({}, Plain),
    "legacy": _with({}, Legacy),
    "prefixed": _with({}, Prefixed),
    "twice-prefixed": _with({}, TwicePrefixed),
    "titling": _with({}, Titling),
    "finishing": _with({}, Finishing),
    "shrugging": _with({}, Shrugging),
    "waits-for-all": _with({"resume": "collect"}),
    "refuses-a-part": _with({"resume": "all_or_nothing"}),
    "superseding": _with({"input.waiting": "supersede"}),
    "going-on": _with({"input.waiting": "placeholder"}),
    "one-after-the-other": _with({"round.executor": "sequential"}),
}
"""By name; what is not of the dialect is a policy of its runtime."""
