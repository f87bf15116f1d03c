"""Right as agents of the Agent Client Protocol, each by a freedom that the protocol leaves."""

from __future__ import annotations

from typing import Any

from runlock.machines.lifecycle.runtime.prompter import Prompter, StatePrompter


class AnnouncesLate(Prompter):
    """A call is announced when it is over, if no permission was asked for it."""

    def call(self, call: str, tool: str, args: str) -> None:
        """A call is known by the permission that is asked for it, or by its end."""

    def answered(self, data: Any) -> None:
        self.send("tool_call", toolCallId=data["call"], status="failed")


class TellsTheEndTwice(Prompter):
    """The end of a call comes again with its content."""

    def answered(self, data: Any) -> None:
        super().answered(data)
        super().answered(data)


class StreamsItsMessages(StatePrompter):
    """Messages come in chunks, that of the user before the prompt is answered; calls end as cancelled."""

    def _begin(self) -> None:
        if not self.events:
            if not self.users:
                self.resume()
            self.send("prompt", version=2)
            self.report()
            self.send("response", messageId=f"user-{self.users}")
            self.work()

    def say(self, kind: str, name: str) -> None:
        self.send(f"{kind}_chunk", messageId=name)
        self.send(f"{kind}_chunk", messageId=name)

    def status(self, data: Any) -> str:
        return "completed" if data["status"] == "ok" else "cancelled"


class UsesWordsOfItsOwn(StatePrompter):
    """What the protocol has no word for begins with an underscore, and an end may have no reason."""

    def status(self, data: Any) -> str:
        return "completed" if data["status"] == "ok" else "_denied"

    def respond(self, code: str) -> None:
        self.state = "idle"
        if code == "Cancelled":
            self.send("state_update", state="idle", stopReason="cancelled")
        elif code in ("NaturalEnd", "Suspended"):
            self.send("state_update", state="idle")
        else:
            self.send("state_update", state="idle", stopReason="_stopped")
