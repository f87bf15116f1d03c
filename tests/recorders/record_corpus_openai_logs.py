"""Records the log records and spans of the OpenTelemetry instrumentation of OpenAI, as OTLP JSON.

It needs openai 3.57 with opentelemetry-instrumentation-openai-v2 2.3 and wrapt 1:

    export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true
    python tests/recorders/record_corpus_openai_logs.py tests/data/corpus
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from openai import OpenAI
from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from scenarios import SCENARIOS, Failed, Runs, Turn, clock, fails, weather

TOOLS: dict[str, Any] = {"weather": weather, "clock": clock, "fails": fails}


def _answer(turn: Turn) -> httpx.Response:
    calls = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for name, id_, args in turn.calls
    ]
    message = {"role": "assistant", "content": turn.text or None, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    made = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return httpx.Response(200, json=made)


def _result(call: Any) -> dict[str, Any]:
    try:
        text = TOOLS[call.function.name](**json.loads(call.function.arguments))
    except Failed as error:
        text = str(error)
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def play(client: OpenAI, runs: Runs) -> None:
    """Ask the model until it asks for no tool, in one conversation."""
    messages: list[Any] = []
    for text, _ in runs:
        messages.append({"role": "user", "content": text})
        while True:
            said = client.chat.completions.create(model="m", messages=messages).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                break
            messages += map(_result, said.tool_calls)


def record(runs: Runs, folder: Path) -> Iterator[dict[str, Any]]:
    """The exports of one conversation, without what names the machine."""
    logs, spans = LoggerProvider(), TracerProvider()
    logs.add_log_record_processor(SimpleLogRecordProcessor(FileLogExporter(str(folder / "logs"))))
    spans.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(folder / "spans"))))
    OpenAIInstrumentor().instrument(tracer_provider=spans, logger_provider=logs)
    script = iter([turn for _, turns in runs for turn in turns])
    transport = httpx.MockTransport(lambda _: _answer(next(script)))
    client = OpenAI(
        api_key="none", base_url="http://127.0.0.1/v1", http_client=httpx.Client(transport=transport)
    )
    with spans.get_tracer("conversation").start_as_current_span("conversation"):
        play(client, runs)
    OpenAIInstrumentor().uninstrument()
    logs.shutdown()
    spans.shutdown()
    for name in ("logs", "spans"):
        for line in (folder / name).read_text().splitlines():
            export = json.loads(line)
            for one in (*export.get("resourceLogs", ()), *export.get("resourceSpans", ())):
                one.pop("resource", None)
            yield export


def main(folder: Path) -> None:
    """Write one file for each scenario."""
    for name, runs in SCENARIOS.items():
        with tempfile.TemporaryDirectory() as scratch:
            lines = [json.dumps(one) for one in record(runs, Path(scratch))]
        (folder / f"openai-{name}.logs.jsonl").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
