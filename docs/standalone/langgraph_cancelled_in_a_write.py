"""LangGraph: a run that is cancelled during its first write to the saver leaves nothing of what was said.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: the thread has the message that the run was started with, or a note that the run was cancelled.
it hurts: the user sees a message that was stopped, and the model is never shown it.
"""

import asyncio

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

print(__doc__)

THREAD = {"configurable": {"thread_id": "1"}}


class Slow(InMemorySaver):
    """A saver whose writes take time."""

    begun = asyncio.Event()

    async def aput(self, *given):
        self.begun.set()
        await asyncio.sleep(0.05)
        return await super().aput(*given)


async def model(state):
    return {"messages": [AIMessage("done")]}


async def main():
    saver = Slow()
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_edge(START, "model")
    thread = graph.compile(checkpointer=saver)
    run = asyncio.create_task(thread.ainvoke({"messages": [("user", "go")]}, THREAD, durability="sync"))
    await saver.begun.wait()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    await asyncio.sleep(0.1)
    return (await thread.aget_state(THREAD)).values.get("messages", [])


stored = asyncio.run(main())
print("actual: the thread has", [message.content for message in stored])
raise SystemExit(0 if stored else "still there")
