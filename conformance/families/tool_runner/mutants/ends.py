"""Wrong ends: limits, pauses, cut-off turns, breaks, faults, cancels and streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from runlock.conformance.families.tool_runner.mutants.mutant import Mutant
from runlock.machines.tool_runner.runtime.history import Call, Message, call_of, calls_of
from runlock.machines.tool_runner.runtime.requests import Requests
from runlock.machines.tool_runner.runtime.rounds import Round
from runlock.machines.tool_runner.runtime.runner import Item, Runner, TurnedDown
from runlock.machines.tool_runner.runtime.world import ModelTurn, WorldFault


# -- pauses and turns that were cut off


class LosesAPause(Runner):
    """A paused turn is not sent back."""

    def append_turn(self) -> None:
        if not self.is_paused():
            super().append_turn()


class EndsAtAPause(Runner):
    """A paused turn ends the run, though it is declared to go back."""

    def is_paused(self) -> bool:
        return False


class ResumesAPause(Runner):
    """A paused turn goes back, though it is declared to end the run."""

    def is_paused(self) -> bool:
        return self.iteration.stop == "pause_turn"


class RunsPausedCalls(Runner):
    """The calls of a paused turn run."""

    def asks_for_tools(self) -> bool:
        paused_calls = self.iteration.stop == "pause_turn" and bool(calls_of(self.iteration.turn or {}))
        return paused_calls or super().asks_for_tools()


class LosesAChangedPause(Runner):
    """A paused turn of a changed iteration is lost, though it is declared to be kept."""

    def append_turn(self) -> None:
        if not self.is_changed():
            super().append_turn()


class KeepsAPauseAtTheEnd(Runner):
    """A paused turn of a changed iteration stands after what was pushed."""

    def append_turn(self) -> None:
        if self.is_changed():
            self.iteration.mark = len(self.state.messages)
        super().append_turn()


class RunsCutOffCalls(Runner):
    """The calls of a turn that was cut off run, though they are declared not to."""

    def asks_for_tools(self) -> bool:
        return bool(calls_of(self.iteration.turn or {})) and self.iteration.stop != "pause_turn"


class SkipsCutOffCalls(Runner):
    """The calls of a turn that was cut off do not run, though they are declared to."""

    def asks_for_tools(self) -> bool:
        return super().asks_for_tools() and self.iteration.stop == "tool_use"


# -- limits


class OneMore(Runner):
    """One request more than the limit allows."""

    def is_spent(self) -> bool:
        return super().is_spent() and (not self.max_iterations or self.counted > self.max_iterations)


class OneLess(Runner):
    """One request less than the limit allows."""

    def is_spent(self) -> bool:
        return super().is_spent() or self.counted + 1 == self.max_iterations != 1


class CountsRequests(Runner):
    """A failed request counts, though turns are declared to."""

    def count(self, what: str) -> None:
        self.counted += what == "requests"


class CountsTurns(Runner):
    """A failed request does not count, though requests are declared to."""

    def count(self, what: str) -> None:
        self.counted += what == "turns"


class TakesZeroForNone(Runner):
    """A limit of 0 is no limit, though no request is declared."""

    def is_spent(self) -> bool:
        return bool(self.max_iterations) and super().is_spent()


class TakesZeroForZero(Runner):
    """A limit of 0 allows no request, though no limit is declared."""

    def is_spent(self) -> bool:
        return self.max_iterations == 0 or super().is_spent()


class PreemptsTheLastCalls(Runner):
    """The last calls do not run, though they are declared to."""

    async def handle(self, turn: Message, calls: Sequence[Call]) -> None:
        if self.is_spent():
            self.end("limit", "Stopped")
        else:
            await super().handle(turn, calls)


class DrainsTheLastCalls(Runner):
    """The last calls run, though the run is declared to end before them."""

    async def handle(self, turn: Message, calls: Sequence[Call]) -> None:
        limit, self.max_iterations = self.max_iterations, None
        await super().handle(turn, calls)
        self.max_iterations = limit


class DoesNotCountPauses(Runner):
    """A paused turn costs no iteration."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        self.counted -= self.is_paused()


