"""An application that serves AG-UI: a runtime of the kit, right or wrong, over HTTP as any other one is.

It finds its model, its tools and a folder for its data by the environment, and knows nothing of the kit.  It
keeps its threads: of the messages of a request it reads the newest, if that is new.  Where it has a folder, a
thread goes on after a kill from its newest checkpoint.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import uvicorn
from ag_ui.core import RunAgentInput
from mcp import Client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.adapter import (
    AdapterFactory,
    Refused,
    Segment,
)
from runlock.conformance.families.lifecycle.messages import Scenario
from runlock.conformance.wires.address import DATA, PORT, exported
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

PATH: Final = "/agent"
ANSWER: Final = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}
"""What an interrupt asks for."""

NEWEST: Final = "1.1"
"""The newest version of the protocol that is spoken."""

OLDEST: Final = "1.0"
"""What is spoken with a client that declares no version, or one that cannot be read."""


@dataclass(frozen=True, slots=True)
class Served:
    """What is served: the runtime, and which tools need an approval; `thread` makes its threads."""

    make: AdapterFactory
    ask: Sequence[str]
    free: Sequence[str]
    thread: Callable[[Served, Upstream, str], Thread] | None = None

    def begin(self, upstream: Upstream, name: str) -> Thread:
        """A thread that this process has not met yet."""
        return (self.thread or Thread)(self, upstream, name)

    @property
    def scenario(self) -> Scenario:
        """The tools, as a scenario has them."""
        return scenario_of(self.ask, self.free)


class Thread:
    """One thread: its runtime, what waits in it, and the requests that it gets."""

    def __init__(self, application: Served, upstream: Upstream, name: str) -> None:
        self.adapter: Any = application.make()
        self.scenario = application.scenario
        self.world = self.world_of(upstream, [*application.ask, *application.free])
        self.world.keep = self._keep
        self.store = ThreadStore(upstream.data, name)
        self.opening: Any = self._opened()
        self.pending: list[str] = []
        self.runs = 0
        self.heard: Any = None  # the message of a user that began or changed a run last
        self.is_restored = False  # and not asked since
        self.turn = asyncio.Lock()  # a thread runs one request at a time

    async def take(self, asked: RunAgentInput, send: Callable[[Json], None]) -> None:
        """Run once, and send the events; what is refused is an error of this run alone."""
        async with self.turn:
            self.world.send = send
            if self.opening is not None:
                opening, self.opening = self.opening, None
                await opening
            await self._take(asked)

    async def leave(self) -> None:
        """The client has gone away: what it waited for is given up."""
        if self.opening is None:
            await self.adapter.cancel()

    async def _opened(self) -> None:
        kept = self.store.read()
        if kept is None:
            await self.adapter.open(self.world, self.scenario)
            return
        self.world.run, self.runs, self.heard = kept["run"], kept["runs"], kept["heard"]
        state = kept["state"]
        self.pending = [name for name, call in state["calls"].items() if call["status"] == "Suspended"]
        self.is_restored, self.world.life = True, kept["life"] + 1
        self._keep(state)
        await self.adapter.restore(self.world, self.scenario, state)

    def _keep(self, state: Any) -> None:
        own = {"life": self.world.life, "run": self.world.run, "runs": self.runs, "heard": self.heard}
        self.store.write({**own, "state": state})

    # What another application does in another way.

    def world_of(self, upstream: Upstream, names: Sequence[str]) -> World:
        """The outside world of the runtime."""
        return World(upstream, names)

    def interrupts(self) -> list[Json]:
        """What a run waits for: an approval of each call."""
        return [
            {"id": f"int-{call}", "reason": "tool_call", "toolCallId": call, "responseSchema": ANSWER}
            for call in self.pending
        ]

    def answers(self, asked: RunAgentInput) -> list[tuple[str, bool]]:
        """Which calls a request decides, and whether it approves them."""
        return [
            (entry.interrupt_id.removeprefix("int-"), entry.status == "resolved" and says_yes(entry.payload))
            for entry in asked.resume or ()
        ]

    def finished(self, ids: Mapping[str, str]) -> Json:
        """The end of a run that waits."""
        return _finished(ids, {"type": "interrupt", "interrupts": self.interrupts()})

    # A run.

    async def _take(self, asked: RunAgentInput) -> None:
        ids = {"threadId": asked.thread_id, "runId": asked.run_id}
        self.world.send({"type": "RUN_STARTED", **ids, "protocolVersion": spoken(asked.protocol_version)})
        self.world.refusals.clear()
        try:
            segment = await self._verb(asked)
        except Refused as refused:
            self.world.send({"type": "RUN_ERROR", "message": str(refused)})
            return
        refusals = self.world.refusals
        if segment is None and refusals and len(refusals) >= len(self.answers(asked)):
            self.world.send({"type": "RUN_ERROR", "message": "; ".join(refusals)})
            return
        self.world.send(self._end(segment, ids))

    async def _verb(self, asked: RunAgentInput) -> Segment | None:
        self.runs += 1
        self.adapter.watch("client", "ag-ui")
        if answers := self.answers(asked):
            self.world.run = self.world.run or f"run-{self.runs}"
            decisions = [decision_of(f"d{self.runs}.{at}", *answer) for at, answer in enumerate(answers)]
            found: Segment | None = await self.adapter.decide(decisions)
            return found
        last = asked.messages[-1] if asked.messages else None
        said = [last.id, str(last.content)] if last is not None and last.role == "user" else None
        is_restored, self.is_restored = self.is_restored, False
        if is_restored and said in (None, self.heard):
            rest: Segment | None = await self.adapter.resume_run(self.world.run)
            return rest
        if last is None or said in (None, self.heard):
            raise Refused("there is nothing to do: no new message of a user, and nothing that resumes")
        self.heard = said
        if self.pending:
            answered: Segment | None = await self.adapter.input(str(last.content))
            return answered
        self.world.run = f"run-{self.runs}"
        started: Segment = await self.adapter.start(str(last.content))
        return started

    def _end(self, segment: Segment | None, ids: Mapping[str, str]) -> Json:
        reason: Any = segment.reason if segment is not None else None
        if segment is not None:
            self.pending = list(segment.pending) if reason.code == "Suspended" else []
        if self.pending:
            return self.finished(ids)
        if reason is not None and reason.code == "Error":
            return {"type": "RUN_ERROR", "message": reason.detail or "the run failed"}
        stopped = reason is not None and reason.code == "Cancelled"
        return _finished(ids, {"type": "cancelled" if stopped else "success"})


def says_yes(payload: Any) -> bool:
    """Whether an answer approves."""
    return isinstance(payload, dict) and payload.get("approved") is True


def spoken(declared: str | None) -> str:
    """The version for a client that declares this one: its own, or the newest if its own is newer."""
    if declared is None or not re.fullmatch(r"\d+\.\d+", declared):
        return OLDEST
    return min(declared, NEWEST, key=lambda version: [int(part) for part in version.split(".")])


def _finished(ids: Mapping[str, str], outcome: Json) -> Json:
    return {"type": "RUN_FINISHED", **ids, "outcome": outcome}


def app_of(applications: Mapping[str, Served], environment: Mapping[str, str]) -> Starlette:
    """The applications, each at a path, for any ASGI server; the environment says where the ends are."""
    upstream: list[Upstream] = []

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        limits = httpx.Timeout(OPEN_TIME_SECONDS, connect=5.0)
        url = environment["RUNLOCK_MCP_URL"]
        async with Client(url) as tools, httpx.AsyncClient(timeout=limits, trust_env=False) as http:
            upstream.append(Upstream(environment["OPENAI_BASE_URL"], http, tools, environment.get(DATA)))
            yield

    routes = [Route(path, _agent(one, upstream), methods=["POST"]) for path, one in applications.items()]
    return Starlette(routes=routes, lifespan=lifespan)


def _agent(application: Served, upstream: Sequence[Upstream]) -> Callable[[Request], Awaitable[Response]]:
    threads: dict[str, Thread] = {}

    async def agent(request: Request) -> Response:
        try:
            asked = RunAgentInput.model_validate(await request.json())
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 422)
        if asked.thread_id not in threads:
            threads[asked.thread_id] = application.begin(upstream[0], asked.thread_id)
        return StreamingResponse(_events(threads[asked.thread_id], asked), media_type="text/event-stream")

    return agent


async def _events(thread: Thread, asked: RunAgentInput) -> AsyncIterator[bytes]:
    queue: asyncio.Queue[Json | None] = asyncio.Queue()
    running = kept(thread.take(asked, queue.put_nowait))
    running.add_done_callback(lambda done: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield f"data: {json.dumps(event)}\n\n".encode()
        await running
    finally:
        if not running.done():
            kept(thread.leave())


def _refuse_alone(url: str) -> None:
    """Refuse to serve where nothing listens for the calls of tools."""
    found = urlsplit(url)
    try:
        socket.create_connection((found.hostname or "", found.port or 80), timeout=5.0).close()
    except OSError:
        raise UsageError(
            f"Nothing answers at {url}, where the tools would be.",
            "Start `runlock serve-ends`, or set RUNLOCK_MCP_URL and OPENAI_BASE_URL.",
        ) from None


def serve(application: Served, port: int) -> None:
    """Serve until the process ends; `UsageError` if its ends are not there."""
    environment = {**exported(PORT), **os.environ}
    _refuse_alone(environment["RUNLOCK_MCP_URL"])
    app = app_of({PATH: application}, environment)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
