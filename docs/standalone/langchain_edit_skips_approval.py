"""LangChain's agent, batched: an edit to another tool runs that tool without the approval that it needs.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: the call waits again, as one of `write`, whose decisions are to approve or to reject.
it hurts: a reviewer of a harmless tool runs a tool that only others may approve.
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


ran = []


@tool
def read(what: str) -> str:
    """Read."""
    ran.append(f"read {what}")
    return ran[-1]


@tool
def write(what: str) -> str:
    """Write."""
    ran.append(f"write {what}")
    return ran[-1]


turns = [
    AIMessage("", tool_calls=[{"id": "c1", "name": "read", "args": {"what": "it"}}]),
    AIMessage("done"),
]
asking = HumanInTheLoopMiddleware(
    {
        "read": {"allowed_decisions": ["approve", "edit", "reject"]},
        "write": {"allowed_decisions": ["approve", "reject"]},
    }
)
agent = create_agent(
    Model(messages=iter(turns)), [read, write], middleware=[asking], checkpointer=InMemorySaver()
)
thread = {"configurable": {"thread_id": "1"}}
waiting = agent.invoke({"messages": "read it"}, thread)["__interrupt__"][0]
edited = {"type": "edit", "edited_action": {"name": "write", "args": {"what": "it"}}}
try:
    agent.invoke(Command(resume={waiting.id: {"decisions": [edited]}}), thread)
except ValueError as error:
    print("actual: the edit is refused,", error)
print("actual: ran", ran)
raise SystemExit("still there" if ran == ["write it"] else 0)