class ForgetsTheCountWhenTakenUp(Runner):
    """A walk that is taken up has the whole limit again."""

    def again(self) -> AsyncIterator[Item]:
        walk = super().again()
        self.counted = 0
        return walk


class ForgetsTheCountAtAPush(Runner):
    """A push sets the count back."""

    def push(self, messages: Sequence[Any]) -> None:
        super().push(messages)
        self.counted = 0


# -- breaks and faults


class IsOverAfterABreak(Runner):
    """A runner that was left refuses to go on, though it is declared to."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Left":
            raise TurnedDown("the runner is over")
        return super().again()


class GoesOnAfterABreak(Runner):
    """A runner that was left goes on, though it is declared to be over."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Left" and self.iteration.turn is not None:
            self.at = "Resumed"
            return self.walk()
        return super().again()


class ForgetsTheTurnAtABreak(Runner):
    """A runner that was left begins with the request before."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Left":
            self.at = "Settled"
            return self.walk()
        return super().again()


class IsOverAfterAFault(Runner):
    """A runner that a fault ended refuses to go on, though it is declared to."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Broken":
            raise TurnedDown("the runner is over")
        return super().again()


class GoesOnAfterAFault(Runner):
    """A runner that a fault ended goes on, though it is declared to be over."""

    def again(self) -> AsyncIterator[Item]:
        if self.at == "Broken":
            self.at = "Settled"
            return self.walk()
        return super().again()


class TakesAFaultForAnEnd(Runner):
    """A fault of the model ends the run as if all was well."""

    async def walk(self) -> AsyncIterator[Item]:
        try:
            async for item in super().walk():
                yield item
        except WorldFault:
            if self.iteration.turn is not None:
                raise


class TakesABrokenToolForAnEnd(Runner):
    """A tool that breaks ends the run as if all was well."""

    async def answer_calls(self, turn: Message, calls: Sequence[Call]) -> Exception | None:
        broken = await super().answer_calls(turn, calls)
        self.is_broken = broken is not None
        return None

    def goes_on(self) -> bool:
        if getattr(self, "is_broken", False):
            self.at = "Finished"
        return super().goes_on()


class NamesTheWrongEnd(Runner):
    """A final turn ends the run as Stopped."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, "Stopped" if reason == "NaturalEnd" else reason, *facts)


class TakesTheLimitForACancel(Runner):
    """The limit ends the run as Cancelled."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, "Cancelled" if reason == "Stopped" else reason, *facts)


class RemembersTheFirstTurn(Runner):
    """The end of a run names the first turn."""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        before = self.last_turn
        super().receive(turn, messages)
        self.last_turn = before or self.last_turn


class WorksOnWhenDone(Runner):
    """After the last turn a tool is entered once more."""

    def finish(self) -> None:
        super().finish()
        if self.at == "Finished" and self.iteration.tools:
            name = sorted(self.iteration.tools)[0]
            self.rest = asyncio.ensure_future(self.world.execute("late", name, {"k": "late"}, 1))


class ShowsAnOldState(Runner):
    """A look at the state shows it without its last message."""

    def look(self) -> dict[str, Any]:
        shown = super().look()
        return {**shown, "messages": shown["messages"][:-1] or shown["messages"]}


# -- cancels


class AsksAfterACancel(Runner):
    """The loop does not look at the signal before a request."""

    def goes_on(self) -> bool:
        self.is_cancelled = False
        return super().goes_on()


class TakesACancelForAnEnd(Runner):
    """A cancelled run ends as if all was well."""

    def end(self, event: str, reason: str, *facts: str) -> None:
        super().end(event, "NaturalEnd" if reason == "Cancelled" else reason, *facts)


class DropsWhatWasHandedOver(Runner):
    """The calls of a turn that was with the user do not run, though they are declared to."""

    def place_turn(self) -> None:
        super().place_turn()
        if self.is_cancelled:
            self.end("cancel", "Cancelled")

    async def after_resume(self) -> None:
        if not self.is_cancelled:
            await super().after_resume()
        else:
            self.place_turn()


