"""The tool server of the kit over a pipe, for an agent that has no HTTP: `python -m … URL` passes all on."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import Client, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main(url: str) -> None:
    """Serve until the input ends."""
    async with Client(url) as tools:

        async def listed(context: Any, params: Any) -> types.ListToolsResult:
            return await tools.list_tools()

        async def called(context: Any, params: types.CallToolRequestParams) -> Any:
            return await tools.call_tool(params.name, dict(params.arguments or {}))

        server: Server[Any] = Server("kit", on_list_tools=listed, on_call_tool=called)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
