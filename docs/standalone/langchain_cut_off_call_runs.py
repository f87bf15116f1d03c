"""LangChain's agent: a call with which a turn ended for its length is executed as it stands.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: the last call of a turn that was cut off is not executed with what is there of its arguments.
it hurts: a tool does less than the model was about to ask for, or something else.
"""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

print(__doc__)

ran = []


def delete(folder: str, only: str = "*") -> str:
    """Delete files."""
    ran.append((folder, only))
    return "deleted"


class Scripted(GenericFakeChatModel):
    """Gives its turns one after the other, with any tools."""

    def bind_tools(self, *args, **more):
        return self


call = {"id": "c1", "name": "delete", "args": {"folder": "/"}}
cut_off = AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "length"})
agent = create_agent(Scripted(messages=iter([cut_off, AIMessage("done")])), [delete])
agent.invoke({"messages": [("user", "delete the logs in /")]})

print("actual: the tool ran with", ran)
raise SystemExit("still there" if ran else 0)
