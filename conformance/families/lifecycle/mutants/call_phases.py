"""Wrong passes: what becomes of one call between its first phase and its last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runlock.conformance.families.lifecycle.mutants.phase import FiresTwice
from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.state import Call
from runlock.machines.lifecycle.runtime.world import Answer, WorldFault


@fault("PHASE-1", "was blocked, yet it became Running", profile="tirea")
class MarksTheBlockedRunning(Runtime):
    """A blocked call becomes Running before it fails."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        if kind == "block":
            self.move_call(call, "start")
        return kind, content


@fault("PHASE-2", "was held before it ran, yet it ran with no decision in between")
class MarksTheHeldRunning(Runtime):
    """A call that is held becomes Running before it is suspended."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        if kind == "suspend":
            self.move_call(call, "start")
        return kind, content


@fault("PHASE-4", "there is no tool", also=("PHASE-5", "PHASE-3", "CUT-1", "CUT-3"))
class EntersAMissingTool(Runtime):
    """Executes a call for a tool that does not exist."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        return ("allow", None) if kind == "fail" else (kind, content)


@fault("PHASE-6", "yet its pass ends without its tool", also=("ROUND-23", "ROUND-5"))
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


@fault("PHASE-7", "answered ok, yet its result is recorded as error", also=("PAIR-4",))
class RecordsAnAnswerAsAnError(RecordsTheOpposite):
    """Records a tool's answer as an error."""


@fault("PHASE-8", "answered warning, yet its result is recorded as error", also=("PAIR-4",))
class RecordsAWarningAsAnError(RecordsTheOpposite):
    """Records a tool's answer with a warning as an error."""

    kind = "warning"


@fault("PHASE-9", "answered error, yet its result is recorded as ok", also=("PAIR-6",))
class RecordsAnErrorAsAnAnswer(RecordsTheOpposite):
    """Records a tool's error as a good answer."""

    kind, status = "error", "ok"


@fault("PHASE-10", "answered pending, yet its result is recorded as ok", also=("NEST-5", "PAIR-3"))
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


@fault("PHASE-11", "succeeded, yet AfterToolExecute has not fired", profile="tirea")
class DoesNotLookAtSuccess(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that succeeded."""

    status = "Succeeded"


@fault("PHASE-12", "failed, yet AfterToolExecute has not fired", profile="tirea")
class DoesNotLookAtFailure(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that failed."""

    status = "Failed"


@fault("PHASE-13", "was blocked, yet AfterToolExecute has not fired", profile="tirea")
class DoesNotLookAtTheBlocked(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that were blocked."""

    status = "Failed"
    held_before = True


@fault("PHASE-14", "was suspended, yet AfterToolExecute has not", profile="tirea")
class DoesNotLookAtTheSuspended(LooksAtEverythingBut):
    """AfterToolExecute does not fire for calls that were suspended."""

    status = "Suspended"


@fault("PHASE-20", "yet AfterToolExecute was seen", profile="tirea", also=("PHASE-90",))
class LooksTwice(FiresTwice):
    """AfterToolExecute fires twice for each call."""

    twice = "AfterToolExecute"


@fault("PHASE-5", "its arguments do not fit the tool")
class TakesUnfitArguments(Runtime):
    """Executes a call whose arguments do not fit its tool."""

    async def verdict(self, call: Call, resume: Resume) -> tuple[str, Any]:
        kind, content = await super().verdict(call, resume)
        return ("allow", None) if "do not fit" in str(content) else (kind, content)


@fault("CALL-15", "does not fit its tool's arguments, yet it became")
class CancelsTheUnfit(Runtime):
    """Cancels a call whose arguments do not fit its tool."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        unfit = "do not fit" in str(content)
        super().settle(call, "cancel" if unfit else event, "cancelled" if unfit else status, content)


@fault("ROUND-10", "its arguments do not fit the tool", policies={"round.block": "fail_call"})
class DiesOfUnfitArguments(Runtime):
    """Ends the run as Error for arguments that do not fit their tool."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        super().settle(call, event, status, content)
        if "do not fit" in str(content):
            raise WorldFault(str(content))
