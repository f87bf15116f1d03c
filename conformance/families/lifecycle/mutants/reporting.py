"""Wrong at telling: the runtime does what is right, and shows something twice, too early or not at all."""

from __future__ import annotations

from typing import Any

from runlock.conformance.family.made import fault
from runlock.machines.lifecycle.runtime.runtime import Runtime, Segment
from runlock.machines.lifecycle.runtime.state import Call, Decision, Message


@fault("PHASE-90", "BeforeToolExecute fires twice")
class ShowsOnePhaseTwice(Runtime):
    """Lets a phase of each call fire twice."""

    twice = "BeforeToolExecute"

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        super().phase(phase, call, verdict)
        if phase == self.twice:
            super().phase(phase, call, verdict)


@fault("PHASE-90", "AfterToolExecute fires twice")
class LooksAgain(ShowsOnePhaseTwice):
    """Looks at each outcome twice."""

    twice = "AfterToolExecute"


@fault("PHASE-29", "RunEnd fires after RunEnd", profile="tirea")
class EndsTwiceInPhases(ShowsOnePhaseTwice):
    """Lets RunEnd fire twice."""

    twice = "RunEnd"


@fault("PHASE-90", "yet AfterToolExecute has not fired")
class DoesNotLook(Runtime):
    """Does not look at what a tool answered to a call that was asked for first in its round."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        answered = phase == "AfterToolExecute" and verdict is None and call is not None and call.is_final
        if not (answered and call == self.state.last_round()[0]):
            super().phase(phase, call, verdict)


@fault(
    "PHASE-90",
    "in its replay, yet BeforeToolExecute has not",
    also=(
        "PHASE-91",
        "PHASE-87",
        "PHASE-26",
    ),
)
class ReplaysWithoutItsFirstPhase(Runtime):
    """Judges a replay without a phase, where it is to be judged like the first time."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if not (phase == "BeforeToolExecute" and call is not None and call.status == "Resuming"):
            super().phase(phase, call, verdict)


@fault("PHASE-91", "became Suspended, yet BeforeToolExecute has not fired")
class HoldsBeforeItJudges(Runtime):
    """Says that a call is Suspended before the phase in which it is held."""

    late: Call | None = None

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        asks = call is not None and self.tools.get(call.name, {}).get("permission") == "ask"
        if phase == "BeforeToolExecute" and asks and call is not None and call.status == "New":
            self.late = call
        else:
            super().phase(phase, call, verdict)

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        super().say_call(call, target, before)
        if self.late is call:
            self.late = None
            super().phase("BeforeToolExecute", call)


@fault(
    "PHASE-91",
    "of its replay has fired",
    profile="awaken-concurrent",
    also=(
        "ROUND-69",
        "CALL-22",
    ),
)
class JudgesBeforeItResumes(Runtime):
    """Says that a call is Resuming once its replay was judged."""

    held_up: Call | None = None

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        if target == "Resuming":
            call.status = target
            self.held_up = call
        else:
            self.catch_up()
            super().say_call(call, target, before)

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        super().phase(phase, call, verdict)
        self.catch_up()

    def catch_up(self) -> None:
        """Say what was held up."""
        if self.held_up is not None:
            call, self.held_up = self.held_up, None
            super().say_call(call, "Resuming", "Suspended")


@fault("STORE-19", "yet nothing was stored after RunEnd", also=("PHASE-30",))
class StoresBeforeTheRunEnds(Runtime):
    """Lets RunEnd fire after the last checkpoint."""

    late = False

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        self.late = self.late or phase == "RunEnd"
        if phase != "RunEnd":
            super().phase(phase, call, verdict)

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        await super().commit(trigger, cause, **rest)
        if self.late:
            self.late = False
            super().phase("RunEnd")


@fault("PHASE-49", "AfterInference leads to RunEnd")
class LeavesTheLastStepOpen(Runtime):
    """Ends the run naturally without the end of its last step."""

    def phase(self, phase: str, call: Call | None = None, verdict: str | None = None) -> None:
        if phase != "StepEnd" or not self.state.turn_was_last:
            super().phase(phase, call, verdict)


@fault("STORE-17", "which has not joined the thread")
class KeepsWhatWasNotSaid(Runtime):
    """Does not show the turn of the model, and stores it all the same."""

    def append(self, message: Message) -> None:
        if message["role"] == "assistant":
            self.state.messages.append(message)
        else:
            super().append(message)


@fault("STORE-17", "which joined the thread 2 times, yet")
class SaysTwice(Runtime):
    """Shows each turn of the model twice, and keeps it once."""

    def append(self, message: Message) -> None:
        super().append(message)
        if message["role"] == "assistant":
            self.observe("message", message=message)


@fault("STORE-16", "nothing has happened since ToolResultsCommitted", profile="tirea")
class StoresTheRoundTwice(Runtime):
    """Commits the results of a round twice in a row."""

    async def commit(self, trigger: str, cause: str, **rest: Any) -> None:
        await super().commit(trigger, cause, **rest)
        if trigger == "ToolResultsCommitted":
            await super().commit(trigger, cause, **rest)


@fault("DECIDE-2", "was handed over once, yet it was accepted twice")
class AcceptsTwice(Runtime):
    """Says twice of a decision that it was accepted."""

    def dispose(self, decision: Decision, disposition: str) -> None:
        super().dispose(decision, disposition)
        if disposition == "accepted":
            super().dispose(decision, disposition)


@fault("RESUME-20", "the resume gate was PersistResumeDecision", profile="tirea")
class StandsStillAtAStation(Runtime):
    """Enters the first station of the resume gate twice."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        super().gate_state(state, decision)
        if state == "PersistResumeDecision":
            super().gate_state(state, decision)


@fault("RESUME-20", "yet the pass through the resume gate stands at", profile="tirea")
class LeavesThePassOpen(Runtime):
    """Does not say that a pass through the resume gate found nothing, once the last turn is there."""

    def gate_state(self, state: str, decision: Decision | None = None) -> None:
        if state != "NoDecision" or not self.state.turn_was_last:
            super().gate_state(state, decision)


@fault("RUN-21", "yet it finished again")
class SuspendsTwice(Runtime):
    """Announces the same wait twice, from the second wait on."""

    waits = 0

    async def _suspend(self) -> Segment:
        segment = await super()._suspend()
        self.waits += bool(segment.pending)
        if self.waits > 1 and segment.pending:
            self.observe("run.finished", reason=segment.reason.to_wire(), pending=list(segment.pending))
        return segment
