"""An agent of LangChain behind AG-UI, with the middleware that asks a person before `write`."""

import asyncio
import os

import uvicorn
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

server = {"transport": "streamable_http", "url": os.environ["RUNLOCK_MCP_URL"]}
graph = create_agent(
    ChatOpenAI(model="any", stream_usage=False),
    asyncio.run(MultiServerMCPClient({"kit": server}).get_tools()),
    middleware=[HumanInTheLoopMiddleware({"write": True})],
    checkpointer=InMemorySaver(),
)
agent = LangGraphAgent(name="agent", graph=graph, emit_interrupt_outcome=True)
app = FastAPI()
add_langgraph_fastapi_endpoint(app, agent, "/agent")

uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
