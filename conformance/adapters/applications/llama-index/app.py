"""A workflow of LlamaIndex behind AG-UI; its tools need no approval, since the workflow knows none."""

import asyncio
import os

import uvicorn
from fastapi import FastAPI
from llama_index.llms.openai_like import OpenAILike
from llama_index.protocols.ag_ui.router import get_ag_ui_workflow_router
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

model = OpenAILike(
    model="any", api_base=os.environ["OPENAI_BASE_URL"], is_chat_model=True, is_function_calling_model=True
)
tools = McpToolSpec(BasicMCPClient(os.environ["RUNLOCK_MCP_URL"])).to_tool_list_async()
app = FastAPI()
app.include_router(get_ag_ui_workflow_router(llm=model, backend_tools=asyncio.run(tools)))

uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
