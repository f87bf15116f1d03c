"""The outside world of a runtime of the kit that is served: its model and its tools, wherever they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import httpx
from mcp import Client

from runlock.conformance.families.lifecycle.adapter import Checkpoint, ToolRaised
from runlock.conformance.families.lifecycle.messages import Decision, HookAnswer, Outcome, Scenario, Verdict
from runlock.conformance.protocol import Turn
from runlock.conformance.transport.world import ModelFault, as_json
from runlock.conformance.wires.model_apis import chat_completions
from runlock.conformance.wires.ui_clients import Json

OPEN_TIME_SECONDS: Final = 600.0


@dataclass
class Upstream:
    """The model and the tools, wherever they are, and a folder for what is kept, if there is one."""

    model: str
    http: httpx.AsyncClient
    tools: Client
    data: str | None


class World:
    """The outside world of one thread, in the way of a `Host`; what it observes is streamed."""

    def __init__(self, upstream: Upstream, names: Sequence[str]) -> None:
        self.upstream = upstream
        self.names = names
        self.run: str | None = None
        self.refusals: list[str] = []
        self.send: Callable[[Json], None] = lambda event: None
        self.keep: Callable[[Any], None] = lambda state: None
        self.life = 1
        self.messages = count(1)

    def within(self, call: str) -> World:
        """No tool of an application is an agent."""
        raise NotImplementedError

    def offered(self) -> Sequence[str]:
        """The tools, by the names under which the model is offered them."""
        return self.names

    async def infer(self, messages: Sequence[Any], **more: Any) -> Turn:
        tools = [
            {"type": "function", "function": {"name": name, "parameters": {}}} for name in self.offered()
        ]
        said = [_said(as_json(one)) for one in messages]
        body = {"model": "kit", "messages": said, "tools": tools}
        answer = await self.upstream.http.post(f"{self.upstream.model}/chat/completions", json=body)
        if answer.status_code != 200:
            raise ModelFault(_fault(answer))
        turn = _turn(answer.json()["choices"][0]["message"])
        self._tell(turn.text)
        return turn

    async def tool(self, call: str, name: str, args: Any, **more: Any) -> Outcome:
        result: Any = await cancelled_once(self.upstream.tools.call_tool(name, dict(args)))
        text = "".join(part.text for part in result.content)
        if result.is_error:
            raise ToolRaised(text)
        return Outcome(kind="ok", content=text)

    async def permit(self, *given: Any, **more: Any) -> Verdict:
        return Verdict(kind="allow")

    async def hook(self, *given: Any, **more: Any) -> HookAnswer:
        return HookAnswer(kind="continue")

    async def apply(self, calls: Sequence[str]) -> None:
        """Results are kept in memory."""

    async def commit(self, checkpoint: Checkpoint) -> None:
        """Keep the newest checkpoint."""
        self.keep(checkpoint.state)

    def observe(self, kind: str, **fields: Any) -> None:
        """Stream what is an event of AG-UI."""
        if kind == "event" and (event := self._event(fields["name"], fields["data"])) is not None:
            self.send(event)

    def refuse(self, why: str, decision: str | None = None) -> None:
        self.refusals.append(why)

    def _tell(self, text: str) -> None:
        if not text:
            return
        name = self._new_message()
        self.send({"type": "TEXT_MESSAGE_START", "messageId": name, "role": "assistant"})
        self.send({"type": "TEXT_MESSAGE_CONTENT", "messageId": name, "delta": text})
        self.send({"type": "TEXT_MESSAGE_END", "messageId": name})

    def _event(self, name: str, data: Mapping[str, Any]) -> Json | None:
        """An event of the runtime with the fields that the protocol wants; the server ends the runs."""
        if name not in SHOWN:
            return None
        event = {"type": name, **{key: data[key] for key in SHOWN[name]}}
        return {**event, "messageId": self._new_message()} if name == "TOOL_CALL_RESULT" else event

    def _new_message(self) -> str:
        """An id that no life of the thread has used before."""
        return f"message-{self.life}-{next(self.messages)}"


SHOWN: Final[Mapping[str, Sequence[str]]] = {
    "TOOL_CALL_START": ["toolCallId", "toolCallName"],
    "TOOL_CALL_ARGS": ["toolCallId", "delta"],
    "TOOL_CALL_END": ["toolCallId"],
    "TOOL_CALL_RESULT": ["toolCallId", "content", "role"],
}


def _fault(answer: httpx.Response) -> str:
    """What a model end says of a request that it refuses; one that ends meanwhile says nothing in JSON."""
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return f"the model end answered {answer.status_code}"


def _said(message: Mapping[str, Any]) -> Json:
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["call"], "content": message.get("text", "")}
    calls = [
        {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": _args(one)}}
        for one in message.get("tool_calls") or ()
    ]
    said = {"role": message["role"], "content": message.get("text", "")}
    return {**said, "tool_calls": calls} if calls else said


def _args(call: Mapping[str, Any]) -> str:
    args = call.get("args", {})
    return args if isinstance(args, str) else json.dumps(args)


def _turn(message: Mapping[str, Any]) -> Turn:
    found = chat_completions.asked({"messages": [message]}).messages[0]
    return Turn(text=found.text, tool_calls=found.tool_calls)


def decision_of(name: str, call: str, approves: bool) -> Decision:
    """What an approval or a rejection is to a runtime."""
    return Decision(id=name, call=call, action="resume" if approves else "cancel")


TASKS: Final[set[asyncio.Task[Any]]] = set()


async def cancelled_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Await a call of a tool; a second cancel would stop the client from telling the tool of the first."""
    calling = kept(work)
    try:
        return await asyncio.shield(calling)
    except asyncio.CancelledError:
        calling.cancel()
        raise


def kept(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """A task that lives on without its client."""
    task = asyncio.create_task(work)
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)
    return task


def scenario_of(ask: Sequence[str], free: Sequence[str]) -> Scenario:
    """The tools of an application, as a scenario has them."""
    tools = [{"name": name, "permission": "ask"} for name in ask]
    tools += [{"name": name, "permission": "allow"} for name in free]
    return Scenario.model_validate({"scenario": "served", "tools": tools})
