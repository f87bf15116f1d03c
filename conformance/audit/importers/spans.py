"""Turns the spans of one thread into a trace; what OpenTelemetry GenAI and OpenInference have in common.

Spans have no sequence numbers.  An inference comes after another one if its history contains what the other
one answered; a tool runs after the turn that asked for its call and before the next inference of its agent.
Where neither orders two spans, the order of the file does: a span is written when it ends.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from runlock.conformance.audit.importers.builder import Builder
from runlock.conformance.audit.importers.histories import ids_in
from runlock.conformance.audit.recording import Recording


@dataclass(slots=True)
class Chat:
    """One inference: the history that the model was shown, and its turn; without content both are None."""

    segment: str
    messages: list[dict[str, Any]] | None
    text: str = ""
    calls: list[dict[str, Any]] | None = None
    error: str = ""


@dataclass(slots=True)
class Tool:
    """One execution of a tool."""

    segment: str
    call: str | None
    name: str
    args: dict[str, Any] | None
    kind: str  # as an outcome of a tool gate
    content: str | None


@dataclass(slots=True)
class Spans:
    """The spans of one agent on one thread, in the order of the file."""

    chats: list[Chat] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    ended: dict[str, bool] = field(default_factory=dict)  # segment: whether it ended without an error


def recording_of(thread: str, spans: Spans, claims: Mapping[str, Any]) -> Recording:
    """The trace of one agent on one thread."""
    made = Recording(thread, Builder(claims).trace)
    if any(chat.calls is None and not chat.error for chat in spans.chats):
        made.unexplained.append("its spans do not hold the turns of the model: content was not recorded")
        return made
    writer = _Writer(Builder(claims), spans, made)
    chats = ordered(spans.chats)
    writer.write(chats)
    if not all(_goes_on(before, chat) for before, chat in pairwise(chats)):
        made.hidden = frozenset({"PAIR-8"})
    made.trace = writer.builder.finished()
    return made


def ordered(chats: Sequence[Chat]) -> list[Chat]:
    """The inferences, each after those whose answers its history contains."""
    after = {index: set[int]() for index in range(len(chats))}
    asked = Counter(key for chat in chats for key in _answers(chat))
    source = {key: index for index, chat in enumerate(chats) for key in _answers(chat)}
    for index, chat in enumerate(chats):
        for key in _shown(chat):
            if asked.get(key) == 1 and source[key] != index:
                after[index].add(source[key])
    return [chats[index] for index in _sorted(after)]


def _goes_on(before: Chat, chat: Chat) -> bool:
    """Whether an inference certainly goes on with the one before: it begins alike, and adds its answer.

    Others of a thread, such as that of a title, of a summary or of an edited message, have their own history.
    """
    if before.error or not before.messages or not chat.messages or before.messages[0] != chat.messages[0]:
        return False
    said = _answers(before)
    added = chat.messages[len(before.messages) :]
    texts = [one.get("text", "") for one in added if said & {*_asked_in(one)}]
    return any(text.split() == before.text.split() for text in texts)


def _answers(chat: Chat) -> set[str]:
    """What tells the turn of an inference from others: the ids of its calls, or its text."""
    return {f"id {one['id']}" for one in chat.calls or ()} or ({f"text {chat.text}"} if chat.text else set())


def _shown(chat: Chat) -> Iterator[str]:
    for message in chat.messages or ():
        yield from _asked_in(message)


def _asked_in(message: Mapping[str, Any]) -> list[str]:
    """What tells a turn of the model in a history from others; nothing for any other message."""
    if message["role"] != "assistant":
        return []
    return [f"id {one['id']}" for one in message.get("tool_calls", ())] or [f"text {message.get('text', '')}"]


def _sorted(after: Mapping[int, set[int]]) -> Iterator[int]:
    """A topological order; of those that are free, the first of the file; a cycle is cut there too."""
    left = {index: set(before) for index, before in after.items()}
    followers: dict[int, list[int]] = {}
    for index, before in after.items():
        for one in before:
            followers.setdefault(one, []).append(index)
    free = [index for index, before in left.items() if not before]
    while left:
        index = heapq.heappop(free) if free else min(left)
        if left.pop(index, None) is None:
            continue
        yield index
        for follower in followers.get(index, ()):
            if follower in left:
                left[follower].discard(index)
                if not left[follower]:
                    heapq.heappush(free, follower)


class _Writer:
    """Writes the segments of one thread; one that ends with open calls goes on in the next one."""

    def __init__(self, builder: Builder, spans: Spans, made: Recording) -> None:
        self.builder, self.spans, self.made = builder, spans, made
        self.waiting: dict[str, dict[str, Any]] = {}  # the calls that were asked for and not executed
        self.times = Counter[str]()  # how often the last turn asks for a call under this id
        self.left = _by_segment(spans.tools)
        self.known = {one for chat in spans.chats for one in ids_in(chat.messages or ())}
        self.asked = Counter(one["id"] for chat in spans.chats for one in chat.calls or ())

    def write(self, chats: Sequence[Chat]) -> None:
        """Write every segment in the order of its first inference, those without one first."""
        order = dict.fromkeys([*self.left.keys() - {chat.segment for chat in chats}])
        order |= dict.fromkeys(chat.segment for chat in chats)
        for segment in order:
            self._segment(segment, [chat for chat in chats if chat.segment == segment])
        self.made.is_open = self._is_open(chats)

    def _is_open(self, chats: Sequence[Chat]) -> bool:
        return bool(self.waiting) or any(chat.segment not in self.spans.ended for chat in chats)

    def _segment(self, segment: str, chats: Sequence[Chat]) -> None:
        tools = self.left.get(segment, [])
        if not self.waiting:
            self.builder.start()
        self._execute(tools, dict(self.waiting))
        for chat in chats:
            self._inference(chat, tools)
        for tool in tools:
            self._left_over(tool)
        if segment in self.spans.ended and not self.waiting:
            self._end(segment, chats[-1:])

    def _end(self, segment: str, last: Sequence[Chat]) -> None:
        """The end of a run; an end with open calls is none, since spans do not show that a call waits."""
        done = "BehaviorRequested" if last and last[0].calls else "NaturalEnd"
        self.builder.finish(done if self.spans.ended[segment] else "Error")

    def _inference(self, chat: Chat, tools: list[Tool]) -> None:
        gate = self.builder.ask(chat.messages)
        if chat.error:
            self.builder.fault(gate, chat.error)
            return
        self.builder.turn(gate, chat.text, chat.calls or ())
        self.waiting = {one["id"]: one for one in chat.calls or ()}
        self.times = Counter(one["id"] for one in chat.calls or ())
        self._execute(tools, dict(self.waiting))

    def _execute(self, tools: list[Tool], calls: Mapping[str, dict[str, Any]]) -> None:
        """Execute the calls of a turn: all bodies are entered, and left in the order of the file."""
        running: list[tuple[str, Tool]] = []
        again: list[Tool] = []
        for tool in [one for one in tools if _call_of(one, calls) is not None]:
            call = calls[str(_call_of(tool, calls))]
            is_first = call["id"] in self.waiting
            if not is_first and (self.asked[call["id"]] > 1 or tool.call is None):
                continue  # it executes the call that a later turn asks for under the same id, or name
            tools.remove(tool)
            if is_first:
                running.append((self.builder.enter(call, tool.args, tool.name), tool))
                self._entered(call["id"])
            else:
                again.append(tool)
        for gate, tool in running:
            self.builder.leave(gate, tool.kind, tool.content)
            if tool.kind == "pending":
                self.waiting |= {id_: call for id_, call in calls.items() if id_ == _call_of(tool, calls)}
        for tool in again:
            gate = self.builder.enter(calls[str(_call_of(tool, calls))], tool.args, tool.name)
            self.builder.leave(gate, tool.kind, tool.content)

    def _entered(self, call_id: str) -> None:
        self.times[call_id] -= 1
        if self.times[call_id] <= 0:
            del self.waiting[call_id]

    def _left_over(self, tool: Tool) -> None:
        """A tool without its turn: the turn was before the recording, or nothing explains the tool."""
        if tool.call is None:
            self.made.unknown[f"an execution of {tool.name} without the id of its call"] += 1
        elif tool.call not in self.known or tool.call in self.asked:
            self.made.unexplained.append(f"no turn asks for call {tool.call}, which {tool.name} executes")


def _by_segment(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    found: dict[str, list[Tool]] = {}
    for tool in tools:
        found.setdefault(tool.segment, []).append(tool)
    return found


def _call_of(tool: Tool, calls: Mapping[str, dict[str, Any]]) -> str | None:
    """The call of these that a tool executes: by its id, or by its name if that leaves no doubt."""
    if tool.call is not None:
        return tool.call if tool.call in calls else None
    named = [id_ for id_, call in calls.items() if call["name"] == tool.name]
    return named[0] if len(named) == 1 else None
