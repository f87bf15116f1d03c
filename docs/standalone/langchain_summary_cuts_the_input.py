"""LangChain's middleware for summaries: what the user has just said goes into the summary.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: the newest input of the user is shown to the model word for word until it is answered.
it hurts: the model goes on from a summary, and what the user asked for in detail is lost.
"""

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

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
def read() -> str:
    """Read."""
    return "read"


calls = [{"id": f"c{number}", "name": "read", "args": {}} for number in range(3)]
model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")]))
summaries = SummarizationMiddleware(
    model, trigger=("messages", 5), keep=("messages", 2), summarizer=lambda messages: "something was read"
)
create_agent(model, [read], middleware=[summaries]).invoke({"messages": "read it, and change nothing"})

print("actual: the model is shown:", [(message.type, message.content) for message in shown])
if not any("change nothing" in str(message.content) for message in shown):
    raise SystemExit("still there")
