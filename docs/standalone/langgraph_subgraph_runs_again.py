"""LangGraph's ToolNode in a subgraph that a tool invokes: what had answered there runs again on the resume.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: pay runs once; on the resume, write goes on.
it hurts: a tool that had answered runs twice, within an agent that is a tool: a payment is made twice.
"""

import asyncio

from langchain_core.messages import AIMessage, HumanMessage
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
    await asyncio.sleep(0)  # so that the payment is over by now
    return f"written: {interrupt('may I?')}"


@tool
async def pay() -> str:
    """Pay."""
    log.append("paid")
    return "paid"


def graph_of(tools, saver=None):
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    return graph.compile(checkpointer=saver)


def asked_for(*names):
    calls = [{"id": name, "name": name, "args": {}} for name in names]
    return {"messages": [HumanMessage("go"), AIMessage("", tool_calls=calls)]}


@tool
async def helper() -> str:
    """An agent, of which only the tools are shown."""
    answer = await graph_of([pay, write]).ainvoke(asked_for("pay", "write"))
    return answer["messages"][-1].content


async def main():
    app = graph_of([helper], InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    await app.ainvoke(asked_for("helper"), thread)
    log.append("ainvoke has returned, interrupted")
    await app.ainvoke(Command(resume="yes"), thread)


asyncio.run(main())
print("actual:", *log, sep="\n")
raise SystemExit("still there" if log.count("paid") == 2 else 0)
