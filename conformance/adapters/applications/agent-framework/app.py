"""An agent of the Microsoft Agent Framework behind AG-UI, whose tool `write` always needs an approval."""

import os

import uvicorn
from agent_framework import Agent, MCPStreamableHTTPTool
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework_ag_ui import add_agent_framework_fastapi_endpoint
from fastapi import FastAPI

tools = MCPStreamableHTTPTool(
    name="kit",
    url=os.environ["RUNLOCK_MCP_URL"],
    load_prompts=False,
    approval_mode={"always_require_approval": ["write"], "never_require_approval": ["read"]},
)
agent = Agent(OpenAIChatCompletionClient(model="any"), name="agent", tools=[tools])
app = FastAPI()
add_agent_framework_fastapi_endpoint(app, agent, "/agent", single_user=True)

uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
