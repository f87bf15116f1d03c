"""Imports session transcripts of Claude Code.

Messages form a tree by `parentUuid`.  The history of an inference is the path to it, with the results of all
calls on that path: results of parallel calls hang off it.  A denied call has a result like one that failed,
and a session has no end, so decisions, executions and ends are not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.audit.importers.builder import Builder, handshake
from runlock.conformance.audit.importers.histories import assistant, call, result, text_of, user
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable

Message = Mapping[str, Any]

MESSAGES: Final = ("user", "assistant")
IGNORED: Final = frozenset(
    {
        "attachment", "system", "summary", "progress", "queue-operation", "last-prompt",
        "file-history-snapshot", "api-request", "api-request-shape", "api-request-blob", "tools-used",
        "cost-state", "atis-latch", "custom-title", "ai-title", "agent-name", "mode", "permission-mode",
    }
)  # fmt: skip
"""Records that are no messages; those with a `uuid` are parents of others."""


class ClaudeCode:
    """Session transcripts of Claude Code."""

    name = "claude-code"
    says = "session transcripts of Claude Code"
    clauses = frozenset({"PAIR-1", "PAIR-2", "PAIR-3", "ROUND-3"})
    is_scattered = True

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What transcripts show."""
        return Grade("not shown", "not shown", "in part", "shown", "not shown")

    def recognises(self, record: Any) -> bool:
        """Whether it belongs to a session, or is the summary at the top of a file."""
        if not isinstance(record, dict) or "type" not in record:
            return False
        return "sessionId" in record or (record["type"] == "summary" and "leafUuid" in record)

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The records by session; an agent that a session starts is a thread of its own."""
        for record in records:
            session = str(record.get("sessionId", source)) if isinstance(record, dict) else source
            agent = record.get("agentId") if isinstance(record, dict) and record.get("isSidechain") else None
            yield Row(f"{session}/{agent}" if agent else session, record)

    def recordings(self, thread: str, records: Sequence[Any]) -> Iterator[Recording]:
        """The trace of one session."""
        left = Recording(thread, _Reader([]).builder.trace)
        read = [record for record in records if not isinstance(record, Unreadable)]
        left.unexplained += [one.sentence for one in records if isinstance(one, Unreadable)]
        for record in read:
            kind = str(record.get("type"))
            if kind not in (*MESSAGES, *IGNORED):
                left.unknown[kind] += 1
        reader = _Reader(read)
        left.unexplained += reader.without_parent()
        if any(record.get("type") in MESSAGES for record in read) or left.unexplained:
            reader.write()
            left.trace, left.is_open = reader.builder.finished(), reader.is_open
        else:
            left.trace.records.clear()
        yield left


class _Reader:
    """Reads one session: the tree of its messages, and the inferences in the order of the file."""

    def __init__(self, records: Sequence[Message]) -> None:
        once = {str(one["uuid"]): one for one in records if "uuid" in one}  # a resumed session repeats some
        self.nodes = once
        self.order = {uuid: index for index, uuid in enumerate(once)}
        self.turns: dict[str, list[Message]] = {}  # by the id of the model's message: its blocks
        self.results: dict[str, list[Message]] = {}  # by call: the messages with a result for it
        for one in once.values():
            if one.get("type") == "assistant":
                self.turns.setdefault(_id(one), []).append(one)
            for block in _blocks(one, "tool_result"):
                self.results.setdefault(str(block.get("tool_use_id")), []).append(one)
        versions = [str(one["version"]) for one in records if "version" in one]
        claims = handshake("claude-code", versions[-1] if versions else "?", gates=["model"])
        self.builder = Builder(claims)
        self.is_open = True

    def without_parent(self) -> list[str]:
        """Sentences about messages whose parent is missing, so that their history is not known."""
        known = {None, *self.nodes}
        missing = (one for one in self.nodes.values() if one.get("parentUuid") not in known)
        return [f"the parent {one['parentUuid']} of message {one['uuid']} is missing" for one in missing]

    def write(self) -> None:
        """Write every prompt as a run, and every message of the model as an inference."""
        for one in self.nodes.values():
            if _is_prompt(one):
                self.builder.start(_text(one))
            elif one.get("type") == "assistant" and self.turns[_id(one)][0] is one:
                self._inference(self.turns[_id(one)])

    def _inference(self, blocks: Sequence[Message]) -> None:
        if not self.builder.run:
            self.builder.start()
        gate = self.builder.ask(self._history(blocks[0]))
        calls = [_call(block) for one in blocks for block in _blocks(one, "tool_use")]
        self.builder.turn(gate, "".join(map(_text, blocks)), calls)
        self.is_open = blocks[-1]["message"].get("stop_reason") != "end_turn"

    def _history(self, message: Message) -> list[dict[str, Any]]:
        """The history that the message answers: the path to it, and the results of the calls on it."""
        made: list[dict[str, Any]] = []
        turns: dict[str, dict[str, Any]] = {}
        for one in self._path(message):
            if _is_prompt(one):
                made.append(user(_text(one)))
            elif one.get("type") == "assistant":
                turn = turns.get(_id(one))
                if turn is None:
                    turn = turns[_id(one)] = assistant("", [])
                    made.append(turn)
                turn["text"] += _text(one)
                turn["tool_calls"] += [_call(block) for block in _blocks(one, "tool_use")]
        return list(self._with_results(made, self.order[str(message["uuid"])]))

    def _with_results(self, made: Sequence[dict[str, Any]], before: int) -> Iterator[dict[str, Any]]:
        for message in made:
            yield message
            ids = [one["id"] for one in message.get("tool_calls", ())]
            found = {str(one["uuid"]): one for id_ in ids for one in self.results.get(id_, ())}
            for uuid in sorted(found, key=self.order.__getitem__):
                if self.order[uuid] < before:
                    yield from _results(found[uuid], ids)

    def _path(self, message: Message) -> list[Message]:
        """The messages above a message, the oldest first."""
        path: list[Message] = []
        seen = {str(message["uuid"])}
        above = str(message.get("parentUuid"))
        while (one := self.nodes.get(above)) is not None and above not in seen:
            seen.add(above)
            path.append(one)
            above = str(one.get("parentUuid"))
        return path[::-1]


def _id(record: Message) -> str:
    return str(record["message"].get("id"))


def _blocks(record: Message, kind: str) -> Iterator[Message]:
    content = (record.get("message") or {}).get("content") if record.get("type") in MESSAGES else None
    if isinstance(content, list):
        yield from (block for block in content if block.get("type") == kind)


def _text(record: Message) -> str:
    content = record["message"].get("content")
    if isinstance(content, str):
        return content
    return "".join(str(block.get("text", "")) for block in _blocks(record, "text"))


def _is_prompt(record: Message) -> bool:
    """Whether a message comes from the user, and does not bring results."""
    return record.get("type") == "user" and not any(_blocks(record, "tool_result"))


def _call(block: Message) -> dict[str, Any]:
    return call(str(block.get("id")), str(block.get("name")), block.get("input"))


def _results(record: Message, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    for block in _blocks(record, "tool_result"):
        if block.get("tool_use_id") in ids:
            status = "error" if block.get("is_error") else None
            yield result(str(block["tool_use_id"]), text_of(block.get("content")), status)


IMPORTER: Final = ClaudeCode()
