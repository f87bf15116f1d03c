"""LangChain's agent, batched: after a resume with too few decisions, no resume is ever accepted again.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: the second resume, which has both decisions, is taken.
it hurts: one wrong request of a user interface makes the thread unusable for ever.
"""

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

print(__doc__)


class Model(GenericFakeChatModel):
    """A scripted model."""

    def bind_tools(self, tools, **more):
        return self


@tool
def write(what: str) -> str:
    """Write."""
    return f"written {what}"


calls = [{"id": what, "name": "write", "args": {"what": what}} for what in ("c1", "c2")]
turns = [AIMessage("", tool_calls=calls), AIMessage("done")]
asking = HumanInTheLoopMiddleware({"write": True})
agent = create_agent(Model(messages=iter(turns)), [write], middleware=[asking], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
waiting = agent.invoke({"messages": "write both"}, thread)["__interrupt__"][0]
refused = []
for decisions in (1, 2, 2):
    answer = {"decisions": [{"type": "approve"}] * decisions}
    try:
        agent.invoke(Command(resume={waiting.id: answer}), thread)
        print("actual:", decisions, "decisions: taken")
    except ValueError as error:
        refused.append(decisions)
        print("actual:", decisions, "decisions:", error)
raise SystemExit("still there" if refused == [1, 2, 2] else 0)
