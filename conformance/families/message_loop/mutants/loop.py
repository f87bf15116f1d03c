"""Pass faults: stages, continuations, bounds, and the content of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.message_loop.mutants.mutant import UNSEEN, Undeclared
from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.loop import MessageLoop
from runlock.machines.message_loop.runtime.records import Message, PassRecord, Response, Round
from runlock.machines.message_loop.runtime.responding import ResponseStream


@fault("LOOP-2", "a continuation began at SEND_REQUEST, not at COMPOSE_REQUEST")
class SkipsComposeInAContinuation(MessageLoop):
    """Skips COMPOSE_REQUEST in a continuation."""

    async def compose(self, p: PassRecord) -> dict[str, Any]:
        if not p.rounds:
            return await super().compose(p)
        p.step += 1
        return await self.assemble(p)


@fault("LOOP-1", "RENDER began after RENDER in a pass of turn")
class AnnouncesRenderTwice(MessageLoop):
    """Announces RENDER a second time."""

    async def render(self, p: PassRecord, response: Response) -> None:
        await super().render(p, response)
        async with self.stage(p, "RENDER"):
            pass


@fault("LOOP-3", "yet the turn ended as if it had not", declare=UNSEEN)
class EndsAfterARound(MessageLoop):
    """Ends the turn after a round whose response also has text."""

    async def continues(self, p: PassRecord, response: Response) -> bool:
        goes_on = await super().continues(p, response)
        return goes_on and not response.text


@fault("LOOP-4", "do not stand unchanged in the next one")
class ForgetsEarlierRounds(MessageLoop):
    """Leaves all rounds but the last out of requests."""

    def messages_for(self, p: PassRecord) -> list[Message]:
        messages = super().messages_for(p)
        asked = [index for index, message in enumerate(messages) if message.get("tool_calls")]
        return [*messages[: asked[0]], *messages[asked[-1] :]] if len(asked) > 1 else messages


@fault("LOOP-5", "continuations, yet request")
class GoesOneRoundTooFar(MessageLoop):
    """Begins one continuation more than the bound allows."""

    def bound_of(self, p: PassRecord) -> int:
        return super().bound_of(p) + 1


@fault("LOOP-6", "ended at its bound of")
class CountsCalls(MessageLoop):
    """Counts every call of a round towards the bound."""

    def is_below_bound(self, p: PassRecord) -> bool:
        surplus = len(p.calls) - p.rounds
        p.rounds += surplus
        is_below = super().is_below_bound(p)
        p.rounds -= surplus
        return is_below


@fault("LOOP-7", also=("LOOP-6", "LOOP-8"))
class CountsOverTurns(MessageLoop):
    """Does not reset the counter of the bound for the next turn."""

    rounds_before = 0

    def is_below_bound(self, p: PassRecord) -> bool:
        if p.execution is not None:
            return super().is_below_bound(p)
        self.rounds_before += 1
        counted = self.rounds_before + int(self.policies["bound.counts"] == "requests")
        return counted <= self.bound_of(p)


@fault("LOOP-8", "the detail does not say that earlier calls may have completed")
class HidesWhatMayHaveHappened(MessageLoop):
    """Does not say at the bound that earlier calls may have completed."""

    def bound_reason(self) -> Any:
        reason = super().bound_reason()
        return type(reason)(reason.code, "the bound was reached", reason.stop)


@fault("LOOP-9", "was not settled before the turn ended at its bound")
class DropsTheLastRound(MessageLoop):
    """Does not run the calls of the response that reaches the bound."""

    async def carry_all(self, p: PassRecord, r: Round) -> None:
        p.rounds += 1
        is_last = not self.is_below_bound(p)
        p.rounds -= 1
        if not is_last:
            await super().carry_all(p, r)


@fault("LOOP-10", "its last response asked for")
class TakesTheCapForAnEnd(MessageLoop):
    """Reports capHit as false at the turn cap."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        super().publish(event, p, **({**data, "capHit": False} if event == "ActEnded" else data))


