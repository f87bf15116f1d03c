"""Imports session transcripts of Claude Code.

Messages form a tree by `parentUuid`.  The history of an inference is the path to it, as it was recorded: each
result stands where its message stands.  Only results of parallel calls hang off the path; they take their
place by the order of the file.  A denied call has a result like one that failed, and a session has no end, so
decisions, executions and ends are not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from runlock.conformance.audit.importers.builder import Builder, handshake
from runlock.conformance.audit.importers.histories import assistant, call, result, text_of, user
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable

Message = Mapping[str, Any]

MESSAGES: Final = ("user", "assistant")
SYNTHETIC: Final = "<synthetic>"
"""The model of messages that Claude Code writes itself, such as the error of an API."""

INTERRUPTED: Final = "[Request interrupted by user"
IGNORED: Final = frozenset(
    {
        "attachment", "system", "summary", "progress", "queue-operation", "last-prompt",
        "file-history-snapshot", "api-request", "api-request-shape", "api-request-blob", "tools-used",
        "cost-state", "atis-latch", "custom-title", "ai-title", "agent-name", "mode", "permission-mode",
    }
)  # fmt: skip
"""Records that are no messages; those with a `uuid` are parents of others."""

OWN: Final = frozenset(
    {"file-history-snapshot", "queue-operation", "last-prompt", "atis-latch", "api-request-shape"}
)
"""Records that no other tool writes, which may stand before the first message."""


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
        """Whether it is a message of a session, or a record that only Claude Code writes.

        Other tools write messages with the same ids, and with another content.
        """
        if not isinstance(record, dict) or "type" not in record:
            return False
        if record["type"] not in MESSAGES:
            return record["type"] in OWN or (record["type"] == "summary" and "leafUuid" in record)
        message = record.get("message")
        return (
            "sessionId" in record and "uuid" in record and isinstance(message, dict) and "content" in message
        )

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """The records by session; an agent that a session starts is a thread of its own."""
        for record in records:
            alone = f"{source}#1"  # records that name no session
            session = str(record.get("sessionId", alone)) if isinstance(record, dict) else alone
            agent = record.get("agentId") if isinstance(record, dict) and record.get("isSidechain") else None
            yield Row(f"{session}/{agent}" if agent else session, record)

    def recordings(self, thread: str, records: Sequence[Any]) -> Iterator[Recording]:
        """The trace of one session; files that give one id to different messages hold several."""
        read = [record for record in records if not isinstance(record, Unreadable)]
        torn = [one.sentence for one in records if isinstance(one, Unreadable)]
        for number, one in enumerate(_apart(read), 1):
            yield self._recording(f"{thread} ({number})" if number > 1 else thread, one, torn)
            torn = []

    def _recording(self, thread: str, read: Sequence[Message], torn: Sequence[str]) -> Recording:
        left = Recording(thread, _Reader([]).builder.trace, unexplained=list(torn))
        for record in read:
            kind = str(record.get("type"))
            if kind not in (*MESSAGES, *IGNORED):
                left.unknown[kind] += 1
        reader = _Reader(read)
        left.unexplained += reader.without_parent()
        if any(record.get("type") in MESSAGES for record in read) or left.unexplained:
            reader.write()
            left.trace, left.is_open = reader.builder.finished(), reader.is_open
            left.hidden = frozenset(reader.hidden)
        else:
            left.trace.records.clear()
        return left


def _apart(records: Sequence[Message]) -> list[list[Message]]:
    """The records of each session: one that begins anew, with other messages under its ids, is another."""
    begun: list[list[Message]] = [[]]
    roots: set[str] = set()
    for one in records:
        if one.get("uuid") in roots:
            begun.append([])
        if "uuid" in one and one.get("parentUuid") is None:
            roots.add(str(one["uuid"]))
        begun[-1].append(one)
    apart = begun[:1]
    for later in begun[1:]:
        known = {one["uuid"]: _said_in(one) for one in apart[-1] if "uuid" in one}
        if any(known.get(one.get("uuid"), _said_in(one)) != _said_in(one) for one in later):
            apart.append(later)
        else:
            apart[-1] += later
    return apart


def _said_in(record: Message) -> tuple[Any, Any]:
    return record.get("parentUuid"), record.get("message")


class _Reader:
    """Reads one session: the tree of its messages, and the inferences in the order of the file."""

    def __init__(self, records: Sequence[Message]) -> None:
        once: dict[str, Message] = {}
        for one in records:
            if "uuid" in one:
                once.setdefault(str(one["uuid"]), one)  # a resumed session repeats some
        self.nodes = once
        self.order = {uuid: index for index, uuid in enumerate(once)}
        self.parents = {uuid: str(one.get("parentUuid")) for uuid, one in once.items()} | _kept(once.values())
        self.turns: dict[str, list[Message]] = {}  # by the id of the model's message: its blocks
        self.calls: dict[str, list[dict[str, Any]]] = {}  # by message of the model
        self.said: dict[str, list[dict[str, Any]]] = {}  # by any other message: what the model is shown of it
        self.results: dict[str, list[Message]] = {}  # by call: the messages with a result for it
        for one in once.values():
            if _is_turn(one):
                self.turns.setdefault(_id(one), []).append(one)
                self.calls[str(one["uuid"])] = [_call(block) for block in _blocks(one, "tool_use")]
            elif said := list(_said(one)):
                self.said[str(one["uuid"])] = said
            for block in _blocks(one, "tool_result"):
                self.results.setdefault(str(block.get("tool_use_id")), []).append(one)
        versions = [str(one["version"]) for one in records if "version" in one]
        claims = handshake(
            "claude-code",
            versions[-1] if versions else "?",
            gates=["model", "tool"],
            observes=["thread.edited"],
        )
        self.builder = Builder(claims)
        self.is_open = True
        self.hidden: set[str] = set()  # clauses that this session does not show
        self.shown: list[dict[str, Any]] = []  # the history of the last inference
        self.compacted: set[str] = set()  # the compactions that were observed

    def without_parent(self) -> list[str]:
        """Sentences about messages whose parent is missing, so that their history is not known.

        A session or an agent may go on with what another file holds: then the results of calls from there
        cannot be told from orphans.
        """
        known = {None, *self.nodes}
        missing = [one for one in self.nodes.values() if one.get("parentUuid") not in known]
        first = next(iter(self.nodes), None)
        elsewhere = [one for one in missing if one.get("isSidechain") or one["uuid"] == first]
        self.hidden |= {"PAIR-2"} if elsewhere else set()
        return [
            f"the parent {one['parentUuid']} of message {one['uuid']} is missing"
            for one in missing
            if one not in elsewhere
        ]

    def write(self) -> None:
        """Write every prompt as a run, and every message of the model as an inference."""
        for one in self.nodes.values():
            if _is_prompt(one) and not one.get("isCompactSummary"):
                self.builder.start(_text(one))
            elif _is_turn(one) and self.turns[_id(one)][0] is one:
                self._inference(self.turns[_id(one)])

    def _inference(self, blocks: Sequence[Message]) -> None:
        if not self.builder.run:
            self.builder.start()
        path = self._path(blocks[0])
        history = self._history(path, self.order[str(blocks[0]["uuid"])])
        self._compaction(path, history)
        self.shown = history
        gate = self.builder.ask(history)
        calls = [asked for one in blocks for asked in self.calls[str(one["uuid"])]]
        self.builder.turn(gate, "".join(map(_text, blocks)), calls)
        self.is_open = blocks[-1]["message"].get("stop_reason") != "end_turn"

    def _compaction(self, path: Sequence[Message], history: Sequence[dict[str, Any]]) -> None:
        """Observe a compaction at the first inference after it."""
        boundary = next((str(one["uuid"]) for one in path if one.get("subtype") == "compact_boundary"), "")
        if boundary and boundary not in self.compacted:
            self.compacted.add(boundary)
            self.builder.edited("compaction", self.shown, history[:1])

    def _history(self, path: Sequence[Message], before: int) -> list[dict[str, Any]]:
        """The history that a message answers: the path to it, with the results that hang off it."""
        made: list[dict[str, Any]] = []
        turns: dict[str, dict[str, Any]] = {}
        for one in self._with_siblings(path, before):
            uuid = str(one["uuid"])
            if uuid not in self.calls:
                made += self.said.get(uuid, ())
                continue
            turn = turns.get(_id(one))
            if turn is None:
                turn = turns[_id(one)] = assistant("", [])
                made.append(turn)
            turn["text"] += _text(one)
            turn["tool_calls"] += self.calls[uuid]
        if _was_interrupted(made):
            self.hidden.add("PAIR-1")  # what the model is shown for such a call is not in the transcript
        return made

    def _with_siblings(self, path: Sequence[Message], before: int) -> Iterator[Message]:
        """The path, and the results of its calls that hang off it, each before what the file has after it."""
        places = [self.order[str(one["uuid"])] for one in path]
        inserted: dict[int, list[Message]] = {}
        for place, after, sibling in self._siblings(path, before):
            at = next((at for at in range(after + 1, len(path)) if places[at] > place), len(path))
            inserted.setdefault(at, []).append(sibling)
        for at, one in enumerate(path):
            yield from inserted.get(at, ())
            yield one
        yield from inserted.get(len(path), ())

    def _siblings(self, path: Sequence[Message], before: int) -> list[tuple[int, int, Message]]:
        """The results of calls on the path that hang off it: the place in the file, and that of the turn.

        One with which another branch of the session goes on counts only if the path has none.
        """
        on = {str(one["uuid"]) for one in path}
        found: dict[str, tuple[int, int, Message]] = {}
        for at, one in enumerate(path):
            for call_id in (asked["id"] for asked in self.calls.get(str(one["uuid"]), ())):
                results = {str(result["uuid"]): result for result in self.results.get(call_id, ())}
                is_answered = not on.isdisjoint(results)
                for uuid, result_ in results.items():
                    is_other = uuid in on or (is_answered and uuid in self._leading)
                    if not is_other and self.order[uuid] < before:
                        found[uuid] = self.order[uuid], at, result_
        return sorted(found.values(), key=lambda one: one[0])

    @cached_property
    def _leading(self) -> set[str]:
        """The messages above any message of the model."""
        above: set[str] = set()
        for one in self.nodes.values():
            at = self.parents[str(one["uuid"])] if _is_turn(one) else ""
            while at in self.nodes and at not in above:
                above.add(at)
                at = self.parents[at]
        return above

    def _path(self, message: Message) -> list[Message]:
        """The messages above a message, the oldest first."""
        path: list[Message] = []
        seen = {str(message["uuid"])}
        above = self.parents[str(message["uuid"])]
        while (one := self.nodes.get(above)) is not None and above not in seen:
            seen.add(above)
            path.append(one)
            above = self.parents[above]
        return path[::-1]


def _kept(records: Iterable[Message]) -> dict[str, str]:
    """The new parents of messages that a compaction kept as they were, after its summary."""
    segments = [(one.get("compactMetadata") or {}).get("preservedSegment") or {} for one in records]
    return {str(one["headUuid"]): str(one.get("anchorUuid")) for one in segments if "headUuid" in one}


def _is_turn(record: Message) -> bool:
    """Whether a message comes from the model."""
    message = record.get("message")
    return (
        record.get("type") == "assistant" and isinstance(message, dict) and message.get("model") != SYNTHETIC
    )


def _id(record: Message) -> str:
    return str(record["message"].get("id") or record["uuid"])


def _blocks(record: Message, kind: str) -> Iterator[Message]:
    yield from (block for block in _content(record) if block.get("type") == kind)


def _content(record: Message) -> list[Message]:
    """The parts of a message; a text is one of them."""
    message = record.get("message") if record.get("type") in MESSAGES else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(record: Message) -> str:
    return "".join(str(block.get("text", "")) for block in _blocks(record, "text"))


def _is_prompt(record: Message) -> bool:
    """Whether a message comes from the user, and does not bring results."""
    return (
        record.get("type") == "user"
        and not record.get("isMeta")
        and not any(_blocks(record, "tool_result"))
        and bool(_content(record))
    )


def _said(record: Message) -> Iterator[dict[str, Any]]:
    """The results and texts of a message to the model, in its order; texts that Claude Code adds are none."""
    if record.get("type") != "user" or record.get("isMeta"):
        return
    has_results = any(_blocks(record, "tool_result"))
    for block in _content(record):
        if block.get("type") == "tool_result":
            status = "error" if block.get("is_error") else None
            yield result(str(block.get("tool_use_id")), text_of(block.get("content")), status)
        elif has_results and block.get("type") == "text":
            yield user(str(block.get("text", "")))
    if not has_results and _content(record):
        yield user(_text(record))


def _was_interrupted(history: Sequence[Message]) -> bool:
    """Whether the user interrupted a turn, of which a call has no result."""
    answered = {one["call"] for one in history if one["role"] == "tool"}
    waits = False
    for one in history:
        if one["role"] == "assistant":
            waits = any(asked["id"] not in answered for asked in one["tool_calls"])
        elif waits and one["role"] == "user" and one["text"].startswith(INTERRUPTED):
            return True
    return False


def _call(block: Message) -> dict[str, Any]:
    return call(str(block.get("id")), str(block.get("name")), block.get("input"))


IMPORTER: Final = ClaudeCode()
