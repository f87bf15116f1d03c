"""ASGI applications that are no agent behind AG-UI, or one that is not wired up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def streamed(*lines: str) -> Response:
    """A stream of these lines, and its end."""

    async def each() -> AsyncIterator[str]:
        for line in lines:
            yield f"data: {line}\n\n"

    return StreamingResponse(each(), media_type="text/event-stream")


async def page(request: Request) -> Response:
    """A page of a web site."""
    return HTMLResponse("<h1>Welcome</h1>")


async def locked(request: Request) -> Response:
    """A login."""
    return JSONResponse({"detail": "Not authenticated"}, 401)


async def broken(request: Request) -> Response:
    """An error of the server."""
    return JSONResponse({"detail": "boom"}, 500)


async def endless(request: Request) -> Response:
    """A stream that never ends."""

    async def each() -> AsyncIterator[str]:
        yield f"data: {json.dumps(STARTED)}\n\n"
        await asyncio.sleep(3600)

    return StreamingResponse(each(), media_type="text/event-stream")


async def garbled(request: Request) -> Response:
    """A line that is no JSON."""
    return streamed(json.dumps(STARTED), "{what?")


async def partial(request: Request) -> Response:
    """An event without its fields."""
    return streamed(json.dumps(STARTED), json.dumps({"type": "TOOL_CALL_START", "toolCallName": "write"}))


async def canned(request: Request) -> Response:
    """An answer without a model."""
    return streamed(json.dumps(STARTED), json.dumps(FINISHED))


async def failing(request: Request) -> Response:
    """A run that fails before its model is asked."""
    return streamed(json.dumps(STARTED), json.dumps({"type": "RUN_ERROR", "message": "no API key"}))


def deaf(model: str) -> Callable[[Request], Awaitable[Response]]:
    """An agent that asks its model, and does nothing with what that asks for."""
    return asking(model, ["write", "read"])


def asking(model: str, tools: list[str]) -> Callable[[Request], Awaitable[Response]]:
    """An agent that asks its model, and offers it these tools."""

    async def agent(request: Request) -> Response:
        said = (await request.json())["messages"]
        offered = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
        async with httpx.AsyncClient(trust_env=False) as http:
            await http.post(f"{model}/chat/completions", json={"messages": said, "tools": offered})
        return streamed(json.dumps(STARTED), json.dumps(FINISHED))

    return agent


PAGES: Mapping[str, Callable[[Request], Awaitable[Response]]] = {
    "page": page,
    "locked": locked,
    "broken": broken,
    "endless": endless,
    "garbled": garbled,
    "partial": partial,
    "canned": canned,
    "failing": failing,
}


def app_of(model: str) -> Any:
    """All of them, each at a path of its name."""
    agents = {
        "toolless": asking(model, []),
        "elsewhere": asking(model, ["search", "pay"]),
        "half": asking(model, ["read"]),
        "deaf": deaf(model),
    }
    return Starlette(
        routes=[Route(f"/{name}", one, methods=["POST"]) for name, one in {**PAGES, **agents}.items()]
    )
