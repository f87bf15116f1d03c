"""Records the spans of Strands, with the messages in the events of each span, and its lists of messages.

It needs strands-agents 1.62 with opentelemetry-sdk.  Without the variable, the events are the older ones:

    python tests/recorders/record_corpus_strands_spans.py tests/data/corpus events
    export OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental
    python tests/recorders/record_corpus_strands_spans.py tests/data/corpus spans
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from record_corpus_strands import Scripted
from scenarios import SCENARIOS, clock, fails, weather
from strands import Agent, tool

DROPPED = ("resource", "links")
"""Fields of a span that name the machine."""


def main(folder: Path, kind: str) -> None:
    """Write the spans of each scenario, and the list of messages that Strands sends to Bedrock."""
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    for name, runs in SCENARIOS.items():
        spans.clear()
        agent = Agent(
            model=Scripted(runs), tools=[tool(one) for one in (weather, clock, fails)], callback_handler=None
        )
        for text, _ in runs:
            asyncio.run(agent.invoke_async(text))
        kept = [json.loads(span.to_json()) for span in spans.get_finished_spans()]
        for event in (one for span in kept for one in span["events"]):
            event["attributes"].pop("exception.stacktrace", None)  # it names files of the machine
        lines = [json.dumps({key: one[key] for key in one if key not in DROPPED}) for one in kept]
        (folder / f"strands-{name}.{kind}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        (folder / f"strands-{name}.converse.json").write_text(json.dumps(agent.messages))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
