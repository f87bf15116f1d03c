"""Wrong as servers of AG-UI: what they would send to a client breaks the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runlock.conformance.families.lifecycle.mutants.mutant import fault_in
from runlock.conformance.families.lifecycle.reference import PRODUCES
from runlock.conformance.families.lifecycle.variants.serving import Chunked, Encrypted, OfTheApplication
from runlock.machines.lifecycle.runtime.producer import Event, Producer

served = fault_in("producer", profile="tirea", declare=PRODUCES)
"""Declares a mutant that shows what it would send, and is wrong in its producer."""

Data = Mapping[str, Any]


@served("PRODUCER-1", "is the first one of its stream")
class GreetsBeforeTheRun(Producer):
    """An event of its own comes before the run is announced."""

    def stream(self, events: list[Event]) -> list[Event]:
        return [{"type": "CUSTOM", "name": "hello"}, *events]


@served("PRODUCER-2", "comes while a run is active")
class AnnouncesTwice(Producer):
    """The server announces the run, and so does its framework."""

    def stream(self, events: list[Event]) -> list[Event]:
        return [events[0], *events]


@served("PRODUCER-3", "comes after RUN_FINISHED")
class SendsItsStateAfterTheEnd(Producer):
    """The last state follows the end of the run."""

    def stream(self, events: list[Event]) -> list[Event]:
        late = {"type": "STATE_SNAPSHOT", "snapshot": {}}
        return [*events, late] if events[-1]["type"] == "RUN_FINISHED" else events


@served("PRODUCER-4", "comes after RUN_ERROR")
class FinishesAfterAnError(Producer):
    """What always ends a run also ends one that has failed."""

    def stream(self, events: list[Event]) -> list[Event]:
        ids = {name: events[0][name] for name in ("threadId", "runId")}
        failed = events[-1]["type"] == "RUN_ERROR"
        return [*events, {"type": "RUN_FINISHED", **ids}] if failed else events


@served("PRODUCER-5", "is neither finished nor failed")
class BreaksOffAtAnError(Producer):
    """The stream of a run that fails just ends."""

    def stream(self, events: list[Event]) -> list[Event]:
        return events[:-1] if events[-1]["type"] == "RUN_ERROR" else events


class _Changed(Producer):
    """One kind of event has other fields."""

    kind = ""

    def changed(self, event: Event) -> Event:
        """The event as it is sent."""
        return event

    def stream(self, events: list[Event]) -> list[Event]:
        return [self.changed(event) if event["type"] == self.kind else event for event in events]


@served("PRODUCER-6", "and the request of")
class NamesItsOwnThread(_Changed):
    """A run is announced under the id that the server keeps the thread by."""

    kind = "RUN_STARTED"

    def changed(self, event: Event) -> Event:
        return {**event, "threadId": f"session of {event['threadId']}"}


@served("PRODUCER-7", "which began as")
class EndsAnotherRun(_Changed):
    """The end of a run has a run id of its own."""

    kind = "RUN_FINISHED"

    def changed(self, event: Event) -> Event:
        return {**event, "runId": f"{event['runId']}-end"}


@served("PRODUCER-8", "and the request asks for")
class MakesUpItsRunId(Producer):
    """A run has an id that the server makes."""

    def stream(self, events: list[Event]) -> list[Event]:
        return [{**one, "runId": f"{one['runId']}-own"} if "runId" in one else one for one in events]


@served("PRODUCER-9", "which is not MAJOR.MINOR")
class DeclaresTheVersionOfItsPackage(Producer):
    """The version that is declared is that of a package."""

    version = "0.1.19"


class _Outcome(_Changed):
    """The end of a run has another outcome."""

    kind = "RUN_FINISHED"

    def made(self, outcome: Event) -> Event:
        """The outcome as it is sent."""
        return outcome

    def changed(self, event: Event) -> Event:
        return {**event, "outcome": self.made(event["outcome"])}


@served("PRODUCER-10", "which is none of the protocol")
class InventsAnOutcome(_Outcome):
    """A success has a name of its own."""

    def made(self, outcome: Event) -> Event:
        return {"type": "completed"} if outcome["type"] == "success" else outcome


@served("PRODUCER-11", "in an outcome that is interrupt")
class ListsPendingCallsOfAnInterrupt(Producer):
    """The calls that wait are interrupts, and stand in pendingToolCallIds as well."""

    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        made = super().outcome(code, pending)
        return {**made, "pendingToolCallIds": list(pending)} if pending else made


@served("PRODUCER-12", "asks for nothing")
class InterruptsForNothing(_Outcome):
    """A run that waits says so, and not for what."""

    def made(self, outcome: Event) -> Event:
        return {**outcome, "interrupts": []} if "interrupts" in outcome else outcome


@served("PRODUCER-13", "share the id approval")
class NamesInterruptsAlike(Producer):
    """Each interrupt has the id of its kind."""

    def interrupt(self, call: str) -> Event:
        return {**super().interrupt(call), "id": "approval"}


@served("PRODUCER-14", "reports a success", also=("PRODUCER-29",))
class ReportsACancelAsSuccess(Producer):
    """A run that was cancelled looks complete."""

    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        return super().outcome("NaturalEnd" if code == "Cancelled" else code, pending)


@served("PRODUCER-15", "has a result of a cancelled run")
class ReturnsAPartOfTheWork(_Changed):
    """A cancelled run has what there was as its result."""

    kind = "RUN_FINISHED"

    def changed(self, event: Event) -> Event:
        return {**event, "result": "so far"} if event["outcome"]["type"] == "cancelled" else event


class _Doubled(Producer):
    """Events of one kind come twice."""

    kind = ""

    def stream(self, events: list[Event]) -> list[Event]:
        return [event for one in events for event in ([one, one] if one["type"] == self.kind else [one])]


@served("PRODUCER-16", "which is open")
class OpensAMessageTwice(_Doubled):
    """A message is opened when the model begins, and when its first text comes."""

    kind = "TEXT_MESSAGE_START"


class _Without(Producer):
    """Events of one kind are left out."""

    kind = ""

    def stream(self, events: list[Event]) -> list[Event]:
        return [event for event in events if event["type"] != self.kind]


@served("PRODUCER-17", "which is not open")
class OpensNoCall(_Without):
    """The arguments of a call are streamed without its start."""

    kind = "TOOL_CALL_START"


@served("PRODUCER-18", "comes while message")
class EndsNoMessage(_Without):
    """A message is not ended."""

    kind = "TEXT_MESSAGE_END"


@served("PRODUCER-19", "again with toolCallName")
class OpensACallAgainUnderAnotherName(Producer):
    """A call that is opened again has another tool."""

    """A call is opened once more after its end, with other fields."""

    def call(self, call: str, tool: str, args: str) -> None:
        super().call(call, tool, args)
        self.send("TOOL_CALL_START", toolCallId=call, toolCallName=f"{tool} (done)")
        self.send("TOOL_CALL_END", toolCallId=call)


@served("PRODUCER-20", "without toolCallName")
class BeginsACallWithoutItsTool(Chunked):
    """The first chunk of a call does not say which tool it is of."""

    first = ("toolCallId",)


@served("PRODUCER-21", "the toolCallName tool")
class RepeatsAnotherTool(Chunked):
    """A later chunk of a call names another tool."""

    later = {"toolCallName": "tool"}


@served("PRODUCER-22", "finishes step")
class FinishesAStepTwice(_Doubled):
    """A step is finished twice."""

    kind = "STEP_FINISHED"


@served("PRODUCER-23", "comes while step")
class FinishesNoStep(_Without):
    """No step is finished."""

    kind = "STEP_FINISHED"


@served("PRODUCER-24", "neither a text nor a list of parts")
class AnswersWithAnObject(_Changed):
    """The content of a result is an object."""

    kind = "TOOL_CALL_RESULT"

    def changed(self, event: Event) -> Event:
        return {**event, "content": {"value": event["content"]}}


@served("PRODUCER-25", "a tool of the application", also=("PRODUCER-26", "PRODUCER-28"))
class AnswersForTheApplication(OfTheApplication):
    """A call of a tool that the request offers is executed by the server."""

    answers = True


@served("PRODUCER-26", "of a tool of the application", also=("PRODUCER-28",))
class InterruptsForTheApplication(OfTheApplication):
    """A call that the application is to execute is an interrupt."""


@served("PRODUCER-27", "as pending, and without a result is")
class ListsCallsThatAreAnswered(Producer):
    """Each call of a run is listed as pending, whether it has a result or not."""

    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        made = super().outcome(code, pending)
        calls = [one["toolCallId"] for one in self.events if one["type"] == "TOOL_CALL_START"]
        return {**made, "pendingToolCallIds": calls} if made["type"] == "success" and calls else made


@served("PRODUCER-28", "is left to the application")
class ListsNoCallsThatArePending(OfTheApplication):
    """A run that leaves calls to the application is a success, and does not name them."""

    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        made = super().outcome(code, pending)
        return {"type": "success"} if made["type"] == "interrupt" else made


@served("PRODUCER-29", "the resume does not answer call")
class GivesUpWhatIsNotAnswered(Producer):
    """A run that goes on with an answer to one of two calls ends as a success."""

    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        goes_on = bool(pending) and bool(self.request["resume"])
        return super().outcome("NaturalEnd" if goes_on else code, pending)


@served("PRODUCER-30", "is streamed once more")
class TellsACallAgain(Producer):
    """A call that goes on after its approval is streamed like a new one."""

    def decided(self, data: Data) -> None:
        super().decided(data)
        calls = [call for one in self.history for call in one.get("toolCalls", ())]
        for one in calls:
            if one["id"] == data["call"]:
                self.call(one["id"], one["function"]["name"], one["function"]["arguments"])


class _Counted(_Changed):
    """The tokens that a run cost are counted in another way."""

    kind = "RUN_FINISHED"

    def counted(self, used: Event) -> Event:
        """The tokens of a model as they are sent."""
        return used

    def changed(self, event: Event) -> Event:
        return (
            {**event, "usage": [self.counted(one) for one in event["usage"]]} if "usage" in event else event
        )


@served("PRODUCER-31", "that are a part of")
class CountsTheCacheApart(_Counted):
    """Input tokens are those that no cache had."""

    def counted(self, used: Event) -> Event:
        return {**used, "inputTokens": 0, "totalTokens": used["outputTokens"]}


@served("PRODUCER-32", "tokens in total")
class CopiesATotal(_Counted):
    """The total of a provider counts the cached tokens twice."""

    def counted(self, used: Event) -> Event:
        return {**used, "totalTokens": used["totalTokens"] + used["inputTokens"]}


@served("PRODUCER-33", "in a run of version 1.0")
class SendsWhatItsVersionLacks(Encrypted):
    """A run of version 1.0 has a field of version 1.1."""

    version = "1.0"
