"""LangChain: what a tool answered is lost when another call of its turn has raised.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: the model is shown what the first tool answered, as its result.
it hurts: the tool has done its work, and the model asks for it once more.
"""

import asyncio

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

print(__doc__)

THREAD = {"configurable": {"thread_id": "1"}}
CALLS = [{"id": name, "name": name, "args": {}} for name in ("pay", "breaks")]
TURNS = [AIMessage("", tool_calls=CALLS), AIMessage("done")]
SHOWN = []
PAID = asyncio.Event()


class Scripted(BaseChatModel):
    """Gives its turns one after the other."""

    _llm_type = "scripted"

    def bind_tools(self, tools, **more):
        return self

    def _generate(self, messages, *args, **more):
        SHOWN[:] = [(one.type, getattr(one, "tool_call_id", "")) for one in messages]
        return ChatResult(generations=[ChatGeneration(message=TURNS.pop(0))])


@tool
async def pay() -> str:
    """Pay."""
    PAID.set()
    return "paid"


@tool
async def breaks() -> str:
    """Break, once the other has answered."""
    await PAID.wait()
    await asyncio.sleep(0.1)
    raise RuntimeError("the sandbox is gone")


async def main():
    agent = create_agent(Scripted(), [pay, breaks], checkpointer=InMemorySaver())
    try:
        await agent.ainvoke({"messages": [("user", "pay")]}, THREAD)
    except RuntimeError as error:
        print("actual: pay has answered, and the run ends with an error:", error)
    await agent.ainvoke({"messages": [("user", "and now?")]}, THREAD)
    print("actual: the model is shown:", *SHOWN, sep="\n  ")
    return ("tool", "pay") not in SHOWN


raise SystemExit("still there" if asyncio.run(main()) else 0)
