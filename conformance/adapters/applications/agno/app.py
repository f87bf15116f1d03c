"""An agent of agno behind AG-UI, whose tool `write` has to be confirmed."""

import os

import uvicorn
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from agno.os import AgentOS
from agno.os.interfaces.agui import AGUI
from agno.tools.mcp import MCPTools

tools = MCPTools(
    transport="streamable-http",
    url=os.environ["RUNLOCK_MCP_URL"],
    requires_confirmation_tools=["write"],
)
agent = Agent(
    name="agent",
    model=OpenAIChat(id="any"),
    tools=[tools],
    db=InMemoryDb(),
    add_history_to_context=True,
    num_history_runs=1_000,  # instead of the last 3
    telemetry=False,
)
served = AgentOS(agents=[agent], interfaces=[AGUI(agent=agent)], telemetry=False)

uvicorn.run(served.get_app(), port=int(os.environ["PORT"]), log_level="warning")
