"""Reporting faults: behaviour is correct, but the published events are wrong."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from runlock.conformance.families.message_loop.mutants.mutant import Undeclared
from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.loop import MessageLoop, Start
from runlock.machines.message_loop.runtime.records import Call, PassRecord, Reason, Response
from runlock.machines.message_loop.runtime.responding import ResponseStream


@fault("WIRE-1", "has no StagePostFired")
class SaysNothingOfADeniedStage(MessageLoop):
    """Does not announce the end of a stage that was denied."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        if (event, data.get("outcome")) != ("StagePostFired", "denied"):
            super().publish(event, p, **data)


@fault("WIRE-2", "were announced as completed or failed", policies={"model.fault": "retried"})
class NeverCompletesARequest(MessageLoop):
    """Does not publish that a response is complete."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        if event != "ProviderRequestCompleted":
            super().publish(event, p, **data)


@fault("WIRE-3", "was published")
class PublishesTextAtTheEnd(MessageLoop):
    """Publishes no text until the response is complete."""

    kept: tuple[Any, ...] = ()

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        if event == "ProviderTokensStreamed":
            self.kept = (*self.kept, (p, data))
            return
        if event == "ProviderRequestCompleted":
            for held, tokens in self.kept:
                super().publish("ProviderTokensStreamed", held, **tokens)
            self.kept = ()
        super().publish(event, p, **data)


@fault("WIRE-3", "the text of response")
class PublishesTextTwice(MessageLoop):
    """Publishes the whole text a second time when the response is complete."""

    async def complete(self, p: PassRecord, stream: ResponseStream, response: Response) -> Response:
        if stream.text:
            self.publish("ProviderTokensStreamed", p, request=stream.id, text=stream.text)
        return await super().complete(p, stream, response)


@fault("WIRE-4", "was announced as succeeded, and its tool answered")
class TakesAnErrorForASuccess(MessageLoop):
    """Reports a call as succeeded although its tool answered with an error."""

    def publish_call(self, event: str, p: PassRecord, call: Call, /, **data: Any) -> None:
        failed = event == "ToolInvocationFailed" and call.attempts > 0
        super().publish_call("ToolInvocationSucceeded" if failed else event, p, call, **data)


@fault("WIRE-5", "ran, and ToolCallApproved was not published")
class ApprovesInSilence(MessageLoop):
    """Does not publish approvals by the mode."""

    def approved(self, p: PassRecord, call: Call, by: str) -> bool:
        return True if by == "mode" else super().approved(p, call, by)


@fault("WIRE-5", "yet the audit says ModeDenied", also=("AUTH-7",))
class BlamesTheMode(MessageLoop):
    """Reports every denial as a denial by the mode."""

    def publish_call(self, event: str, p: PassRecord, call: Call, /, **data: Any) -> None:
        changed = {**data, "code": "ModeDenied"} if event == "ToolCallDenied" else data
        super().publish_call(event, p, call, **changed)


@fault("AUTH-7", "was not given, yet it was denied as ModeDenied")
class BlamesTheModeForGrants(MessageLoop):
    """Reports a denied grant as a denial by the mode."""

    def publish_call(self, event: str, p: PassRecord, call: Call, /, **data: Any) -> None:
        was_a_grant = event == "ToolCallDenied" and data["code"] == "GrantDenied"
        super().publish_call(event, p, call, **({**data, "code": "ModeDenied"} if was_a_grant else data))


@fault("WIRE-6", "a watcher failed, and turn", also=("TURN-2", "TURN-11", "WIRE-1"))
class FailsWithItsWatcher(MessageLoop):
    """Lets an exception of a watcher end the turn."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        watcher, self.watcher = self.watcher, None
        super().publish(event, p, **data)
        self.watcher = watcher
        if watcher is not None:
            watcher(event, {**self.ids(p), **data})


class HidesAnEvent(MessageLoop):
    """Does not publish one event."""

    hidden: ClassVar[str]

    def publish(self, event: str, /, *given: Any, **data: Any) -> None:
        if event != self.hidden:
            super().publish(event, *given, **data)


@fault("WIRE-4", "was never announced as failed")
class NeverAnnouncesAFailure(HidesAnEvent):
    """Does not announce that a call cannot run."""

    hidden = "ToolInvocationFailed"


@fault("WIRE-4", "was announced as started, and never as over")
class NeverAnnouncesAnAbort(HidesAnEvent):
    """Does not announce that a call was aborted."""

    hidden = "ToolInvocationCancelled"


@fault("WIRE-2", "were announced as completed or failed", policies={"model.fault": "retried"})
class NeverAnnouncesAFailedRequest(HidesAnEvent):
    """Does not announce that a request failed, and sends it again."""

    hidden = "ProviderRequestFailed"


@fault("WIRE-2", "and 0 were announced as failed")
class EndsWithoutTheFailedRequest(HidesAnEvent):
    """Ends a turn whose model broke without announcing that its request failed."""

    hidden = "ProviderRequestFailed"


@fault("WIRE-7", "is over, and was never announced as exited")
class NeverAnnouncesAnExit(HidesAnEvent):
    """Does not announce that a stage execution has exited."""

    hidden = "StageExited"


@fault("WIRE-7", "StageEntered was published in chat turn")
class EntersAStageInAChatTurn(MessageLoop):
    """Publishes StageEntered in a chat turn."""

    async def chat(self, text: str) -> Reason:
        self.publish("StageEntered", execution="x0", stage="chat")
        return await super().chat(text)


@fault("WIRE-8", "is over, yet ToolInvocationSucceeded was shown")
class SpeaksAfterTheEnd(MessageLoop):
    """Publishes an event of a turn after it has ended."""

    async def start(self, start: Start) -> Reason:
        reason = await super().start(start)
        last = self.turn.passes[-1] if self.turn.passes else None
        loop = asyncio.get_running_loop()
        data = {**self.ids(last), "call": "c1", "name": "t0"}
        loop.call_later(0, lambda: loop.call_soon(self.world.event, "ToolInvocationSucceeded", data))
        return reason


@fault("WIRE-9", "published its payload twice")
class RendersTwice(MessageLoop):
    """Publishes the rendered payload twice."""

    def hand_over(self, p: PassRecord, text: str) -> None:
        super().hand_over(p, text)
        super().hand_over(p, text)


@fault("WIRE-9", also=("HOOK-4",))
class RendersTheResponse(MessageLoop):
    """Renders the model's response without the rewrites of RENDER's transforms."""

    async def render(self, p: PassRecord, response: Response) -> None:
        self.said = response.text
        await super().render(p, response)

    def hand_over(self, p: PassRecord, text: str) -> None:
        super().hand_over(p, self.said)


@fault("WIRE-10", "was ToolInvocationProposed, and it got ToolCallModeInvoked")
class SparesItsWatchers(MessageLoop):
    """Does not send the events of tools to watchers."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        watcher = self.watcher
        if event.startswith("ToolInvocation"):
            self.watcher = None
        super().publish(event, p, **data)
        self.watcher = watcher


@fault("WIRE-11", "payloads of stages are rendered: yes; the one of")
class RendersStagesInSilence(Undeclared):
    """Sends no payload of a stage execution to the UI, but declares that it does."""

    follows = {"stage.render": "no"}


@fault("WIRE-12", "was entered, and ToolCallModeInvoked was not published")
class HidesTheModeGate(MessageLoop):
    """Does not report that the mode gate judged a call that it let pass."""

    def publish_call(self, event: str, p: PassRecord, call: Call, /, **data: Any) -> None:
        if event != "ToolCallModeInvoked" or not self.mode_passes(call):
            super().publish_call(event, p, call, **data)
