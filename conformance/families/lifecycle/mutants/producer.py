"""Wrong as servers of AG-UI: what they would send to a client breaks the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from runlock.conformance.families.lifecycle.reference import PRODUCES
from runlock.conformance.families.lifecycle.variants.serving import (
    Chunked,
    Encrypted,
    OfTheApplication,
    Serving,
)
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.producer import Event, Producer

served = partial(fault, profile="tirea", declare=PRODUCES)
"""Declares a mutant that shows what it would send."""

Data = Mapping[str, Any]


class _Announced(Producer):
    def stream(self, events: list[Event]) -> list[Event]:
        return [{"type": "CUSTOM", "name": "hello"}, *events]


@served("PRODUCER-1", "is the first one of its stream")
class GreetsBeforeTheRun(Serving):
    """An event of its own comes before the run is announced."""

    producer_kind = _Announced


class _StartedTwice(Producer):
    def stream(self, events: list[Event]) -> list[Event]:
        return [events[0], *events]


@served("PRODUCER-2", "comes while a run is active")
class AnnouncesTwice(Serving):
    """The server announces the run, and so does its framework."""

    producer_kind = _StartedTwice


class _StateAtTheEnd(Producer):
    def stream(self, events: list[Event]) -> list[Event]:
        late = {"type": "STATE_SNAPSHOT", "snapshot": {}}
        return [*events, late] if events[-1]["type"] == "RUN_FINISHED" else events


@served("PRODUCER-3", "comes after RUN_FINISHED")
class SendsItsStateAfterTheEnd(Serving):
    """The last state follows the end of the run."""

    producer_kind = _StateAtTheEnd


class _FinishedAfterAnError(Producer):
    def stream(self, events: list[Event]) -> list[Event]:
        ids = {name: events[0][name] for name in ("threadId", "runId")}
        failed = events[-1]["type"] == "RUN_ERROR"
        return [*events, {"type": "RUN_FINISHED", **ids}] if failed else events


@served("PRODUCER-4", "comes after RUN_ERROR")
class FinishesAfterAnError(Serving):
    """What always ends a run also ends one that has failed."""

    producer_kind = _FinishedAfterAnError


class _NoError(Producer):
    def stream(self, events: list[Event]) -> list[Event]:
        return events[:-1] if events[-1]["type"] == "RUN_ERROR" else events


@served("PRODUCER-5", "is neither finished nor failed")
class BreaksOffAtAnError(Serving):
    """The stream of a run that fails just ends."""

    producer_kind = _NoError


class _Changed(Producer):
    """One kind of event has other fields."""

    kind = ""

    def changed(self, event: Event) -> Event:
        """The event as it is sent."""
        return event

    def stream(self, events: list[Event]) -> list[Event]:
        return [self.changed(event) if event["type"] == self.kind else event for event in events]


class _OtherThread(_Changed):
    kind = "RUN_STARTED"

    def changed(self, event: Event) -> Event:
        return {**event, "threadId": f"session of {event['threadId']}"}


@served("PRODUCER-6", "and the request of")
class NamesItsOwnThread(Serving):
    """A run is announced under the id that the server keeps the thread by."""

    producer_kind = _OtherThread


class _OtherEnd(_Changed):
    kind = "RUN_FINISHED"

    def changed(self, event: Event) -> Event:
        return {**event, "runId": f"{event['runId']}-end"}


@served("PRODUCER-7", "which began as")
class EndsAnotherRun(Serving):
    """The end of a run has a run id of its own."""

    producer_kind = _OtherEnd


class _OwnRun(Producer):
    def stream(self, events: list[Event]) -> list[Event]:
        return [{**one, "runId": f"{one['runId']}-own"} if "runId" in one else one for one in events]


@served("PRODUCER-8", "and the request asks for")
class MakesUpItsRunId(Serving):
    """A run has an id that the server makes."""

    producer_kind = _OwnRun


class _PackageVersion(Producer):
    version = "0.1.19"


@served("PRODUCER-9", "which is not MAJOR.MINOR")
class DeclaresTheVersionOfItsPackage(Serving):
    """The version that is declared is that of a package."""

    producer_kind = _PackageVersion


class _Outcome(_Changed):
    """The end of a run has another outcome."""

    kind = "RUN_FINISHED"

    def made(self, outcome: Event) -> Event:
        """The outcome as it is sent."""
        return outcome

    def changed(self, event: Event) -> Event:
        return {**event, "outcome": self.made(event["outcome"])}


class _Completed(_Outcome):
    def made(self, outcome: Event) -> Event:
        return {"type": "completed"} if outcome["type"] == "success" else outcome


@served("PRODUCER-10", "which is none of the protocol")
class InventsAnOutcome(Serving):
    """A success has a name of its own."""

    producer_kind = _Completed


class _AllFields(Producer):
    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        made = super().outcome(code, pending)
        return {**made, "pendingToolCallIds": list(pending)} if pending else made


@served("PRODUCER-11", "in an outcome that is interrupt")
class ListsPendingCallsOfAnInterrupt(Serving):
    """The calls that wait are interrupts, and stand in pendingToolCallIds as well."""

    producer_kind = _AllFields


class _NoInterrupt(_Outcome):
    def made(self, outcome: Event) -> Event:
        return {**outcome, "interrupts": []} if "interrupts" in outcome else outcome


@served("PRODUCER-12", "asks for nothing")
class InterruptsForNothing(Serving):
    """A run that waits says so, and not for what."""

    producer_kind = _NoInterrupt


class _OneId(Producer):
    def interrupt(self, call: str) -> Event:
        return {**super().interrupt(call), "id": "approval"}


@served("PRODUCER-13", "share the id approval")
class NamesInterruptsAlike(Serving):
    """Each interrupt has the id of its kind."""

    producer_kind = _OneId


class _StoppedWell(Producer):
    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        return super().outcome("NaturalEnd" if code == "Cancelled" else code, pending)


@served("PRODUCER-14", "reports a success", also=("PRODUCER-29",))
class ReportsACancelAsSuccess(Serving):
    """A run that was cancelled looks complete."""

    producer_kind = _StoppedWell


class _ResultAnyway(_Changed):
    kind = "RUN_FINISHED"

    def changed(self, event: Event) -> Event:
        return {**event, "result": "so far"} if event["outcome"]["type"] == "cancelled" else event


@served("PRODUCER-15", "has a result of a cancelled run")
class ReturnsAPartOfTheWork(Serving):
    """A cancelled run has what there was as its result."""

    producer_kind = _ResultAnyway


class _Doubled(Producer):
    """Events of one kind come twice."""

    kind = ""

    def stream(self, events: list[Event]) -> list[Event]:
        return [event for one in events for event in ([one, one] if one["type"] == self.kind else [one])]


class _OpenedTwice(_Doubled):
    kind = "TEXT_MESSAGE_START"


@served("PRODUCER-16", "which is open")
class OpensAMessageTwice(Serving):
    """A message is opened when the model begins, and when its first text comes."""

    producer_kind = _OpenedTwice


class _Without(Producer):
    """Events of one kind are left out."""

    kind = ""

    def stream(self, events: list[Event]) -> list[Event]:
        return [event for event in events if event["type"] != self.kind]


class _NoStart(_Without):
    kind = "TOOL_CALL_START"


@served("PRODUCER-17", "which is not open")
class OpensNoCall(Serving):
    """The arguments of a call are streamed without its start."""

    producer_kind = _NoStart


class _NoEnd(_Without):
    kind = "TEXT_MESSAGE_END"


@served("PRODUCER-18", "comes while message")
class EndsNoMessage(Serving):
    """A message is not ended."""

    producer_kind = _NoEnd


class _Again(Producer):
    """A call is opened once more after its end, with other fields."""

    def call(self, call: str, tool: str, args: str) -> None:
        super().call(call, tool, args)
        self.send("TOOL_CALL_START", toolCallId=call, toolCallName=f"{tool} (done)")
        self.send("TOOL_CALL_END", toolCallId=call)


@served("PRODUCER-19", "again with toolCallName")
class OpensACallAgainUnderAnotherName(Serving):
    """A call that is opened again has another tool."""

    producer_kind = _Again


class _NamelessChunk(Chunked):
    first = ("toolCallId",)


@served("PRODUCER-20", "without toolCallName")
class BeginsACallWithoutItsTool(Serving):
    """The first chunk of a call does not say which tool it is of."""

    producer_kind = _NamelessChunk


class _OtherChunk(Chunked):
    later = {"toolCallName": "tool"}


@served("PRODUCER-21", "the toolCallName tool")
class RepeatsAnotherTool(Serving):
    """A later chunk of a call names another tool."""

    producer_kind = _OtherChunk


class _StepTwice(_Doubled):
    kind = "STEP_FINISHED"


@served("PRODUCER-22", "finishes step")
class FinishesAStepTwice(Serving):
    """A step is finished twice."""

    producer_kind = _StepTwice


class _StepOpen(_Without):
    kind = "STEP_FINISHED"


@served("PRODUCER-23", "comes while step")
class FinishesNoStep(Serving):
    """No step is finished."""

    producer_kind = _StepOpen


class _ObjectResult(_Changed):
    kind = "TOOL_CALL_RESULT"

    def changed(self, event: Event) -> Event:
        return {**event, "content": {"value": event["content"]}}


@served("PRODUCER-24", "neither a text nor a list of parts")
class AnswersWithAnObject(Serving):
    """The content of a result is an object."""

    producer_kind = _ObjectResult


class _Answering(OfTheApplication):
    answers = True


@served("PRODUCER-25", "a tool of the application", also=("PRODUCER-26", "PRODUCER-28"))
class AnswersForTheApplication(Serving):
    """A call of a tool that the request offers is executed by the server."""

    producer_kind = _Answering


@served("PRODUCER-26", "of a tool of the application", also=("PRODUCER-28",))
class InterruptsForTheApplication(Serving):
    """A call that the application is to execute is an interrupt."""

    producer_kind = OfTheApplication


class _ListsAll(Producer):
    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        made = super().outcome(code, pending)
        calls = [one["toolCallId"] for one in self.events if one["type"] == "TOOL_CALL_START"]
        return {**made, "pendingToolCallIds": calls} if made["type"] == "success" and calls else made


@served("PRODUCER-27", "as pending, and without a result is")
class ListsCallsThatAreAnswered(Serving):
    """Each call of a run is listed as pending, whether it has a result or not."""

    producer_kind = _ListsAll


class _ListsNone(OfTheApplication):
    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        made = super().outcome(code, pending)
        return {"type": "success"} if made["type"] == "interrupt" else made


@served("PRODUCER-28", "is left to the application")
class ListsNoCallsThatArePending(Serving):
    """A run that leaves calls to the application is a success, and does not name them."""

    producer_kind = _ListsNone


class _Forgets(Producer):
    def outcome(self, code: str, pending: Sequence[str]) -> Event:
        goes_on = bool(pending) and bool(self.request["resume"])
        return super().outcome("NaturalEnd" if goes_on else code, pending)


@served("PRODUCER-29", "the resume does not answer call")
class GivesUpWhatIsNotAnswered(Serving):
    """A run that goes on with an answer to one of two calls ends as a success."""

    producer_kind = _Forgets


class _TellsAgain(Producer):
    def decided(self, data: Data) -> None:
        super().decided(data)
        calls = [call for one in self.history for call in one.get("toolCalls", ())]
        for one in calls:
            if one["id"] == data["call"]:
                self.call(one["id"], one["function"]["name"], one["function"]["arguments"])


@served("PRODUCER-30", "is streamed once more")
class TellsACallAgain(Serving):
    """A call that goes on after its approval is streamed like a new one."""

    producer_kind = _TellsAgain


def _counted(change: Callable[[Event], Event]) -> type[Producer]:
    """A producer whose counts of tokens are changed."""

    class Counted(_Changed):
        kind = "RUN_FINISHED"

        def changed(self, event: Event) -> Event:
            return {**event, "usage": [change(one) for one in event["usage"]]} if "usage" in event else event

    return Counted


@served("PRODUCER-31", "that are a part of")
class CountsTheCacheApart(Serving):
    """Input tokens are those that no cache had."""

    producer_kind = _counted(lambda used: {**used, "inputTokens": 0, "totalTokens": used["outputTokens"]})


@served("PRODUCER-32", "tokens in total")
class CopiesATotal(Serving):
    """The total of a provider counts the cached tokens twice."""

    producer_kind = _counted(lambda used: {**used, "totalTokens": used["totalTokens"] + used["inputTokens"]})


class _EncryptedTooEarly(Encrypted):
    version = "1.0"


@served("PRODUCER-33", "in a run of version 1.0")
class SendsWhatItsVersionLacks(Serving):
    """A run of version 1.0 has a field of version 1.1."""

    producer_kind = _EncryptedTooEarly
