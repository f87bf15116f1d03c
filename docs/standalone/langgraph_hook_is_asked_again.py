"""LangGraph's ToolNode: a wrapper that blocks a call is asked about it again when another call is resumed.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: the wrapper is asked about pay once, and pay, which it has blocked, never runs.
it hurts: a call that a policy has blocked runs after all if the policy says something else by then.
"""

import asyncio

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

print(__doc__)

log = []


@tool
async def write() -> str:
    """Write, after approval."""
    return f"written: {interrupt('may I?')}"


@tool
async def pay() -> str:
    """Pay."""
    log.append("pay runs")
    return "paid"


async def decide(request, run):
    call = request.tool_call
    if call["name"] == "pay":
        log.append("asked about pay")
        if log.count("asked about pay") == 1:
            return ToolMessage("blocked", tool_call_id=call["id"], status="error")
    return await run(request)


async def main():
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([write, pay], awrap_tool_call=decide))
    graph.add_edge(START, "tools")
    app = graph.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    calls = [{"id": name, "name": name, "args": {}} for name in ("pay", "write")]

    await app.ainvoke({"messages": [HumanMessage("go"), AIMessage("", tool_calls=calls)]}, thread)
    log.append("ainvoke has returned, interrupted")
    await app.ainvoke(Command(resume="yes"), thread)


asyncio.run(main())
print("actual: what happened:", *log, sep="\n")
raise SystemExit("still there" if "pay runs" in log else 0)
