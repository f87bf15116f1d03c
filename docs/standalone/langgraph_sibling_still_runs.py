"""LangGraph's ToolNode: one tool interrupts the run while another still runs, which then runs twice.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: pay begins once, and ends before ainvoke returns.
it hurts: a tool that was not interrupted runs twice: a payment is made twice.
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


async def main():
    may_go_on = asyncio.Event()

    @tool
    async def write() -> str:
        """Write, after approval."""
        return f"written: {interrupt('may I?')}"

    @tool
    async def pay() -> str:
        """Pay."""
        log.append("pay begins")
        await may_go_on.wait()
        log.append("pay ends")
        return "paid"

    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([write, pay]))
    graph.add_edge(START, "tools")
    app = graph.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    calls = [{"id": name, "name": name, "args": {}} for name in ("write", "pay")]

    await app.ainvoke({"messages": [HumanMessage("go"), AIMessage("", tool_calls=calls)]}, thread)
    log.append("ainvoke has returned, interrupted")
    may_go_on.set()
    await app.ainvoke(Command(resume="yes"), thread)


asyncio.run(main())
print("actual:", *log, sep="\n")
is_early = log.index("ainvoke has returned, interrupted") < log.index("pay ends")
raise SystemExit("still there" if is_early and log.count("pay begins") == 2 else 0)
