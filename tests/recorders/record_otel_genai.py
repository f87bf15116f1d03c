"""Records pydantic-ai's OpenTelemetry instrumentation, offline, with scripted models.

It needs the extra `pydantic-ai`, opentelemetry-sdk and opentelemetry-exporter-otlp-json-file:

    python tests/recorders/record_otel_genai.py tests/data/recordings/otel_genai
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, ToolDenied
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings, InstrumentedModel


def scripted(*turns: Sequence[ToolCallPart] | str) -> FunctionModel:
    """A model that answers with these turns, one after the other."""
    left = list(turns)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = left.pop(0)
        parts = [TextPart(turn)] if isinstance(turn, str) else list(turn)
        return ModelResponse(parts=parts)

    return FunctionModel(answer)


def call(name: str, id_: str, **args: Any) -> ToolCallPart:
    """A call that the model asks for."""
    return ToolCallPart(name, args, tool_call_id=id_)


class Answer(BaseModel):
    """A structured result, which the model gives by an output tool."""

    city: str
    degrees: int


def agent(model: FunctionModel, settings: InstrumentationSettings, **more: Any) -> Agent[None, Any]:
    """An agent with a tool that works, one that fails at first, and one that needs approval."""
    made: Agent[None, Any] = Agent(InstrumentedModel(model, settings), name="weather", **more)
    tries: list[str] = []

    @made.tool_plain
    def weather(city: str) -> str:
        return f"{city}: 20 degrees"

    @made.tool_plain(retries=2)
    def flaky(city: str) -> str:
        tries.append(city)
        if len(tries) == 1:
            raise ModelRetry("try it again")
        return f"{city}: found"

    @made.tool_plain(requires_approval=True)
    def delete(file: str) -> str:
        return f"{file} is deleted"

    return made


async def plain(settings: InstrumentationSettings) -> None:
    """Two calls in one turn, then an answer; then a second run of the same conversation."""
    model = scripted(
        [call("weather", "c1", city="Oslo"), call("weather", "c2", city="Rome")],
        "Oslo and Rome: 20 degrees each.",
        [call("weather", "c3", city="Lima")],
        "Lima: 20 degrees.",
    )
    one = agent(model, settings)
    first = await one.run("How is the weather in Oslo and Rome?")
    await one.run("And in Lima?", message_history=first.all_messages())


async def retried(settings: InstrumentationSettings) -> None:
    """A tool that asks for another try, and then answers."""
    model = scripted([call("flaky", "c1", city="Oslo")], [call("flaky", "c2", city="Oslo")], "Found.")
    await agent(model, settings).run("Find Oslo.")


async def structured(settings: InstrumentationSettings) -> None:
    """A run that ends with an output tool."""
    model = scripted(
        [call("weather", "c1", city="Oslo")], [call("final_result", "c2", city="Oslo", degrees=20)]
    )
    await agent(model, settings, output_type=Answer).run("How is the weather in Oslo?")


async def approved(settings: InstrumentationSettings) -> None:
    """Two calls that need approval: one is approved, the other one denied."""
    model = scripted(
        [
            call("delete", "c1", file="a.txt"),
            call("delete", "c2", file="b.txt"),
            call("weather", "c3", city="Oslo"),
        ],
        "a.txt is deleted, b.txt is kept.",
    )
    one = agent(model, settings, output_type=[str, DeferredToolRequests])
    first = await one.run("Delete a.txt and b.txt.")
    decided = DeferredToolResults(approvals={"c1": True, "c2": ToolDenied("keep it")})
    await one.run(message_history=first.all_messages(), deferred_tool_results=decided)


def main(folder: Path) -> None:
    """Write one file for each scenario."""
    folder.mkdir(parents=True, exist_ok=True)
    for scenario in (plain, retried, structured, approved):
        file = folder / f"{scenario.__name__}.jsonl"
        file.unlink(missing_ok=True)
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(file))))
        asyncio.run(scenario(InstrumentationSettings(tracer_provider=provider)))
        provider.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
