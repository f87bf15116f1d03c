"""An agent of Strands behind AG-UI, with a hook that interrupts before `write`."""

import os

import uvicorn
from ag_ui_strands import StrandsAgent, create_strands_app
from mcp.client.streamable_http import streamable_http_client
from strands import Agent
from strands.hooks import BeforeToolCallEvent, HookProvider
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient


class Approval(HookProvider):
    def register_hooks(self, registry, **more):
        registry.add_callback(BeforeToolCallEvent, self.ask)

    def ask(self, event):
        call = event.tool_use
        if call["name"] == "write":
            answer = event.interrupt(f"approve-{call['toolUseId']}", reason={"input": call["input"]})
            answer = answer.get("response") or answer if isinstance(answer, dict) else {}
            if not answer.get("approved"):
                event.cancel_tool = "A person said no."


model = OpenAIModel(client_args={"base_url": os.environ["OPENAI_BASE_URL"], "api_key": "any"}, model_id="any")
with MCPClient(lambda: streamable_http_client(os.environ["RUNLOCK_MCP_URL"])) as client:
    agent = Agent(model=model, tools=client.list_tools_sync(), hooks=[Approval()])
    app = create_strands_app(StrandsAgent(agent=agent, name="agent", hooks=[Approval()]), "/agent")
    uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
