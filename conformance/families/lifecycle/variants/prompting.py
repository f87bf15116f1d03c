"""Right as agents of the Agent Client Protocol, each by a freedom that the protocol leaves."""

from __future__ import annotations

from typing import Any

from runlock.machines.lifecycle.runtime.prompter import Prompter


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
