"""Right as agents of the Agent Client Protocol, each by a freedom that the protocol leaves."""

from __future__ import annotations

from typing import Any

from runlock.machines.lifecycle.runtime.prompter import Prompter
from runlock.machines.lifecycle.runtime.runtime import Runtime


class Prompting(Runtime):
    """A runtime that says what an agent says."""

    producer_kind: type[Prompter] = Prompter

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.producer = self.producer_kind(self.world.observe)


class _AskedFirst(Prompter):
    def call(self, call: str, tool: str, args: str) -> None:
        """A call is known by the permission that is asked for it, or by its end."""

    def answered(self, data: Any) -> None:
        self.send("tool_call", toolCallId=data["call"], status="failed")


class AnnouncesLate(Prompting):
    """A call is announced when it is over, if no permission was asked for it."""

    producer_kind = _AskedFirst


class _Repeating(Prompter):
    def answered(self, data: Any) -> None:
        super().answered(data)
        super().answered(data)


class TellsTheEndTwice(Prompting):
    """The end of a call comes again with its content."""

    producer_kind = _Repeating
