"""An agent of the Agent Client Protocol: a runtime of the kit, right or wrong, over a pipe as any other is.

It speaks the version that its client asks for.
It finds its model and a folder for its data by the environment, and its tools where its client says; it knows
nothing of the kit.  A session that was stored goes on in another process.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import httpx
from acp import RequestError, run_agent, schema
from acp.stdio import stdio_streams
from mcp import Client

from runlock.conformance.families.lifecycle.adapter import AdapterFactory, Refused, Segment
from runlock.conformance.families.lifecycle.messages import Outcome
from runlock.conformance.protocol import Message, ToolCall, Turn
from runlock.conformance.wires.acp_fronts import (
    INFO,
    AnsweringFront,
    ReportingFront,
    put_back,
    wants_states,
)
from runlock.conformance.wires.address import DATA, PORT, exported
from runlock.conformance.wires.json_rpc import LINE_MAX
from runlock.conformance.wires.served_world import (
    OPEN_TIME_SECONDS,
    Upstream,
    World,
    decision_of,
    kept,
    scenario_of,
)
from runlock.conformance.wires.thread_store import ThreadStore
from runlock.conformance.wires.ui_clients import Json

OPTIONS: Final = (
    schema.PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    schema.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
)
STOPS: Final = {"Cancelled": "cancelled", "Blocked": "refusal"}
"""The stop reasons, by how a run ended; any other is `end_turn`."""


class AgentWorld(World):
    """The outside world of a session: its client hears what its model and its tools do."""

    update: Callable[[Json], Any]

    async def infer(self, messages: Sequence[Any], **more: Any) -> Turn:
        turn = await super().infer(messages, **more)
        if turn.text:
            await self.update(_chunk("agent_message_chunk", turn.text))
        for call in turn.tool_calls:
            await self.begin(call)
        return turn

    async def begin(self, call: ToolCall) -> None:
        """Tell of a call that the model asks for."""
        known = {"toolCallId": call.id, "title": call.name, "kind": "other", "rawInput": call.args}
        await self.update({"sessionUpdate": "tool_call", "status": "pending", **known})

    async def move(self, call: str, status: str, **more: Any) -> None:
        """Tell how far a call is."""
        await self.update({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, **more})

    async def tool(self, call: str, name: str, args: Any, **more: Any) -> Outcome:
        await self.move(call, "in_progress")
        try:
            outcome = await super().tool(call, name, args, **more)
        except Exception:
            await self.move(call, "failed")
            raise
        await self.move(call, "completed", rawOutput=outcome.content)
        return outcome

    def observe(self, kind: str, **fields: Any) -> None:
        """Its updates say what happens."""


class AgentSession:
    """One session: its runtime, what waits in it, and its prompts."""

    world_of: Callable[[Upstream, Sequence[str]], AgentWorld] = AgentWorld
    options: Sequence[schema.PermissionOption] = OPTIONS

    def __init__(self, agent: ServedAgent, upstream: Upstream, name: str) -> None:
        self.agent = agent
        self.name = name
        self.adapter: Any = agent.served.make()
        self.world = type(self).world_of(upstream, [*agent.served.ask, *agent.served.free])
        self.world.update = self._update
        self.world.keep = self._keep
        self.store = ThreadStore(upstream.data, name)
        self.runs = 0
        self.pending: list[str] = []
        self.is_cancelled = False
        self.has_cancelled = asyncio.Event()  # the runtime has taken a cancel
        self.decisions = count(1)
        self.asking: dict[str, asyncio.Task[bool | None]] = {}

    async def open(self) -> None:
        """Begin."""
        await self.adapter.open(self.world, self.agent.served.scenario)

    async def load(self, replays: bool = True) -> None:
        """Go on from what was stored, and tell of it if it `replays`."""
        stored = self.store.read()
        if stored is None:
            raise RequestError.resource_not_found(self.name)
        state = stored["state"]
        self.world.run, self.runs = stored["run"], stored["runs"]
        self.pending = [name for name, call in state["calls"].items() if call["status"] == "Suspended"]
        await self.adapter.restore(self.world, self.agent.served.scenario, state)
        self._keep(state)
        for one in (state.get("messages") or ()) if replays else ():
            await self._replay(Message.model_validate(one))

    async def _replay(self, said: Message) -> None:
        if said.role in ("user", "assistant") and said.text:
            kind = "user_message_chunk" if said.role == "user" else "agent_message_chunk"
            await self._update(_chunk(kind, said.text))
        for call in said.tool_calls:
            await self.world.begin(call)
        if said.role == "tool":
            await self.world.move(str(said.call), "completed")

    def _keep(self, state: Any) -> None:
        self.store.write({"run": self.world.run, "runs": self.runs, "state": state})

    async def _update(self, update: Json) -> None:
        await self.agent.front.update(self.name, update)

    # A prompt.

    async def prompt(self, text: str) -> str:
        """Run once, and give the stop reason; permissions are asked on the way."""
        self.runs += 1
        self.is_cancelled = False
        self.has_cancelled.clear()
        waits, self.world.run = bool(self.pending), f"run-{self.runs}"
        try:
            segment = await (self.adapter.input(text) if waits else self.adapter.start(text))
            while segment is not None and segment.reason.code == "Suspended":
                decisions = await self._decisions(segment.pending)
                if self.is_cancelled:
                    break
                segment = await self.adapter.decide(decisions)
            if self.is_cancelled:
                await self.has_cancelled.wait()
        except Refused as refused:
            raise RequestError.invalid_request({"details": str(refused)}) from refused
        finally:
            self.asking = {}
        return self.stop_of(segment)

    def stop_of(self, segment: Segment | None) -> str:
        """The stop reason of a run that ended so."""
        self.pending = [] if segment is None or self.is_cancelled else list(segment.pending)
        if segment is None or self.is_cancelled:
            return "cancelled"
        reason: Any = segment.reason
        if reason.code == "Error":
            raise RequestError.internal_error({"details": str(reason.detail or "the run failed")})
        return STOPS.get(reason.code, "end_turn")

    async def cancel(self) -> None:
        """The client cancels the prompt."""
        self.is_cancelled = True
        try:
            await self.adapter.cancel()
        finally:
            self.has_cancelled.set()

    async def close(self) -> None:
        """The client closes the session, which cancels its prompt."""
        await self.cancel()

    async def leave(self) -> None:
        """The client is gone: what is under way is cancelled, and so stored."""
        await self.cancel()

    # What another agent does in another way.

    def to_ask(self, pending: Sequence[str]) -> Sequence[str]:
        """The calls that wait whose permissions are asked now."""
        return pending

    async def _decisions(self, pending: Sequence[str]) -> list[Any]:
        """Ask for permissions, and wait until at least one is answered."""
        for call in self.to_ask(pending):
            if call not in self.asking:
                self.asking[call] = kept(self.ask(call))
        waiting = [task for call, task in self.asking.items() if call in pending]
        await asyncio.sleep(0)  # the permissions are asked before it is said that they are waited for
        await self.agent.front.move(self.name, "requires_action")
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not self.is_cancelled:
            await self.agent.front.move(self.name, "running")
        answered = {call: task.result() for call, task in self.asking.items() if task.done()}
        self.asking = {call: task for call, task in self.asking.items() if call not in answered}
        for call, approves in answered.items():
            if not approves:
                await self.world.move(call, "failed")
        name = f"d{self.runs}.{next(self.decisions)}"
        return [decision_of(f"{name}.{call}", call, bool(approves)) for call, approves in answered.items()]

    async def ask(self, call: str) -> bool | None:
        """Ask for one permission; None if the prompt is cancelled instead."""
        chosen = await self.agent.front.ask(self.name, call, self.options)
        return None if chosen is None else chosen == "allow"


@dataclass(frozen=True, slots=True)
class ServedAs:
    """What is served: the runtime, and which tools need a permission."""

    make: AdapterFactory
    ask: Sequence[str]
    free: Sequence[str]
    session: type[AgentSession] = AgentSession
    loads: bool = True
    closes: bool = False
    states: type[ReportingFront] | None = ReportingFront  # what speaks version 2, if anything does

    @property
    def scenario(self) -> Any:
        """The tools, as a scenario has them."""
        return scenario_of(self.ask, self.free)


class ServedAgent:
    """The agent of one process; its tools are those of the first server that a client names."""

    def __init__(self, served: ServedAs, environment: Mapping[str, str]) -> None:
        self.served = served
        self.environment = environment
        self.sessions: dict[str, AgentSession] = {}
        self._upstream: asyncio.Future[Upstream] | None = None

    front: Any  # what its sessions tell, in the version that was asked for

    def on_connect(self, conn: Any) -> None:
        self.client = conn
        self.front = AnsweringFront(conn)

    async def initialize(self, protocol_version: int, **more: Any) -> schema.InitializeResponse:
        http = schema.McpCapabilities(http=True)
        closes = schema.SessionCapabilities(close=schema.SessionCloseCapabilities())
        can = schema.AgentCapabilities(
            load_session=self.served.loads,
            mcp_capabilities=http,
            session_capabilities=closes if self.served.closes else None,
        )
        info = schema.Implementation.model_validate(INFO)
        return schema.InitializeResponse(protocol_version=1, agent_capabilities=can, agent_info=info)

    async def new_session(self, cwd: str, mcp_servers: Any = None, **more: Any) -> schema.NewSessionResponse:
        return schema.NewSessionResponse(session_id=await self.begin(mcp_servers[0].url))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, **more: Any
    ) -> schema.LoadSessionResponse:
        await self.resume(session_id, mcp_servers[0].url)
        return schema.LoadSessionResponse()

    async def begin(self, tools: str) -> str:
        """Begin a session with the tools at a URL; its id."""
        name = f"session-{os.getpid()}-{len(self.sessions) + 1}"
        session = await self._session(name, tools)
        await session.open()
        return name

    async def resume(self, name: str, tools: str, **more: Any) -> None:
        """Go on with a session that was stored."""
        session = await self._session(name, tools)
        await session.load(**more)

    async def _session(self, name: str, tools: str) -> AgentSession:
        if self._upstream is None:
            self._upstream = asyncio.get_running_loop().create_future()
            kept(self._connect(tools, self._upstream))
        session = self.served.session(self, await self._upstream, name)
        self.sessions[name] = session
        return session

    async def _connect(self, url: str, connected: asyncio.Future[Upstream]) -> None:
        """Hold the connections open as long as the process lives."""
        limits = httpx.Timeout(OPEN_TIME_SECONDS, connect=5.0)
        async with AsyncExitStack() as stack:
            tools = await stack.enter_async_context(Client(url))
            http = await stack.enter_async_context(httpx.AsyncClient(timeout=limits, trust_env=False))
            model = self.environment["OPENAI_BASE_URL"]
            connected.set_result(Upstream(model, http, tools, self.environment.get(DATA)))
            await asyncio.Event().wait()

    async def prompt(self, session_id: str, prompt: Any, **more: Any) -> schema.PromptResponse:
        text = "".join(getattr(one, "text", "") for one in prompt)
        stop: Any = await self.sessions[session_id].prompt(text)
        return schema.PromptResponse(stop_reason=stop)

    async def cancel(self, session_id: str, **more: Any) -> None:
        if session_id in self.sessions:
            await self.sessions[session_id].cancel()

    async def close_session(self, session_id: str, **more: Any) -> schema.CloseSessionResponse:
        await self.sessions[session_id].close()
        return schema.CloseSessionResponse()

    async def leave(self) -> None:
        """Its client has closed the pipe."""
        for session in self.sessions.values():
            await session.leave()


def _chunk(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def serve(served: ServedAs) -> None:
    """Serve over standard input and output, until that ends."""
    agent: Any = ServedAgent(served, {**exported(PORT), **os.environ})  # the library calls what there is
    asyncio.run(until_left(agent))


async def until_left(agent: Any, *pipes: Any) -> None:
    """Serve until the client closes the pipe, in the version that its first line asks for."""
    writer: Any
    reader: Any
    writer, reader = pipes or (await stdio_streams(limit=LINE_MAX))[::-1]
    line = await reader.readline()
    reader = put_back(line, reader)
    if agent.served.states is not None and wants_states(line):
        agent.front = agent.served.states(agent, writer.write)
        await agent.front.serve(reader)
    else:
        await run_agent(agent, writer, reader, use_unstable_protocol=True)
    await agent.leave()
