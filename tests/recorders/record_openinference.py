"""Records the OpenInference instrumentation of LangChain, offline, with scripted models.

It needs langchain, langgraph, openinference-instrumentation-langchain, opentelemetry-sdk and
opentelemetry-exporter-otlp-json-file:

    python tests/recorders/record_openinference.py tests/data/recordings/openinference
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from openinference.instrumentation import using_session
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor


class Scripted(BaseChatModel):
    """A chat model that answers with these turns, one after the other."""

    turns: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Scripted:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.turns.pop(0))])


@tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"{city}: 20 degrees"


@tool
def flaky(city: str) -> str:
    """Fail in a way that the model is shown."""
    raise ToolException("no such city")


flaky.handle_tool_error = True


@tool
def delete(file: str) -> str:
    """Delete a file, if a person agrees."""
    answer = interrupt({"file": file})
    return f"{file} is deleted" if answer == "yes" else "it is kept"


def asks(*calls: tuple[str, str, dict[str, Any]]) -> AIMessage:
    """A turn of the model that asks for calls, each a name, an id and arguments."""
    made = [ToolCall(name=name, id=id_, args=args, type="tool_call") for name, id_, args in calls]
    return AIMessage("", tool_calls=made)


def ask(agent: Any, thread: str, text: str) -> None:
    """One run of an agent, with the id of its thread as session."""
    with using_session(thread):
        agent.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})


def agent_of(*turns: AIMessage) -> Any:
    """An agent with these turns."""
    model = Scripted(turns=list(turns))
    return create_agent(model, [weather, flaky, delete], checkpointer=InMemorySaver())


def plain() -> None:
    """Two calls in one turn, then an answer; then a second run of the same thread."""
    agent = agent_of(
        asks(("weather", "c1", {"city": "Oslo"}), ("weather", "c2", {"city": "Rome"})),
        AIMessage("Oslo and Rome: 20 degrees each."),
        asks(("weather", "c3", {"city": "Lima"})),
        AIMessage("Lima: 20 degrees."),
    )
    ask(agent, "plain", "How is the weather in Oslo and Rome?")
    ask(agent, "plain", "And in Lima?")


def failing() -> None:
    """A tool that answers with an error, next to one that works."""
    agent = agent_of(
        asks(("flaky", "c1", {"city": "Oslo"}), ("weather", "c2", {"city": "Rome"})),
        AIMessage("Only Rome is known."),
    )
    ask(agent, "failing", "Find Oslo and Rome.")


def approved() -> None:
    """A call that waits for a person, and is then executed."""
    agent = agent_of(asks(("delete", "c1", {"file": "a.txt"})), AIMessage("a.txt is deleted."))
    ask(agent, "approved", "Delete a.txt.")
    with using_session("approved"):
        agent.invoke(Command(resume="yes"), {"configurable": {"thread_id": "approved"}})


def main(folder: Path) -> None:
    """Write one file for each scenario."""
    folder.mkdir(parents=True, exist_ok=True)
    scenarios: list[Callable[[], None]] = [plain, failing, approved]
    for scenario in scenarios:
        file = folder / f"{scenario.__name__}.jsonl"
        file.unlink(missing_ok=True)
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(file))))
        LangChainInstrumentor().instrument(tracer_provider=provider)
        scenario()
        LangChainInstrumentor().uninstrument()
        provider.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
