"""Where the events of a run go: the sink outlives its watchers, and the run outlives its sink.

A watcher asks for a stream.  On the native one an event has the runtime's own name; on the others it has
the name that the protocol of that stream gives it, and the stream ends with its segment, since there a
request is one turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.machines.lifecycle.charts.event_sink import ReconnectableEventSink
from runlock.machines.table import Moved, compile_chart, react

SINK_TABLE: Final = compile_chart(ReconnectableEventSink)

Encoded = tuple[str, dict[str, Any]]
Data = dict[str, Any]

OF_CALLS: Final = frozenset({"call.asked", "call.answered"})
"""Events that streams tell in their own words; on the native one, the status of a call tells the same."""


def _native(name: str, data: Data) -> list[Encoded]:
    return [] if name in OF_CALLS else [(name, data)]


def _ai_sdk(name: str, data: Data) -> list[Encoded]:
    if name in OF_AI_SDK:
        return OF_AI_SDK[name](data)
    if name != "run.finished":
        return [(f"data-{name}", data)]
    suspended = data["reason"]["code"] == "Suspended"
    return [("finish", {**data, "finishReason": "tool-calls" if suspended else "stop"})]


def _written(args: Any) -> str:
    """Arguments as the model wrote them: those that do not parse are a text already."""
    return args if isinstance(args, str) else json.dumps(args)


def _ai_sdk_asked(data: Data) -> list[Encoded]:
    named = {"toolCallId": data["call"], "toolName": data["tool"]}
    return [
        ("tool-input-start", named),
        ("tool-input-delta", {"toolCallId": data["call"], "inputTextDelta": _written(data["args"])}),
        ("tool-input-available", {**named, "input": data["args"]}),
    ]


def _ai_sdk_pending(data: Data) -> list[Encoded]:
    request = {"approvalId": f"approval-{data['call']}", "toolCallId": data["call"]}
    return [("tool-approval-request", {**data, **request})]


def _ai_sdk_answered(data: Data) -> list[Encoded]:
    named = {"toolCallId": data["call"]}
    if data["status"] == "cancelled":
        return [("tool-output-denied", named)]
    if data["status"] == "error":
        return [("tool-output-error", {**named, "errorText": data["text"]})]
    return [("tool-output-available", {**named, "output": data["text"]})]


OF_AI_SDK: Final[Mapping[str, Callable[[Data], list[Encoded]]]] = {
    "run.started": lambda data: [("start", data)],
    "call.asked": _ai_sdk_asked,
    "call.pending": _ai_sdk_pending,
    "call.answered": _ai_sdk_answered,
}


def _ag_ui(name: str, data: Data) -> list[Encoded]:
    if name in OF_AG_UI:
        return OF_AG_UI[name](data)
    return [("CUSTOM", {**data, "name": name})]


def _ag_ui_asked(data: Data) -> list[Encoded]:
    named = {"toolCallId": data["call"]}
    return [
        ("TOOL_CALL_START", {**named, "toolCallName": data["tool"]}),
        ("TOOL_CALL_ARGS", {**named, "delta": _written(data["args"])}),
        ("TOOL_CALL_END", named),
    ]


def _ag_ui_answered(data: Data) -> list[Encoded]:
    return [("TOOL_CALL_RESULT", {"toolCallId": data["call"], "content": data["text"], "role": "tool"})]


def _ag_ui_finished(data: Data) -> list[Encoded]:
    if data["reason"]["code"] != "Suspended":
        return [("RUN_FINISHED", {**data, "outcome": {"type": "success"}})]
    interrupts = [{"id": f"int-{call}", "toolCallId": call} for call in data["pending"]]
    return [("RUN_FINISHED", {**data, "outcome": {"type": "interrupt", "interrupts": interrupts}})]


OF_AG_UI: Final[Mapping[str, Callable[[Data], list[Encoded]]]] = {
    "run.started": lambda data: [("RUN_STARTED", data)],
    "run.finished": _ag_ui_finished,
    "call.asked": _ag_ui_asked,
    "call.answered": _ag_ui_answered,
}


def _copilotkit(name: str, data: Data) -> list[Encoded]:
    """As AG-UI; a call that waits is a part of the page that waits for an answer."""
    return [("renderAndWaitForResponse", data)] if name == "call.pending" else _ag_ui(name, data)


ENCODERS: Final[Mapping[str, Callable[[str, Data], list[Encoded]]]] = {
    "native": _native,
    "ai-sdk-v6": _ai_sdk,
    "ag-ui": _ag_ui,
    "copilotkit": _copilotkit,
}


class EventSink:
    """The events of consecutive runs, for one watcher at a time; a missing watcher is no error.

    `show(kind, **fields)` reports which event was published to whom, and which stream was closed.
    """

    def __init__(self, show: Callable[..., None]) -> None:
        self.show = show
        self.state: str | None = None  # no watcher yet
        self.watcher: str | None = None
        self.stream = "native"
        self.published = 0

    def connect(self, watcher: str, stream: str) -> None:
        """A watcher is attached and replaces the current one; after the end of a run, it watches the next
        one."""
        if self.state in (None, "Closed"):
            self.state = SINK_TABLE.initial
        else:
            self._move("reconnect")
        self.watcher, self.stream = watcher, stream

    def drop(self) -> None:
        """The stream of the watcher was cut."""
        self._move("drop")
        if self.state == "Dropped":
            self.watcher = None

    def publish(self, name: str, data: Mapping[str, Any]) -> None:
        """Publish an event to the watcher, if there is one."""
        for encoded, shown in self.encode(name, dict(data)):
            if self._move("emit"):
                self.published += 1
                numbered = {"id": self.published, **shown}
                self.show("event", stream=self.stream, name=encoded, data=numbered, watcher=self.watcher)

    def encode(self, name: str, data: Data) -> list[Encoded]:
        """The event in the words of the stream: one, several, or none."""
        return ENCODERS[self.stream](name, data)

    def end_segment(self, final: bool) -> None:
        """The last event of a segment was published: a stream that is one turn closes, and all at the end."""
        closes = final or self.stream != "native"
        if self.watcher is not None and closes:
            self.show("stream.closed", watcher=self.watcher)
        if final:
            self._move("finish")
            self.watcher = None
        elif closes:
            self.drop()

    def _move(self, event: str) -> bool:
        """Move along the chart; what it refuses has no effect."""
        if self.state is None:
            return False
        answer = react(SINK_TABLE, self.state, event)
        if not isinstance(answer, Moved):
            return False
        self.state = answer.row.target
        return True
