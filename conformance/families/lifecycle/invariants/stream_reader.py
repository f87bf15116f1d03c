"""Reads one stream of AG-UI from its first event to its last, and notes by clause what it has met.

A note is the reason why the clause is broken, or empty.  Runs begin and end along the chart of a stream;
items are messages, calls and messages of reasoning.  What of a stream was recorded from its middle on is not
judged by what should have come before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from runlock.conformance.families.lifecycle.messages import Exchanged
from runlock.machines.lifecycle.charts.ag_ui_stream import AgUiStream
from runlock.machines.table import Moved, compile_chart, react

Event = Mapping[str, Any]

TABLE: Final = compile_chart(AgUiStream)
BOUNDS: Final = {"RUN_STARTED": "run_started", "RUN_FINISHED": "run_finished", "RUN_ERROR": "run_error"}
LEADS_TO: Final = {"RUN_STARTED": "Active", "RUN_FINISHED": "Closed", "RUN_ERROR": "Failed"}
KEPT_BY: Final = {"RUN_STARTED": ("2",), "RUN_FINISHED": ("2", "3"), "RUN_ERROR": ("2", "4")}
"""The clauses that are met where an event bounds a run: unless something wrong follows, they hold."""

COMES: Final = {
    "NotBegun": "is the first one of its stream",
    "Active": "comes while a run is active",
    "Closed": "comes after RUN_FINISHED",
    "Failed": "comes after RUN_ERROR",
}
PARTS: Final = frozenset({"text", "image", "audio", "video", "document"})
"""The types of the parts that the content of a result may have."""


class Kind(NamedTuple):
    """A kind of item: what it is called, the field that has its id, and those that its opening sets."""

    name: str
    id: str
    fields: tuple[str, ...]


MESSAGE: Final = Kind("message", "messageId", ("role", "name"))
CALL: Final = Kind("call", "toolCallId", ("toolCallName", "parentMessageId"))
REASONING: Final = Kind("reasoning message", "messageId", ())
USUAL: Final = {"role": "assistant"}
"""What a field stands for where an opening leaves it out."""

STARTS: Final = {
    "TEXT_MESSAGE_START": MESSAGE,
    "TOOL_CALL_START": CALL,
    "REASONING_MESSAGE_START": REASONING,
}
PIECES: Final = {
    "TEXT_MESSAGE_CONTENT": MESSAGE,
    "TOOL_CALL_ARGS": CALL,
    "REASONING_MESSAGE_CONTENT": REASONING,
}
ENDS: Final = {"TEXT_MESSAGE_END": MESSAGE, "TOOL_CALL_END": CALL, "REASONING_MESSAGE_END": REASONING}
CHUNKS: Final = {
    "TEXT_MESSAGE_CHUNK": MESSAGE,
    "TOOL_CALL_CHUNK": CALL,
    "REASONING_MESSAGE_CHUNK": REASONING,
}
ASIDE: Final = ("RAW", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_ENCRYPTED_VALUE", "SUBAGENT_STARTED")
"""Events that end no item whose chunks come."""


@dataclass(slots=True)
class Item:
    """A message or a call, as its newest opening has it."""

    kind: Kind
    id: str
    opening: Event
    is_open: bool = True
    is_chunked: bool = False
    text: str = ""

    def __str__(self) -> str:
        return f"{self.kind.name} {self.id}"

    def said(self, name: str) -> Any:
        """What its opening says of a field, by itself or by leaving it out."""
        value = self.opening.get(name)
        return USUAL.get(name) if value is None else value


Key = tuple[str, str]


@dataclass(slots=True)
class StreamedRun:
    """The run that is streamed, or was streamed last."""

    id: Any = None
    version: Any = None
    items: dict[Key, Item] = field(default_factory=dict)
    steps: dict[str, bool] = field(default_factory=dict)  # by name: whether it is open
    calls: dict[str, str] = field(default_factory=dict)  # that were started: the tool of each, in this order
    answered: set[str] = field(default_factory=set)  # calls that have a result

    @property
    def unanswered(self) -> list[str]:
        """The calls without a result."""
        return [call for call in self.calls if call not in self.answered]


class Request:
    """What a request says: nothing, if it was not recorded."""

    def __init__(self, sent: Event | None) -> None:
        self.is_known = sent is not None
        self.sent: Event = sent or {}
        self.offered = {str(one.get("name")) for one in _objects(self.sent.get("tools"))}
        messages = list(_objects(self.sent.get("messages")))
        self.texts = {str(one.get("id")): one.get("content") for one in messages}
        self.is_answer = any(one.get("role") == "assistant" for one in messages)
        done = {str(one.get("toolCallId")) for one in messages if one.get("role") == "tool"}
        asked = [call for one in messages for call in _objects(one.get("toolCalls"))]
        self.waiting = {str(one.get("id")): _function(one) for one in asked if str(one.get("id")) not in done}


class Reader:
    """Takes in the events of a stream; `notes` are what it has met, by clause.

    What `is_recorded` may lack fields, and its end.
    """

    def __init__(self, request: Request, is_recorded: bool) -> None:
        self.is_recorded = is_recorded
        self.notes: defaultdict[str, list[str]] = defaultdict(list)
        self.request = request
        self.place = TABLE.initial if request.is_known else "Active"
        self.is_cut = not request.is_known  # from its beginning, so far
        self.run = StreamedRun()
        self.opened: dict[Key, Item] = {}  # each item of the stream, by its first opening
        self.answered: set[str] = set()  # calls that have a result on the stream
        self.chunked: dict[str, Item] = {}  # by subagent, or "": the item whose chunks come
        self.where = ""
        self.ids: list[Any] = []  # of the runs

    def note(self, clause: str, holds: object, reason: str = "") -> None:
        """A clause was met, and held or did not."""
        self.notes[f"PRODUCER-{clause}"].append("" if holds else reason)

    def take(self, number: int, event: Event) -> None:
        """The next event."""
        kind = str(event.get("type"))
        self.where = f"event {number}, {kind},"
        self._close_chunks(kind, event)
        if kind in BOUNDS:
            self._bound(kind)
            BOUND[kind](self, event)
        elif self.place == "Active":
            self._within(kind, event)
        else:
            self._refuse(self.place)

    def end(self, ended: str) -> None:
        """The stream is over; who ended it says whether something is missing."""
        if ended == "closed":
            begun = self.place != "NotBegun"
            self.note("1", begun, "the stream ends without an event")
            if self.ids:
                why = f"the stream ends while run {self.run.id} is neither finished nor failed"
                self.note("5", self.place != "Active", why)
        is_last = self.place == "Closed" or len(self.ids) == 1
        if ended == "closed" and self.ids and self.request.is_known and is_last:
            asked = self.request.sent.get("runId")
            why = f"the last run of the stream is {self.ids[-1]}, and the request asks for {asked}"
            self.note("8", self.ids[-1] == asked, why)
        for item in self.opened.values() if self.request.is_answer else ():
            self._restated(item)

    # -- where runs begin and end

    def _bound(self, kind: str) -> None:
        answer = react(TABLE, self.place, BOUNDS[kind])
        if self.is_cut and kind == "RUN_STARTED":
            self.is_cut = False
        elif isinstance(answer, Moved):
            for clause in ("1",) if self.place == "NotBegun" else KEPT_BY[kind]:
                self.note(clause, holds=True)
        else:
            self._refuse(self.place)
        self.place = LEADS_TO[kind]

    def _refuse(self, place: str) -> None:
        clause = TABLE.closed[place].removeprefix("PRODUCER-")
        self.note(clause, False, f"{self.where} {COMES[place]}")

    def _started(self, event: Event) -> None:
        self._thread(event)
        version = event.get("protocolVersion")
        if version is not None:
            right = all(part.isdecimal() for part in str(version).split(".")) and str(version).count(".") == 1
            self.note("9", right, f"{self.where} declares version {version}, which is not MAJOR.MINOR")
        self.run = StreamedRun(event.get("runId"), version)
        self.ids.append(self.run.id)

    def _thread(self, event: Event) -> None:
        asked, named = self.request.sent.get("threadId"), event.get("threadId")
        if self.request.is_known and not (self.is_recorded and named is None):
            self.note("6", named == asked, f"{self.where} is of thread {named}, and the request of {asked}")

    def _finished(self, event: Event) -> None:
        self._thread(event)
        ends, begun = event.get("runId"), self.run.id
        if not self.is_cut and not (self.is_recorded and None in (ends, begun)):
            self.note("7", ends == begun, f"{self.where} is of run {ends}, which began as {begun}")
        self._left("18", {str(item): item.is_open for item in self.run.items.values()})
        self._left("23", {f"step {name}": is_open for name, is_open in self.run.steps.items()})
        self._used(event)
        outcome = event.get("outcome")
        if outcome is None:
            self._outcome("success", {}, event)
            return
        kind = outcome.get("type") if isinstance(outcome, Mapping) else None
        is_known = kind in ("success", "interrupt", "cancelled")
        self.note("10", is_known, f"{self.where} has the outcome {outcome}, which is none of the protocol")
        if is_known:
            self._outcome(str(kind), outcome, event)

    def _left(self, clause: str, begun: Mapping[str, bool]) -> None:
        """Of what a run began, nothing is open when it ends."""
        left = [name for name, is_open in begun.items() if is_open]
        if begun:
            self.note(clause, not left, f"{self.where} comes while {_listed(left)} is open")

    def _outcome(self, kind: str, outcome: Event, event: Event) -> None:
        others = [name for name, of in OF_OUTCOME.items() if of != kind and outcome.get(name)]
        self.note("11", not others, f"{self.where} has {_listed(others)} in an outcome that is {kind}")
        if kind == "cancelled":
            self.note("15", event.get("result") is None, f"{self.where} has a result of a cancelled run")
        elif kind == "interrupt":
            self._interrupted(list(_objects(outcome.get("interrupts"))))
        else:
            self._succeeded(outcome.get("pendingToolCallIds"))

    def _interrupted(self, interrupts: Sequence[Event]) -> None:
        self.note("12", interrupts, f"{self.where} is an interrupt that asks for nothing")
        ids = [one.get("id") for one in interrupts]
        twice = [str(one) for one in ids if one is None or ids.count(one) > 1]
        self.note("13", not twice, f"{self.where} has interrupts that share the id {_listed(twice[:1])}")
        if self.request.offered and interrupts:
            calls = [str(one.get("toolCallId")) for one in interrupts]
            own = [call for call in calls if self.run.calls.get(call) in self.request.offered]
            why = f"{self.where} interrupts for {_listed(own)} alone, of a tool of the application"
            self.note("26", own != calls, why)

    def _succeeded(self, pending: Any) -> None:
        left = self.run.unanswered
        if isinstance(pending, list) and not self.is_cut:
            listed = [str(one) for one in pending]
            known = [one for one in listed if one in self.run.calls or self._is_new(one)]
            why = f"{self.where} lists {_listed(listed)} as pending, and without a result is {_listed(left)}"
            self.note("27", known == left, why)
        offered = [call for call in left if self.run.calls[call] in self.request.offered]
        if offered:
            why = f"{self.where} does not say that {_listed(offered)} is left to the application"
            self.note("28", bool(pending), why)

    def _is_new(self, call: str) -> bool:
        """Whether a call is none of an earlier run that still has no result."""
        return self.request.is_known and call not in self.request.waiting

    def _used(self, event: Event) -> None:
        for one in _objects(event.get("usage")):
            given, made, total = (one.get(f"{name}Tokens") for name in ("input", "output", "total"))
            cached = (one.get("cachedInputTokens") or 0) + (one.get("cacheWriteInputTokens") or 0)
            for of, part, whole in (
                ("input", cached, given),
                ("output", one.get("reasoningTokens") or 0, made),
            ):
                if part and whole is not None:
                    why = f"{self.where} has {part} tokens that are a part of {whole} {of} tokens"
                    self.note("31", part <= whole, why)
            if given is not None and made is not None and total is not None:
                why = f"{self.where} has {total} tokens in total, of {given} input and {made} output tokens"
                self.note("32", total == given + made, why)

    # -- within a run

    def _within(self, kind: str, event: Event) -> None:
        if self.run.version == "1.0":
            why = f"{self.where} has an encryptedValueType in a run of version 1.0"
            self.note("33", "encryptedValueType" not in event, why)
        if kind in STARTS:
            self._open(STARTS[kind], event)
        elif kind in PIECES or kind in ENDS:
            self._go_on((PIECES | ENDS)[kind], event, ends=kind in ENDS)
        elif kind in CHUNKS:
            self._chunk(CHUNKS[kind], event)
        elif kind in WITHIN:
            WITHIN[kind](self, event)

    def _open(self, kind: Kind, event: Event, *, is_chunked: bool = False) -> Item:
        id_ = str(event.get(kind.id))
        key, item = (kind.name, id_), Item(kind, id_, event, is_chunked=is_chunked)
        if kind is CALL and id_ in self.answered:  # a later turn uses its id for another call
            self._forget(id_)
        known, first = self.run.items.get(key), self.opened.setdefault(key, item)
        self.note("16", known is None or not known.is_open, f"{self.where} opens {item}, which is open")
        for name in kind.fields if first is not item else ():
            now, before = item.said(name), first.said(name)
            if now is not None and not (is_chunked and event.get(name) is None):
                why = f"{self.where} opens {item} again with {name} {now}, after {before}"
                self.note("19", now == before, why)
        self.run.items[key] = item
        if kind is CALL:
            self.run.calls.setdefault(id_, str(event.get("toolCallName")))
        return item

    def _forget(self, call: str) -> None:
        self.opened.pop((CALL.name, call), None)
        self.answered.discard(call)
        self.run.answered.discard(call)
        self.run.calls.pop(call, None)

    def _go_on(self, kind: Kind, event: Event, *, ends: bool) -> None:
        id_ = str(event.get(kind.id))
        item = self.run.items.get((kind.name, id_))
        is_open = item is not None and item.is_open and not item.is_chunked
        if not self.is_cut:
            self.note("17", is_open, f"{self.where} is of {kind.name} {id_}, which is not open")
        if item is not None and is_open:
            item.is_open = not ends
            self._add(item, event)

    def _add(self, item: Item, event: Event) -> None:
        delta = str(event.get("delta") or "")
        item.text += delta
        first = self.opened[item.kind.name, item.id]
        if first is not item:
            first.text += delta

    # -- chunks

    def _chunk(self, kind: Kind, event: Event) -> None:
        lane, id_ = _lane(event), event.get(kind.id)
        item = self.chunked.get(lane)
        if item is None or item.kind is not kind or id_ not in (None, item.id):
            wanted = [kind.id, *(["toolCallName"] if kind is CALL else [])]
            lacking = [name for name in wanted if event.get(name) is None]
            if not self.is_cut:
                self.note("20", not lacking, f"{self.where} begins a {kind.name} without {_listed(lacking)}")
            item = self.chunked[lane] = self._open(kind, event, is_chunked=True)
        else:
            for name in kind.fields:
                self._repeated(item, name, event.get(name))
        self._add(item, event)

    def _repeated(self, item: Item, name: str, value: Any) -> None:
        said = item.said(name)
        if value is not None and said is not None:
            self.note("21", value == said, f"{self.where} gives {item} the {name} {value}, which was {said}")

    def _close_chunks(self, kind: str, event: Event) -> None:
        """An event that cannot belong to the chunks of an item ends it."""
        if kind in BOUNDS or kind == "MESSAGES_SNAPSHOT":
            lanes = list(self.chunked)
        elif kind in ASIDE or self._continues(kind, event):
            lanes = []
        else:
            lanes = [_lane(event)]
        for lane in lanes:
            if (item := self.chunked.pop(lane, None)) is not None:
                item.is_open = False

    def _continues(self, kind: str, event: Event) -> bool:
        of, item = CHUNKS.get(kind), self.chunked.get(_lane(event))
        return item is not None and of is item.kind and event.get(of.id) in (None, item.id)

    # -- results, steps, and what is streamed again

    def _result(self, event: Event) -> None:
        call, content = str(event.get("toolCallId")), event.get("content")
        is_list = isinstance(content, list) and len(list(_objects(content))) == len(content)
        others = {str(one.get("type")) for one in _objects(content)} - PARTS
        right = isinstance(content, str) or (is_list and not others)
        types = f"parts of the type {_listed(sorted(others))}"
        what = types if others else "neither a text nor a list of parts"
        self.note("24", right, f"{self.where} has {what} as its content")
        self.run.answered.add(call)
        self.answered.add(call)
        tool = self.run.calls.get(call) or self.request.waiting.get(call, ("", ""))[0]
        self.request.waiting.pop(call, None)
        if self.request.offered and tool:
            why = f"{self.where} answers call {call} of {tool}, a tool of the application"
            self.note("25", tool not in self.request.offered, why)

    def _step_started(self, event: Event) -> None:
        name = str(event.get("stepName"))
        is_open = self.run.steps.get(name, False)
        self.note("22", not is_open, f"{self.where} starts step {name}, which is open")
        self.run.steps[name] = True

    def _step_finished(self, event: Event) -> None:
        name = str(event.get("stepName"))
        is_open = self.run.steps.get(name, False)
        if not self.is_cut:
            self.note("22", is_open, f"{self.where} finishes step {name}, which is not open")
        self.run.steps[name] = False

    def _restated(self, item: Item) -> None:
        """A text that the request has, or a call that it has without a result, is not streamed again."""
        if item.kind is CALL:
            known: Any = self.request.waiting.get(item.id, ("", ""))[1]
        else:
            known = self.request.texts.get(item.id)
        why = f"{item}, which the request has, is streamed once more with {item.text!r}"
        self.note("30", not item.text or item.text != known, why)


BOUND: Final[Mapping[str, Callable[[Reader, Event], None]]] = {
    "RUN_STARTED": Reader._started,
    "RUN_FINISHED": Reader._finished,
    "RUN_ERROR": Reader._used,
}
WITHIN: Final[Mapping[str, Callable[[Reader, Event], None]]] = {
    "TOOL_CALL_RESULT": Reader._result,
    "STEP_STARTED": Reader._step_started,
    "STEP_FINISHED": Reader._step_finished,
}
OF_OUTCOME: Final = {"interrupts": "interrupt", "pendingToolCallIds": "success"}
"""Fields of an outcome, and the kind of outcome that has each."""


def read(seen: Exchanged) -> Mapping[str, Sequence[str]]:
    """What a stream has met, by clause."""
    reader = Reader(Request(seen.request), is_recorded=seen.ended == "unknown")
    for number, event in enumerate(seen.events, start=1):
        reader.take(number, event)
    if seen.ended != "refused":
        reader.end(seen.ended)
    return reader.notes


def _lane(event: Event) -> str:
    return str(event.get("subagentRunId") or "")


def _objects(value: Any) -> Iterator[Event]:
    """The objects in a list; none if it is no list."""
    return (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else iter(())


def _function(call: Event) -> tuple[str, str]:
    """The tool and the arguments of a call of a message."""
    made = call.get("function")
    found = made if isinstance(made, Mapping) else {}
    return str(found.get("name")), str(found.get("arguments"))


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "nothing"
