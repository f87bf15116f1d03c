"""Wrong calls: statuses that do not follow from what the call did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.machines.lifecycle.runtime.world import Answer


@fault("CALL-3", "answered pending, yet the call became Succeeded", also=("NEST-1", "PAIR-6"))
class TakesPendingForSuccess(Runtime):
    """A tool that answers pending is taken to have succeeded."""

    def take_answer(self, call: Call, answer: Answer) -> None:
        if answer.kind == "pending":
            self.settle(call, "succeed", "ok", "started")
        else:
            super().take_answer(call, answer)


@fault("CALL-4", "answered warning, yet the call became Failed")
class TakesAWarningForAnError(Runtime):
    """A tool that answers with a warning is taken to have failed."""

    def take_answer(self, call: Call, answer: Answer) -> None:
        if answer.kind == "warning":
            self.settle(call, "fail", "error", answer.content)
        else:
            super().take_answer(call, answer)


@fault("CALL-5", "answered error, yet the call became Succeeded", also=("PAIR-6",))
class TakesAnErrorForAnAnswer(Runtime):
    """A tool that answers with an error is taken to have succeeded."""

    def take_answer(self, call: Call, answer: Answer) -> None:
        if answer.kind == "error":
            self.settle(call, "succeed", "ok", answer.content)
        else:
            super().take_answer(call, answer)


@fault("CALL-17", "was Succeeded, which is final, yet it became Cancelled")
class CancelsWhatIsOver(Runtime):
    """The end of a run cancels the calls that are over, too."""

    def _close_live_calls(self, reason: Reason) -> None:
        super()._close_live_calls(reason)
        for call in self.state.in_status("Succeeded"):
            self.say_call(call, "Cancelled", before="Succeeded")


@fault("CALL-18", "was Suspended, which leads to Resuming, Cancelled, yet it became Running")
class JumpsToRunning(Runtime):
    """A decided call goes from Suspended to Running, without Resuming."""

    def move_call(self, call: Call, event: str) -> None:
        if event == "resume":
            self.say_call(call, "Running", before=call.status)
        elif event != "start" or call.status != "Running":
            super().move_call(call, event)


@fault("CALL-22", "was last reported Running, yet it is said to move from New")
class SaysNewTooOften(Runtime):
    """Says of each move of a call that it came from New."""

    def move_call(self, call: Call, event: str) -> None:
        if call.status == "Running" and event == "succeed":
            self.say_call(call, "Succeeded", before="New")
        else:
            super().move_call(call, event)


@fault("CALL-15", "yet it became Cancelled", also=("PAIR-7",))
class CancelsTheBlocked(Runtime):
    """A blocked call is Cancelled rather than Failed."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        if event == "fail" and call.status == "New" and call.name in self.tools:
            event = "cancel"
        super().settle(call, event, status, content)


@fault("CALL-14", "was set, yet it became Failed")
class FailsASetResult(Runtime):
    """A call whose result is set by the permission hook is Failed."""

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        super().settle(call, "fail" if event == "provide" else event, status, content)


@fault("CALL-1", "is executing, yet its status is New")
class SaysRunningLate(Runtime):
    """Says that a call is Running only once it has answered."""

    late: ClassVar[str] = "Running, and not yet said"

    def move_call(self, call: Call, event: str) -> None:
        if event == "start" and call.status == "New":
            call.status = self.late
            return
        if call.status == self.late:
            self.say_call(call, "Running", before="New")
        super().move_call(call, event)


@fault("CALL-7", "nobody decided about call", also=("EXPIRE-4",))
class ResumesTheUndecided(Runtime):
    """One decision sets every suspended call to Resuming."""

    def _prepare(self, decision: Decision) -> bool:
        replayed = super()._prepare(decision)
        for call in self.state.in_status("Suspended"):
            if call.id not in self.state.decisions:
                self.move_call(call, "resume")
                self.move_call(call, "suspend")
        return replayed


@fault("GATE-1", "nobody approved it, yet it was executed", also=("CALL-7",))
class KeepsADecisionForTheNextRun(Runtime):
    """Lets a decision that comes when its run is Done act on a call of that id in the next run."""

    kept: tuple[Decision, ...] = ()

    def receive(self, decisions: Sequence[Decision]) -> list[tuple[Decision, str]]:
        if self.state.status == "Done":
            self.kept = tuple(decisions)
        return super().receive(decisions)

    async def _begin(self, text: str, decisions: Sequence[Decision]) -> Segment:
        self.state.early += self.kept
        return await super()._begin(text, decisions)


@fault("CALL-8", "nobody cancelled call", also=("EXPIRE-4",))
class RejectsTheSiblings(Runtime):
    """A rejection cancels every suspended call of the run."""

    def _prepare(self, decision: Decision) -> bool:
        replayed = super()._prepare(decision)
        if decision.action == "cancel":
            for call in self.state.in_status("Suspended"):
                if call.id not in self.state.decisions:
                    self.move_call(call, "cancel")
                    self.answer(call, "cancelled", "rejected with its sibling")
        return replayed


@fault("CALL-24", "yet its status is Running", also=("DERIVE-1",))
class LeavesTheLastRunning(Runtime):
    """The last of several results is recorded, but the call's status stays."""

    def move_call(self, call: Call, event: str) -> None:
        others = [c for c in self.state.last_round() if c is not call]
        if event == "succeed" and call.status == "Running" and others and all(c.is_final for c in others):
            call.status = "Succeeded"
        else:
            super().move_call(call, event)


@fault("CALL-2", "nothing held call", also=("ROUND-5",))
class HoldsWhatIsAllowed(Runtime):
    """The third call of a round is suspended although its tool is allowed."""

    async def judge_all(self, calls: Sequence[Call]) -> list[Call]:
        allowed = await super().judge_all(calls)
        if len(allowed) == 3:
            self.move_call(allowed.pop(), "suspend")
        return allowed


@fault("CALL-23", "the model asked for no call extra", also=("DERIVE-2", "DERIVE-3", "PAIR-2"))
class InventsACall(Runtime):
    """Runs a call that the model has not asked for."""

    def _take_turn(self, turn: Any) -> list[Call]:
        calls = super()._take_turn(turn)
        if len(calls) == len(turn.tool_calls) > 1:
            extra = Call("extra", calls[0].name, {"k": "extra"}, step=self.state.step)
            self.state.calls["extra"] = extra
            self.say_call(extra, "New", before=None)
            calls.append(extra)
        return calls


@fault("CALL-23", "is entered")
class ReplaysTheToolOfTheFirst(Runtime):
    """A replay runs the tool that the first call of the round named."""

    async def execute(self, call: Call, resume: Resume) -> None:
        asked, first = call.name, self.state.last_round()[0].name
        call.name = first if resume is not None else asked
        try:
            await super().execute(call, resume)
        finally:
            call.name = asked


@fault("CALL-25", "yet a look at the run shows Suspended")
class LooksUndecided(Runtime):
    """An inspection of a call that was suspended shows it Suspended for ever."""

    def look(self) -> dict[str, Any]:
        seen = super().look()
        calls = {call.id: {"status": "Suspended"} for call in self.state.calls.values() if call.suspension}
        return {**seen, "calls": {**seen["calls"], **calls}}


@fault("CALL-21", "was Resuming, which leads to")
class BeginsANewLife(Runtime):
    """A call that is replayed is New once more."""

    def move_call(self, call: Call, event: str) -> None:
        if event == "start" and call.status == "Resuming":
            self.say_call(call, "New", before="Resuming")
        super().move_call(call, event)
