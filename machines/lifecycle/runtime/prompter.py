"""What the reference would say as an agent of the Agent Client Protocol: one prompt for each run.

A client that answers each permission is part of it, and so is one that cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from runlock.machines.lifecycle.runtime.producer import FAILURES, Data, Event, Producer

ALLOW: Final = {"optionId": "allow", "kind": "allow_once"}
REJECT: Final = {"optionId": "reject", "kind": "reject_once"}
STOPS: Final = {"Cancelled": "cancelled", "Blocked": "refusal"}


class Prompter(Producer):
    """The prompts of one session; `show(kind, **fields)` reports each when it is answered."""

    def __init__(self, show: Callable[..., None]) -> None:
        super().__init__(show)
        self.announced: set[str] = set()  # in this life: what an earlier one said is lost with its pipe

    def said(self, message: Mapping[str, Any]) -> None:
        """A message of the thread: its text is a chunk."""
        if message["role"] == "assistant" and message["text"]:
            self._begin()
            self.send("agent_message_chunk")

    def step(self, begins: bool) -> None:
        """The protocol has no steps."""

    def _begin(self) -> None:
        if not self.events:
            self.send("prompt")

    def asked(self, data: Data) -> None:
        """The model asks for a call."""
        self.announced.add(data["call"])
        self.call(data["call"], data["tool"], "")

    def call(self, call: str, tool: str, args: str) -> None:
        """A call is announced."""
        self.send("tool_call", toolCallId=call, status="pending")

    def decided(self, data: Data) -> None:
        """The segment acts on a decision: the client has answered a permission."""
        option = ALLOW if data["action"] == "resume" else REJECT
        self.send("answer", id=f"ask-{data['call']}", optionId=option["optionId"])

    def answered(self, data: Data) -> None:
        """A call has its result."""
        if data["call"] not in self.announced:
            self.announced.add(data["call"])
            self.call(data["call"], "", "")
        self.send("tool_call_update", toolCallId=data["call"], status=self.status(data))

    def finished(self, data: Data) -> None:
        """The segment is over: the run waits for permissions, or the prompt is answered."""
        code = data["reason"]["code"]
        for call in data["pending"] if code == "Suspended" else ():
            self.permission(call)
        if code == "Suspended":
            return
        if code == "Cancelled":
            self.send("cancel")
        self.respond(code)
        events, self.events = self.events, []
        self.show("prompt", events=self.stream(events), ended="answered")

    # What a mutant changes.

    def status(self, data: Data) -> str:
        """The status of a call that has a result."""
        return "completed" if data["status"] == "ok" else "failed"

    def permission(self, call: str) -> None:
        """The client is asked."""
        self.send("permission", id=f"ask-{call}", toolCallId=call, options=self.options())

    def options(self) -> Sequence[Event]:
        """What it can answer."""
        return [ALLOW, REJECT]

    def respond(self, code: str) -> None:
        """The prompt is answered."""
        if code in FAILURES and code not in STOPS:
            self.send("response", error={"code": -32603})
        else:
            self.send("response", stopReason=STOPS.get(code, "end_turn"))


class StatePrompter(Prompter):
    """The same in version 2: a prompt is answered when it is accepted, and updates tell how far it is."""

    def __init__(self, show: Callable[..., None]) -> None:
        super().__init__(show)
        self.users = self.messages = 0
        self.state = "idle"

    def _begin(self) -> None:
        if self.events:
            return
        if not self.users:
            self.resume()
        self.send("prompt", version=2)
        self.accept()
        self.report()
        self.work()

    def said(self, message: Mapping[str, Any]) -> None:
        """A message of the thread."""
        if message["role"] == "assistant" and message["text"]:
            self._begin()
            self.messages += 1
            self.say("agent_message", f"agent-{self.messages}")

    def call(self, call: str, tool: str, args: str) -> None:
        """A call is announced."""
        self.send("tool_call_update", toolCallId=call, status="pending")

    def decided(self, data: Data) -> None:
        """The client has answered a permission, and the work goes on."""
        option = ALLOW if data["action"] == "resume" else REJECT
        self.send("answer", id=f"ask-{data['call']}", outcome="selected", optionId=option["optionId"])
        self.go_on()

    def finished(self, data: Data) -> None:
        """The segment is over: the run waits for permissions, or the agent is idle again."""
        super().finished(data)
        if data["reason"]["code"] == "Suspended":
            self.wait()
            self.send("waits")

    # What a mutant changes.

    def resume(self) -> None:
        """The client of this life resumes the session, and asks for no replay."""
        self.probe()
        self.send("resumed")

    def probe(self) -> None:
        """A client has answered a permission, in a session before, in a word that is not known."""
        self.send("undecided", entered=False)

    def accept(self) -> None:
        """The prompt is answered."""
        self.send("response")

    def report(self) -> None:
        """The message of the user is a part of the session."""
        self.users += 1
        self.say("user_message", f"user-{self.users}")

    def say(self, kind: str, name: str) -> None:
        """A message, as a whole."""
        self.send(kind, messageId=name)

    def work(self) -> None:
        """The work begins."""
        self.move("running")

    def wait(self) -> None:
        """The work waits for the user."""
        self.move("requires_action")

    def go_on(self) -> None:
        """The work goes on."""
        self.move("running")

    def move(self, state: str) -> None:
        """The state of the session."""
        if state != self.state:
            self.state = state
            self.send("state_update", state=state)

    def permission(self, call: str) -> None:
        """The client is asked."""
        named = {"id": f"ask-{call}", "toolCallId": call}
        self.send("permission", **named, title="May it run?", options=self.options())

    def respond(self, code: str) -> None:
        """The work is over."""
        self.state = "idle"
        stop = STOPS.get(code, "error" if code in FAILURES else "end_turn")
        self.send("state_update", state="idle", stopReason=stop)