@fault("LOOP-12", "the body of stage")
class PromptsWithTheSession(MessageLoop):
    """Uses the system prompt of the session in a stage execution."""

    async def assemble(self, p: PassRecord) -> dict[str, Any]:
        return {**await super().assemble(p), "system": self.settings.system}


@fault("LOOP-13", "the manifest of the turn offers", or_says=("the manifest of stage execution",))
class OffersEveryTool(MessageLoop):
    """Offers every tool in each request, including those that are not offered or not allowed there."""

    def manifest(self, p: PassRecord) -> list[str]:
        return list(dict.fromkeys([*super().manifest(p), *self.settings.tools]))


@fault("LOOP-14", "which no provider gave")
class RemindsTheModel(MessageLoop):
    """Adds context of its own to each request."""

    async def assemble(self, p: PassRecord) -> dict[str, Any]:
        request = await super().assemble(p)
        return {**request, "context": [*request["context"], "Remember to be brief."]}


@fault("LOOP-15", "times for a request of the turn")
class KeepsContextFromTheFirstRequest(MessageLoop):
    """Asks context providers only for the first request of a pass."""

    kept: dict[tuple[str, str], list[str]]

    async def ask_context(self, p: PassRecord, provider: tuple[str, int]) -> list[str]:
        self.kept = getattr(self, "kept", {})
        key = (p.id, provider[0])
        if key not in self.kept:
            self.kept[key] = await super().ask_context(p, provider)
        return self.kept[key]


@fault("LOOP-16", "of the turn was terminal, yet another request was sent")
class IgnoresTheTerminalMark(MessageLoop):
    """Sends another request after a terminal response."""

    async def continues(self, p: PassRecord, response: Response) -> bool:
        return await super().continues(p, Response(response.text, response.calls))


@fault("LOOP-17", "is not complete, yet a tool gate opened for call", also=("TURN-2",))
class RunsHalfACall(MessageLoop):
    """Runs a tool as soon as a piece of its call arrives."""

    async def read(self, p: PassRecord, stream: ResponseStream) -> Response:
        stream.parts = self.eager(p, stream.parts)
        return await super().read(p, stream)

    async def eager(self, p: PassRecord, parts: Any) -> Any:
        async for part in parts:
            piece = getattr(part, "tool_call", None)
            if piece is not None and piece.name in self.settings.tools:
                await self.world.tool(piece.id, piece.name, {}, p.stage)
            yield part


@fault("LOOP-18", "is not over, and waits at no gate")
class HangsAfterTwoCalls(MessageLoop):
    """Hangs after a round of several calls."""

    async def carry_all(self, p: PassRecord, r: Round) -> None:
        await super().carry_all(p, r)
        if len(r.calls) > 1:
            await p.scope.outside(asyncio.Event().wait())


@fault(
    "LOOP-19",
    "a terminal response leads to finish, yet the turn rendered",
    policies={"call.terminal": "finish"},
)
class RendersATerminalRound(Undeclared):
    """Renders after a terminal response, but declares that it does not."""

    follows = {"call.terminal": "render"}


@fault("LOOP-20", "failed, yet the model is asked again")
class SendsAgainInSilence(Undeclared):
    """Resends a failed request, but declares that a fault ends the turn."""

    follows = {"model.fault": "retried"}


@fault("LOOP-21", "characters were sent, in whole slices")
class LeavesOutWholeSlices(Undeclared):
    """Leaves out whole slices over the budget, but declares that it cuts their text."""

    follows = {"context.over": "dropped"}


@fault("LOOP-15", "characters, and")
class ExceedsTheBudget(MessageLoop):
    """Does not enforce the budget of a context provider."""

    def within_budget(self, slices: Sequence[str], budget: int) -> list[str]:
        return list(slices)


@fault("LOOP-22", "session history is none in stages, yet the first request of stage execution")
class ShowsTheSessionToAStage(Undeclared):
    """Puts the session history before the transcript of a stage, but declares that it does not."""

    follows = {"stage.history": "before"}
