"""Turn faults: start and end events, histories, stage executions and groups."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from runlock.conformance.families.message_loop.mutants.mutant import Undeclared
from runlock.conformance.family.made import fault
from runlock.machines.message_loop.runtime.loop import MessageLoop, Start
from runlock.machines.message_loop.runtime.records import (
    Execution,
    Message,
    PassRecord,
    Reason,
    Response,
    TurnFault,
)
from runlock.machines.message_loop.runtime.scopes import Scope
from runlock.machines.message_loop.runtime.world import Verdict
from runlock.machines.table import Cursor


@fault("TURN-1", "published SessionTurnStart twice")
class StartsTwice(MessageLoop):
    """Announces the start of a turn twice."""

    def publish(self, event: str, p: PassRecord | None = None, /, **data: Any) -> None:
        super().publish(event, p, **data)
        if event == "SessionTurnStart":
            super().publish(event, p, **data)


@fault("TURN-2", ", and SessionTurnEnd was not published")
class EndsInSilence(Undeclared):
    """Announces the end of rendered turns only, but declares that it announces every end."""

    follows = {"turn.end": "rendered"}


@fault("TURN-3", "published SessionTurnStart, which the turn has already", also=("TURN-1",))
class BracketsEachPass(MessageLoop):
    """Publishes SessionTurnStart in each pass of a stage execution."""

    def announce_start(self, p: PassRecord) -> None:
        super().announce_start(p)
        if p.execution is not None:
            self.publish("SessionTurnStart", p)


@fault("TURN-4", "is that of a pass of turn", or_says=("which an earlier one of turn",))
class SharesItsCorrelation(MessageLoop):
    """Uses one correlationId for all passes."""

    def new_pass(
        self, scope: Scope, transcript: list[Message], text: str, execution: Execution | None = None
    ) -> PassRecord:
        p = super().new_pass(scope, transcript, text, execution)
        p.id = "pass-1"
        return p


@fault("TURN-5", "ended, and its last response")
class ForgetsItsAnswer(MessageLoop):
    """Does not append the last response of a chat turn to the history."""

    async def persist_response(self, p: PassRecord, response: Response) -> None:
        kept_already = p.execution is None
        await super().persist_response(p, Response(response.text, [None] if kept_already else []))


@fault("TURN-6", "of stages wrote assistant")
class WritesTranscriptsToTheSession(MessageLoop):
    """Appends the messages of a stage execution to the session history too."""

    def append(self, p: PassRecord, message: Message) -> None:
        super().append(p, message)
        if p.execution is not None and message["role"] == "assistant" and "tool_calls" not in message:
            self.history.append(message)
            self.world.message(deepcopy(message), "session", None)


@fault("TURN-7", "of a sibling stands in a request of stage execution")
class SharesATranscript(MessageLoop):
    """Shows a stage execution messages from the transcripts of its siblings."""

    def messages_for(self, p: PassRecord) -> list[Message]:
        own = super().messages_for(p)
        others = [x.transcript for x in self.turn.executions.values() if x is not p.execution]
        return [*own, *(message for other in others for message in other if message["role"] == "user")]


@fault("TURN-8", "stage execution")
class ExitsTwice(MessageLoop):
    """Runs Exit twice."""

    async def commit_exit(self, x: Execution) -> None:
        await super().commit_exit(x)
        await super().commit_exit(x)


@fault("TURN-9", "has not been asserted ok")
class JoinsAtOnce(MessageLoop):
    """Starts the join together with the siblings."""

    async def run_group(self, siblings: Sequence[tuple[str, str]], join: tuple[str, str] | None) -> Reason:
        return await super().run_group([*siblings, *([join] if join else [])], None)


@fault("TURN-10", "yet it still waits at")
class LetsSiblingsRunOn(MessageLoop):
    """Does not cancel the siblings of a failed stage execution."""

    def sibling_ended(
        self, group: Cursor, scope: Scope, reason: Reason, is_last: bool, has_join: bool
    ) -> None:
        if reason.code != "NaturalEnd":
            self.failed_group = group
        if getattr(self, "failed_group", None) is not group:
            super().sibling_ended(group, scope, reason, is_last, has_join)


@fault("TURN-11", "ended as Cancelled, and turn")
class BreaksAfterACancel(MessageLoop):
    """Fails in the turn after a cancelled one."""

    async def work(self, start: Start) -> Reason:
        was_cancelled, self.was_cancelled = getattr(self, "was_cancelled", False), False
        reason = Reason("Error", "the loop was cancelled") if was_cancelled else await super().work(start)
        self.was_cancelled = reason.code == "Cancelled"
        return reason


@fault("TURN-12", "were announced")
class ShowsAShorterHistory(MessageLoop):
    """Leaves the last message out of the answer to `inspect`."""

    def look(self) -> dict[str, Any]:
        shown = super().look()
        return {**shown, "messages": shown["messages"][:-1]}


@fault("TURN-13", "is sent, and its input is not stored")
class DoesNotStoreTheInput(MessageLoop):
    """Does not store the input before the first request."""

    async def commit(self, p: PassRecord, trigger: str, cause: str) -> None:
        if cause != "input":
            await super().commit(p, trigger, cause)


@fault("TURN-14", "rounds are over, and the results of")
class StoresResultsAtTheEnd(Undeclared):
    """Stores results at the end of a turn, but declares that it stores them after each round."""

    follows = {"persist.results": "turn"}


@fault("TURN-15", "the commit input failed, yet a model gate opened")
class SwallowsAFaultOfTheStore(MessageLoop):
    """Continues after a commit failed."""

    async def commit(self, p: PassRecord, trigger: str, cause: str) -> None:
        try:
            await super().commit(p, trigger, cause)
        except TurnFault:
            return


@fault("TURN-16")
class DropsPartialText(Undeclared):
    """Drops the partial text of a response, but declares that it keeps it."""

    follows = {"partial.text": "dropped"}


@fault("TURN-17", "Exit after a failure is no, yet stage execution")
class ExitsAfterAFailure(Undeclared):
    """Runs Exit after a failed assertion, but declares that it does not."""

    follows = {"exit.on_fail": "yes"}


@fault("TURN-18", "the transcript of a retry is fresh, yet stage execution")
class KeepsTheTranscript(Undeclared):
    """Keeps the transcript of the previous attempt, but declares that a retry starts with a fresh one."""

    follows = {"assert.retry": "kept"}


@fault("TURN-19", "ended as NaturalEnd", also=("TURN-17",))
class AcceptsFailedAssertions(MessageLoop):
    """Ends a stage execution whose assertion failed as if it had succeeded."""

    async def failed(self, x: Execution, verdict: Verdict) -> Reason:
        return await super().exit(x, verdict)