class RunsWhatWasHandedOver(Runner):
    """The calls of a turn that was with the user run, though they are declared not to."""

    async def after_resume(self) -> None:
        self.policies = {**self.policies, "cancel.handed_over": "run"}
        await super().after_resume()


class AbortsWhatDrains(Runner):
    """Tools are given up at a cancel, though they are declared to drain."""

    def cancel(self) -> None:
        super().cancel()
        for body in list(self.running):
            body.cancel()


class DrainsWhatIsAborted(Runner):
    """Tools run on after a cancel, though they are declared to be given up."""

    def cancel(self) -> None:
        self.policies = {**self.policies, "cancel.inflight": "drain"}
        super().cancel()


class RespondsAfterACancel(Runner):
    """A response runs tools although the run was cancelled."""

    async def respond(self) -> list[Message] | None:
        was, self.is_cancelled = self.is_cancelled, False
        results = await super().respond()
        self.is_cancelled = was or self.is_cancelled
        return results


class EntersAgainAfterACancel(Runner):
    """Calls of a response that was given up are entered again after the resume."""

    def may_enter(self, call: Call, the_round: Round) -> bool:
        return the_round.began_cancelled or super().may_enter(call, the_round)


class GoesThroughWithTheRound(Runner):
    """The calls that wait for their turn start although the run was cancelled."""

    def may_enter(self, call: Call, the_round: Round) -> bool:
        return call["id"] not in self.iteration.entered


# -- streams


class LosesAPiece(Runner):
    """The second piece of a stream does not reach its reader."""

    def begin_iteration(self) -> None:
        self.came = 0
        super().begin_iteration()

    def take_piece(self, piece: Any) -> None:
        self.came += 1
        if self.came != 2:
            super().take_piece(piece)


class RepeatsAPiece(Runner):
    """Each piece reaches its reader twice."""

    def take_piece(self, piece: Any) -> None:
        super().take_piece(piece)
        self.iteration.pieces.put(piece)


class PutsTheTurnTogether(Runner):
    """The text of a streamed turn is what its pieces said."""

    def begin_iteration(self) -> None:
        self.said = ""
        super().begin_iteration()

    def take_piece(self, piece: Any) -> None:
        super().take_piece(piece)
        self.said += piece.text or ""

    def receive(self, turn: ModelTurn, messages: Sequence[Message]) -> None:
        super().receive(turn, messages)
        if self.stream and self.said and self.iteration.turn is not None:
            self.iteration.turn = self.last_turn = {**self.iteration.turn, "text": self.said}


class WaitsForAReader(Runner):
    """A stream that is not read holds the runner up."""

    async def wait_for_turn(self) -> None:
        await super().wait_for_turn()
        if self.stream and self.iteration.pieces.is_unread():
            await asyncio.get_running_loop().create_future()


class StartsFromTheStream(Runner):
    """A call starts when its piece comes, though after the resume is declared."""

    def take_piece(self, piece: Any) -> None:
        super().take_piece(piece)
        if piece.tool_call is not None:
            self._start_early(call_of(piece.tool_call))


class StartsOtherArguments(Runner):
    """A call that starts from the stream has no arguments."""

    def enter(self, call: Call, version: int) -> asyncio.Task[Any]:
        return super().enter({**call, "args": {}} if self.at == "Streaming" else call, version)


class LetsTheStreamRunOn(Runner):
    """A stream that its user left goes on."""

    async def give_up_request(self) -> Exception | None:
        if self.request is None or self.request.done():
            return await Requests.give_up_request(self)
        return None


LIMIT = {"limit.counts": "requests"}
NOT_OVER = {"again.break": "goes_on", "again.fault": "retries"}
OVER = {"again.break": "over", "again.fault": "over"}
SEQUENTIAL_DRAIN = {"round.executor": "sequential", "cancel.inflight": "drain"}

