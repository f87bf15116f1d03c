"""Where the events of a run go: the sink outlives its watchers, and the run outlives its sink.

A watcher asks for a stream.  On the native one an event has the runtime's own name; on the others it has
the name that the protocol of that stream gives it, and the stream ends with its segment, since there a
request is one turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from runlock.machines.lifecycle.charts.event_sink import ReconnectableEventSink
from runlock.machines.table import Moved, compile_chart, react

SINK_TABLE: Final = compile_chart(ReconnectableEventSink)

Encoded = tuple[str, dict[str, Any]]


def _ai_sdk(name: str, data: dict[str, Any]) -> Encoded:
    if name == "run.started":
        return "start", data
    if name != "run.finished":
        return f"data-{name}", data
    suspended = data["reason"]["code"] == "Suspended"
    return "finish", {**data, "finishReason": "tool-calls" if suspended else "stop"}


def _ag_ui(name: str, data: dict[str, Any]) -> Encoded:
    if name == "run.started":
        return "RUN_STARTED", data
    if name != "run.finished":
        return "CUSTOM", {**data, "name": name}
    suspended = data["reason"]["code"] == "Suspended"
    return "RUN_FINISHED", {**data, "outcome": "interrupt" if suspended else "success"}


def _copilotkit(name: str, data: dict[str, Any]) -> Encoded:
    """As AG-UI; a call that waits is a part of the page that waits for an answer."""
    return ("renderAndWaitForResponse", data) if name == "call.pending" else _ag_ui(name, data)


ENCODERS: Final[Mapping[str, Callable[[str, dict[str, Any]], Encoded]]] = {
    "native": lambda name, data: (name, data),
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
        if not self._move("emit"):
            return
        self.published += 1
        encoded, shown = ENCODERS[self.stream](name, {"id": self.published, **data})
        self.show("event", stream=self.stream, name=encoded, data=shown, watcher=self.watcher)

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
