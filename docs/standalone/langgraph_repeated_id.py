"""LangGraph's ToolNode: two calls with one id in one turn give two messages under that id.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: one result for the id.
it hurts: providers refuse a history with two results for one call, in this request and all later ones.
"""

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

print(__doc__)


@tool
def read(what: str) -> str:
    """Read it."""
    return f"read {what}"


calls = [{"id": "c1", "name": "read", "args": {"what": what}} for what in ("a", "b")]
graph = StateGraph(MessagesState)
graph.add_node("tools", ToolNode([read]))
graph.add_edge(START, "tools")
done = graph.compile().invoke({"messages": [HumanMessage("read both"), AIMessage("", tool_calls=calls)]})

results = [(message.tool_call_id, message.content) for message in done["messages"][2:]]
print("actual: the model would be shown:", results)
raise SystemExit("still there" if len(results) == 2 else 0)
