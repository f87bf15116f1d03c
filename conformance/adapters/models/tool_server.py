"""The tools of a scenario as an MCP server over HTTP, so that an agent's call of a tool reaches the kit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from runlock.conformance.adapters.models.http import Answered, Asked

Run = Callable[[str, Mapping[str, Any]], Awaitable[tuple[str, bool]]]
"""Runs a tool by its name with its arguments; gives its text, and whether that is an error."""

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}


async def serve_tools(asked: Asked, tools: Sequence[str], run: Run) -> Answered:
    """Answer one request of the protocol; a client that hangs up cancels its call."""
    if asked.method != "POST":
        return Answered({"error": "there is no stream"}, status=405)
    if "id" not in asked.body:
        return Answered(status=202)
    return Answered({"jsonrpc": "2.0", "id": asked.body["id"], **await _answer(asked.body, tools, run)})


async def _answer(body: Mapping[str, Any], tools: Sequence[str], run: Run) -> dict[str, Any]:
    method, params = body["method"], body.get("params") or {}
    if method == "initialize":
        return {"result": _greeting(params)}
    if method == "tools/list":
        return {"result": {"tools": [{"name": n, "description": n, "inputSchema": SCHEMA} for n in tools]}}
    if method == "tools/call":
        text, is_error = await run(params["name"], params.get("arguments") or {})
        return {"result": {"content": [{"type": "text", "text": text}], "isError": is_error}}
    return {"error": {"code": -32601, "message": f"there is no method {method}"}}


def _greeting(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "kit", "version": "1"},
    }
