"""Wrong as agents of the Agent Client Protocol: what they would say to a client breaks the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from runlock.conformance.families.lifecycle.reference import PROMPTS
from runlock.conformance.families.lifecycle.variants.prompting import Prompting
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.producer import Event
from runlock.machines.lifecycle.runtime.prompter import ALLOW, Prompter

prompted = partial(fault, profile="tirea", declare=PROMPTS)
"""Declares a mutant that shows what it would say."""

Data = Mapping[str, Any]


class _OwnStopReason(Prompter):
    def respond(self, code: str) -> None:
        self.send("response", stopReason="done")


@prompted("PROMPT-1", "is answered with the stop reason done")
class StopsForAReasonOfItsOwn(Prompting):
    """Its stop reasons are words of its own."""

    producer_kind = _OwnStopReason


class _Aborted(Prompter):
    def respond(self, code: str) -> None:
        if code == "Cancelled":
            self.send("response", error={"code": -32603, "message": "AbortError"})
        else:
            super().respond(code)


@prompted("PROMPT-2", "the cancelled prompt is answered with")
class FailsWhenItIsCancelled(Prompting):
    """The exception of an aborted request is the answer to the prompt."""

    producer_kind = _Aborted


class _Late(Prompter):
    def respond(self, code: str) -> None:
        super().respond(code)
        if code == "Cancelled":
            self.send("agent_message_chunk")


@prompted("PROMPT-3", "comes after the response")
class TellsAfterTheResponse(Prompting):
    """A task that tells of the text is not awaited."""

    producer_kind = _Late


class _Unannounced(Prompter):
    def call(self, call: str, tool: str, args: str) -> None:
        """Calls are not announced."""


@prompted("PROMPT-4", "was neither announced nor asked about")
class AnnouncesNoCall(Prompting):
    """It tells how calls end, and not that they began."""

    producer_kind = _Unannounced


class _Reopened(Prompter):
    def answered(self, data: Data) -> None:
        super().answered(data)
        self.send("tool_call_update", toolCallId=data["call"], status="in_progress")


@prompted("PROMPT-5", ", and is in_progress")
class ReportsProgressAfterTheEnd(Prompting):
    """The progress of a call comes late."""

    producer_kind = _Reopened


class _AllWell(Prompter):
    def status(self, data: Data) -> str:
        return "completed"


@prompted("PROMPT-6", "was rejected, and is reported as completed")
class ReportsTheRejectedAsDone(Prompting):
    """Each call that has a result is completed."""

    producer_kind = _AllWell


class _AsksOn(Prompter):
    def respond(self, code: str) -> None:
        if code == "Cancelled":
            self.permission("c1")
        super().respond(code)


@prompted("PROMPT-7", "is asked after the cancel")
class AsksWhenItIsCancelled(Prompting):
    """The loop over the calls of a turn goes on to the next permission."""

    producer_kind = _AsksOn


class _OneId(Prompter):
    def options(self) -> Sequence[Event]:
        return [ALLOW, {**ALLOW, "kind": "reject_once"}]


@prompted("PROMPT-8", "two options of a permission have one id", also=("PROMPT-6",))
class OffersOneIdTwice(Prompting):
    """Yes and no have one id."""

    producer_kind = _OneId


class _Loud(Prompter):
    def _begin(self) -> None:
        is_first = not self.events
        super()._begin()
        if is_first:
            self.send("garbage", line="[info] prompt")


@prompted("PROMPT-9", "a line that is no message")
class LogsToItsOutput(Prompting):
    """Its log goes to the standard output."""

    producer_kind = _Loud
