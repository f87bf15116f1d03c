"""LangChain's agent: input to a thread that waits for approval shows the model a call without a result.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: each call has a result before the next message of the user.
it hurts: most providers refuse a history in which a call has no result, so that the thread is stuck.
"""

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

print(__doc__)

shown = []


class Model(GenericFakeChatModel):
    """Keeps what it is shown."""

    def bind_tools(self, tools, **more):
        return self

    def _generate(self, messages, *args, **more):
        shown[:] = messages
        return super()._generate(messages, *args, **more)


@tool
def write() -> str:
    """Write."""
    return "written"


for mode in ("batched", "per_call"):
    turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "write", "args": {}}]), AIMessage("done")]
    asking = HumanInTheLoopMiddleware({"write": True}, interrupt_mode=mode)
    agent = create_agent(
        Model(messages=iter(turns)), [write], middleware=[asking], checkpointer=InMemorySaver()
    )
    thread = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": "write it"}, thread)
    agent.invoke({"messages": "never mind, do this instead"}, thread)
    print("actual:", mode, "- the model is shown:", [message.type for message in shown])
    if [message.type for message in shown] == ["human", "ai", "human"]:
        raise SystemExit("still there")
