"""LangGraph's ToolNode: a subgraph that a tool invokes goes on when the run around it has failed.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: pay does not end once ainvoke has raised.
it hurts: the caller takes the run for over, and an agent in it still pays.
"""

import asyncio

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

print(__doc__)

log = []


def graph_of(tools):
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    return graph.compile()


def asked_for(*names):
    calls = [{"id": name, "name": name, "args": {}} for name in names]
    return {"messages": [HumanMessage("go"), AIMessage("", tool_calls=calls)]}


async def main():
    may_go_on = asyncio.Event()

    @tool
    async def pay() -> str:
        """Pay."""
        log.append("pay begins")
        await may_go_on.wait()
        log.append("pay ends")
        return "paid"

    @tool
    async def helper() -> str:
        """An agent, of which only the tools are shown."""
        answer = await graph_of([pay]).ainvoke(asked_for("pay"))
        return answer["messages"][-1].content

    @tool
    async def breaks() -> str:
        """Fail, once the agent is at work."""
        while not log:
            await asyncio.sleep(0)
        raise RuntimeError("broken")

    try:
        await graph_of([helper, breaks]).ainvoke(asked_for("helper", "breaks"))
    except RuntimeError:
        log.append("ainvoke has raised")
    may_go_on.set()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


asyncio.run(main())
print("actual:", *log, sep="\n")
raise SystemExit("still there" if log == ["pay begins", "ainvoke has raised", "pay ends"] else 0)