MUTANTS = (
    Mutant(LosesAPause, "RUNNER-20"),
    Mutant(EndsAtAPause, "RUNNER-20"),
    Mutant(ResumesAPause, "RUNNER-20", policies={"runner.pause": "ends"}),
    Mutant(RunsPausedCalls, "RUNNER-32"),
    Mutant(LosesAChangedPause, "RUNNER-31", policies={"pause.changed": "kept"}),
    Mutant(KeepsAPauseAtTheEnd, "RUNNER-31", policies={"pause.changed": "kept"}),
    Mutant(RunsCutOffCalls, "RUNNER-21"),
    Mutant(SkipsCutOffCalls, "RUNNER-21", policies={"runner.cut_off": "run"}),
    Mutant(OneMore, "STOP-1"),
    Mutant(OneLess, "STOP-2"),
    Mutant(CountsRequests, "STOP-3", policies=NOT_OVER),
    Mutant(CountsTurns, "STOP-3", policies={**NOT_OVER, **LIMIT}),
    Mutant(TakesZeroForNone, "STOP-4", policies={"limit.zero": "no_request"}),
    Mutant(TakesZeroForZero, "STOP-4", policies={"limit.zero": "no_limit"}),
    Mutant(PreemptsTheLastCalls, "STOP-5"),
    Mutant(DrainsTheLastCalls, "STOP-5", policies={"stop.tools": "preempted"}),
    Mutant(DoesNotCountPauses, "STOP-6"),
    Mutant(ForgetsTheCountWhenTakenUp, "STOP-6", policies=NOT_OVER),
    Mutant(ForgetsTheCountAtAPush, "STOP-6"),
    Mutant(IsOverAfterABreak, "RUNNER-24", policies=NOT_OVER),
    Mutant(GoesOnAfterABreak, "RUNNER-24", policies=OVER),
    Mutant(ForgetsTheTurnAtABreak, "RUNNER-24", policies=NOT_OVER),
    Mutant(IsOverAfterAFault, "RUNNER-36", policies=NOT_OVER),
    Mutant(GoesOnAfterAFault, "RUNNER-36", policies=OVER),
    Mutant(TakesAFaultForAnEnd, "RUN-5"),
    Mutant(TakesABrokenToolForAnEnd, "RUN-6"),
    Mutant(NamesTheWrongEnd, "RUN-2"),
    Mutant(TakesTheLimitForACancel, "RUN-4"),
    Mutant(RemembersTheFirstTurn, "RUN-7"),
    Mutant(WorksOnWhenDone, "RUN-9"),
    Mutant(ShowsAnOldState, "RUN-11"),
    Mutant(AsksAfterACancel, "CANCEL-1"),
    Mutant(TakesACancelForAnEnd, "CANCEL-2"),
    Mutant(DropsWhatWasHandedOver, "CANCEL-4", policies={"cancel.handed_over": "run"}),
    Mutant(RunsWhatWasHandedOver, "CANCEL-4", policies={"cancel.handed_over": "not_run"}),
    Mutant(AbortsWhatDrains, "CANCEL-5", policies={"cancel.inflight": "drain"}),
    Mutant(DrainsWhatIsAborted, "CANCEL-5", policies={"cancel.inflight": "abort"}),
    Mutant(RespondsAfterACancel, "CANCEL-6"),
    Mutant(EntersAgainAfterACancel, "CANCEL-7", policies={"cancel.handed_over": "run"}),
    Mutant(GoesThroughWithTheRound, "CANCEL-8", policies=SEQUENTIAL_DRAIN),
    Mutant(LosesAPiece, "STREAM-1"),
    Mutant(RepeatsAPiece, "STREAM-1"),
    Mutant(PutsTheTurnTogether, "STREAM-2"),
    Mutant(WaitsForAReader, "STREAM-3"),
    Mutant(StartsFromTheStream, "STREAM-4"),
    Mutant(
        StartsOtherArguments, "STREAM-5", profile="tool-runner-core", policies={"tools.start": "streaming"}
    ),
    Mutant(LetsTheStreamRunOn, "STREAM-7"),
)
