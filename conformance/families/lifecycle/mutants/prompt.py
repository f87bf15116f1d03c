"""Wrong as agents of the Agent Client Protocol: what they would say to a client breaks the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.mutants.mutant import fault_in
from runlock.conformance.families.lifecycle.reference import PROMPTS, STATES
from runlock.machines.lifecycle.runtime.producer import Event
from runlock.machines.lifecycle.runtime.prompter import ALLOW, Prompter, StatePrompter

prompted = fault_in("producer", profile="tirea", declare=PROMPTS)
"""Declares a mutant that shows what it would say, and is wrong in its producer."""

stated = fault_in("producer", profile="tirea", declare=STATES)
"""The same for version 2 of the protocol."""

Data = Mapping[str, Any]


@prompted("PROMPT-1", "is answered with the stop reason done")
class StopsForAReasonOfItsOwn(Prompter):
    """Its stop reasons are words of its own."""

    def respond(self, code: str) -> None:
        self.send("response", stopReason="done")


@prompted("PROMPT-2", "the cancelled prompt is answered with")
class FailsWhenItIsCancelled(Prompter):
    """The exception of an aborted request is the answer to the prompt."""

    def respond(self, code: str) -> None:
        if code == "Cancelled":
            self.send("response", error={"code": -32603, "message": "AbortError"})
        else:
            super().respond(code)


@prompted("PROMPT-3", "comes after the response")
class TellsAfterTheResponse(Prompter):
    """A task that tells of the text is not awaited."""

    def respond(self, code: str) -> None:
        super().respond(code)
        if code == "Cancelled":
            self.send("agent_message_chunk")


@prompted("PROMPT-4", "was neither announced nor asked about")
class AnnouncesNoCall(Prompter):
    """It tells how calls end, and not that they began."""

    def call(self, call: str, tool: str, args: str) -> None:
        """Calls are not announced."""


@prompted("PROMPT-5", ", and is in_progress")
class ReportsProgressAfterTheEnd(Prompter):
    """The progress of a call comes late."""

    def answered(self, data: Data) -> None:
        super().answered(data)
        self.send("tool_call_update", toolCallId=data["call"], status="in_progress")


@prompted("PROMPT-6", "was rejected, and is reported as completed")
class ReportsTheRejectedAsDone(Prompter):
    """Each call that has a result is completed."""

    def status(self, data: Data) -> str:
        return "completed"


@prompted("PROMPT-7", "is asked after the cancel")
class AsksWhenItIsCancelled(Prompter):
    """The loop over the calls of a turn goes on to the next permission."""

    def respond(self, code: str) -> None:
        if code == "Cancelled":
            self.permission("c1")
        super().respond(code)


@prompted("PROMPT-8", "two options of a permission have one id", also=("PROMPT-6",))
class OffersOneIdTwice(Prompter):
    """Yes and no have one id."""

    def options(self) -> Sequence[Event]:
        return [ALLOW, {**ALLOW, "kind": "reject_once"}]


@prompted("PROMPT-9", "a line that is no message")
class LogsToItsOutput(Prompter):
    """Its log goes to the standard output."""

    def _begin(self) -> None:
        is_first = not self.events
        super()._begin()
        if is_first:
            self.send("garbage", line="[info] prompt")


@stated("PROMPT-10", "when the work on it is over")
class AnswersAtTheEnd(StatePrompter):
    """The response to a prompt waits for the end of its work, as in version 1."""

    def accept(self) -> None:
        """The prompt is not answered yet."""

    def respond(self, code: str) -> None:
        super().respond(code)
        self.send("response")


@stated("PROMPT-11", "is not reported under a new id")
class KeepsTheMessageOfTheUser(StatePrompter):
    """The client has the message already, it thinks."""

    def report(self) -> None:
        """Nothing is reported."""


@stated("PROMPT-12", "was never reported as running")
class WorksInSilence(StatePrompter):
    """It says when it is idle, and not when it works."""

    def work(self) -> None:
        """Nothing is reported."""

    go_on = wait = work


@stated("PROMPT-13", "has no id of its message")
class NamesNoMessage(StatePrompter):
    """What the model says has no id."""

    def say(self, kind: str, name: str) -> None:
        self.send(kind, **({} if kind == "agent_message" else {"messageId": name}))


@stated("PROMPT-14", "is not reported as waiting")
class WaitsInSilence(StatePrompter):
    """It is running while it waits for the user."""

    def wait(self) -> None:
        """Nothing is reported."""


@stated("PROMPT-15", "has the status denied")
class HasStatusesOfItsOwn(StatePrompter):
    """Its statuses are words of its own."""

    def status(self, data: Data) -> str:
        return "completed" if data["status"] == "ok" else "denied"


@stated("PROMPT-16", "has no title")
class AsksWithoutATitle(StatePrompter):
    """The name of the call says enough, it thinks."""

    def permission(self, call: str) -> None:
        self.send("permission", id=f"ask-{call}", toolCallId=call, options=self.options())


@stated("PROMPT-17", "no replay was asked for: user_message")
class ReplaysUnasked(StatePrompter):
    """A session that is resumed is loaded."""

    def resume(self) -> None:
        self.send("replay", update="user_message")
        super().resume()


@stated("PROMPT-18", "the tool was entered after an answer")
class TakesTheUnknownForAYes(StatePrompter):
    """What is not cancelled is allowed."""

    def probe(self) -> None:
        self.send("undecided", entered=True)
