"""Imports what OpenHands keeps: trajectories of its server, and events of its SDK.

An event of a call has `tool_call_metadata` with the id of the call and the response of the model that asked
for it (All-Hands-AI/OpenHands, `openhands/events/tool.py` and `openhands/events/serialization/event.py`).  An
action is an execution, and the observation with the same id its answer.  What the model is shown is not in
the stream: OpenHands makes a history of it that leaves out calls and results without each other
(`openhands/memory/conversation_memory.py`).  So clauses about histories are not shown; an observation that no
action explains is left over.

The SDK has events of other forms, each in a file of its own (OpenHands/software-agent-sdk,
`openhands-sdk/openhands/sdk/event/llm_convertible/action.py` and `observation.py`).  There, actions of one
`llm_response_id` are a turn, and each observation is an execution.  An error or a rejection instead of an
observation is none: whether the tool ran is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runlock.conformance.audit.importers.builder import handshake
from runlock.conformance.audit.importers.histories import call, text_of
from runlock.conformance.audit.importers.spans import Chat, Spans, Tool, recording_of
from runlock.conformance.audit.importers.spoken import messages_of
from runlock.conformance.audit.recording import Grade, Recording, Row, Unreadable

Raw = Mapping[str, Any]

NO_ANSWER: Final = frozenset({"finish", "condensation", "condensation_request", "message"})
"""Actions that nothing answers."""


class OpenHands:
    """Trajectories of OpenHands."""

    name = "openhands"
    says = "trajectories of OpenHands"
    clauses = frozenset({"ONCE-1", "CALL-23"})
    is_scattered = False

    def grade(self, claims: Mapping[str, Any]) -> Grade:
        """What the stream shows."""
        return Grade("not shown", "not shown", "in part", "shown", "not shown")

    def recognises(self, record: Any) -> bool:
        """Whether it is an event of the stream, or an object with a list of them."""
        if not isinstance(record, dict):
            return False
        return any(map(_is_event, _events(record)))

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """Each file is a thread."""
        for record in records:
            for one in _events(record) if isinstance(record, dict) else [record]:
                yield Row(f"{source}#1", one)

    def recordings(self, thread: str, records: Sequence[Any]) -> list[Recording]:
        """The trace of one conversation."""
        events = [one for one in records if isinstance(one, dict)]
        made = recording_of(thread, self.read(events), handshake(self.name, "?", gates=["model", "tool"]))
        made.unexplained = [one.sentence for one in records if isinstance(one, Unreadable)] + made.unexplained
        made.is_open = True
        return [made]

    def read(self, events: Sequence[Raw]) -> Spans:
        """The turns, and what was executed."""
        return _read(events)


def _events(record: Raw) -> Sequence[Any]:
    listed = record.get("trajectory")
    return listed if isinstance(listed, list) and "history" not in record else [record]


def _is_event(record: Any) -> bool:
    is_event = isinstance(record, dict) and ("action" in record or "observation" in record)
    return is_event and "source" in record and ("args" in record or "extras" in record)


def _metadata(event: Raw) -> Raw:
    found = event.get("tool_call_metadata")
    return found if isinstance(found, dict) else {}


def _read(events: Sequence[Raw]) -> Spans:
    """The responses of the model as inferences, and each action with its observation as an execution."""
    read, asked = Spans(), set[str]()
    answers: dict[str, list[Raw]] = {}
    entered = Counter[str]()
    for event in events:
        if "observation" in event and _metadata(event):
            answers.setdefault(str(_metadata(event)["tool_call_id"]), []).append(event)
    for event in events:
        about = _metadata(event)
        if about and "action" in event:
            response = about.get("model_response") or {}
            if str(response.get("id")) not in asked:
                asked.add(str(response.get("id")))
                read.chats.append(_chat(response))
            if event["action"] not in NO_ANSWER:
                id_ = str(about.get("tool_call_id"))
                given = answers.get(id_, ())[entered[id_] : entered[id_] + 1]
                entered[id_] += 1
                read.tools.append(_tool(about, given))
        elif about and str(about["tool_call_id"]) not in entered:
            read.tools.append(_tool(about, [event]))
            entered[str(about["tool_call_id"])] += 1
    return read


def _chat(response: Raw) -> Chat:
    choices = [one.get("message") for one in response.get("choices") or () if isinstance(one, dict)]
    turns = [one for one in messages_of(choices[:1]) or () if one["role"] == "assistant"]
    calls = [one for turn in turns for one in turn["tool_calls"]]
    return Chat("", None, "".join(turn["text"] for turn in turns), calls)


def _tool(about: Raw, given: Sequence[Raw]) -> Tool:
    id_, name = str(about.get("tool_call_id")), str(about.get("function_name"))
    if not given:
        return Tool("", id_, name, None, "pending", None)
    kind = "error" if given[0].get("observation") == "error" else "ok"
    return Tool("", id_, name, None, kind, text_of(given[0].get("content")))


# --- the SDK ------------------------------------------------------------------------------------

OWN_FILE: Final = "event-"
"""What the name of a file begins with that has one event."""


class OpenHandsSdk(OpenHands):
    """Events of the SDK; those in files of their own are a thread by their folder."""

    name = "openhands-sdk"
    says = "events of the SDK of OpenHands"
    is_scattered = True

    def recognises(self, record: Any) -> bool:
        """Whether it is an event, or an object with a list of them."""
        return any(map(_is_sdk_event, _items(record)))

    def keyed(self, records: Iterable[Any], source: str) -> Iterator[Row]:
        """Each file is a thread, or each folder with a file for each event."""
        path = Path(source)
        thread = f"{path.parent}#1" if path.name.startswith(OWN_FILE) else f"{source}#1"
        for record in records:
            yield from (Row(thread, one) for one in _items(record) or [record])

    def read(self, events: Sequence[Raw]) -> Spans:
        """The turns, and what was executed."""
        read, turns = Spans(), dict[str, Chat]()
        for event in events:
            kind = event.get("kind")
            if kind == "ActionEvent":
                response = str(event.get("llm_response_id"))
                if response not in turns:
                    turns[response] = Chat("", None, _said(event.get("thought")), [])
                    read.chats.append(turns[response])
                asked = event.get("tool_call") or {}
                of = call(str(asked.get("id")), str(asked.get("name")), asked.get("arguments"))
                turns[response].calls = [*(turns[response].calls or ()), of]
            elif kind == "ObservationEvent":
                read.tools.append(_observed(event))
        return read


def _items(record: Any) -> Sequence[Any]:
    """The events of a record: itself, or the page of them that the server answers."""
    listed = record.get("items") if isinstance(record, dict) and "kind" not in record else None
    return listed if isinstance(listed, list) else [record]


def _is_sdk_event(record: Any) -> bool:
    is_event = isinstance(record, dict) and str(record.get("kind")).endswith(("Event", "Observation"))
    return is_event and "source" in record and "id" in record


def _observed(event: Raw) -> Tool:
    answer = event.get("observation") or {}
    kind = "error" if answer.get("is_error") else "ok"
    text = _said(answer.get("content"))
    return Tool("", str(event.get("tool_call_id")), str(event.get("tool_name")), None, kind, text_of(text))


def _said(parts: Any) -> str:
    listed = [one for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []
    return "".join(str(one.get("text") or "") for one in listed)


IMPORTERS: Final = (OpenHands(), OpenHandsSdk())
