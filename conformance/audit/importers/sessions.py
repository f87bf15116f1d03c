"""Imports the sessions of coding agents that are lists of messages: Codex, gemini-cli and SWE-agent.

Each keeps what it sends to the model, so what stands before a turn is the history of an inference, as in
`messages`; nothing else is shown.

- Codex: `rollout-*.jsonl`, a `RolloutLine` a line with an item of the Responses API in its `payload`
  (openai/codex, `codex-rs/protocol/src/protocol.rs` and `models.rs`).  Before it asks, Codex answers function
  calls without an output with "aborted" (`codex-rs/core/src/context_manager/normalize.rs`), so such a call
  hides PAIR-1; a call of a custom tool or of the shell without an output is an error of Codex there as well.
- gemini-cli: a `ConversationRecord`, as one document, or as its fields and then a message a line
  (google-gemini/gemini-cli, `packages/core/src/services/chatRecordingTypes.ts`; `chatRecordingService.ts`
  says how the lines are joined).  A call has its results in it.
- SWE-agent: the `history` of a trajectory (SWE-agent/SWE-agent, `sweagent/types.py`, `HistoryItem`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers.builder import Builder, handshake
from runlock.conformance.audit.importers.histories import assistant, call, result, text_of, user
from runlock.conformance.audit.importers.messages import Writer, lacks_ids, of_chat, of_responses
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable

Raw = Mapping[str, Any]
Message = dict[str, Any]

SHOWN: Final = frozenset({"PAIR-1", "PAIR-2", "PAIR-3", "ROUND-3"})


class Session:
    """What the importers of such sessions have in common; each file is a thread."""

    name = says = ""
    clauses = SHOWN
    is_scattered = False
    merges = False  # whether the API joins turns that follow each other

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What a session shows."""
        return Grade("not shown", "not shown", "in part", "shown", "not shown")

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """Each file is a session."""
        for record in records:
            yield Row(f"{source}#1", record)

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The trace of one session."""
        left = [one.sentence for one in records if isinstance(one, Unreadable)]
        read = [one for one in records if isinstance(one, dict)]
        claims = handshake(self.name, self.version(read), gates=["model", "tool"], observes=["thread.edited"])
        made = Recording(thread, Builder(claims).trace, is_open=True, unexplained=left)
        writer = Writer(Builder(claims))
        made.hidden = frozenset(self.write(read, writer, made))
        writer.close(is_request=False)
        made.trace = writer.builder.finished()
        return [made]

    def version(self, records: Sequence[Raw]) -> str:
        """The version of the agent, if the session says it."""
        return "?"

    def write(self, records: Sequence[Raw], writer: Writer, made: Recording) -> set[str]:
        """Write the messages; the clauses that this session does not show."""
        raise NotImplementedError


# --- Codex --------------------------------------------------------------------------------------

ITEM: Final = "response_item"
NO_HISTORY: Final = frozenset({"session_meta", "turn_context", "event_msg", "world_state"})
FILLED_IN: Final = frozenset({"function_call"})
"""Calls without an output that Codex answers itself."""


class Codex(Session):
    """Rollouts of Codex."""

    name, says = "codex", "rollouts of Codex"
    merges = True

    def recognises(self, record: Any) -> bool:
        """Whether it is a line of a rollout."""
        kinds = (ITEM, "session_meta", "turn_context", "event_msg", "compacted")
        return (
            isinstance(record, dict)
            and record.get("type") in kinds
            and isinstance(record.get("payload"), dict)
        )

    def version(self, records: Sequence[Raw]) -> str:
        """The version of the command line that began the session."""
        found = [
            str(one["payload"].get("cli_version", "?"))
            for one in records
            if one.get("type") == "session_meta"
        ]
        return found[-1] if found else "?"

    def write(self, records: Sequence[Raw], writer: Writer, made: Recording) -> set[str]:
        """Write the items; a compaction and a rollback replace the history."""
        hidden: set[str] = set()
        open_: set[str] = set()
        for record in records:
            kind, payload = record.get("type"), record.get("payload") or {}
            if kind == ITEM and lacks_ids(payload):
                return set(SHOWN)
            if kind == ITEM:
                hidden |= _follow(payload, open_)
                writer.take(of_responses(payload), merges=True)
            elif kind == "compacted":
                hidden |= _compacted(payload, writer)
                open_.clear()
            elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
                writer.cut(int(payload.get("num_turns") or 0))
            elif kind not in NO_HISTORY:
                made.unknown[str(kind)] += 1
        return hidden | ({"PAIR-1"} if open_ else set())


def _follow(item: Raw, open_: set[str]) -> set[str]:
    """Follow the calls that Codex would answer itself; PAIR-1 is hidden once it goes on without an output."""
    kind, of = item.get("type"), str(item.get("call_id"))
    if kind in FILLED_IN:
        open_.add(of)
    elif str(kind).endswith("_output"):
        open_.discard(of)
    elif kind == "message" and item.get("role") in ("user", "assistant") and open_:
        return {"PAIR-1"}
    return set()


def _compacted(payload: Raw, writer: Writer) -> set[str]:
    """A compaction; an older Codex does not write what stayed, so that later orphans are hidden."""
    kept = payload.get("replacement_history")
    if isinstance(kept, list):
        writer.replace("compaction", [one for raw in kept for one in of_responses(raw)])
        return set()
    writer.replace("compaction", [user(str(payload.get("message", "")))])
    return {"PAIR-2"}


# --- gemini-cli ---------------------------------------------------------------------------------


class Gemini(Session):
    """Chats of gemini-cli."""

    name, says = "gemini-cli", "chats of gemini-cli"

    def recognises(self, record: Any) -> bool:
        """Whether it is a conversation, or a message of the model in one."""
        if not isinstance(record, dict):
            return False
        is_turn = record.get("type") == "gemini" and "content" in record
        return is_turn or {"sessionId", "projectHash"} <= record.keys()

    def write(self, records: Sequence[Raw], writer: Writer, made: Recording) -> set[str]:
        """Write the messages that are left when all lines have been joined."""
        for raw in _joined(records).values():
            writer.take(_of_gemini(raw), merges=False)
        return set()


def _joined(records: Sequence[Raw]) -> dict[str, Raw]:
    """The messages by id: a later line with an id replaces the earlier one, and a rewind cuts them."""
    found: dict[str, Raw] = {}
    for record in records:
        if "$rewindTo" in record:
            ids = list(found)
            at = ids.index(record["$rewindTo"]) if record["$rewindTo"] in found else 0
            for gone in ids[at:]:
                del found[gone]
            continue
        update = record.get("$set")
        listed = (update if isinstance(update, dict) else record).get("messages")
        if isinstance(listed, list):
            found = {} if update else found
            found |= {str(one.get("id")): one for one in listed if isinstance(one, dict)}
        elif "id" in record and "type" in record:
            found[str(record["id"])] = record
    return found


def _of_gemini(raw: Raw) -> Iterator[Message]:
    """A message: a turn of the model is followed by the results of its calls."""
    text = _text(raw.get("content"))
    if raw.get("type") == "user" and text:
        yield user(text)
    if raw.get("type") != "gemini":
        return
    listed = [one for one in raw.get("toolCalls") or () if isinstance(one, dict)]
    yield assistant(text, [call(str(one.get("id")), str(one.get("name")), one.get("args")) for one in listed])
    for one in listed:
        yield from _results(one)


def _results(made: Raw) -> Iterator[Message]:
    """The results of a call: each response of a function in it, or else all of it."""
    given = made.get("result")
    if given is None:
        return
    parts = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    answers = [part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)]
    status = "error" if made.get("status") == "error" else None
    for answer in answers:
        yield result(str(answer.get("id") or made.get("id")), text_of(answer.get("response")), status)
    if not answers:
        yield result(str(made.get("id")), text_of(given), status)


def _text(content: Any) -> str:
    """The text of a list of parts, or of one."""
    if isinstance(content, list):
        return "".join(map(_text, content))
    return str(content.get("text", "")) if isinstance(content, dict) else str(content or "")


# --- SWE-agent ----------------------------------------------------------------------------------


OWN: Final = frozenset({"message_type", "tool_call_ids", "is_demo"})
"""Keys of messages that only SWE-agent has."""


class SweAgent(Session):
    """Trajectories of SWE-agent."""

    name, says = "swe-agent", "trajectories of SWE-agent"

    def recognises(self, record: Any) -> bool:
        """Whether it is a trajectory with its history, or a history whose messages are of SWE-agent."""
        history = record.get("history") if isinstance(record, dict) else None
        if not isinstance(history, list):
            return False
        return "trajectory" in record or any(isinstance(one, dict) and one.keys() & OWN for one in history)

    def write(self, records: Sequence[Raw], writer: Writer, made: Recording) -> set[str]:
        """Write the history; a demonstration is a part of it, as it was sent."""
        for raw in (one for record in records for one in record["history"] if isinstance(one, dict)):
            ids = raw.get("tool_call_ids")
            if raw.get("role") == "tool" and isinstance(ids, list):
                text = _text(raw.get("content"))
                writer.take([result(str(one), text) for one in ids], merges=False)
            else:
                writer.take(of_chat(raw), merges=False)
        return set()


IMPORTERS: Final = (Codex(), Gemini(), SweAgent())
