"""Wrong passes: what becomes of one call between its first phase and its last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.lifecycle.mutants.mutant import Mutant
from runlock.conformance.families.lifecycle.mutants.phase import FiresTwice
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call
from runlock.machines.lifecycle.runtime.world import Answer, WorldFault


class MarksTheBlockedRunning(Runtime):
    """A blocked call becomes Running before it fails."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        if kind == "block":
            self.move_call(call, "start")
        return kind, content


class MarksTheHeldRunning(Runtime):
    """A call that is held becomes Running before it is suspended."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        if kind == "suspend":
            self.move_call(call, "start")
        return kind, content


class EntersAMissingTool(Runtime):
    """Executes a call for a tool that does not exist."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        return ("allow", None) if kind == "fail" else (kind, content)


class AnswersForTheThird(Runtime):
    """The third call of a round that may run gets an error without having been executed."""

    async def execute_all(self, calls: Sequence[Call]) -> None:
        for call in calls[2:]:
            self.settle(call, "fail", "error", "too many calls")
            self.phase("AfterToolExecute", call)
        await super().execute_all(calls[:2])


class RecordsTheOpposite(Runtime):
    """Records an answer of one kind in the thread as what it is not."""

    kind, status = "ok", "error"

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        super().settle(call, event, status, content)
        if self.answered == self.kind:
            self.results[call.id] = (self.status, content)

    def take_answer(self, call: Call, answer: Answer) -> None:
        self.answered = answer.kind
        super().take_answer(call, answer)
        self.answered = ""

    answered = ""


class RecordsAnAnswerAsAnError(RecordsTheOpposite):
    """Records a tool's answer as an error."""


class RecordsAWarningAsAnError(RecordsTheOpposite):
    """Records a tool's answer with a warning as an error."""

    kind = "warning"


class RecordsAnErrorAsAnAnswer(RecordsTheOpposite):
    """Records a tool's error as a good answer."""

    kind, status = "error", "ok"


class RecordsAQuestionAsAnAnswer(Runtime):
    """Records a pending answer as a result."""

    def take_answer(self, call: Call, answer: Answer) -> None:
        super().take_answer(call, answer)
        if answer.kind == "pending":
            self.answer(call, "ok", "working on it")


class LooksAtEverythingBut(Runtime):
    """AfterToolExecute does not fire for calls of one outcome."""

    status = ""
    held_before = False

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        skipped = call is not None and call.status == self.status and (verdict == "block") == self.held_before
        if phase != "AfterToolExecute" or not skipped:
            super().phase(phase, call, verdict)


class DoesNotLookAtSuccess(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that succeeded."""

    status = "Succeeded"


class DoesNotLookAtFailure(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that failed."""

    status = "Failed"


class DoesNotLookAtTheBlocked(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that were blocked."""

    status = "Failed"
    held_before = True


class DoesNotLookAtTheSuspended(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that were suspended."""

    status = "Suspended"


class LooksTwice(FiresTwice):
    """AfterToolExecute fires twice for each call."""

    twice = "AfterToolExecute"


class TakesUnfitArguments(Runtime):
    """Executes a call whose arguments do not fit its tool."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        return ("allow", None) if "do not fit" in str(content) else (kind, content)


class CancelsTheUnfit(Runtime):
    """Cancels a call whose arguments do not fit its tool."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        unfit = "do not fit" in str(content)
        super().settle(call, "cancel" if unfit else event, "cancelled" if unfit else status, content)


class DiesOfUnfitArguments(Runtime):
    """Ends the run as Error for arguments that do not fit their tool."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        super().settle(call, event, status, content)
        if "do not fit" in str(content):
            raise WorldFault(str(content))


MUTANTS: tuple[Mutant, ...] = (
    Mutant(MarksTheBlockedRunning, "PHASE-1", "was blocked, yet it became Running", "tirea"),
    Mutant(MarksTheHeldRunning, "PHASE-2", "was held before it ran, yet it ran with no decision in between"),
    Mutant(EntersAMissingTool, "PHASE-4", "there is no tool", also=("PHASE-5", "PHASE-3")),
    Mutant(TakesUnfitArguments, "PHASE-5", "its arguments do not fit the tool"),
    Mutant(CancelsTheUnfit, "CALL-15", "does not fit its tool's arguments, yet it became"),
    Mutant(
        DiesOfUnfitArguments,
        "ROUND-10",
        "its arguments do not fit the tool",
        policies={"round.block": "fail_call"},
    ),
    Mutant(AnswersForTheThird, "PHASE-6", "yet its pass ends without its tool", also=("ROUND-23",)),
    Mutant(
        RecordsAnAnswerAsAnError,
        "PHASE-7",
        "answered ok, yet its result is recorded as error",
        also=("PAIR-4",),
    ),
    Mutant(RecordsAWarningAsAnError, "PHASE-8", "answered warning, yet its result is recorded as error"),
    Mutant(
        RecordsAnErrorAsAnAnswer,
        "PHASE-9",
        "answered error, yet its result is recorded as ok",
        also=("PAIR-6",),
    ),
    Mutant(
        RecordsAQuestionAsAnAnswer,
        "PHASE-10",
        "answered pending, yet its result is recorded as ok",
        also=("NEST-5", "PAIR-3"),
    ),
    Mutant(DoesNotLookAtSuccess, "PHASE-11", "succeeded, yet AfterToolExecute has not fired", "tirea"),
    Mutant(DoesNotLookAtFailure, "PHASE-12", "failed, yet AfterToolExecute has not fired", "tirea"),
    Mutant(DoesNotLookAtTheBlocked, "PHASE-13", "was blocked, yet AfterToolExecute has not fired", "tirea"),
    Mutant(DoesNotLookAtTheSuspended, "PHASE-14", "was suspended, yet AfterToolExecute has not", "tirea"),
    Mutant(LooksTwice, "PHASE-20", "yet AfterToolExecute was seen", "tirea", also=("PHASE-90",)),
)
