"""An agent of pydantic-ai behind AG-UI, whose tool `write` is a deferred call."""

import os

import uvicorn
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.tools import DeferredToolRequests
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.routing import Route

tools = MCPToolset(os.environ["RUNLOCK_MCP_URL"])
asking = tools.approval_required(lambda context, tool, args: tool.name == "write")
agent = Agent(OpenAIChatModel("any"), toolsets=[asking], output_type=[str, DeferredToolRequests])


async def run(request):
    return await AGUIAdapter.dispatch_request(request, agent=agent)


uvicorn.run(
    Starlette(routes=[Route("/agent", run, methods=["POST"])]),
    port=int(os.environ["PORT"]),
    log_level="warning",
)
