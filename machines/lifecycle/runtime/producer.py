"""What the reference would send as a server of AG-UI: one exchange for each segment of a run.

A client that answers each interrupt is part of it: its requests have the messages so far, and the decisions
that the segment acted on are its resume.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Event = dict[str, Any]
Data = Mapping[str, Any]

THREAD: Final = "thread"
FAILURES: Final = ("Error", "Blocked")
STOPS: Final = ("Cancelled", "Stopped")

TELLS: Final[Mapping[str, str]] = {
    "run.started": "started",
    "call.asked": "asked",
    "call.answered": "answered",
    "decision.applied": "decided",
    "run.finished": "finished",
}
"""Events of the runtime that come to something on the stream, and what takes each in."""


class Producer:
    """The exchanges of one thread; `show(kind, **fields)` reports each when its stream has ended."""

    version = "1.1"

    def __init__(self, show: Callable[..., None]) -> None:
        self.show = show
        self.history: list[Event] = []  # the messages that the client has
        self.exchanges = self.messages = 0
        self.request: Event = {}
        self.events: list[Event] = []
        self.steps: list[str] = []  # that are open
        self.usage = (0, 0)

    def said(self, message: Mapping[str, Any]) -> None:
        """A message of the thread: a user's is a part of the request, and the model's is streamed."""
        if message["role"] == "user":
            self._begin()
            self.request["messages"].append(self.message("user", message["text"]))
        elif message["role"] == "assistant":
            self._begin()
            made = self.message("assistant", message["text"])
            if message["text"]:
                named = {"messageId": made["id"]}
                self.send("TEXT_MESSAGE_START", **named, role="assistant")
                self.send("TEXT_MESSAGE_CONTENT", **named, delta=message["text"])
                self.send("TEXT_MESSAGE_END", **named)

    def told(self, name: str, data: Data) -> None:
        """An event of the runtime."""
        if name in TELLS:
            self._begin()
            getattr(self, TELLS[name])(data)

    def spent(self, given: int, made: int) -> None:
        """Tokens of one inference."""
        self.usage = (self.usage[0] + given, self.usage[1] + made)

    def step(self, begins: bool) -> None:
        """A step begins, or the open one ends."""
        self._begin()
        if begins:
            self.steps.append(f"step {len(self.events)}")
            self.send("STEP_STARTED", stepName=self.steps[-1])
        elif self.steps:
            self.send("STEP_FINISHED", stepName=self.steps.pop())

    def send(self, kind: str, **fields: Any) -> None:
        """An event is streamed."""
        self.events.append({"type": kind, **fields})

    # What a mutant changes.

    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        """How a run that did not fail has ended."""
        if code == "Suspended":
            return {"type": "interrupt", "interrupts": [self.interrupt(call) for call in pending]}
        return {"type": "cancelled" if code in STOPS else "success"}

    def interrupt(self, call: str) -> Event:
        """What the client is asked about a call that waits."""
        return {"id": f"int-{call}", "reason": "tool_call", "toolCallId": call}

    def stream(self, events: list[Event]) -> list[Event]:
        """The events of an exchange, as they are sent."""
        return events

    # An exchange.

    def _begin(self) -> None:
        if self.events:
            return
        self.exchanges += 1
        ids = {"threadId": THREAD, "runId": f"run-{self.exchanges}"}
        self.request = {**ids, "messages": list(self.history), "tools": [], "resume": []}
        self.send("RUN_STARTED", **ids, protocolVersion=self.version)

    def message(self, role: str, text: str, **more: Any) -> Event:
        """A message that the client has from now on."""
        self.messages += 1
        made = {"id": f"message-{self.messages}", "role": role, "content": text, **more}
        self.history.append(made)
        return made

    def started(self, data: Data) -> None:
        """The run is announced by the first event of the exchange."""

    def asked(self, data: Data) -> None:
        """The model asks for a call."""
        args = data["args"] if isinstance(data["args"], str) else json.dumps(data["args"])
        function = {"name": data["tool"], "arguments": args}
        if not self.history or self.history[-1]["role"] != "assistant":  # it is asked for anew
            self.message("assistant", "")
        self.history[-1].setdefault("toolCalls", []).append({"id": data["call"], "function": function})
        self.call(data["call"], data["tool"], args)

    def call(self, call: str, tool: str, args: str) -> None:
        """A call is streamed."""
        self.send("TOOL_CALL_START", toolCallId=call, toolCallName=tool)
        self.send("TOOL_CALL_ARGS", toolCallId=call, delta=args)
        self.send("TOOL_CALL_END", toolCallId=call)

    def decided(self, data: Data) -> None:
        """The segment acts on a decision: the client has sent it with its request."""
        status = "resolved" if data["action"] == "resume" else "cancelled"
        self.request["resume"].append({"interruptId": self.interrupt(data["call"])["id"], "status": status})

    def answered(self, data: Data) -> None:
        """A call has its result."""
        made = self.message("tool", data["text"], toolCallId=data["call"])
        fields = {"toolCallId": data["call"], "content": data["text"], "role": "tool"}
        self.send("TOOL_CALL_RESULT", messageId=made["id"], **fields)

    def finished(self, data: Data) -> None:
        """The segment is over, and so is the stream."""
        while self.steps:
            self.step(begins=False)
        code = data["reason"]["code"]
        if code in FAILURES:
            self.send("RUN_ERROR", message=str(data["reason"].get("detail") or code))
        else:
            self._finish(code, data["pending"])
        events, self.events, self.usage = self.events, [], (0, 0)
        self.show("exchange", request=self.request, events=self.stream(events), ended="closed")

    def _finish(self, code: str, pending: Sequence[str]) -> None:
        ids = {name: self.events[0][name] for name in ("threadId", "runId")}
        given, made = self.usage
        usage = {"inputTokens": given, "outputTokens": made, "totalTokens": given + made}
        used = {"usage": [{**usage, "cachedInputTokens": given, "reasoningTokens": made}]} if given else {}
        self.send("RUN_FINISHED", **ids, outcome=self.outcome(code, pending), **used)
