"""Records LangChain's agent on LangGraph: runs as LangSmith has them, and the messages of the thread.

It needs langchain 1.5 with langgraph:

    python tests/recorders/record_corpus_langgraph.py tests/data/corpus
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage, convert_to_openai_messages
from langchain_core.tools import tool
from langchain_core.tracers.langchain import LangChainTracer
from langgraph.checkpoint.memory import InMemorySaver
from langsmith import Client
from scenarios import SCENARIOS, Runs, Turn, clock, fails, weather

KEPT = ("id", "name", "run_type", "inputs", "outputs", "error", "parent_run_id", "trace_id", "dotted_order")
PLACE = re.compile(r"/(?:root|tmp|home|usr|opt)/[^\"\\ ]*/")
"""The folders of files that a traceback names."""


class Scripted(GenericFakeChatModel):
    """A model that gives the turns of a scenario."""

    def bind_tools(self, tools: Any, **options: Any) -> Scripted:
        """Any tools."""
        return self


class Silent(Client):
    """A client that sends nothing."""

    def create_run(self, *given: Any, **named: Any) -> None:
        """Nothing is sent."""

    def update_run(self, *given: Any, **named: Any) -> None:
        """Nothing is sent."""


class Kept(LangChainTracer):
    """The tracer of LangSmith, which keeps each run as it is when it ends, and sends none."""

    ended: ClassVar[list[dict[str, Any]]] = []  # the tracer copies itself

    def _end_trace(self, run: Any) -> None:
        whole = json.loads(run.model_dump_json(exclude={"child_runs", "parent_run", "serialized"}))
        metadata = (whole.get("extra") or {}).get("metadata") or {}
        extra = {"metadata": {key: metadata[key] for key in ("thread_id",) if key in metadata}}
        self.ended.append({key: whole.get(key) for key in KEPT} | {"extra": extra})
        super()._end_trace(run)


@wrap_tool_call
def caught(request: Any, handler: Any) -> Any:
    """A tool that fails answers with its error, as the documentation shows it."""
    try:
        return handler(request)
    except Exception as error:
        return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")


def message(turn: Turn) -> AIMessage:
    """A turn as a message."""
    calls = [{"id": id_, "name": name, "args": args, "type": "tool_call"} for name, id_, args in turn.calls]
    return AIMessage(turn.text, tool_calls=calls)


def record(name: str, runs: Runs, folder: Path) -> None:
    """Play a scenario, and write what was recorded."""
    turns = [message(turn) for _, script in runs for turn in script]
    agent = create_agent(
        Scripted(messages=iter(turns)),
        [tool(one) for one in (weather, clock, fails)],
        middleware=[caught],
        checkpointer=InMemorySaver(),
    )
    Kept.ended.clear()
    tracer = Kept(client=Silent(api_url="http://127.0.0.1:1", api_key="none", auto_batch_tracing=False))
    config: Any = {"callbacks": [tracer], "configurable": {"thread_id": f"langgraph-{name}"}}
    for text, _ in runs:
        state = agent.invoke({"messages": [("user", text)]}, config)
    lines = PLACE.sub("", "".join(json.dumps(one) + "\n" for one in tracer.ended))
    (folder / f"langgraph-{name}.langsmith.jsonl").write_text(lines)
    listed = convert_to_openai_messages(state["messages"])
    (folder / f"langgraph-{name}.messages.json").write_text(json.dumps(listed))


if __name__ == "__main__":
    for each, script in SCENARIOS.items():
        record(each, script, Path(sys.argv[1]))
