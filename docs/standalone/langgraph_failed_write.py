"""LangGraph: a write to the saver that fails is swallowed, with durability="sync" too.

pip install langgraph==1.2.24 langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2

expected: ainvoke raises, whichever write of the saver fails.
it hurts: a store that loses what a node has done goes unnoticed; after a crash the node is executed again.
"""

import asyncio

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

print(__doc__)

THREAD = {"configurable": {"thread_id": "1"}}


class Failing(InMemorySaver):
    """A saver, one of whose writes fails."""

    def __init__(self, failing):
        super().__init__()
        self.failing = failing
        self.wrote = []

    async def write(self, what):
        self.wrote.append(what)
        await asyncio.sleep(0)  # a store answers later
        if len(self.wrote) == self.failing:
            raise OSError(f"the disk is full, at write {self.failing}: {what}")

    async def aput(self, config, checkpoint, metadata, new_versions):
        await self.write(f"the checkpoint of step {metadata['step']}")
        return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config, writes, task_id, task_path=""):
        await self.write("what a task has done")
        return await super().aput_writes(config, writes, task_id, task_path)


def graph_with(saver):
    async def model(state):
        return {"messages": [AIMessage("done")]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_edge(START, "model")
    return graph.compile(checkpointer=saver)


async def end_of(saver):
    try:
        await graph_with(saver).ainvoke({"messages": [("user", "go")]}, THREAD, durability="sync")
    except OSError as error:
        return f"raised: {error}"
    return f"no error, though write {saver.failing} failed: {saver.wrote[saver.failing - 1]}"


whole = Failing(0)
asyncio.run(graph_with(whole).ainvoke({"messages": [("user", "go")]}, THREAD, durability="sync"))
ends = [asyncio.run(end_of(Failing(one))) for one in range(1, len(whole.wrote) + 1)]
print("actual:", *ends, sep="\n")
raise SystemExit("still there" if any(one.startswith("no error") for one in ends) else 0)
