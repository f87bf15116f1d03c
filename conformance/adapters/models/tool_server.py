"""The tools of a scenario as an MCP server over HTTP, so that an agent's call of a tool reaches the kit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from runlock.conformance.adapters.models.http import Answered, Asked

Run = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Coroutine[Any, Any, tuple[str, bool]]]
"""Runs a tool by its name, with its arguments and what the client added; gives its text, and whether that is
an error."""

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}


class ToolServer:
    """Serves the tools; a call ends early if its client cancels it or hangs up."""

    def __init__(self, tools: Sequence[str], run: Run) -> None:
        self._tools = tools
        self._run = run
        self._running: dict[Any, asyncio.Task[tuple[str, bool]]] = {}

    def close(self) -> None:
        """Give up the calls that still run."""
        for running in self._running.values():
            running.cancel()

    async def answer(self, asked: Asked) -> Answered:
        """Answer one request of the protocol."""
        if asked.method != "POST":
            return Answered({"error": "there is no stream"}, status=405)
        method, params = asked.body["method"], asked.body.get("params") or {}
        if method == "notifications/cancelled" and params["requestId"] in self._running:
            self._running[params["requestId"]].cancel()
        if "id" not in asked.body:
            return Answered(status=202)
        number = asked.body["id"]
        return Answered({"jsonrpc": "2.0", "id": number, **await self._answer(number, method, params)})

    async def _answer(self, number: Any, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            return {"result": _greeting(params)}
        if method == "tools/list":
            return {"result": {"tools": [_tool(name) for name in self._tools]}}
        if method == "tools/call":
            return await self._call(number, params)
        return {"error": {"code": -32601, "message": f"there is no method {method}"}}

    async def _call(self, number: Any, params: Mapping[str, Any]) -> dict[str, Any]:
        body = self._run(params["name"], params.get("arguments") or {}, params.get("_meta") or {})
        self._running[number] = running = asyncio.create_task(body)
        try:
            text, is_error = await running
        except asyncio.CancelledError:
            running.cancel()
            return {"error": {"code": -32800, "message": "the call was cancelled"}}
        finally:
            del self._running[number]
        return {"result": {"content": [{"type": "text", "text": text}], "isError": is_error}}


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": SCHEMA}


def _greeting(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "kit", "version": "1"},
    }
