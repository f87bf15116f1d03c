"""The importers by name: those that come with the kit, and those of other distributions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final

from runlock.conformance.audit.recording import Importer
from runlock.conformance.errors import UsageError
from runlock.conformance.text import counted
from runlock.spec.text import known_words

GROUP: Final = "runlock.importers"
FOLDER: Final = "runlock.conformance.audit.importers"
OWN: Final = (
    "trace", "otel_genai", "openinference", "services", "ag_ui", "ai_sdk", "claude_code", "agent_streams",
    "sessions", "openhands", "langchain_messages", "library_messages", "messages",
)  # fmt: skip
SHOWN: Final = 6
"""Keys and types that a refusal names."""

NEAR: Final = 2
"""Keys that a file shares with a format to which it is near."""

HEAD: Final = 50
"""Records of a file by which its format is recognised."""

SIGNS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(keys.split())
    for name, keys in {
        "runlock": "handshake scenario stimulus observation report",
        "otel-genai": "resourceSpans scopeSpans spans traceId spanId trace_id span_id attributes",
        "langsmith": "run_type trace_id dotted_order inputs outputs parent_run_id",
        "langfuse": "traceId parentObservationId level observations",
        "codex": "payload timestamp",
        "gemini-cli": "sessionId projectHash toolCalls thoughts lastUpdated",
        "swe-agent": "trajectory history info environment",
        "openhands": "action observation tool_call_metadata cause extras args",
        "openhands-sdk": "kind tool_call_id llm_response_id llm_message action_id tool_call",
        "claude-stream": "session_id parent_tool_use_id subtype uuid",
        "codex-exec": "item thread_id",
        "ag-ui": "threadId runId toolCallId toolCallName messageId delta",
        "ai-sdk": "parts toolCallId toolName input output",
        "claude-code": "uuid parentUuid sessionId isSidechain cwd gitBranch",
        "langchain-messages": "additional_kwargs response_metadata tool_calls type content",
        "openai-chat": "role content messages tool_calls tool_call_id choices model",
        "openai-responses": "call_id output input arguments object status",
    }.items()
}
"""Keys by which a refusal says what a file is nearest to."""


@cache
def importers() -> Mapping[str, Importer]:
    """Every importer, by name; those of the kit are asked first."""
    own: dict[str, Importer] = {}
    for module in OWN:
        found = import_module(f"{FOLDER}.{module}")
        several: tuple[Importer, ...] = getattr(found, "IMPORTERS", ()) or (found.IMPORTER,)
        own |= {one.name: one for one in several}
    return own | {one.name: one.load() for one in entry_points(group=GROUP) if one.name not in own}


def importer_named(name: str) -> Importer:
    """The importer of that name; `UsageError` lists the known ones."""
    found = importers().get(name)
    if found is None:
        raise UsageError(f"`--format {name}` names no format; {known_words(name, importers())}")
    return found


def importer_of(records: Sequence[Any]) -> Importer | None:
    """The first importer that recognises one of the first records of a file."""
    return next((one for one in importers().values() if any(map(one.recognises, records))), None)


def refusal(records: Sequence[Any]) -> str:
    """What was seen instead of a known format, what it is nearest to, and what to do."""
    seen = Counter(str(key) for record in records if isinstance(record, dict) for key in record)
    kinds = Counter(str(one["type"]) for one in records if isinstance(one, dict) and "type" in one)
    keys = ", ".join(key for key, _ in seen.most_common(SHOWN)) or "no object"
    types = f" and the types {', '.join(kind for kind, _ in kinds.most_common(SHOWN))}" if kinds else ""
    near = max(SIGNS, key=lambda name: len(SIGNS[name] & seen.keys()))
    is_near = len(SIGNS[near] & seen.keys()) >= NEAR
    like = f"it is nearest to {near}, as which `--format {near}` reads it" if is_near else "no format is near"
    head = counted(len(records), "record")
    return f"no importer recognises its first {head}, with the keys {keys}{types}; {like}"
