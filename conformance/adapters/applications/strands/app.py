"""An agent of Strands behind AG-UI, whose tool `write` interrupts its run."""

import os

import uvicorn
from ag_ui_strands import StrandsAgent, StrandsAgentConfig, ToolBehavior, create_strands_app
from mcp.client.streamable_http import streamable_http_client
from strands import Agent
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient

model = OpenAIModel(client_args={"base_url": os.environ["OPENAI_BASE_URL"], "api_key": "any"}, model_id="any")
config = StrandsAgentConfig(tool_behaviors={"write": ToolBehavior(interrupt_on_call=True)})
with MCPClient(lambda: streamable_http_client(os.environ["RUNLOCK_MCP_URL"])) as client:
    agent = Agent(model=model, tools=client.list_tools_sync())
    app = create_strands_app(StrandsAgent(agent=agent, name="agent", config=config), "/agent")
    uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
