"""The tools of the kit over a pipe: what an agent without HTTP is given."""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from served_ends import serving_ends

from runlock.conformance.protocol import Turn
from runlock.conformance.wires.address import exported


class Guest:
    """It says what a tool was called with."""

    mark = "~here~"

    async def model(self, request):
        return Turn(text="")

    async def tool(self, name, args):
        return f"{name} {args['v']}", args["v"] == 2


async def calls(url):
    """The tools that are offered, and the results of two calls."""
    command = ["-m", "runlock.conformance.wires.mcp_pipe", url]
    pipe = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with Client(stdio_client(pipe)) as tools:
        offered = [one.name for one in (await tools.list_tools()).tools]
        results = [await tools.call_tool("write", {"k": "c1~here~", "v": v}) for v in (1, 2)]
    return offered, [(one.content[0].text, one.is_error) for one in results]


def test_calls_and_results_are_passed_on():
    """Errors as well."""
    with serving_ends() as ends:
        ends.seat(Guest())
        offered, results = asyncio.run(calls(exported(ends.port)["RUNLOCK_MCP_URL"]))

    assert offered == ["write", "read"]
    assert results == [("write 1", False), ("write 2", True)]
