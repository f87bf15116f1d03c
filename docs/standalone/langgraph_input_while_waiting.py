"""LangGraph: input to a thread that is interrupted in its tools shows the model a call without a result.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: each call has a result before the next message of the user.
it hurts: most providers refuse a history in which a call has no result, so that the thread is stuck.
"""

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

print(__doc__)

turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "write", "args": {}}]), AIMessage("done")]
shown = []


@tool
def write() -> str:
    """Write, after approval."""
    return f"written: {interrupt('may I?')}"


def model(state):
    shown[:] = state["messages"]
    return {"messages": [turns.pop(0)]}


graph = StateGraph(MessagesState)
graph.add_node("model", model)
graph.add_node("tools", ToolNode([write]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
app = graph.compile(checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}

app.invoke({"messages": "write it"}, thread)
app.invoke({"messages": "never mind, do this instead"}, thread)
print("actual: the model is shown:", [message.type for message in shown])
raise SystemExit("still there" if [message.type for message in shown] == ["human", "ai", "human"] else 0)
