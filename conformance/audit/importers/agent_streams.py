"""Imports what coding agents print as they run without a person: Claude Code and Codex.

- Claude Code: `--output-format stream-json`, the messages of a session as its agent SDK gives them
  (anthropics/claude-agent-sdk-typescript, `SDKMessage`).  A turn comes in several records with one message
  id, between which results may stand; what a person said is not in it.
- Codex: `codex exec --json`, the items that were executed, without the ids of their calls (openai/codex,
  `codex-rs/exec/src/exec_events.rs`).  An item counts as a call that a turn of its own asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers.builder import Builder, handshake
from runlock.conformance.audit.importers.claude_code import INTERRUPTED, SYNTHETIC
from runlock.conformance.audit.importers.histories import call, text_of
from runlock.conformance.audit.importers.messages import Writer, of_anthropic
from runlock.conformance.audit.importers.sessions import Session
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable

Raw = Mapping[str, Any]
Message = dict[str, Any]

# --- Claude Code --------------------------------------------------------------------------------

MESSAGES: Final = ("user", "assistant")
OTHERS: Final = frozenset({"system", "result", "stream_event", "rate_limit_event", "tool_progress"})
"""Records that are no messages."""


class ClaudeStream(Session):
    """Streams of Claude Code; an agent that a call starts is a thread of its own."""

    name, says = "claude-stream", "streams of Claude Code"
    is_scattered = True  # the records of an agent stand between those of the one that started it

    def recognises(self, record: Any) -> bool:
        """Whether it is a message, the beginning or the end of a session."""
        if not isinstance(record, dict) or "session_id" not in record:
            return False
        kind, message = record.get("type"), record.get("message")
        is_message = isinstance(message, dict) and "content" in message and "parent_tool_use_id" in record
        return is_message if kind in MESSAGES else kind in ("system", "result") and "subtype" in record

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The records by session and agent."""
        for record in records:
            named = record if isinstance(record, dict) else {}
            agent, session = named.get("parent_tool_use_id"), named.get("session_id", "")
            yield Row(f"{source}#{session}/{agent}" if agent else f"{source}#{session}", record)

    def version(self, records: Sequence[Raw]) -> str:
        """The version of Claude Code, which the first record has."""
        return str(next((one["claude_code_version"] for one in records if "claude_code_version" in one), "?"))

    def write(self, records: Sequence[Raw], writer: Writer, made: Recording) -> set[str]:
        """Write the messages; a compaction hides PAIR-2, since what stayed is not in the stream."""
        hidden: set[str] = set()
        for record in _in_one_piece(records):
            if record.get("type") in MESSAGES:
                said = list(of_anthropic(record["message"]))
                hidden |= {"PAIR-1"} if any(map(_is_interrupt, said)) else set()
                writer.take(said, merges=False)
            elif record.get("subtype") == "compact_boundary":
                writer.replace("compaction", [])
                hidden.add("PAIR-2")
            elif record.get("type") not in OTHERS:
                made.unknown[str(record.get("type"))] += 1
        return hidden


def _is_interrupt(message: Message) -> bool:
    return message["role"] == "user" and str(message["text"]).startswith(INTERRUPTED)


def _in_one_piece(records: Sequence[Raw]) -> Iterator[Raw]:
    """The records, with all blocks of a turn where its first one stands."""
    content: dict[str, list[Any]] = {}
    kept: list[Raw] = []
    for record in records:
        message = record.get("message")
        if record.get("type") not in MESSAGES or not isinstance(message, dict):
            kept += [record] if record.get("type") not in MESSAGES else []
        elif message.get("model") != SYNTHETIC:
            id_ = str(message.get("id") or record.get("uuid") or id(record))
            if id_ not in content:
                content[id_] = []
                kept.append({**record, "message": {**message, "content": content[id_]}})
            content[id_] += _blocks(message.get("content"))
    yield from kept


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": str(content or "")}]


# --- Codex --------------------------------------------------------------------------------------

EXECUTED: Final = frozenset({"command_execution", "mcp_tool_call", "file_change", "collab_tool_call"})
"""Items that are executions."""

OTHER_EVENTS: Final = frozenset(
    {"thread.started", "item.updated", "item.plan.delta", "request_user_input", "error"}
)


class CodexExec:
    """Events of `codex exec --json`."""

    name, says = "codex-exec", "events of `codex exec --json`"
    clauses = frozenset({"ONCE-1", "RUN-20", "RUN-21"})
    is_scattered = False

    def grade(self, claims: Raw) -> Grade:
        """What the events show."""
        return Grade("not shown", "not shown", "in part", "shown", "shown")

    def recognises(self, record: Any) -> bool:
        """Whether it is the beginning of a thread, the end of a turn or an item."""
        if not isinstance(record, dict):
            return False
        kind, item = str(record.get("type")), record.get("item")
        is_item = kind.startswith("item.") and isinstance(item, dict) and item.get("type") in EXECUTED
        return is_item or (kind == "thread.started" and "thread_id" in record)

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """Each run of the command is a thread."""
        number = 1
        for at, record in enumerate(records):
            number += at > 0 and isinstance(record, dict) and record.get("type") == "thread.started"
            yield Row(f"{source}#{number}", record)

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The trace of one run of the command."""
        claims = handshake(self.name, "?", gates=["model", "tool"], observes=["run.finished"])
        reader = _Items(Builder(claims))
        made = Recording(thread, reader.builder.trace)
        for record in records:
            if isinstance(record, Unreadable):
                made.unexplained.append(record.sentence)
            elif not isinstance(record, dict) or not reader.take(record):
                made.unknown[str(record.get("type") if isinstance(record, dict) else record)] += 1
        made.is_open = reader.is_running
        made.trace = reader.builder.finished()
        return [made]


class _Items:
    """Writes each item as a call that a turn of its own asks for."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.gates: dict[str, str] = {}  # of the items that are executed now
        self.asked: dict[str, dict[str, Any]] = {}
        self.is_running = False

    def take(self, record: Raw) -> bool:
        """Take the next event; false if its kind is not known."""
        kind, item = str(record.get("type")), record.get("item")
        if kind == "turn.started":
            self.builder.start()
            self.is_running = True
        elif kind in ("turn.completed", "turn.failed"):
            self.builder.finish("NaturalEnd" if kind == "turn.completed" else "Error")
            self.is_running = False
        elif kind in ("item.started", "item.completed") and isinstance(item, dict):
            if item.get("type") in EXECUTED:
                self._item(item, has_ended=kind == "item.completed")
        else:
            return kind in OTHER_EVENTS
        return True

    def _item(self, item: Raw, *, has_ended: bool) -> None:
        id_ = str(item.get("id"))
        if not has_ended or id_ not in self.gates:
            self._enter(id_, item)
        if has_ended:
            answer = item.get("aggregated_output", item.get("result", item.get("error")))
            kind = "error" if item.get("status") == "failed" else "ok"
            self.builder.leave(self.gates.pop(id_), kind, text_of(answer))

    def _enter(self, id_: str, item: Raw) -> None:
        if not self.builder.run:
            self.builder.start()
        if id_ not in self.asked:
            named = call(id_, str(item.get("tool") or item.get("type")), item.get("arguments"))
            self.asked[id_] = named
            self.builder.turn(self.builder.ask(None), "", [named])
        self.gates[id_] = self.builder.enter(self.asked[id_])


IMPORTERS: Final = (ClaudeStream(), CodexExec())
